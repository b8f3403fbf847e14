public import WorkspaceModel

/// The result of the operations about one channel.
public struct ChannelRuling: Hashable, Sendable {
    /// The operation that made the channel.
    public let creation: OperationID
    /// The owner: the creator until a transfer. The owner may have left the workspace.
    public let owner: MemberID
    /// Who may, besides the owner, edit it and add and remove people, ascending.
    public let admins: [MemberID]
    /// The last operation that determined owner and roles: a new operation about the channel cites
    /// it in order to count. It determines the whole chain, since each link names the one before
    /// it.
    public let lastLink: OperationID
    /// The deletion that counts; the first in (lam, rank, id) of several.
    public internal(set) var deletion: OperationID?
    /// Whether nothing more should be written. Never true of the default channel.
    public internal(set) var isArchived = false
    /// What newcomers see: 0 all, 1 what comes after they joined.
    public internal(set) var history: UInt64 = 0

    /// Whether a member may do something with the channel now.
    ///
    /// - Parameter role: the role in the workspace.
    public func allows(_ right: ChannelRight, to member: MemberID, of role: Role) -> Bool {
        if role <= .admin { return true }
        guard role <= .member else { return false }
        return member == owner || (right == .edit && admins.contains(member))
    }
}

/// Rights in a channel.
public enum ChannelRight: Hashable, Sendable {
    /// Name, topic, description; adding and removing people.
    case edit
    /// Everything: transfer, roles, archiving, deletion too.
    case manage
}

/// An operation's claim about a channel, as far as authority is concerned.
public struct ChannelClaim: Hashable, Sendable {
    /// The operation.
    public let id: OperationID
    /// The link of the chain under which it was written; `nil` for the creation.
    public let link: OperationID?
    /// What it changes; `nil` when it deletes the channel.
    public let change: ChannelChange?

    /// The claim of operation `id`.
    public init(id: OperationID, link: OperationID?, change: ChannelChange?) {
        self.id = id
        self.link = link
        self.change = change
    }
}

/// New values for a channel. Its texts are sealed, and no authority depends on them.
public struct ChannelChange: Hashable, Sendable {
    /// The new owner.
    public var owner: MemberID?
    /// All admins of the channel from this change on.
    public var admins: [MemberID]?
    /// Whether nothing more should be written.
    public var archived: Bool?
    /// What newcomers see.
    public var history: UInt64?

    /// Only texts, unless said otherwise.
    public init(
        owner: MemberID? = nil, admins: [MemberID]? = nil, archived: Bool? = nil,
        history: UInt64? = nil
    ) {
        self.owner = owner
        self.admins = admins
        self.archived = archived
        self.history = history
    }

    /// Whether it is a link of the chain: it says who may write from then on.
    public var isLink: Bool { owner != nil || admins != nil }

    /// The right that it takes.
    public var right: ChannelRight {
        isLink || archived != nil || history != nil ? .manage : .edit
    }
}
