/// The payload of kind 5: erases payloads, or withdraws an earlier redaction.
///
/// Targets are plaintext, so that relays erase too. What a newcomer needs to show a deleted
/// message's gap is sealed beside them, for members alone.
///
/// - Wire form: `Enc` map {1 targets, 3 sealed or absent}, or {2 ref} (PROTOCOL.md, 3.6).
public enum RedactPayload: Hashable, Sendable {
    /// Erases the payloads of these operations. `sealed` opens to `RedactedMessages`.
    case erase([OperationReference], sealed: [UInt8]?)
    /// Withdraws this operation of kind 5.
    case undo(OperationReference)

    /// Bytes of `sealed`: a key for each of `Limits.redactTargetsMax`, and the seal.
    public static let sealedBytesMax = 32 * 1024

    /// The wire form. Targets are written ascending by id, whatever order they have.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 256)
        switch self {
        case .erase(let targets, let sealed):
            encoder.map(count: sealed == nil ? 1 : 2)
            encoder.key(1)
            encoder.list(targets.sorted { $0.id < $1.id }) { $1.encode(to: &$0) }
            if let sealed {
                encoder.key(3)
                encoder.byteString(sealed)
            }
        case .undo(let reference):
            encoder.map(count: 1)
            encoder.key(2)
            reference.encode(to: &encoder)
        }
        return encoder.bytes
    }

    /// Reads the wire form and refuses every other.
    ///
    /// - Throws: `Malformed`, also for no target, too many, or targets out of order.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        let count = try decoder.mapCount(max: 2)
        let start = decoder.position
        switch (count, try decoder.key()) {
        case (1, 2):
            self = .undo(try OperationReference(from: &decoder))
        case (1...2, 1):
            let targets = try decoder.list(max: Limits.redactTargetsMax) {
                (d) throws(Malformed) -> OperationReference in
                try OperationReference(from: &d)
            }
            guard !targets.isEmpty,
                zip(targets, targets.dropFirst()).allSatisfy({ $0.id < $1.id })
            else { throw Malformed(.keysOutOfOrder, at: start) }
            var sealed: [UInt8]?
            if count == 2 {
                guard try decoder.key() == 3 else { throw Malformed(.wrongKeys, at: start) }
                sealed = try decoder.byteString(maxCount: Self.sealedBytesMax)
            }
            self = .erase(targets, sealed: sealed)
        default:
            throw Malformed(.wrongKeys, at: start)
        }
        try decoder.finish()
    }

    /// The operations to erase; none for an undo.
    public var targets: [OperationReference] {
        if case .erase(let targets, _) = self { return targets }
        return []
    }
}

/// Which targets of a redaction are messages, and their thread roots. Without it a member who joins
/// later could not show the gap.
///
/// - Wire form: `Enc` array of [place among the targets uint, thread root as in a message or null],
///   strictly ascending, padded and sealed as content is.
public struct RedactedMessages: Hashable, Sendable {
    /// One target that is a message.
    public struct Entry: Hashable, Sendable {
        /// Its place among the targets, which ascend by id.
        public let target: Int
        /// What it replied to.
        public let thread: MessageKey?

        /// The message at a place.
        public init(target: Int, thread: MessageKey?) {
            self.target = target
            self.thread = thread
        }
    }

    /// Ascending by place.
    public let entries: [Entry]

    /// The given messages, in any order.
    public init(_ entries: [Entry]) { self.entries = entries.sorted { $0.target < $1.target } }

    /// The plaintext before padding and sealing.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 32)
        encoder.list(entries) { encoder, entry in
            encoder.array(count: 2)
            encoder.int(entry.target)
            guard let thread = entry.thread else { return encoder.null() }
            encoder.array(count: 2)
            encoder.uint(thread.timestamp.rawValue)
            encoder.byteString(bigEndianBytes(of: thread.idPrefix))
        }
        return encoder.bytes
    }

    /// Reads a plaintext and refuses every other.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        let list = try decoder.list(max: Limits.redactTargetsMax) {
            (d) throws(Malformed) -> Entry in
            try d.arrayCount(exactly: 2)
            let target = try d.int(max: Limits.redactTargetsMax - 1)
            return Entry(
                target: target,
                thread: try d.nullOr { (d) throws(Malformed) in try MessageKey(&d) })
        }
        guard zip(list, list.dropFirst()).allSatisfy({ $0.target < $1.target }) else {
            throw Malformed(.keysOutOfOrder, at: 0)
        }
        entries = list
        try decoder.finish()
    }
}
