import CRDTStore
import WorkspaceModel

/// Where messages are written: a public channel, a private one, or a direct conversation.
struct Channel {
    /// Whose it is and who may read it: in a place of its own that copies of the channel share, for
    /// the index, what is shown and what was told have one each.
    indirect enum Rule {
        /// Everybody in the workspace.
        case open(ChannelRuling)
        /// Those who are in it, and nobody else.
        case closed(PrivateMembership)
    }

    /// The document that new messages go into.
    let id: DocumentID
    /// The public id, `c_…`.
    let publicID: String
    /// The short number of the document; 0 of a conversation that nobody has opened yet.
    let number: Int64
    /// The numbers of further documents that appear as this conversation.
    var others: [Int64] = []
    let createdAt: UInt64
    let rank: (lamport: UInt64, id: OperationID)
    /// Who may do what with it.
    let rule: Rule
    /// Whether everybody is in it.
    let isDefault: Bool
    /// Whether the local member created it, for a private one.
    var isOwn = false
    var name: String?
    var topic: String?
    var description: String?
    /// A preset, or the text that names a blob (`Picture`).
    var image: String?
    /// How many devices should keep each of its files; 0 asks none to.
    var copies = 0
}

/// The membership of a private document.
struct PrivateMembership {
    /// What it is for.
    enum Kind {
        case channel
        /// One conversation of these people; nobody is added or removed.
        case direct
    }

    let kind: Kind
    /// The current members with their roles in it. Of a direct conversation all of them, including
    /// those who have left the workspace since.
    var roles: [MemberID: Role]
    /// Whether new members read only what is written after they join.
    var isFromJoin = false
    var isArchived = false

    /// The roles by which somebody may do more there than read and write: none in a conversation.
    var powers: [MemberID: Role] {
        switch kind {
        case .channel: roles
        case .direct: [:]
        }
    }
}

extension Channel {
    /// Everything about a public channel, `nil` of a private one.
    var ruling: ChannelRuling? {
        if case .open(let ruling) = rule { return ruling }
        return nil
    }

    /// Who is in a private channel or direct conversation, `nil` of a public channel.
    var privateMembership: PrivateMembership? {
        if case .closed(let privateMembership) = rule { return privateMembership }
        return nil
    }

    /// Whether only those who are in it see it.
    var isPrivate: Bool { privateMembership != nil }
    /// Whether it is a direct conversation.
    var isDirect: Bool { privateMembership?.kind == .direct }
    /// Those who take part in a direct conversation, ascending; empty of channels.
    var people: [MemberID] { isDirect ? privateMembership?.roles.keys.sorted() ?? [] : [] }

    /// Its owner; a direct conversation has none.
    var owner: MemberID? {
        switch rule {
        case .open(let ruling): ruling.owner
        case .closed(let privateMembership):
            privateMembership.powers.filter { $0.value == .owner }.keys.min()
        }
    }

    /// Who may edit it besides the owner, ascending.
    var admins: [MemberID] {
        switch rule {
        case .open(let ruling): ruling.admins
        case .closed(let privateMembership):
            privateMembership.roles.filter { $0.value == .admin }.keys.sorted()
        }
    }

    /// Whether nothing more should be written.
    var isArchived: Bool {
        switch rule {
        case .open(let ruling): ruling.isArchived
        case .closed(let privateMembership): privateMembership.isArchived
        }
    }

    /// What somebody is in it: owner, admin or member.
    func role(of member: MemberID) -> Role {
        switch rule {
        case .open(let ruling):
            if member == ruling.owner { return .owner }
            return ruling.admins.contains(member) ? .admin : .member
        case .closed(let privateMembership):
            return privateMembership.powers[member] ?? .member
        }
    }

    /// Whether somebody may read and write in it, who is in the workspace.
    func includes(_ member: MemberID) -> Bool {
        privateMembership.map { $0.roles[member] != nil } ?? true
    }

    /// Whether somebody may do something with it now. The workspace's admins have no power over
    /// what they are not in.
    ///
    /// - Parameter role: the role in the workspace.
    func allows(_ right: ChannelRight, to member: MemberID, of role: Role) -> Bool {
        switch rule {
        case .open(let ruling): ruling.allows(right, to: member, of: role)
        case .closed(let privateMembership):
            (privateMembership.powers[member] ?? .guest) <= (right == .manage ? .owner : .admin)
        }
    }

    /// Where its messages are found.
    var filter: ViewStore.Filter {
        var filter = ViewStore.Filter(document: number)
        filter.others = others
        return filter
    }

    /// Whether its messages are in the document with this short number, among others.
    func contains(document: Int64) -> Bool { document == number || others.contains(document) }
}
