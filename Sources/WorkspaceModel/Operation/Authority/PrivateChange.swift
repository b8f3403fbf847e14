/// The decrypted content of an operation of kind 3: the closed list of PROTOCOL.md, 3.4.
///
/// A plaintext of an unknown type, or one that does not parse, has no effect for anyone who holds
/// the key; the operation keeps its place in the graph.
public struct PrivateChange: Hashable, Sendable {
    /// The change.
    public let action: PrivateAction
    /// The root, add or role operation that gives the author the role it acts under; `nil` only in
    /// a root.
    public let seat: OperationID?

    /// The change `action`, made under `seat`.
    public init(_ action: PrivateAction, seat: OperationID?) {
        self.action = action
        self.seat = seat
    }

    /// The same without its cuts, for callers that store those separately.
    public var withoutCuts: Self {
        switch action {
        case .remove(let member, _, let epoch):
            Self(.remove(member, cuts: [], epoch: epoch), seat: seat)
        case .leave: Self(.leave(cuts: []), seat: seat)
        default: self
        }
    }
}

/// The kinds of change to a private document.
public enum PrivateAction: Hashable, Sendable {
    /// Makes the document.
    case root(PrivateRoot)
    /// Adds members.
    case add(PrivateAddition)
    /// Removes a member, with a key that the member does not get.
    case remove(MemberID, cuts: [CutEntry], epoch: PrivateEpoch)
    /// The author leaves.
    case leave(cuts: [CutEntry])
    /// Gives a member another role. A transfer makes an owner and, by `drops`, turns the author
    /// into an admin.
    case role(MemberID, Role, drops: Bool)
    /// Changes the document's texts, and whether it is archived.
    case set(PrivateSettings)
    /// Introduces a key because one is due.
    case rekey(PrivateEpoch)
    /// Deletes the document for its members.
    case delete

    /// The key that the operation introduces, with the older ones it hands on. A root introduces
    /// the key it is sealed under, and hands on nothing.
    public var epoch: PrivateEpoch? {
        switch self {
        case .add(let addition): addition.epoch
        case .remove(_, _, let epoch), .rekey(let epoch): epoch
        case .root, .leave, .role, .set, .delete: nil
        }
    }

    /// The content that is kept when this removes somebody; empty in everything else.
    public var cuts: [CutEntry] {
        switch self {
        case .remove(_, let cuts, _), .leave(let cuts): cuts
        default: []
        }
    }

    /// Members whom it removes or gives another role; empty in everything else.
    public var named: [MemberID] {
        switch self {
        case .remove(let member, _, _), .role(let member, _, _): [member]
        case .root, .add, .leave, .set, .rekey, .delete: []
        }
    }

    /// Members whom a root or an addition seats; empty in everything else.
    public var seats: [PrivateSeat] {
        switch self {
        case .root(let root): root.seats
        case .add(let addition): addition.seats
        default: []
        }
    }

    /// Header of the map: PROTOCOL.md, 3.4, first column.
    public var type: UInt64 {
        switch self {
        case .root: 1
        case .add: 2
        case .remove: 3
        case .leave: 4
        case .role: 5
        case .set: 6
        case .rekey: 7
        case .delete: 8
        }
    }
}

/// The kind of private document.
public enum PrivateSubtype: UInt64, CaseIterable, Sendable {
    /// Has a name, an owner, and members that come and go.
    case channel = 1
    /// A conversation of exactly its first members.
    case directMessage = 2
    /// One member's notes to self, shared by that member's devices.
    case own = 3
}

/// How much of a private document a member sees who is added later.
public enum PrivateHistory: UInt64, CaseIterable, Sendable {
    /// Everything: each key leads to the older ones.
    case all = 0
    /// Only what is written from then on; earlier content is for those who were in.
    case fromJoin = 1
}

/// A member of a private document, with the role in it.
public struct PrivateSeat: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// The role.
    public let role: Role

    /// The seat of `member`.
    public init(_ member: MemberID, _ role: Role) {
        self.member = member
        self.role = role
    }
}

