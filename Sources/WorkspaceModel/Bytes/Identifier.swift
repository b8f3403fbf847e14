/// A 32-byte name: a hash, or a public key.
///
/// The type parameter says what is named, so that an operation's id is never taken for a
/// device's key. The bytes are kept as four big-endian words, which makes comparing and hashing
/// four word operations and `<` the order of the bytes.
///
/// - Wire size: 32 bytes.
public struct Identifier32<Named>: Hashable, Comparable, Sendable {
    /// How many bytes every such name has.
    public static var byteCount: Int { 32 }

    private let word0, word1, word2, word3: UInt64

    /// - Precondition: `bytes` holds exactly 32 bytes. For bytes from outside use `init(untrusted:)`.
    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == 32, "a 32-byte name made of \(bytes.count) bytes")
        word0 = bigEndianWord(bytes, at: 0)
        word1 = bigEndianWord(bytes, at: 8)
        word2 = bigEndianWord(bytes, at: 16)
        word3 = bigEndianWord(bytes, at: 24)
    }

    /// The name in `bytes`, or `nil` unless there are exactly 32.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.init(bytes)
    }

    /// The name in `range` of `bytes`, or `nil` unless that is exactly 32 bytes of them.
    public init?(untrusted bytes: [UInt8], in range: Range<Int>) {
        guard range.count == 32, range.lowerBound >= 0, range.upperBound <= bytes.count else {
            return nil
        }
        word0 = bigEndianWord(bytes, at: range.lowerBound)
        word1 = bigEndianWord(bytes, at: range.lowerBound + 8)
        word2 = bigEndianWord(bytes, at: range.lowerBound + 16)
        word3 = bigEndianWord(bytes, at: range.lowerBound + 24)
    }

    /// The same bytes as the name of something else, where the design says that they are equal.
    public init<Other>(sameBytesAs other: Identifier32<Other>) {
        (word0, word1, word2, word3) = (other.word0, other.word1, other.word2, other.word3)
    }

    /// 32 zero bytes, which name nothing.
    public static var zero: Self { Self(words: (0, 0, 0, 0)) }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        append(to: &bytes)
        return bytes
    }

    /// Writes the 32 bytes after those of `bytes`, in one move.
    public func append(to bytes: inout [UInt8]) {
        let words = (word0.bigEndian, word1.bigEndian, word2.bigEndian, word3.bigEndian)
        withUnsafeBytes(of: words) { bytes.append(contentsOf: $0) }
    }

    /// The first 8 bytes as a number, for tags, buckets and short names.
    public var leadingWord: UInt64 { word0 }

    /// The bytes as four big-endian numbers, for a store that keeps names by the million.
    public var words: (UInt64, UInt64, UInt64, UInt64) { (word0, word1, word2, word3) }

    /// The name whose bytes are these four numbers, big-endian.
    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        (word0, word1, word2, word3) = words
    }

    /// Byte order.
    public static func < (left: Self, right: Self) -> Bool {
        (left.word0, left.word1, left.word2, left.word3)
            < (right.word0, right.word1, right.word2, right.word3)
    }
}

/// A 16-byte name: the first half of a hash, or a random number.
///
/// - Wire size: 16 bytes.
public struct Identifier16<Named>: Hashable, Comparable, Sendable {
    /// How many bytes every such name has.
    public static var byteCount: Int { 16 }

    private let word0, word1: UInt64

    /// - Precondition: `bytes` holds exactly 16 bytes. For bytes from outside use `init(untrusted:)`.
    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == 16, "a 16-byte name made of \(bytes.count) bytes")
        word0 = bigEndianWord(bytes, at: 0)
        word1 = bigEndianWord(bytes, at: 8)
    }

    /// The name in `bytes`, or `nil` unless there are exactly 16.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes)
    }

    /// The name in `range` of `bytes`, or `nil` unless that is exactly 16 bytes of them.
    public init?(untrusted bytes: [UInt8], in range: Range<Int>) {
        guard range.count == 16, range.lowerBound >= 0, range.upperBound <= bytes.count else {
            return nil
        }
        word0 = bigEndianWord(bytes, at: range.lowerBound)
        word1 = bigEndianWord(bytes, at: range.lowerBound + 8)
    }

    /// The bytes as two big-endian numbers, for a store that keeps names by the million.
    public var words: (UInt64, UInt64) { (word0, word1) }

    /// The name whose bytes are these two numbers, big-endian.
    public init(words: (UInt64, UInt64)) {
        (word0, word1) = words
    }

    /// The first half of a 32-byte name.
    public init<Other>(prefixOf whole: Identifier32<Other>) {
        let words = whole.words
        self.init(words: (words.0, words.1))
    }

    /// 16 zero bytes, which name nothing.
    public static var zero: Self { Self(words: (0, 0)) }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        append(to: &bytes)
        return bytes
    }

    /// Writes the 16 bytes after those of `bytes`, in one move.
    public func append(to bytes: inout [UInt8]) {
        let words = (word0.bigEndian, word1.bigEndian)
        withUnsafeBytes(of: words) { bytes.append(contentsOf: $0) }
    }

    /// Byte order.
    public static func < (left: Self, right: Self) -> Bool {
        (left.word0, left.word1) < (right.word0, right.word1)
    }
}

/// Phantom types for the names above. No value of these types exists.
public enum Named {
    /// A signed operation: the hash of its header.
    public enum Operation {}
    /// A document: the id of its root operation, or a derived hash.
    public enum Document {}
    /// A device: its Ed25519 public key.
    public enum Device {}
    /// The payload of an operation.
    public enum Payload {}
    /// The digest of a set of operations.
    public enum Digest {}
    /// A member of a workspace.
    public enum Member {}
    /// An epoch key.
    public enum EpochKey {}
    /// The state of one node.db since it was made or restored.
    public enum Store {}
}

/// The hash of an operation's header (PROTOCOL.md, 2).
public typealias OperationID = Identifier32<Named.Operation>
/// The document an operation belongs to.
public typealias DocumentID = Identifier32<Named.Document>
/// A workspace is named by its authority document.
public typealias WorkspaceID = DocumentID
/// A device is named by its Ed25519 public key.
public typealias DeviceID = Identifier32<Named.Device>
/// The hash of an operation's payload.
public typealias PayloadHash = Identifier32<Named.Payload>
/// The digest of a set of operations.
public typealias SetDigest = Identifier32<Named.Digest>
/// A member, bound to its first device key.
public typealias MemberID = Identifier16<Named.Member>
/// The name by which an epoch key proves itself.
public typealias KeyID = Identifier16<Named.EpochKey>
/// Drawn anew whenever a store is made, copied or restored.
public typealias StoreID = Identifier16<Named.Store>

/// The 8 bytes at `offset`. The callers above have checked that they exist.
private func bigEndianWord(_ bytes: [UInt8], at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= bytes.count - 8)
    return bytes.withUnsafeBytes {
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
