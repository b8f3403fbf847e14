import WorkspaceModel

extension Command {
    /// Direct conversations. Everything else about them is done with the commands for channels,
    /// which take `@Mina` wherever they take a channel.
    static let directMessageCommands = [directOpen, directList]

    private static let directOpen = {
        let people = Parameter<[MemberReference]>.list(
            of: Parameter.member("members", "The other people; you are always in it."),
            count: 1...Limits.directPeopleMax)
        return Command(
            "dm.open",
            line: CommandLineForm(
                "dm open", ["members"], examples: ["dm open @Mina", "dm open @Mina @Joon"]),
            "Open a direct message with these people, or find the existing one. "
                + "Nobody else sees it, and the people in it never change.",
            parameters: [people], result: "channel", shape: .directs, effect: .signs,
            scope: .workspace, failures: [.notFound, .ambiguous, .forbidden],
            example: ["members": ["@Mina"]],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.openDirect(call[people], call.scope)
            })
    }()

    private static let directList = Command(
        "dm.list", line: CommandLineForm("dm list", examples: ["dm list"]),
        "List your direct messages, the latest conversation first.",
        parameters: [limit, cursor], result: "list of channel", shape: .directs,
        emptiness: "no direct messages", effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.directs(call.page, call.scope)
        })
}
