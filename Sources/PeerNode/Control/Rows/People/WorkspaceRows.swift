import WorkspaceModel

extension Command {
    /// Making, choosing and joining workspaces.
    static let workspaceCommands = [
        workspaceCreate, workspaceList, workspaceGet, workspaceSelect, workspaceJoin,
        workspaceEdit, workspaceTransfer, workspaceSuccessor, workspaceDelete, workspaceForget,
    ]

    /// A picture of something: of a workspace or a channel.
    static let image = Parameter.text(
        "image",
        "A PNG, JPEG, GIF or WebP file of at most 1 MiB, or a preset such as 'preset:7'; empty for none. "
            + "On the socket, an id from 'blob.add' with 'picture'.", bytes: 0...4_096
    ).optional().picture(for: "image")

    private static let workspaceCreate = {
        let name = Parameter.name("name", "The name of the workspace.")
        let description = Parameter.text("description", "What it is for.", bytes: 0...1_024)
            .optional()
        let firstChannel = Parameter.name("first_channel", "The channel that everybody is in.")
            .defaulting(to: "general")
        let paidFrom = Parameter.text(
            "paid_from",
            "Spend what this ledger asks for a workspace: its name or id, in any workspace of "
                + "yours. Members who trust its issuer see that it is paid.",
            bytes: 1...Limits.ledgerTextBytesMax
        ).optional()
        return Command(
            "workspace.create",
            line: CommandLineForm(
                "workspace create", ["name"],
                examples: [
                    "workspace create acme", "workspace create acme --image logo.png",
                    "workspace create acme --paid-from coins",
                ],
                flow: .makeWorkspace),
            "Create a workspace and select it.",
            parameters: [name, description, image, firstChannel, paidFrom, key],
            result: "workspace", shape: .workspaces, effect: .signs, scope: .node,
            failures: [
                .duplicate, .keyReused, .insufficientCoins, .conflict, .badRequest, .notFound,
                .tooLarge, .ambiguous, .forbidden, .tooMany,
            ],
            example: ["name": "acme"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.createWorkspace(
                    WorkspaceDraft(
                        name: call[name], description: call[description],
                        firstChannel: call[firstChannel], paidFrom: call[paidFrom],
                        image: call[image]), call.creatingScope)
            })
    }()

    private static let workspaceList = Command(
        "workspace.list", line: CommandLineForm("workspace list", examples: ["workspace list"]),
        "List the workspaces of this home.",
        parameters: [limit, cursor], result: "list of workspace", shape: .workspaces,
        emptiness: "no workspaces", effect: .reads, scope: .node,
        run: .answer { (call) throws(NodeError) in
            try call.node.workspaces.workspaces(call.page, call.scope)
        })

    private static let workspaceGet = {
        let counted = Parameter.flag("counted", "Also count its messages.")
        return Command(
            "workspace.get",
            line: CommandLineForm(
                "workspace show", ["workspace"],
                examples: ["workspace show", "workspace show acme"]),
            "Show a workspace: the one you name, or the selected one.",
            parameters: [workspace, counted], result: "workspace", shape: .workspace,
            effect: .reads, scope: .workspace, failures: [.notFound, .ambiguous],
            example: ["workspace": "acme"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.workspace(counted: call[counted], call.scope)
            })
    }()

    private static let workspaceSelect = {
        let workspace = Parameter.workspace("workspace", "The workspace to act in from now on.")
        return Command(
            "workspace.select",
            line: CommandLineForm("workspace use", ["workspace"], examples: ["workspace use acme"]),
            "Select the workspace that commands act in by default.",
            parameters: [workspace], result: "workspace", shape: .workspaces, effect: .writes,
            scope: .node, failures: [.notFound, .ambiguous], example: ["workspace": "acme"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.selectWorkspace(call[workspace], call.scope)
            })
    }()

    static let workspaceJoin = joining(
        "workspace.join",
        line: CommandLineForm(
            "join", ["link"], examples: ["join wsx://join/b4qx… --name Joon"], flow: .join),
        "Join a workspace with an invite or address. Done after the first sync.",
        passphraseSources + startParameters)

