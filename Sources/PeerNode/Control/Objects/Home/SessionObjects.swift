public import WorkspaceModel

/// Whether the node answers people, and how it is unlocked.
public struct SessionObject: ControlObject {
    /// `none` without an identity, `open`, `passcode` behind the passcode, `locked` without keys
    /// and with links, `closed` without keys and network.
    public let state: String
    /// Whether a passphrase seals the keys on the disk.
    public var hasPassphrase = false
    /// Whether a passcode gates the running node.
    public var hasPasscode = false
    /// Whether links to peers are open, or are being dialled.
    public var isRelaying = false
    /// Milliseconds before the next passphrase is tried.
    public var retryMilliseconds: Int64 = 0
    /// Whether the home is being wiped, and its daemon ends.
    public var isWiped = false

    /// A session in this state.
    public init(state: String) { self.state = state }

    /// All fields.
    public var json: JSONValue {
        [
            "state": .string(state), "locked": .bool(!["open", "none"].contains(state)),
            "passphrase": .bool(hasPassphrase), "passcode": .bool(hasPasscode),
            "relaying": .bool(isRelaying), "retry_ms": .integer(retryMilliseconds),
            "wiped": .bool(isWiped),
        ]
    }
}

/// The parameters of a new identity.
public struct IdentityDraft: Sendable {
    /// What others will see.
    public let name: String
    /// Whether it gets a recovery phrase.
    public let hasRecovery: Bool
    /// The passphrase that seals its keys; `nil` leaves them unprotected, in a file of mode 0600.
    public let passphrase: String?
    /// What goes into the profile of each workspace.
    public var profile: [ProfileChange.Field: String] = [:]
}

/// The change of a home's passphrase.
public struct PassphraseDraft: Sendable {
    /// The one that it has, where it has one.
    public let current: String?
    /// The one that it gets.
    public let new: String?
    /// Whether it gets none.
    public let removes: Bool
}
