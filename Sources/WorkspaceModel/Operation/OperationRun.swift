/// Consecutive operations of one branch of one log, as they travel: without what the receiver
/// computes itself (payload hashes, and the previous ids of all but the first).
///
/// The last entry carries a signature that the sender verified, so one check covers all of them
/// (PROTOCOL.md, 2 "Authentic" and 5.3).
public struct OperationRun: Sendable, Equatable {
    /// What remains of a payload that was erased, or that never arrived: enough for the header.
    public struct AbsentPayload: Sendable, Equatable {
        /// Header field 11, in bytes.
        public let length: Int
        /// Header field 12.
        public let hash: PayloadHash

        /// The payload of so many bytes with this hash.
        public init(length: Int, hash: PayloadHash) {
            self.length = length
            self.hash = hash
        }
    }

    /// One operation without the fields that follow from its place.
    public struct Entry: Sendable, Equatable {
        /// Header field 1 as it was sent; unknown kinds are chained and skipped.
        public var kind: UInt64
        /// Header field 7, the hybrid timestamp.
        public var timestamp: HybridTimestamp
        /// Header field 8; zeros in `create`.
        public var grant: OperationID
        /// Header field 9, or `nil` where nothing is sealed.
        public var keyID: KeyID?
        /// Header field 10, ascending by id.
        public var dependencies: [OperationReference]
        /// The payload, sealed or plain; empty where it is absent.
        public var payload: [UInt8]
        /// Set where the payload is missing. Only content may lack its payload.
        public var absent: AbsentPayload?
        /// The author's signature over the id.
        public var signature: Signature

        /// An entry with the given header fields, payload and signature.
        public init(
            kind: UInt64, timestamp: HybridTimestamp, grant: OperationID, keyID: KeyID?,
            dependencies: [OperationReference], payload: [UInt8],
            absent: AbsentPayload? = nil, signature: Signature
        ) {
            self.kind = kind
            self.timestamp = timestamp
            self.grant = grant
            self.keyID = keyID
            self.dependencies = dependencies
            self.payload = payload
            self.absent = absent
            self.signature = signature
        }

        /// Header field 11: bytes of the payload, whether it is here or not.
        public var payloadLength: Int { absent?.length ?? payload.count }

        /// An upper bound of what the entry adds to an `ops` message, in bytes: every column may
        /// begin a new group with it. Messages must be filled by this bound, or they may exceed
        /// their limit.
        public var encodedBytesMax: Int {
            payload.count + Signature.byteCount + 104 + 10 + 84 * dependencies.count
                + (absent == nil ? 0 : 48)
        }
    }

    /// The log that the entries continue.
    public let log: LogName
    /// The sequence number of the first entry.
    public let firstSequence: UInt64
    /// The operation before the first entry, `nil` exactly at sequence 0. A log may have several
    /// branches at one place: this identifies the one that the run continues.
    public let previous: OperationID?
    /// The operations, in order. Never empty in a message.
    public var entries: [Entry]

    /// A run of `entries` that starts at `firstSequence`, behind `previous`.
    public init(
        log: LogName, firstSequence: UInt64, previous: OperationID?, entries: [Entry]
    ) {
        self.log = log
        self.firstSequence = firstSequence
        self.previous = previous
        self.entries = entries
    }

    /// An upper bound of what the run costs besides its entries, in bytes.
    public static let encodedHeadBytesMax = 178

    /// An upper bound of what the run costs in an `ops` message, in bytes.
    public var encodedBytesMax: Int {
        entries.indices.reduce(into: Self.encodedHeadBytesMax) { $0 += entries[$1].encodedBytesMax }
    }

    /// The operation before the first entry as others would cite it.
    public var previousReference: OperationReference? {
        guard let previous, firstSequence > 0 else { return nil }
        return OperationReference(
            device: log.device, incarnation: log.incarnation, sequence: firstSequence - 1,
            id: previous)
    }
}
