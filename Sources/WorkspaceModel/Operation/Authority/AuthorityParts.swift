/// What a member may do, strongest first.
///
/// - Wire form: uint, 0 owner, 1 admin, 2 member, 3 guest.
public enum Role: UInt64, CaseIterable, Comparable, Sendable {
    case owner = 0
    case admin = 1
    case member = 2
    case guest = 3

    /// A stronger role is smaller.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The name that people and scripts see.
    public var word: String {
        switch self {
        case .owner: "owner"
        case .admin: "admin"
        case .member: "member"
        case .guest: "guest"
        }
    }

    /// The role that people and scripts call `word`.
    public init?(word: String) {
        guard let role = Role.allCases.first(where: { $0.word == word }) else { return nil }
        self = role
    }
}

/// A device as a grant lists it: its keys, and its consent to the grant.
public struct DeviceEntry: Hashable, Sendable {
    /// The signing key, which names the device.
    public let device: DeviceID
    /// The X25519 key for sealed boxes, 32 bytes.
    public let agreementKey: [UInt8]
    /// By `device` over the devices it is listed with (PROTOCOL.md, 4.0.1). For a recovery device,
    /// its certificate for the second device of the list.
    public let signature: Signature

    /// An entry with the given keys and proof.
    public init(device: DeviceID, agreementKey: [UInt8], signature: Signature) {
        self.device = device
        self.agreementKey = agreementKey
        self.signature = signature
    }
}

/// The secrets one device needs to enter: the epoch key and the discovery secret; for a guest's
/// device only the discovery secret.
public struct WrappedKey: Hashable, Sendable {
    /// The first 8 bytes of the device key, so that a device finds its wrap without trying all of
    /// them.
    public let devicePrefix: [UInt8]
    /// A sealed box of the epoch key and the discovery secret, 112 bytes; of the discovery secret
    /// alone, 80 bytes.
    public let box: [UInt8]

    /// Bytes of a box with both secrets.
    public static let memberBoxByteCount = 112
    /// Bytes of a box with the discovery secret alone.
    public static let guestBoxByteCount = 80

    /// Whether there is an epoch key in the box.
    public var holdsKey: Bool { box.count == Self.memberBoxByteCount }

    /// The wrap `box` for the device whose key starts with `devicePrefix`.
    public init(devicePrefix: [UInt8], box: [UInt8]) {
        self.devicePrefix = devicePrefix
        self.box = box
    }
}

/// A name inside an authority operation, sealed under the epoch key.
public struct SealedField: Hashable, Sendable {
    /// The epoch key's name.
    public let keyID: KeyID
    /// 24 random bytes.
    public let nonce: [UInt8]
    /// Ciphertext and tag.
    public let ciphertext: [UInt8]

    /// A field sealed under the key `keyID`.
    public init(keyID: KeyID, nonce: [UInt8], ciphertext: [UInt8]) {
        self.keyID = keyID
        self.nonce = nonce
        self.ciphertext = ciphertext
    }
}

/// The last operation of one log that survives a revocation.
public struct CutEntry: Hashable, Sendable {
    /// The log.
    public let log: LogName
    /// The last kept place.
    public let sequence: UInt64
    /// The first 16 bytes of the id there.
    public let id: Identifier16<Named.Operation>

    /// Keeps `log` up to the operation `id` at `sequence`.
    public init(log: LogName, sequence: UInt64, id: Identifier16<Named.Operation>) {
        self.log = log
        self.sequence = sequence
        self.id = id
    }
}

/// An older secret under a newer one.
public struct SealedSecret: Hashable, Sendable {
    /// The name of the secret inside.
    public let id: [UInt8]
    /// Nonce 24, then the secret under XSalsa20-Poly1305.
    public let sealed: [UInt8]

    /// The secret `id` in `sealed`.
    public init(id: [UInt8], sealed: [UInt8]) {
        self.id = id
        self.sealed = sealed
    }
}

/// A new epoch key, handed to the remaining members.
public struct Rekey: Hashable, Sendable {
    /// The new key's name.
    public let keyID: KeyID
    /// The new key for each device.
    public let wraps: [WrappedKey]
    /// The maximal older keys that the author holds, under the new one.
    public let olderKeys: [SealedSecret]

    /// The key `keyID` in `wraps`.
    public init(keyID: KeyID, wraps: [WrappedKey], olderKeys: [SealedSecret]) {
        self.keyID = keyID
        self.wraps = wraps
        self.olderKeys = olderKeys
    }
}
