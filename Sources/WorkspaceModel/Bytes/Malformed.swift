/// Why signed or sent bytes violate the protocol.
///
/// The one error of all decoders of such bytes. It carries an offset and a reason, never the bytes,
/// so it may be logged as it is.
public struct Malformed: Error, Hashable, Sendable {
    /// What is wrong. The raw value appears in logs and refusals.
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
        /// A string, array or map that is longer than its field allows, or not of the required
        /// length.
        case countExceeded = "wrong-count"
        /// A map has the same key twice.
        case duplicateKey = "duplicate-key"
        /// The keys of a map do not ascend.
        case keysOutOfOrder = "keys-out-of-order"
        /// A required key is missing, or a forbidden one is present.
        case wrongKeys = "wrong-keys"
        /// Text that is not UTF-8 or contains something its field forbids.
        case badText = "bad-text"
        /// Bytes after the end of the item.
        case trailingBytes = "trailing-bytes"
        /// Items of a container that nobody read.
        case itemsLeft = "items-left"
        /// A number outside the range of its field.
        case outOfRange = "out-of-range"
        /// Parts that are valid one by one and contradict each other.
        case inconsistent
    }

    /// What is wrong.
    public let reason: Reason
    /// Where: an index into the array that was decoded, in bytes.
    public let offset: Int

    /// The error `reason`, detected at byte `offset`.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension Malformed: CustomStringConvertible {
    /// For a log: `too-deep at byte 17`.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
