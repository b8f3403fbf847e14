import WorkspaceModel

/// What is to be changed of a policy; what is `nil` stays.
public struct PolicyDraft: Sendable {
    /// Who may invite: `owner`, `admins` or `members`.
    public let mayInvite: String?
    /// Who may verify addresses, likewise.
    public let mayAttest: String?
    /// What the address lets people do: `closed`, `request` or `open`.
    public let join: String?
}

extension Command {
    static let requestList = Command(
        "join.requests", line: CommandLineForm("request list", examples: ["request list"]),
        "List who is asking to join.",
        parameters: [limit.definition, cursor.definition], result: "list of request",
        shape: .requests, emptiness: "no requests",
        effect: .reads, scope: .workspace,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.requests(PageRequest(given), context.scope(given)))
        })

    static let requestApprove = deciding(
        "join.approve", "request approve", "Approve a request to join, even while they are offline."
    ) { (node, id, scope) throws(NodeError) in try node.approveRequest(id, scope) }

    static let requestReject = deciding(
        "join.reject", "request reject", "Reject a request to join."
    ) { (node, id, scope) throws(NodeError) in try node.rejectRequest(id, scope) }

    private static func deciding(
        _ method: String, _ words: String, _ summary: String,
        _ decide:
            @escaping @Sendable (any NodeCommands, String, CallScope) throws(NodeError)
            -> RequestObject
    ) -> Command {
        let id = Parameter.identifier("id", "The request.", prefix: "r_")
        return Command(
            method,
            line: CommandLineForm(
                words, ["id"], examples: ["\(words) r_7k3qm2xa"], weight: .unknown),
            summary, parameters: [id.definition], result: "request", shape: .requests,
            effect: .signs,
            scope: .workspace,
            failures: [.notFound, .forbidden, .conflict], example: ["id": "r_7k3qm2xa"],
            run: { (context, given) throws(NodeError) in
                .reply(try decide(context.node, given[id], context.scope(given)))
            })
    }

    static let policyGet = Command(
        "policy.get", line: CommandLineForm("policy show", examples: ["policy show"]),
        "Show who may join, invite, and verify addresses.", result: "policy", effect: .reads,
        scope: .workspace,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.policy(context.scope(given)))
        })

    static let policySet = {
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
        let setting = Parameter.choice(
            "setting", "The setting to change, instead of its flag.",
            ["who_may_invite", "who_may_attest", "join"]
        ).optional().local()
        let value = Parameter.choice(
            "value", "The new value.",
            ["owner", "admins", "members", "closed", "request", "open"]
        ).optional().local()
        return Command(
            "policy.set",
            line: CommandLineForm(
                "policy set", ["setting", "value"],
                examples: [
                    "policy set join request", "policy set who_may_invite members",
                    "policy set who_may_attest members",
                    "policy set --join open --who-may-invite admins",
                ]),
            "Change who may join, invite, and verify addresses.",
            parameters: [
                setting.definition, value.definition, right.definition, attesting.definition,
                join.definition,
            ], result: "policy", effect: .signs, scope: .workspace,
            failures: [.forbidden], example: ["join": "request"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.setPolicy(
                        PolicyDraft(
                            mayInvite: given[right], mayAttest: given[attesting],
                            join: given[join]), context.scope(given)))
            })
    }()
}
