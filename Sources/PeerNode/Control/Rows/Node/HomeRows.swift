import WorkspaceModel

extension Command {
    /// Everything for a first screen.
    static let homeCommands = [homeGet]

    private static let homeGet = Command(
        "home.get",
        """
        Return what a start screen shows, all from the same moment. That is your identity, your \
        workspaces, and the channels and direct messages of one workspace with what is unread: at \
        most `limit` channels and `limit` direct messages; `cursor` gets the next ones. \
        `backup_due` says that it is time for a backup, and `new_devices` what others have added to \
        their devices in the last three days.
        """,
        parameters: [limit, cursor], result: "home", effect: .reads, scope: .node,
        failures: [.notFound, .locked], needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.home.home(call.page, call.scope) })
}
