import WorkspaceModel

extension Command {
    /// Making, finding and joining channels.
    static let channelCommands = [
        channelList, channelFind, channelCreate, channelGet, channelJoin, channelLeave,
        channelMembers, channelAdd, channelRemove,
    ]

    private static let channelList = {
        let scope = Parameter.choice(
            "scope", "The channels you are in, or all that you may see.", ["mine", "all"]
        ).defaulting(to: "mine").flag("all").standing(for: "all")
        return Command(
            "channel.list",
            line: CommandLineForm("channel list", examples: ["channel list --all"]),
            "List channels.",
            parameters: [scope, limit, cursor], result: "list of channel", shape: .channels,
            emptiness: "no channels", effect: .reads, scope: .workspace, example: ["scope": "all"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.channels(all: call[scope] == "all", call.page, call.scope)
            })
    }()

    private static let channelFind = {
        let text = Parameter.text("text", "Part of a name, topic or description.", bytes: 1...256)
        return Command(
            "channel.find",
            line: CommandLineForm("channel find", ["text"], examples: ["channel find plan"]),
            "Find channels, including those you are not in.",
            parameters: [text, limit, cursor], result: "list of channel", shape: .channels,
            emptiness: "no channels", effect: .reads, scope: .workspace, example: ["text": "plan"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.findChannels(call[text], call.page, call.scope)
            })
    }()

    private static let channelCreate = {
        let name = Parameter.name("name", "The name of the channel.")
        let description = Parameter.text("description", "What it is for.", bytes: 0...1_024)
            .optional()
        let topic = Parameter.text("topic", "What it is about now.", bytes: 0...1_024).optional()
        let isPrivate = Parameter.flag(
            "private", "Only people who are added see it. This cannot be changed later.")
        let history = Parameter.choice(
            "history",
            "What people added later see. In a private channel: what is said from then on, unless "
                + "you create it with 'all'. In a public one: everything.",
            ["all", "from-join"]
        ).optional()
        return Command(
            "channel.create",
            line: CommandLineForm(
                "channel create", ["name"],
                examples: ["channel create plans", "channel create board --private"]),
            "Create a channel and join it.",
            parameters: [name, description, topic, isPrivate, history, key], result: "channel",
            shape: .changedChannel, effect: .signs, scope: .workspace,
            failures: [.duplicate, .forbidden, .keyReused],
            example: ["name": "plans", "topic": "the next quarter"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.createChannel(
                    ChannelDraft(
                        name: call[name], description: call[description], topic: call[topic],
                        isPrivate: call[isPrivate],
                        history: call[history] ?? (call[isPrivate] ? "from-join" : "all")),
                    call.creatingScope)
            })
    }()

    private static let channelGet = Command(
        "channel.get",
        line: CommandLineForm("channel show", ["channel"], examples: ["channel show general"]),
        "Show one channel.", parameters: [channel], result: "channel", shape: .channel,
        effect: .reads, scope: .conversation, failures: [.notFound, .ambiguous],
        example: ["channel": "#general"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.channel(call[channel], call.scope)
        })

    private static let channelJoin = Command(
        "channel.join",
        line: CommandLineForm("channel join", ["channel"], examples: ["channel join plans"]),
        "Join a public channel. To get into a private one, someone has to add you.",
        parameters: [channel], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation, failures: [.notFound, .ambiguous, .forbidden],
        example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.joinChannel(call[channel], call.scope)
        })

    // MARK: People

    private static let people = Parameter<[MemberReference]>.list(
        of: Parameter.member("members", "Who."), count: 1...100)

    private static let channelLeave = Command(
        "channel.leave",
        line: CommandLineForm("channel leave", ["channel"], examples: ["channel leave plans"]),
        "Leave a channel. You cannot leave the default channel, or one that you own.",
        parameters: [channel], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .defaultChannel, .transferFirst, .forbidden],
        example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.leaveChannel(call[channel], call.scope)
        })

    private static let channelMembers = Command(
        "channel.members",
        line: CommandLineForm("channel members", ["channel"], examples: ["channel members plans"]),
        "List who is in a channel, with their roles in it.",
        parameters: [channel, limit, cursor], result: "list of member", shape: .members,
        emptiness: "no members", effect: .reads, scope: .conversation,
        failures: [.notFound, .ambiguous], example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.channelMembers(call[channel], call.page, call.scope)
        })

    private static let channelAdd = Command(
        "channel.add",
        line: CommandLineForm(
            "channel add", ["channel", "members"], examples: ["channel add plans @Mina @Joon"],
            weight: .unknown),
        "Add people in the workspace to a channel. In a private channel this is what lets them "
            + "read and write; in a public one it gives them no rights.",
        parameters: [channel, people], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation, failures: [.notFound, .ambiguous, .forbidden, .archived],
        example: ["channel": "plans", "members": ["@Mina"]],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.addToChannel(call[people], call[channel], call.scope)
        })

    private static let channelRemove = Command(
        "channel.remove",
        line: CommandLineForm(
            "channel remove", ["channel", "members"], examples: ["channel remove plans @Mina"],
            weight: .unknown),
        "Remove people from a channel. They can still read a public channel, and come back. In a "
            + "private one they cannot read what is written after that. If an admin left a "
            + "private channel, removing them also stops a modified program of theirs from "
            + "adding backdated changes there.",
        parameters: [channel, people], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .forbidden, .defaultChannel, .transferFirst],
        example: ["channel": "plans", "members": ["@Mina"]],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.removeFromChannel(call[people], call[channel], call.scope)
        })
}
