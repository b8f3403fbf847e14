private import WorkspaceCrypto
public import WorkspaceModel

/// The text that invites somebody: `wsx://join/` and up to 139 letters and digits.
///
/// ```
/// bytes = 1 || workspace[0..15] || seed 16 || invite[0..7] || hints || check 3
/// hint  = 4 || IPv4 4 || port u16be
///       | 6 || IPv6 16 || port u16be
///       | 1 || length u8 || name of at most 38 || port u16be
/// check = H("wsx-link1", everything before it)[0..2]
/// ```
/// The letters are base32, so a link survives conversion to upper case, which makes its QR code
/// small. The check detects typing and reading errors, not forgery: one link in 16.8 million passes
/// by chance. It contains the seed: anyone who reads it may join.
///
/// - Source: PROTOCOL.md, 5.6.
public struct InviteLink: Sendable {
    /// How every link begins; read in either case.
    public static let prefix = "wsx://join/"
    /// The longest link: what a QR code of version 6 holds in upper case, level L, with room.
    public static let characterCountMax = 150
    /// The longest host name in a hint, in bytes.
    public static let hintNameBytesMax = 38

    private static let version: UInt8 = 1
    private static let fixedByteCount = 1 + 16 + InviteSecret.seedByteCount + 8
    private static let checkByteCount = 3

    /// Why a text is not a link.
    public enum Problem: Error, Equatable, Sendable {
        /// It does not begin like a link.
        case notALink
        /// It begins like a link for another device, where an invite is expected.
        case deviceLink
        /// A letter that no link has, too many of them or too few.
        case garbled
        /// All letters are possible, but they do not belong together: one was lost or changed.
        case badCheck
        /// A link of a newer program: 1 is the only version that this one reads.
        case unknownVersion(UInt8)
        /// The check is right, but an address in it is not one.
        case badHint
    }

    /// The first 16 bytes of the workspace's id, which the joiner's first document must match.
    public let workspace: Identifier16<Named.Document>
    /// The secret for joining.
    public let secret: InviteSecret
    /// The first 8 bytes of the invite's id, big endian: anybody who may invite can write another
    /// invite with the same public key. Links of earlier versions say something else here.
    public let invite: UInt64
    /// Where to dial, best first.
    public let hints: [PeerAddress]

    /// A link to `workspace`.
    public init(
        workspace: Identifier16<Named.Document>, secret: InviteSecret, invite: UInt64,
        hints: [PeerAddress]
    ) {
        self.workspace = workspace
        self.secret = secret
        self.invite = invite
        self.hints = hints
    }
}

// MARK: Writing

extension InviteLink {
    /// A link as people see it.
    public struct Text: Equatable, Sendable {
        /// The link in lower case.
        public let link: String
        /// How many of the last hints are not in it, for lack of room or because their address
        /// means nothing elsewhere.
        public let droppedHints: Int

        /// The same link for a QR code, whose alphabet has no lower case.
        public var qrText: String { link.uppercased() }
    }

    /// The text of this link, with as many hints as fit.
    public var text: Text {
        var bytes: [UInt8] = [Self.version]
        bytes += workspace.bytes
        var seed = secret.exposedSeed()
        bytes += seed
        SecretBytes.wipe(&seed)
        Self.append(invite, byteCount: 8, to: &bytes)

        let letterCountMax = Self.characterCountMax - Self.prefix.utf8.count
        var kept = 0
        for hint in hints {
            guard let encoded = Self.encoded(hint) else { continue }
            let byteCount = bytes.count + encoded.count + Self.checkByteCount
            guard Base32.letterCount(byteCount: byteCount) <= letterCountMax else { break }
            bytes += encoded
            kept += 1
        }
        bytes += Self.check(bytes)
        return Text(link: Self.prefix + Base32.encode(bytes), droppedHints: hints.count - kept)
    }

    /// The bytes of a hint, or `nil` for an address that is of no use on another host or whose
    /// name is too long.
    static func encoded(_ hint: PeerAddress) -> [UInt8]? {
        guard hint.reach != .linkLocal, hint.reach != .none else { return nil }
        var bytes: [UInt8]
        switch hint.host {
        case .ipv4(let number):
            bytes = [4]
            append(UInt64(number), byteCount: 4, to: &bytes)
        case .ipv6(let high, let low, _):
            bytes = [6]
            append(high, byteCount: 8, to: &bytes)
            append(low, byteCount: 8, to: &bytes)
        case .name(let name):
            guard name.utf8.count <= hintNameBytesMax else { return nil }
            bytes = [1, UInt8(name.utf8.count)] + Array(name.utf8)
        }
        append(UInt64(hint.port), byteCount: 2, to: &bytes)
        return bytes
    }

