public import WorkspaceModel

/// The commands for the members of a workspace.
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

/// How a member is removed.
public struct RemovalDraft: Sendable {
    /// Who.
    public let member: MemberReference
    /// Whether it is done although this node may lack what they wrote.
    public let isForced: Bool
    /// Whether what has arrived since a removal is kept.
    public let widens: Bool
    /// The member's invites, `i_…`, that the remover takes over.
    public var keptInvites: [String] = []
}

/// The commands for people who join, and for those who admit them.
public protocol InviteCommands {
    /// Joins by a link. Answers with the workspace after admission and first sync.
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Who may join, and who may invite.
    func policy(_ scope: CallScope) throws(NodeError) -> PolicyObject
    /// Changes what is given of the policy.
    func setPolicy(_ edit: PolicyEdit, _ scope: CallScope) throws(NodeError) -> PolicyObject
    /// Makes an invite.
    func createInvite(_ draft: InviteDraft, _ scope: CallScope) throws(NodeError)
        -> Made<InviteObject>
    /// The invites of the workspace.
    func invites(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<InviteObject>
    /// Ends the invite `id`.
    func revokeInvite(_ id: String, _ scope: CallScope) throws(NodeError) -> InviteObject
    /// Throws an invite away, told to nobody.
    func declineInvite(_ link: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject
    /// The people who have asked to join.
    func requests(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<RequestObject>
    /// Lets in who asked.
    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject
    /// Turns down who asked.
    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject
}
