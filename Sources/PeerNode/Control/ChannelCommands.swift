import WorkspaceModel

extension Command {
    /// Making, finding and joining channels.
    static let channelCommands = [channelList, channelCreate, channelGet, channelJoin]

    private static let channelList = {
        let scope = Parameter.choice(
            "scope", "Those one is in, or all one may see.", ["mine", "all"]
        ).defaulting(to: "mine").flag("all").standing(for: "all")
        return Command(
            "channel.list",
            line: CommandLineForm("channel list", examples: ["channel list --all"]),
            "List channels.",
            parameters: [scope.definition, limit.definition, cursor.definition],
            result: "list of channel", example: ["scope": "all"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels(
                        all: given[scope] == "all", PageRequest(given), context.scope(given)))
            })
    }()

    private static let channelCreate = {
        let name = Parameter.name("name", "The name of the channel.")
        let description = Parameter.text("description", "What it is for.", bytes: 0...1_024)
            .optional()
        let topic = Parameter.text("topic", "What it is about now.", bytes: 0...1_024).optional()
        let isPrivate = Parameter.flag("private", "Only those who are added see it.")
        return Command(
            "channel.create",
            line: CommandLineForm(
                "channel create", ["name"],
                examples: ["channel create plans", "channel create board --private"]),
            "Make a channel and join it.",
            parameters: [
                name.definition, description.definition, topic.definition, isPrivate.definition,
                key.definition,
            ],
            result: "channel", failures: [.duplicate, .forbidden, .keyReused],
            example: ["name": "plans", "topic": "the next quarter"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.createChannel(
                        ChannelDraft(
                            name: given[name], description: given[description],
                            topic: given[topic], isPrivate: given[isPrivate]),
                        context.scope(creating: "channel.create", given)))
            })
    }()

    private static let channelGet = Command(
        "channel.get",
        line: CommandLineForm("channel show", ["channel"], examples: ["channel show general"]),
        "Show one channel.", parameters: [channel.definition], result: "channel",
        failures: [.notFound, .ambiguous], example: ["channel": "#general"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.channel(given[channel], context.scope(given)))
        })

    private static let channelJoin = Command(
        "channel.join",
        line: CommandLineForm("channel join", ["channel"], examples: ["channel join plans"]),
        "Join a public channel.", parameters: [channel.definition], result: "channel",
        failures: [.notFound, .ambiguous, .forbidden], example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.joinChannel(given[channel], context.scope(given)))
        })
}
