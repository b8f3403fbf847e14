import WorkspaceModel

extension Command {
    /// Of what one wants to be told, and how this machine tells it.
    static let noticeCommands = [notifyGet, notifySet, notifyCommand]

    private static let notifyGet = Command(
        "notify.get", line: CommandLineForm("notify show", examples: ["notify show"]),
        "Show of which messages notice is wanted, and what this node runs for each.",
        result: "notice", failures: [.notFound],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.notices(context.scope(given)))
        })

    private static let notifySet = {
        let level = Parameter.choice(
            "level", "Of which messages: all, those that mention one and direct ones, or none.",
            ["all", "mentions", "none"])
        return Command(
            "notify.set",
            line: CommandLineForm("notify set", ["level"], examples: ["notify set mentions"]),
            "Say of which messages of a workspace notice is wanted, on all of one's devices.",
            parameters: [level.definition], result: "notice", failures: [.notFound, .forbidden],
            example: ["level": "mentions"],
            run: { (context, given) throws(NodeError) in
                .reply(try context.node.setNotices(given[level], context.scope(given)))
            })
    }()

    private static let notifyCommand = {
        let command = Parameter.text(
            "command",
            """
            What the shell runs for each notice, with the message on standard input; empty for \
            nothing, left out to look.
            """, bytes: 0...Limits.noticeCommandBytesMax
        ).optional()
        return Command(
            "notify.command",
            line: CommandLineForm(
                "notify command", ["command"],
                examples: [
                    "notify command 'notify-send -- \"$WSX_AUTHOR\" \"$WSX_TEXT\"'",
                    "notify command ''",
                ]),
            "Have this node run a command for each message of which notice is wanted.",
            parameters: [command.definition], result: "notice command",
            example: ["command": "exit 0"],
            run: { (context, given) throws(NodeError) in
                .reply(try context.node.setNoticeCommand(given[command], context.scope(given)))
            })
    }()
}
