public import WorkspaceModel

/// A device of a member.
public struct DeviceObject: ControlObject {
    /// `d_…`.
    public var id: String
    /// What its person calls it, or the start of its id.
    public var name: String
    /// Whether it is this one.
    public var isSelf = false
    /// Milliseconds since 1970.
    public var addedAt: Int64
    /// How it was added: `founded`, `invited`, `linked`, `returned`, or `recovered` by the phrase.
    public var origin = "invited"
    /// Who added it: the admitting member, or the device's member.
    public var addedBy: PersonObject?
    /// Whether it was revoked.
    public var isRevoked = false
    /// When it was last connected, milliseconds since 1970.
    public var lastSeen: Int64?
    /// Whether it is a recovery phrase and not a machine.
    public var isRecovery = false

    /// Whether a recovery phrase vouches for it, so that other workspaces may take it for its
    /// person's as well. Told of a device that was revoked.
    public var isCertified = false
    /// Where a device that was revoked may still act, as far as this home knows: id and name.
    public var stillIn: [(id: String, name: String)] = []

    /// The outcome in each workspace, if a call was about all of them.
    public var workspaces: [DeviceOutcome] = []

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "self": .bool(isSelf),
            "added_at": .integer(addedAt), "origin": .string(origin),
            "added_by": addedBy?.json ?? .null, "revoked": .bool(isRevoked),
            "last_seen": JSONValue(orNull: lastSeen), "recovery": .bool(isRecovery),
            "certified": .bool(isCertified),
            "still_in": .array(
                stillIn.map { ["id": .string($0.id), "name": .string($0.name)] }),
            "workspaces": .array(workspaces.map(\.json)),
        ]
    }
}

/// The outcome for a device in one workspace.
public struct DeviceOutcome: Sendable {
    /// `w_…`.
    public let id: String
    /// As it is shown.
    public let name: String
    /// Why it was not done there, and what would do it; `nil` where it was.
    public let failure: (message: String, hint: String?)?

    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "done": .bool(failure == nil),
            "message": JSONValue(orNull: failure?.message),
            "hint": JSONValue(orNull: failure?.hint),
        ]
    }
}

/// The outcome of replacing a recovery phrase.
public struct NewPhraseObject: ControlObject {
    /// Whether the new words wait to be shown, as in `identity`.
    public var recovery = "unshown"
    /// Where the new phrase took the place of the old one: id and name.
    public var done: [(id: String, name: String)] = []
    /// Where it did not, and why.
    public var left: [(id: String, name: String, message: String)] = []

    /// Nothing yet.
    public init() {}

    /// All fields.
    public var json: JSONValue {
        [
            "recovery": .string(recovery),
            "done": .array(done.map { ["id": .string($0.id), "name": .string($0.name)] }),
            "left": .array(
                left.map {
                    [
                        "id": .string($0.id), "name": .string($0.name),
                        "message": .string($0.message),
                    ]
                }),
        ]
    }
}

/// A link that makes its holder another device of its creator.
public struct DeviceLinkObject: ControlObject {
    /// `wsx://device/…` in lower case.
    public var link: String
    /// The same in upper case, for a small QR code.
    public var qrText: String
    /// Milliseconds since 1970.
    public var expiresAt: Int64

    /// A link that may be used once.
    public init(link: String, expiresAt: Int64) {
        self.link = link
        self.expiresAt = expiresAt
        qrText = link.uppercased()
    }

    /// All fields.
    public var json: JSONValue {
        [
            "link": .string(link), "qr_text": .string(qrText), "expires_at": .integer(expiresAt),
        ]
    }
}

/// A device, and whether it holds something.
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
    /// For a message, whether its person has it: `held` if one of their devices that can read it
    /// does, `waiting` if none is known to, `unknown` if none was ever heard of. The same in all
    /// rows of one person; `nil` for a person whose device only relays it.
    public var verdict: String?
    /// For a message, when its person joined the workspace, milliseconds since 1970.
    public var joinedAt: Int64?

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
