import WorkspaceModel

extension Command {
    /// Everything for a first screen.
    static let homeCommands = [homeGet]

    private static let homeGet = Command(
        "home.get",
        """
        Give what a first screen shows, all of one moment: identity, workspaces, and the channels \
        and conversations of one workspace with what was not read. Of channels and of conversations \
        as many as `limit` says; the next ones by `cursor`.
        """,
        parameters: [limit.definition, cursor.definition], result: "home",
        failures: [.notFound, .locked], needs: .daemon,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.home(PageRequest(given), context.scope(given)))
        })
}
