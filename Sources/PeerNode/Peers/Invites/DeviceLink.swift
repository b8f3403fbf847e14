private import WorkspaceCrypto
public import WorkspaceModel

/// The text that turns its reader's home into another device of the person who created it:
/// `wsx://device/` and base32.
///
/// ```
/// bytes = 2 || seed 16 || issuer's device[0..7] || hints || check 3
/// hints = as in an invite link
/// check = H("wsx-link2", everything before it)[0..2]
/// ```
/// Only the issuing device knows the seed: no other can answer, and it answers for ten minutes and
/// one device. Anyone who reads the link in that time can become a device of its issuer, so it is
/// meant for two screens side by side.
///
/// - Source: PROTOCOL.md, 5.8.
public struct DeviceLink: Sendable {
    /// How every device link begins; read in either case.
    public static let prefix = "wsx://device/"
    /// For how long the issuer answers.
    public static let lifetimeMilliseconds: UInt64 = 600_000

    private static let version: UInt8 = 2
    private static let fixedByteCount = 1 + InviteSecret.seedByteCount + 8
    private static let checkByteCount = 3

    /// The secret for joining; only the psk of an invite's secrets is used.
    public let secret: InviteSecret
    /// The first 8 bytes of the issuer's device key, big endian: nobody else is to answer.
    public let issuer: UInt64
    /// Where to dial, best first.
    public let hints: [PeerAddress]

    /// A link to the device `issuer`.
    public init(secret: InviteSecret, issuer: DeviceID, hints: [PeerAddress]) {
        self.secret = secret
        self.issuer = issuer.leadingWord
        self.hints = hints
    }

    /// The link in lower case, with as many hints as fit.
    public var text: String {
        var bytes: [UInt8] = [Self.version]
        var seed = secret.exposedSeed()
        bytes += seed
        SecretBytes.wipe(&seed)
        InviteLink.append(issuer, byteCount: 8, to: &bytes)
        let letterCountMax = InviteLink.characterCountMax - Self.prefix.utf8.count
        for hint in hints {
            guard let encoded = InviteLink.encoded(hint) else { continue }
            let byteCount = bytes.count + encoded.count + Self.checkByteCount
            guard Base32.letterCount(byteCount: byteCount) <= letterCountMax else { break }
            bytes += encoded
        }
        bytes += Self.check(bytes)
        return Self.prefix + Base32.encode(bytes)
    }

    /// Reads a link in either case, with blanks around it as copying leaves them.
    public init(_ text: String) throws(InviteLink.Problem) {
        var bytes = try InviteLink.bytes(
            of: text, behind: Self.prefix, atLeast: Self.fixedByteCount + Self.checkByteCount)
        defer { SecretBytes.wipe(&bytes) }
        try self.init(bytes: bytes)
    }

    /// - Parameter bytes: at least the fixed part and the check.
    private init(bytes: [UInt8]) throws(InviteLink.Problem) {
        let body = Array(bytes.dropLast(Self.checkByteCount))
        guard Self.check(body) == Array(bytes.suffix(Self.checkByteCount)) else { throw .badCheck }
        guard bytes[0] == Self.version else { throw .unknownVersion(bytes[0]) }
        guard let secret = InviteSecret(untrusted: Array(body[1..<17])) else { throw .garbled }
        self.secret = secret
        issuer = InviteLink.number(body[17..<25])
        var hints: [PeerAddress] = []
        var rest = body[Self.fixedByteCount...]
        while !rest.isEmpty { hints.append(try InviteLink.hint(from: &rest)) }
        self.hints = hints
    }

    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        Array(Hash.personal("wsx-link2", bytes).prefix(checkByteCount))
    }
}
