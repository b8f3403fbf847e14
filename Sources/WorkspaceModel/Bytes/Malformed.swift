/// Why bytes that were signed or sent are not what the protocol says.
///
/// The one error of all decoders of such bytes. It carries a place and a word, never the bytes:
/// it may be logged as it is.
public struct Malformed: Error, Hashable, Sendable {
    /// What is wrong. The raw value is the word that logs and refusals show.
    public enum Reason: String, CaseIterable, Sendable {
        /// The bytes end inside an item, or an item claims more than the bytes that are left.
        case truncated
        /// A head that is not the shortest for its number.
        case notCanonical = "not-canonical"
        /// Tags, floats, negative numbers, simple values, indefinite lengths.
        case unsupported
        /// An item of the profile, but not the one that belongs here.
        case wrongType = "wrong-type"
        /// Containers nested deeper than `Limits.cborDepthMax`.
        case depthExceeded = "too-deep"
        /// A string, array or map that is longer than its field may be, or not as long as it must.
        case countExceeded = "wrong-count"
        /// A map has the same key twice.
        case duplicateKey = "duplicate-key"
        /// The keys of a map do not ascend.
        case keysOutOfOrder = "keys-out-of-order"
        /// A key that this map must have is missing, or one that it must not have is there.
        case wrongKeys = "wrong-keys"
        /// Text that is not UTF-8 or holds what its field refuses.
        case badText = "bad-text"
        /// Bytes after the end of the item.
        case trailingBytes = "trailing-bytes"
        /// Items of a container that nobody read.
        case itemsLeft = "items-left"
        /// A number outside the range of its field.
        case outOfRange = "out-of-range"
        /// Parts that are right one by one and contradict each other.
        case inconsistent
    }

    /// What is wrong.
    public let reason: Reason
    /// Where: an index into the array that was decoded, in bytes.
    public let offset: Int

    /// A complaint about the byte at `offset`.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension Malformed: CustomStringConvertible {
    /// For a log: `too-deep at byte 17`.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
