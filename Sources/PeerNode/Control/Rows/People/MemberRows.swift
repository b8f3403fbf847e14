public import WorkspaceModel

/// What the node does with the members of a workspace.
public protocol MemberCommands {
    /// Current members, or those who were removed.
    func members(removed: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>
    /// One member, or somebody who was removed.
    func member(_ member: MemberReference, _ scope: CallScope) throws(NodeError) -> MemberObject
    /// The devices of members, and which are known to hold the removal of somebody.
    func removalHolders(_ member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> Page<HolderObject>
    /// Gives a member the role `owner`, `admin`, `member` or `guest`.
    func setRole(_ role: String, of member: MemberReference, _ scope: CallScope)
        throws(NodeError) -> MemberObject
    /// Removes somebody, or keeps more of somebody who was.
    func removeMember(_ draft: RemovalDraft, _ scope: CallScope) throws(NodeError)
        -> MemberObject
}

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
            parameters: [removed.definition, limit.definition, cursor.definition],
            result: "list of member", shape: .members, emptiness: "no members", effect: .reads,
            scope: .workspace,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.members.members(
                        removed: given[removed], PageRequest(given), context.scope(given)))
            })
    }()

    private static let memberGet = Command(
        "member.get",
        line: CommandLineForm("member show", ["member"], examples: ["member show @Joon"]),
        "Show one member, or someone who was removed.",
        parameters: [member.definition], result: "member", shape: .member, effect: .reads,
        scope: .workspace,
        failures: [.notFound, .ambiguous],
        example: ["member": "@Joon"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.members.member(given[member], context.scope(given)))
        })

    private static let memberStatus = Command(
        "member.status",
        line: CommandLineForm("member status", ["member"], examples: ["member status @Joon"]),
        "Show which devices are known to have applied a removal.",
        parameters: [member.definition, limit.definition, cursor.definition],
        result: "list of holder", shape: .appliers, effect: .reads, scope: .workspace,
        failures: [.notFound, .ambiguous, .conflict], example: ["member": "@Joon"],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.members.removalHolders(given[member], context.scope(given))
                    .part(PageRequest(given)))
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
            parameters: [member.definition, role.definition], result: "member", shape: .memberRole,
            effect: .signs,
            scope: .workspace,
            failures: [.notFound, .ambiguous, .forbidden],
            example: ["member": "@Joon", "role": "admin"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.members.setRole(
                        given[role], of: given[member], context.scope(given)))
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
            parameters: [
                member.definition, force.definition, recut.definition, keep.definition,
            ],
            result: "member", shape: .removedMember, effect: .signs, scope: .workspace,
            failures: [
                .notFound, .ambiguous, .forbidden, .conflict, .unsynced, .versionMismatch,
            ],
            example: ["member": "@Joon"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.members.removeMember(
                        RemovalDraft(
                            member: given[member], isForced: given[force],
                            widens: given[recut], keptInvites: given[keep]),
                        context.scope(given)))
            })
    }()

    private static let workspaceLeave = Command(
        "workspace.leave",
        line: CommandLineForm(
            "workspace leave", ["workspace"],
            examples: ["workspace leave", "workspace leave acme"], question: .leavesWorkspace),
        "Leave a workspace: the one you name, or the selected one. What you have stays readable.",
        parameters: [workspace.definition], result: "workspace", shape: .leftWorkspace,
        effect: .signs, scope: .workspace,
        failures: [.notFound, .ambiguous, .forbidden, .transferFirst],
        example: ["workspace": "acme"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.workspaces.leaveWorkspace(context.scope(given)))
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
            parameters: [discovery.definition], result: "workspace", shape: .workspaces,
            effect: .signs,
            scope: .workspace, failures: [.forbidden],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.workspaces.changeWorkspaceKey(
                        withDiscovery: given[discovery], context.scope(given)))
            })
    }()
}

/// How somebody is removed.
public struct RemovalDraft: Sendable {
    /// Who.
    public let member: MemberReference
    /// Whether it is done although this node may lack what they wrote.
    public let isForced: Bool
    /// Whether what has arrived since a removal is kept.
    public let widens: Bool
    /// Invites of theirs, `i_…`, that go on as the remover's own.
    public var keptInvites: [String] = []
}

/// A device, and whether it holds something (section 4.0.7).
public struct HolderObject: ControlObject {
    /// `d_…`.
    public let device: String
    /// Whose it is.
    public let member: PersonObject
    /// How many of the operations in question it is known to hold; `nil` of a device that was never
    /// heard of, which scripts read as `"unknown"`.
    public let have: Int64?
    /// Whether that is all of them.
    public let isComplete: Bool
    /// When the device was heard last, milliseconds since 1970: what it holds is known as of then.
    public let at: Int64?
    /// Of a message, whether its person has it: `held` where a device of theirs on which they can
    /// read it does, `waiting` where none is known to, `unknown` where none was ever heard of. The
    /// same in all rows of one person; `nil` of who only carries it.
    public var verdict: String?
    /// Of a message, when its person came into the workspace, milliseconds since 1970.
    public var joinedAt: Int64?

    /// A device that is known to hold `have` operations.
    public init(device: String, member: PersonObject, have: Int64?, isComplete: Bool, at: Int64?) {
        self.device = device
        self.member = member
        self.have = have
        self.isComplete = isComplete
        self.at = at
    }

    /// All fields.
    public var json: JSONValue {
        [
            "device": .string(device), "member": member.json,
            "have": have.map { .integer($0) } ?? "unknown",
            "complete": .bool(isComplete), "at": JSONValue(orNull: at),
            "verdict": JSONValue(orNull: verdict), "joined_at": JSONValue(orNull: joinedAt),
        ]
    }
}
