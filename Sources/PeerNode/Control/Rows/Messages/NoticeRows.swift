import WorkspaceModel

/// The commands that choose what you are notified about, and how this machine does it.
enum NoticeCommandTable {
    /// In the order of the documentation.
    static let commands = [notifyGet, notifySet, notifyCommand]

    private static let notifyGet = Command(
        "notify.get", line: CommandLineForm("notify show", examples: ["notify show"]),
        "Show what you are notified about, and what this node runs for it.",
        result: "notice", shape: .notice, effect: .reads, scope: .workspace,
        failures: [.notFound],
        run: .answer { (call) throws(NodeError) in try call.node.notices.notices(call.scope) })

    private static let notifySet = {
        let level = Parameter.choice(
            "level", "Which messages: all, mentions and direct messages, or none.",
            ["all", "mentions", "none"])
        return Command(
            "notify.set",
            line: CommandLineForm("notify set", ["level"], examples: ["notify set mentions"]),
            "Choose what you are notified about in a workspace. Holds on all your devices.",
            parameters: [level], result: "notice", shape: .notice, effect: .signs,
            scope: .workspace,
            failures: [.notFound, .forbidden], example: ["level": "mentions"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notices.setNotices(call[level], call.scope)
            })
    }()

    private static let notifyCommand = {
        let command = Parameter.text(
            "command",
            """
            The shell command to run, with the message on standard input. Empty removes it. Left \
            out, the current one is shown.
            """, bytes: 0...Limits.noticeCommandBytesMax
        ).optional().writing()
        return Command(
            "notify.command",
            line: CommandLineForm(
                "notify command", ["command"],
                examples: [
                    "notify command 'notify-send -- \"$WSX_AUTHOR\" \"$WSX_TEXT\"'",
                    "notify command ''",
                ]),
            "Make this node run a command for each notification.",
            parameters: [command], result: "notice command", shape: .notice,
            effect: .reads, scope: .node,
            example: ["command": "exit 0"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notices.setNoticeCommand(call[command], call.scope)
            })
    }()
}
