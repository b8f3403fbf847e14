import WorkspaceModel

extension Command {
    /// Making, choosing and joining workspaces.
    static let workspaceCommands = [
        workspaceCreate, workspaceList, workspaceGet, workspaceSelect, workspaceJoin,
    ]

    private static let workspaceCreate = {
        let name = Parameter.name("name", "The name of the workspace.")
        let description = Parameter.text("description", "What it is for.", bytes: 0...1_024)
            .optional()
        let firstChannel = Parameter.name("first_channel", "The channel that everybody is in.")
            .defaulting(to: "general")
        return Command(
            "workspace.create",
            line: CommandLineForm(
                "workspace create", ["name"], examples: ["workspace create acme"]),
            "Make a workspace and select it.",
            parameters: [
                name.definition, description.definition, firstChannel.definition, key.definition,
            ],
            result: "workspace", failures: [.duplicate, .keyReused], example: ["name": "acme"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.createWorkspace(
                        WorkspaceDraft(
                            name: given[name], description: given[description],
                            firstChannel: given[firstChannel]),
                        context.scope(creating: "workspace.create", given)))
            })
    }()

    private static let workspaceList = Command(
        "workspace.list", line: CommandLineForm("workspace list"),
        "List the workspaces of this home.",
        parameters: [limit.definition, cursor.definition], result: "list of workspace",
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.workspaces(PageRequest(given), context.scope(given)))
        })

    private static let workspaceGet = Command(
        "workspace.get", line: CommandLineForm("workspace show", ["workspace"]),
        "Show one workspace, without a name the selected one.",
        parameters: [workspace.definition], result: "workspace",
        failures: [.notFound, .ambiguous], example: ["workspace": "acme"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.workspace(context.scope(given)))
        })

    private static let workspaceSelect = {
        let workspace = Parameter.workspace("workspace", "The workspace to act in from now on.")
        return Command(
            "workspace.select",
            line: CommandLineForm("workspace use", ["workspace"], examples: ["workspace use acme"]),
            "Select the workspace in which commands act that name none.",
            parameters: [workspace.definition], result: "workspace",
            failures: [.notFound, .ambiguous], example: ["workspace": "acme"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.selectWorkspace(given[workspace], context.scope(given)))
            })
    }()

    private static let workspaceJoin = {
        let link = Parameter.text(
            "link", "The link of an invite, 'wsx://join/…'. '-' reads it from standard input.",
            bytes: 1...512
        ).standardInput()
        let name = Parameter.name("name", "The name of a new identity, where there is none.")
            .optional()
        let timeout = Parameter.duration(
            "timeout_ms", "How long to look for somebody who may admit.", 1_000...600_000
        ).defaulting(to: 30_000).flag("timeout")
        return Command(
            "workspace.join",
            line: CommandLineForm(
                "join", ["link"], examples: ["join wsx://join/b4qx… --name Joon"]),
            "Join a workspace by an invite; done after the first sync.",
            parameters: [
                link.definition, name.definition, timeout.definition, noRecovery.definition,
                key.definition,
            ] + startParameters,
            result: "workspace",
            failures: [.inviteInvalid, .inviteExpired, .inviteUsed, .pending, .unreachable],
            example: ["link": "wsx://join/b4qxexample", "name": "Joon"], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                try context.node.joinWorkspace(
                    JoinDraft(
                        link: given[link], name: given[name], timeoutMilliseconds: given[timeout],
                        hasRecovery: !given[noRecovery]),
                    context.scope(creating: "workspace.join", given))
            })
    }()
}
