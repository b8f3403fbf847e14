/// What an operation of kind 3 says once it is opened: the closed list of PROTOCOL.md, 3.4.
///
/// A plaintext of an unknown type, or one that does not parse, has no effect for everybody who
/// holds the key; the operation keeps its place in the graph.
public struct PrivateChange: Hashable, Sendable {
    /// What is done.
    public let action: PrivateAction
    /// The root, add or role operation that gives the author the role it acts under; `nil`
    /// exactly in a root.
    public let seat: OperationID?

    /// The change `action`, made under `seat`.
    public init(_ action: PrivateAction, seat: OperationID?) {
        self.action = action
        self.seat = seat
    }

    /// The same without what it lists of logs, for whoever keeps that apart.
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
    /// Lets members in.
    case add(PrivateAddition)
    /// Takes a member out, with a key that the member does not get.
    case remove(MemberID, cuts: [CutEntry], epoch: PrivateEpoch)
    /// Takes the author out.
    case leave(cuts: [CutEntry])
    /// Gives a member another role. A transfer makes an owner and, by `drops`, the author an
    /// admin.
    case role(MemberID, Role, drops: Bool)
    /// Changes what the document is called and whether it is archived.
    case set(PrivateSettings)
    /// Introduces a key for no other reason than that it is due.
    case rekey(PrivateEpoch)
    /// Hides the document from its members.
    case delete

    /// The key that the operation introduces besides what else it does, with what it hands on. A
    /// root introduces the key it is sealed under, and hands on nothing.
    public var epoch: PrivateEpoch? {
        switch self {
        case .add(let addition): addition.epoch
        case .remove(_, _, let epoch), .rekey(let epoch): epoch
        case .root, .leave, .role, .set, .delete: nil
        }
    }

    /// The content that stays when this takes somebody out; empty in everything else.
    public var cuts: [CutEntry] {
        switch self {
        case .remove(_, let cuts, _), .leave(let cuts): cuts
        default: []
        }
    }

    /// Whom it takes out, or gives another role; empty in everything else.
    public var named: [MemberID] {
        switch self {
        case .remove(let member, _, _), .role(let member, _, _): [member]
        case .root, .add, .leave, .set, .rekey, .delete: []
        }
    }

    /// Whom a root or an addition lets in; empty in everything else.
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

/// What kind of private document it is.
public enum PrivateSubtype: UInt64, CaseIterable, Sendable {
    /// Has a name, an owner, and members that come and go.
    case channel = 1
    /// A conversation of exactly its first members.
    case directMessage = 2
    /// One member's own notes to the own devices.
    case own = 3
}

/// How much of a private document somebody sees who is added later.
public enum PrivateHistory: UInt64, CaseIterable, Sendable {
    /// Everything: each key leads to the older ones.
    case all = 0
    /// What is written from then on; of the time before only who was in.
    case fromJoin = 1
}

/// A member of a private document and the role there.
public struct PrivateSeat: Hashable, Sendable {
    /// Who.
    public let member: MemberID
    /// As what.
    public let role: Role

    /// The seat of `member`.
    public init(_ member: MemberID, _ role: Role) {
        self.member = member
        self.role = role
    }
}

/// How a private document begins.
public struct PrivateRoot: Hashable, Sendable {
    /// Channel, conversation or own document.
    public var subtype: PrivateSubtype
    /// Everybody who is in from the start, the author as owner included, ascending by member.
    public var seats: [PrivateSeat]
    /// What those see who are added later.
    public var history: PrivateHistory
    /// At most `Limits.nameBytesMax` bytes of UTF-8.
    public var name: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var topic: String?
    /// At most `Limits.privateTextBytesMax` bytes of UTF-8.
    public var description: String?

    /// A document without texts, unless said otherwise.
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

/// Who is let in, and what they need to find their way.
public struct PrivateAddition: Hashable, Sendable {
    /// The new members, ascending.
    public var seats: [PrivateSeat]
    /// A key that came with them: always in a document that shows only what is written from then
    /// on, and for whoever comes back.
    public var epoch: PrivateEpoch?
    /// What the workspace is called, for a guest, who cannot open that.
    public var workspaceName: String?
    /// What the members are called, for a guest; ascending by member.
    public var displayNames: [PrivateDisplayName]?

    /// Lets in `seats`.
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

/// What a member is called, told to those who cannot read the profile document.
public struct PrivateDisplayName: Hashable, Sendable {
    /// Who.
    public let member: MemberID
    /// At most `Limits.nameBytesMax` bytes of UTF-8.
    public let name: String

    /// Calls `member` by `name`.
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
    /// Whether nothing more should be written. The owner's alone to say.
    public var archived: Bool?
    /// At most `Limits.pictureTextBytesMax` bytes; empty for no picture.
    public var image: String?
    /// How many devices keep each file, at most `Limits.fileCopiesMax`.
    public var copies: UInt64?

    /// Changes nothing, unless said otherwise.
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

/// A new key of a private document, as the operation that introduces it tells of it. The key
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
    /// How much is handed on.
    public enum Form: UInt64, CaseIterable, Sendable {
        /// The epoch key, which opens content too.
        case whole = 0
        /// Its authority subkey, which opens operations of kind 3 alone.
        case authority = 1
    }

    /// The older epoch key's name.
    public let keyID: KeyID
    /// What is inside.
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
