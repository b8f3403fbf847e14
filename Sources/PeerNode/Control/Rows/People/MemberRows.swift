import WorkspaceModel

extension Command {
    /// Seeing who is in, and changing who may do what.
    static let memberCommands = [
        memberList, memberGet, memberStatus, memberRole, memberRemove, workspaceLeave,
        workspaceRekey,
    ]

    private static let member = Parameter.member("member", "Who: '@Mina', or an id.")

    private static let memberList = {
        let removed = Parameter.flag("removed", "List people who were removed instead.")
        return Command(
            "member.list",
            line: CommandLineForm(
                "member list", examples: ["member list", "member list --removed"]),
            "List the members.",
            parameters: [removed, limit, cursor], result: "list of member", shape: .members,
            emptiness: "no members", effect: .reads, scope: .workspace,
            run: .answer { (call) throws(NodeError) in
                try call.node.members.members(removed: call[removed], call.page, call.scope)
            })
    }()

    private static let memberGet = Command(
        "member.get",
        line: CommandLineForm("member show", ["member"], examples: ["member show @Joon"]),
        "Show one member, or someone who was removed.",
        parameters: [member], result: "member", shape: .member, effect: .reads, scope: .workspace,
        failures: [.notFound, .ambiguous], example: ["member": "@Joon"],
        run: .answer { (call) throws(NodeError) in
            try call.node.members.member(call[member], call.scope)
        })

    private static let memberStatus = Command(
        "member.status",
        line: CommandLineForm("member status", ["member"], examples: ["member status @Joon"]),
        "Show which devices are known to have applied a removal.",
        parameters: [member, limit, cursor], result: "list of holder", shape: .appliers,
        effect: .reads, scope: .workspace, failures: [.notFound, .ambiguous, .conflict],
        example: ["member": "@Joon"],
        run: .answer { (call) throws(NodeError) in
            try call.node.members.removalHolders(call[member], call.scope).part(call.page)
        })

    private static let memberRole = {
        let role = Parameter.choice(
            "role", "The new role. To make someone the owner, use 'workspace transfer'.",
            ["admin", "member", "guest"]
        ).hinting("to change the owner: wsx-node workspace transfer @U")
        return Command(
            "member.role",
            line: CommandLineForm(
                "member role", ["member", "role"], examples: ["member role @Joon admin"],
                weight: .admins),
            "Change a member's role.",
            parameters: [member, role], result: "member", shape: .memberRole, effect: .signs,
            scope: .workspace, failures: [.notFound, .ambiguous, .forbidden],
            example: ["member": "@Joon", "role": "admin"],
            run: .answer { (call) throws(NodeError) in
                try call.node.members.setRole(call[role], of: call[member], call.scope)
            })
    }()

    private static let memberRemove = {
        let force = Parameter.flag(
            "force",
            "Remove them even if this node may not have all that they wrote, or if that undoes "
                + "what they turned on for newer versions of wsx-node.")
        let recut = Parameter.flag(
            "recut",
            "For someone already removed: also keep what others have passed on from them since. "
                + "What only their devices have cannot be fetched: nothing they send is accepted.")
        let keep = Parameter<[String]>.list(
            of: Parameter.identifier(
                "keep_invites",
                "An open invite of theirs to keep, as one of yours; all others end.",
                prefix: "i_"), count: 0...100
        ).flag("keep-invite").defaulting(to: [])
        return Command(
            "member.remove",
            line: CommandLineForm(
                "member remove", ["member"],
                examples: [
                    "member remove @Joon", "member remove @Joon --keep-invite i_7k3qm2xa",
                    "member remove @Joon --recut",
                ], question: .removesMember, weight: .admins),
            "Remove someone from the workspace. What this node has from them stays; anything "
                + "else from them is rejected.",
            parameters: [member, force, recut, keep], result: "member", shape: .removedMember,
            effect: .signs, scope: .workspace,
            failures: [.notFound, .ambiguous, .forbidden, .conflict, .unsynced, .versionMismatch],
            example: ["member": "@Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.members.removeMember(
                    RemovalDraft(
                        member: call[member], isForced: call[force], widens: call[recut],
                        keptInvites: call[keep]), call.scope)
            })
    }()

    private static let workspaceLeave = Command(
        "workspace.leave",
        line: CommandLineForm(
            "workspace leave", ["workspace"],
            examples: ["workspace leave", "workspace leave acme"], question: .leavesWorkspace),
        "Leave a workspace: the one you name, or the selected one. What you have stays readable.",
        parameters: [workspace], result: "workspace", shape: .leftWorkspace, effect: .signs,
        scope: .workspace, failures: [.notFound, .ambiguous, .forbidden, .transferFirst],
        example: ["workspace": "acme"],
        run: .answer { (call) throws(NodeError) in
            try call.node.workspaces.leaveWorkspace(call.scope)
        })

    private static let workspaceRekey = {
        let discovery = Parameter.flag(
            "discovery",
            "Also change the secret that members use to find and reach each other. Old ones stay "
                + "accepted, and are tried after the newest.")
        return Command(
            "workspace.rekey",
            line: CommandLineForm(
                "workspace rekey", examples: ["workspace rekey", "workspace rekey --discovery"]),
            "Change the key that encrypts contents and names from now on.",
            parameters: [discovery], result: "workspace", shape: .workspaces, effect: .signs,
            scope: .workspace, failures: [.forbidden],
            run: .answer { (call) throws(NodeError) in
                try call.node.workspaces.changeWorkspaceKey(
                    withDiscovery: call[discovery], call.scope)
            })
    }()
}
