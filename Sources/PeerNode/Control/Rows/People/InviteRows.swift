import WorkspaceModel

extension Command {
    /// Letting people in.
    static let inviteCommands = [
        inviteCreate, inviteList, inviteRevoke, inviteAccept, inviteDecline, requestList,
        requestApprove, requestReject, PolicyCommandTable.get, PolicyCommandTable.set,
    ]

    private static let inviteCreate = {
        let uses = Parameter.integer(
            "uses", "How many people may use it.", 1...Int64(Limits.inviteUsesMax)
        )
        .defaulting(to: 1)
        let expires = Parameter.duration(
            "expires_ms", "How long it works.", 1_000...Int64(Limits.inviteMillisecondsMax)
        ).defaulting(to: 86_400_000).flag("expires")
        let role = Parameter.choice(
            "role", "The role they get. A guest needs a channel.", ["member", "admin", "guest"]
        ).defaulting(to: "member")
        let channels = Parameter<[ChannelReference]>.list(
            of: Parameter.channel("channels", "A channel they are added to."), count: 0...100
        ).flag("channel").defaulting(to: [])
        let approve = Parameter.flag("approve", "An admin has to approve each person who joins.")
        let email = Parameter.text(
            "email",
            "Deliver the link to this address: as a message to someone you know for whom it is "
                + "verified, else by 'mail command'.", bytes: 1...1_024
        ).optional()
        return Command(
            "invite.create",
            line: CommandLineForm(
                "invite create",
                examples: [
                    "invite create", "invite create --uses 5 --expires 7d",
                    "invite create --approve --channel plans",
                    "invite create --role guest --channel board",
                    "invite create --email joon@example.org",
                ], flow: .invite),
            "Create an invite and print its link. On a terminal, show who joins with it.",
            parameters: [uses, expires, role, channels, approve, email, key], result: "invite",
            shape: .madeInvite, effect: .signs, scope: .workspace,
            failures: [.forbidden, .notFound, .archived, .duplicate, .keyReused],
            example: ["uses": 1, "expires_ms": 86_400_000],
            run: .outcome { (call) throws(NodeError) in
                if call[role] == "guest", call[channels].isEmpty {
                    throw NodeError(
                        .badRequest, "a guest needs a channel", hint: "add --channel CHANNEL",
                        reason: "control.bad_param",
                        fields: [NodeError.Field(name: "channels", reason: "missing")])
                }
                let draft = InviteDraft(
                    uses: call[uses], expiresInMilliseconds: call[expires],
                    role: call[role], channels: call[channels], needsApproval: call[approve])
                let scope = call.creatingScope
                if let email = call[email] {
                    return try call.node.proofs.invite(draft, to: email, scope)
                }
                return .reply(try call.node.invites.createInvite(draft, scope))
            })
    }()

    private static let inviteList = Command(
        "invite.list",
        line: CommandLineForm("invite list", examples: ["invite list", "invite list --json"]),
        "List the invites of the workspace.",
        parameters: [limit, cursor], result: "list of invite", shape: .invites,
        emptiness: "no invites", effect: .reads, scope: .workspace, failures: [.forbidden],
        run: .answer { (call) throws(NodeError) in
            try call.node.invites.invites(call.page, call.scope)
        })

    private static let inviteRevoke = {
        let id = Parameter.identifier("id", "The invite.", prefix: "i_")
        return Command(
            "invite.revoke",
            line: CommandLineForm(
                "invite revoke", ["id"], examples: ["invite revoke i_7k3qm2xa"]),
            "Revoke an invite.", parameters: [id], result: "invite", shape: .invites,
            effect: .signs, scope: .workspace, failures: [.notFound, .forbidden],
            example: ["id": "i_7k3qm2xa"],
            run: .answer { (call) throws(NodeError) in
                try call.node.invites.revokeInvite(call[id], call.scope)
            })
    }()

    private static let inviteAccept = joining(
        "invite.accept",
        line: CommandLineForm(
            "invite accept", ["link"], examples: ["invite accept wsx://join/b4qx"]),
        "Join a workspace, as 'join' does, on a node that is running.", [])

    private static let inviteDecline = {
        let link = Parameter.text(
            "link", "The invite link. '-' reads it from standard input.", bytes: 1...512
        ).standardInput()
        return Command(
            "invite.decline",
            line: CommandLineForm(
                "invite decline", ["link"], examples: ["invite decline wsx://join/b4qx…"]),
            "Forget an invite and stop waiting for approval; nobody is told.",
            parameters: [link], result: "declined", effect: .writes, scope: .node,
            failures: [.inviteInvalid], example: ["link": "wsx://join/b4qxexample"], needs: .daemon,
            run: .answer { (call) throws(NodeError) in
                try call.node.invites.declineInvite(call[link], call.scope)
            })
    }()
}
