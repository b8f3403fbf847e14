public import WorkspaceModel

/// What a document is, as far as the store has to know. What that means is said here, once for each axis:
/// who may read what stands in it (`access`), and what that is (`contents`).
public enum DocumentKind: Int64, CaseIterable, Sendable {
    /// Who may do what.
    case authority = 1
    /// A public channel.
    case channel = 2
    /// What members are called.
    case profile = 3
    /// Boxes with keys, each for one device.
    case mailbox = 4
    /// A private channel or a direct conversation: sealed for its members, relayed by everybody.
    case privateDocument = 5
    /// Seen in operations before its creation was.
    case unknown = 0
}

/// Who may read what stands in a document, and by which keys.
public enum DocumentAccess: CaseIterable, Sendable {
    /// Everybody who has it: nothing in it is sealed.
    case unsealed
    /// Members of the workspace, by its keys. Guests do not have these.
    case workspace
    /// Those who are in it, by keys of its own.
    case insiders
    /// Of each box the one device that it is for.
    case boxes
    /// Nobody can say yet: it may turn out to be a public or a private one.
    case undecided

    /// The weakest role that may write there. Guests take part in private documents, and as long
    /// as nothing says that a document is public it may be one of those.
    public var leastRole: Role {
        switch self {
        case .unsealed, .workspace: .member
        case .insiders, .boxes, .undecided: .guest
        }
    }

    /// Whether it is a private document, or may turn out to be one.
    public var mayBePrivate: Bool {
        switch self {
        case .insiders, .undecided: true
        case .unsealed, .workspace, .boxes: false
        }
    }
}

/// What content may stand in a document. Content that stands elsewhere has no effect.
public struct DocumentContents: OptionSet, Sendable {
    /// One bit for each of them; it is stored nowhere.
    public let rawValue: UInt8

    /// Messages and notes, and what is said about either.
    public static let messages = Self(rawValue: 1)
    /// Who follows it.
    public static let subscriptions = Self(rawValue: 2)
    /// What is said of coins.
    public static let coins = Self(rawValue: 4)
    /// What members say of themselves, and of each other's accounts.
    public static let profiles = Self(rawValue: 8)
    /// What somebody's devices tell each other.
    public static let settings = Self(rawValue: 16)

    /// Those with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Where an operation belongs by what it says (PROTOCOL.md, 3.2).
    public init(of content: ContentPayload) {
        switch content {
        case .message, .annotation, .note: self = .messages
        case .membership: self = .subscriptions
        case .ledger: self = .coins
        case .profile, .profileField, .device, .attestation: self = .profiles
        case .own: self = .settings
        }
    }
}

extension DocumentKind {
    /// Who may read what stands in it.
    public var access: DocumentAccess {
        switch self {
        case .authority: .unsealed
        case .channel, .profile: .workspace
        case .privateDocument: .insiders
        case .mailbox: .boxes
        case .unknown: .undecided
        }
    }

    /// What content may stand in it; `nil` as long as nothing says what it is.
    public var contents: DocumentContents? {
        switch self {
        case .authority, .mailbox: []
        case .channel: [.messages, .subscriptions, .coins]
        case .profile: .profiles
        case .privateDocument: [.messages, .settings]
        case .unknown: nil
        }
    }

    /// Whether such content is known to belong here.
    public func holds(_ wanted: DocumentContents) -> Bool {
        contents?.isSuperset(of: wanted) ?? false
    }

    /// Whether such content belongs here, as far as is known.
    public func mayHold(_ wanted: DocumentContents) -> Bool {
        contents?.isSuperset(of: wanted) ?? true
    }

    /// Whether any content belongs here, which can be deleted then, as far as is known.
    public var mayHoldContent: Bool { contents?.isEmpty != true }

    /// Whether there are messages of which the workspace's verdicts alone say which count. In a private
    /// document its own membership does, too.
    public var holdsPublicMessages: Bool { access == .workspace && holds(.messages) }
}