    /// The same call under both its names.
    static func joining(
        _ method: String, line: CommandLineForm, _ summary: String,
        _ more: [any ListedParameter]
    ) -> Command {
        let link = Parameter.text(
            "link", "The invite link, 'wsx://join/…'. '-' reads it from standard input.",
            bytes: 1...512
        ).standardInput()
        let name = Parameter.name("name", "A name for the new identity, if there is none yet.")
            .optional()
        let timeout = Parameter.duration(
            "timeout_ms", "How long to look for someone who can let you in.", 1_000...600_000
        ).defaulting(to: 30_000).flag("timeout")
        return Command(
            method, line: line, summary,
            parameters: [link, name, timeout, noRecovery, key] + more, result: "workspace",
            shape: .workspaces, effect: .signs, scope: .node,
            failures: [.inviteInvalid, .inviteExpired, .inviteUsed, .pending, .unreachable],
            example: ["link": "wsx://join/b4qxexample", "name": "Joon"], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.invites.joinWorkspace(
                    JoinDraft(
                        link: call[link], name: call[name], timeoutMilliseconds: call[timeout],
                        hasRecovery: !call[noRecovery]), call.creatingScope)
            })
    }

    private static let workspaceEdit = {
        let name = Parameter.name("name", "The new name.").optional()
        let description = Parameter.text(
            "description", "What it is for; empty clears it.", bytes: 0...1_024
        ).optional()
        return Command(
            "workspace.edit",
            line: CommandLineForm("workspace edit", examples: ["workspace edit --name acme2"]),
            "Change the name, description or picture of the workspace.",
            parameters: [name, description, image], result: "workspace", shape: .workspaces,
            effect: .signs, scope: .workspace,
            failures: [.forbidden, .duplicate, .badRequest, .notFound, .tooLarge],
            example: ["name": "acme2"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.editWorkspace(
                    WorkspaceEdit(
                        name: call[name], description: call[description], image: call[image]),
                    call.scope)
            })
    }()

    private static let workspaceTransfer = {
        let member = Parameter.member("member", "The new owner.").asked("to whom?")
        return Command(
            "workspace.transfer",
            line: CommandLineForm(
                "workspace transfer", ["member"], examples: ["workspace transfer @Joon"],
                question: .transfersWorkspace, weight: .owners),
            "Make another member the owner. You stay as an admin; your open invites end.",
            parameters: [member], result: "workspace", shape: .workspaces, effect: .signs,
            scope: .workspace, failures: [.forbidden, .unknownUser, .ambiguous],
            example: ["member": "Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.transferWorkspace(to: call[member], call.scope)
            })
    }()

    private static let workspaceSuccessor = {
        let member = Parameter.member(
            "member", "Who gets the workspace when you leave; 'none', or no name, for nobody."
        ).optional()
        return Command(
            "workspace.successor.set",
            line: CommandLineForm(
                "workspace successor", ["member"],
                examples: ["workspace successor @Joon", "workspace successor none"], weight: .owners
            ),
            "Name who gets the workspace when its owner leaves.",
            parameters: [member], result: "workspace", shape: .successor, effect: .signs,
            scope: .workspace, failures: [.forbidden, .unknownUser, .ambiguous],
            example: ["member": "Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.setSuccessor(call[member], call.scope)
            })
    }()

    private static let workspaceDelete = {
        let name = Parameter.text(
            "name", "The exact name of the workspace, to confirm.",
            bytes: 1...Limits.nameBytesMax
        ).called("workspace")
        return Command(
            "workspace.delete",
            line: CommandLineForm(
                "workspace delete", ["name"], examples: ["workspace delete acme"],
                question: .deletesWorkspace),
            "Delete the workspace for all its members. This cannot be undone.",
            parameters: [name], result: "workspace", shape: .workspace, effect: .signs,
            scope: .workspace, failures: [.forbidden], example: ["name": "acme"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.deleteWorkspace(name: call[name], call.scope)
            })
    }()

    private static let workspaceForget = {
        let workspace = Parameter.workspace("workspace", "Which one to remove: a name or an id.")
        let force = Parameter.flag("force", "Even if nobody else knows yet that you left.")
        return Command(
            "workspace.forget",
            line: CommandLineForm(
                "workspace forget", ["workspace"], examples: ["workspace forget acme"],
                question: .forgetsWorkspace),
            "Remove a workspace that you left, and its data, from this device.",
            parameters: [workspace, force], result: "workspace", shape: .forgottenWorkspace,
            effect: .signs, scope: .node, failures: [.notFound, .ambiguous, .conflict, .unsynced],
            example: ["workspace": "acme"],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.forgetWorkspace(
                    call[workspace], isForced: call[force], call.scope)
            })
    }()
}