    static func append(_ number: UInt64, byteCount: Int, to bytes: inout [UInt8]) {
        for index in (0..<byteCount).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
        }
    }

    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        Array(Hash.personal("wsx-link1", bytes).prefix(checkByteCount))
    }
}

// MARK: Reading

extension InviteLink {
    /// Reads a link in either case, with the blanks, line breaks and brackets that mails and copying leave.
    public init(_ text: String) throws(Problem) {
        var bytes = try Self.bytes(
            of: text, behind: Self.prefix, atLeast: Self.fixedByteCount + Self.checkByteCount)
        defer { SecretBytes.wipe(&bytes) }
        try self.init(bytes: bytes)
    }

    /// The bytes of a link of any kind. The caller wipes them.
    static func bytes(
        of text: String, behind prefix: String, atLeast byteCountMin: Int
    ) throws(Problem) -> [UInt8] {
        // Longer texts are refused before anything is made of them.
        guard text.utf8.count <= characterCountMax + 64 else { throw .garbled }
        // Mail and chat put blanks, line ends, `<` and `>` around and into it.
        let letters = text.utf8.filter { ![0x20, 0x09, 0x0a, 0x0d, 0x3c, 0x3e].contains($0) }
        guard begins(letters, with: prefix) else {
            let isDevice = prefix == Self.prefix && begins(letters, with: DeviceLink.prefix)
            throw isDevice ? .deviceLink : .notALink
        }
        guard letters.count <= characterCountMax,
            let bytes = Base32.decode(letters.dropFirst(prefix.utf8.count)),
            bytes.count >= byteCountMin
        else { throw .garbled }
        return bytes
    }

    /// Whether letters begin with a prefix, in either case.
    private static func begins(_ letters: [UInt8], with prefix: String) -> Bool {
        letters.prefix(prefix.utf8.count).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
            == Array(prefix.utf8)
    }

    /// - Parameter bytes: at least the fixed part and the check.
    private init(bytes: [UInt8]) throws(Problem) {
        let body = Array(bytes.dropLast(Self.checkByteCount))
        guard Self.check(body) == Array(bytes.suffix(Self.checkByteCount)) else { throw .badCheck }
        guard bytes[0] == Self.version else { throw .unknownVersion(bytes[0]) }
        guard let workspace = Identifier16<Named.Document>(untrusted: Array(body[1..<17])),
            let secret = InviteSecret(untrusted: Array(body[17..<33]))
        else { throw .garbled }
        self.workspace = workspace
        self.secret = secret
        invite = Self.number(body[33..<41])
        var hints: [PeerAddress] = []
        var rest = body[Self.fixedByteCount...]
        while !rest.isEmpty { hints.append(try Self.hint(from: &rest)) }
        self.hints = hints
    }

    static func hint(
        from bytes: inout ArraySlice<UInt8>
    ) throws(Problem) -> PeerAddress {
        let host: PeerAddress.Host
        switch bytes.popFirst() {
        case 4: host = .ipv4(UInt32(truncatingIfNeeded: number(try take(4, from: &bytes))))
        case 6:
            let high = number(try take(8, from: &bytes))
            host = .ipv6(high, number(try take(8, from: &bytes)), scope: 0)
        case 1:
            guard let count = bytes.popFirst(), count <= hintNameBytesMax,
                let name = String(validating: try take(Int(count), from: &bytes), as: UTF8.self)
            else { throw .badHint }
            host = .name(name)
        default: throw .badHint
        }
        let port = UInt16(truncatingIfNeeded: number(try take(2, from: &bytes)))
        guard let address = PeerAddress(host: host, port: port) else { throw .badHint }
        return address
    }

    private static func take(
        _ count: Int, from bytes: inout ArraySlice<UInt8>
    ) throws(Problem) -> ArraySlice<UInt8> {
        guard bytes.count >= count else { throw .badHint }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    /// Up to eight bytes as a number, the first in the highest place.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
