import WorkspaceModel

extension Command {
    static let requestList = Command(
        "join.requests", line: CommandLineForm("request list", examples: ["request list"]),
        "List who is asking to join.",
        parameters: [limit, cursor], result: "list of request", shape: .requests,
        emptiness: "no requests", effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in
            try call.node.invites.requests(call.page, call.scope)
        })

    static let requestApprove = deciding(
        "join.approve", "request approve", "Approve a request to join, even while they are offline."
    ) { (invites, id, scope) throws(NodeError) in try invites.approveRequest(id, scope) }

    static let requestReject = deciding(
        "join.reject", "request reject", "Reject a request to join."
    ) { (invites, id, scope) throws(NodeError) in try invites.rejectRequest(id, scope) }

    private static func deciding(
        _ method: String, _ words: String, _ summary: String,
        _ decide:
            @escaping @Sendable (any InviteCommands, String, CallScope) throws(NodeError)
            -> RequestObject
    ) -> Command {
        let id = Parameter.identifier("id", "The request.", prefix: "r_")
        return Command(
            method,
            line: CommandLineForm(
                words, ["id"], examples: ["\(words) r_7k3qm2xa"], weight: .unknown),
            summary, parameters: [id], result: "request", shape: .requests, effect: .signs,
            scope: .workspace, failures: [.notFound, .forbidden, .conflict],
            example: ["id": "r_7k3qm2xa"],
            run: .answer { (call) throws(NodeError) in
                try decide(call.node.invites, call[id], call.scope)
            })
    }
}

/// The commands about a workspace's policy.
enum PolicyCommandTable {
    static let get = Command(
        "policy.get", line: CommandLineForm("policy show", examples: ["policy show"]),
        "Show who may join, invite and verify, and how many files are allowed.",
        result: "policy", shape: .policy, effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in try call.node.invites.policy(call.scope) })

    static let set = {
        let right = Parameter.choice(
            "who_may_invite", "Who may create invites.", ["owner", "admins", "members"]
        ).optional()
        let attesting = Parameter.choice(
            "who_may_attest", "Who may verify the addresses of others.",
            ["owner", "admins", "members"]
        ).optional()
        let join = Parameter.choice(
            "join", "What the workspace's address lets people do: nothing, ask to join, or join.",
            ["closed", "request", "open"]
        ).optional()
        let attachments = Parameter.integer(
            "attachments", "How many files a message may have.",
            1...Int64(Limits.filesPerMessageMax)
        ).optional()
        let setting = Parameter.choice(
            "setting", "The setting to change, instead of its flag.",
            ["who_may_invite", "who_may_attest", "join", "attachments"]
        ).optional().local()
        let value = Parameter.text("value", "The new value.", bytes: 1...64).optional().local()
        return Command(
            "policy.set",
            line: CommandLineForm(
                "policy set", ["setting", "value"],
                examples: [
                    "policy set join request", "policy set who_may_invite members",
                    "policy set who_may_attest members",
                    "policy set --join open --who-may-invite admins", "policy set attachments 20",
                ]),
            "Change who may join, invite or verify, or how many files are allowed.",
            parameters: [setting, value, right, attesting, join, attachments], result: "policy",
            shape: .policy, effect: .signs, scope: .workspace, failures: [.forbidden],
            example: ["join": "request"],
            run: .answer { (call) throws(NodeError) in
                try call.node.invites.setPolicy(
                    PolicyEdit(
                        whoMayInvite: call[right], whoMayAttest: call[attesting], join: call[join],
                        attachments: call[attachments]), call.scope)
            })
    }()
}
