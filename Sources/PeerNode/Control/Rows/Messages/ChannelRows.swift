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
            parameters: [scope.definition, limit.definition, cursor.definition],
            result: "list of channel", shape: .channels, emptiness: "no channels", effect: .reads,
            scope: .workspace, example: ["scope": "all"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.channels(
                        all: given[scope] == "all", PageRequest(given), context.scope(given)))
            })
    }()

    private static let channelFind = {
        let text = Parameter.text("text", "Part of a name, topic or description.", bytes: 1...256)
        return Command(
            "channel.find",
            line: CommandLineForm("channel find", ["text"], examples: ["channel find plan"]),
            "Find channels, including those you are not in.",
            parameters: [text.definition, limit.definition, cursor.definition],
            result: "list of channel", shape: .channels, emptiness: "no channels", effect: .reads,
            scope: .workspace, example: ["text": "plan"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.findChannels(
                        given[text], PageRequest(given), context.scope(given)))
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
            parameters: [
                name.definition, description.definition, topic.definition, isPrivate.definition,
                history.definition, key.definition,
            ],
            result: "channel", shape: .changedChannel, effect: .signs, scope: .workspace,
            failures: [.duplicate, .forbidden, .keyReused],
            example: ["name": "plans", "topic": "the next quarter"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.createChannel(
                        ChannelDraft(
                            name: given[name], description: given[description],
                            topic: given[topic], isPrivate: given[isPrivate],
                            history: given[history]
                                ?? (given[isPrivate] ? "from-join" : "all")),
                        context.scope(creating: "channel.create", given)))
            })
    }()

    private static let channelGet = Command(
        "channel.get",
        line: CommandLineForm("channel show", ["channel"], examples: ["channel show general"]),
        "Show one channel.", parameters: [channel.definition], result: "channel", shape: .channel,
        effect: .reads,
        scope: .conversation,
        failures: [.notFound, .ambiguous], example: ["channel": "#general"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.channels.channel(given[channel], context.scope(given)))
        })

    private static let channelJoin = Command(
        "channel.join",
        line: CommandLineForm("channel join", ["channel"], examples: ["channel join plans"]),
        "Join a public channel. To get into a private one, someone has to add you.",
        parameters: [channel.definition], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .forbidden], example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.channels.joinChannel(given[channel], context.scope(given)))
        })

    // MARK: People

    private static let people = Parameter<[MemberReference]>.list(
        of: Parameter.member("members", "Who."), count: 1...100)

    private static let channelLeave = Command(
        "channel.leave",
        line: CommandLineForm("channel leave", ["channel"], examples: ["channel leave plans"]),
        "Leave a channel. You cannot leave the default channel, or one that you own.",
        parameters: [channel.definition], result: "channel", shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .defaultChannel, .transferFirst, .forbidden],
        example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.channels.leaveChannel(given[channel], context.scope(given)))
        })

    private static let channelMembers = Command(
        "channel.members",
        line: CommandLineForm("channel members", ["channel"], examples: ["channel members plans"]),
        "List who is in a channel, with their roles in it.",
        parameters: [channel.definition, limit.definition, cursor.definition],
        result: "list of member", shape: .members, emptiness: "no members", effect: .reads,
        scope: .conversation,
        failures: [.notFound, .ambiguous],
        example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.channels.channelMembers(
                    given[channel], PageRequest(given), context.scope(given)))
        })

    private static let channelAdd = Command(
        "channel.add",
        line: CommandLineForm(
            "channel add", ["channel", "members"], examples: ["channel add plans @Mina @Joon"],
            weight: .unknown),
        "Add people in the workspace to a channel. In a private channel this is what lets them "
            + "read and write; in a public one it gives them no rights.",
        parameters: [channel.definition, people.definition], result: "channel",
        shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .forbidden, .archived],
        example: ["channel": "plans", "members": ["@Mina"]],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.channels.addToChannel(
                    given[people], given[channel], context.scope(given)))
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
        parameters: [channel.definition, people.definition], result: "channel",
        shape: .changedChannel, effect: .signs,
        scope: .conversation,
        failures: [.notFound, .ambiguous, .forbidden, .defaultChannel, .transferFirst],
        example: ["channel": "plans", "members": ["@Mina"]],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.channels.removeFromChannel(
                    given[people], given[channel], context.scope(given)))
        })
}