/// The first state of a private document.
public struct PrivateRoot: Hashable, Sendable {
    /// Channel, conversation or own document.
    public var subtype: PrivateSubtype
    /// All first members, the author as owner included, ascending by member.
    public var seats: [PrivateSeat]
    /// What members see who are added later.
    public var history: PrivateHistory
    /// At most `Limits.nameBytesMax` bytes of UTF-8.
    public var name: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var topic: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var description: String?

    /// A document without texts by default.
    public init(
        subtype: PrivateSubtype, seats: [PrivateSeat], history: PrivateHistory = .all,
        name: String? = nil, topic: String? = nil, description: String? = nil
    ) {
        self.subtype = subtype
        self.seats = seats
        self.history = history
        self.name = name
        self.topic = topic
        self.description = description
    }
}

/// The members added, and what they need to get started.
public struct PrivateAddition: Hashable, Sendable {
    /// The new members, ascending.
    public var seats: [PrivateSeat]
    /// A key introduced with them: always in a document that shows only later content, and for
    /// members who come back.
    public var epoch: PrivateEpoch?
    /// The workspace's name, for guests, who cannot decrypt it.
    public var workspaceName: String?
    /// The members' display names, for guests; ascending by member.
    public var displayNames: [PrivateDisplayName]?

    /// Adds `seats`.
    public init(
        seats: [PrivateSeat], epoch: PrivateEpoch? = nil, workspaceName: String? = nil,
        displayNames: [PrivateDisplayName]? = nil
    ) {
        self.seats = seats
        self.epoch = epoch
        self.workspaceName = workspaceName
        self.displayNames = displayNames
    }
}

/// A member's display name, for guests, who cannot read the profile document.
public struct PrivateDisplayName: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// At most `Limits.nameBytesMax` bytes of UTF-8.
    public let name: String

    /// The display name `name` of `member`.
    public init(_ member: MemberID, _ name: String) {
        self.member = member
        self.name = name
    }
}

/// Changed fields; what is `nil` stays as it was, an empty text clears.
public struct PrivateSettings: Hashable, Sendable {
    /// At most `Limits.nameBytesMax` bytes of UTF-8.
    public var name: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var topic: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var description: String?
    /// Whether the document is archived. Only the owner may change it.
    public var archived: Bool?
    /// At most `Limits.pictureTextBytesMax` bytes; empty for no picture.
    public var image: String?
    /// How many devices keep each file, at most `Limits.fileCopiesMax`.
    public var copies: UInt64?

    /// Changes nothing by default.
    public init(
        name: String? = nil, topic: String? = nil, description: String? = nil,
        archived: Bool? = nil
    ) {
        self.name = name
        self.topic = topic
        self.description = description
        self.archived = archived
    }
}

/// A new key of a private document, as announced by the operation that introduces it. The key
/// itself travels in the mailbox.
public struct PrivateEpoch: Hashable, Sendable {
    /// The new key's name, the one in the operation's own header.
    public var keyID: KeyID
    /// Older keys under the new one.
    public var older: [OlderPrivateKey]
    /// The workspace's removals and departures that the new key answers, ascending.
    public var answers: [OperationID]

    /// The key `keyID`.
    public init(keyID: KeyID, older: [OlderPrivateKey] = [], answers: [OperationID] = []) {
        self.keyID = keyID
        self.older = older
        self.answers = answers
    }
}

/// An older key of a private document under a newer one.
public struct OlderPrivateKey: Hashable, Sendable {
    /// What is handed on.
    public enum Form: UInt64, CaseIterable, Sendable {
        /// The epoch key, which opens content too.
        case whole = 0
        /// Its authority subkey, which opens operations of kind 3 alone.
        case authority = 1
    }

    /// The older epoch key's name.
    public let keyID: KeyID
    /// Which of the two is inside.
    public let form: Form
    /// 72 bytes: nonce 24, then 32 bytes under XSalsa20-Poly1305.
    public let sealed: [UInt8]

    /// How many bytes every sealed key has.
    public static var sealedByteCount: Int { 72 }

    /// - Precondition: `sealed` holds 72 bytes.
    public init(keyID: KeyID, form: Form, sealed: [UInt8]) {
        precondition(sealed.count == Self.sealedByteCount, "\(sealed.count) sealed bytes")
        self.keyID = keyID
        self.form = form
        self.sealed = sealed
    }
}
