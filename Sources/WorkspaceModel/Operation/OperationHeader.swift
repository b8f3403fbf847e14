/// The signed part of an operation, whose hash is the id.
///
/// It binds the payload by its hash and the history by the previous id, so a signature over the id
/// covers all of it.
///
/// - Wire form: `Enc` array of 13 (PROTOCOL.md, 2).
/// - Wire size: at most `Limits.headerBytesMax`.
public struct OperationHeader: Equatable, Sendable {
    /// Header field 0. Another version is another format.
    public static let version: UInt64 = 2

    /// What the payload is, see `OperationKind`; unknown kinds are chained and skipped.
    public var kind: UInt64
    /// The document; zeros in a root operation.
    public var document: DocumentID
    /// Who signs.
    public var device: DeviceID
    /// Which incarnation of the device's store wrote it.
    public var incarnation: UInt32
    /// The place in the log, from 0.
    public var sequence: UInt64
    /// The operation before this one in the log, `nil` exactly at 0.
    public var previous: OperationID?
    /// When, by the author's hybrid clock.
    public var timestamp: HybridTimestamp
    /// The grant under which the author acts; zeros in `create`.
    public var grant: OperationID
    /// The epoch key that seals the payload, `nil` where nothing is sealed.
    public var keyID: KeyID?
    /// The operations it cites besides the previous one, ascending by id.
    public var dependencies: [OperationReference]
    /// Bytes of the payload.
    public var payloadLength: Int
    /// The hash of the payload.
    public var payloadHash: PayloadHash

    /// A header with the given fields.
    public init(
        kind: UInt64, document: DocumentID, device: DeviceID, incarnation: UInt32,
        sequence: UInt64, previous: OperationID?, timestamp: HybridTimestamp, grant: OperationID,
        keyID: KeyID?, dependencies: [OperationReference], payloadLength: Int,
        payloadHash: PayloadHash
    ) {
        self.kind = kind
        self.document = document
        self.device = device
        self.incarnation = incarnation
        self.sequence = sequence
        self.previous = previous
        self.timestamp = timestamp
        self.grant = grant
        self.keyID = keyID
        self.dependencies = dependencies
        self.payloadLength = payloadLength
        self.payloadHash = payloadHash
    }

    /// The canonical bytes that are hashed and signed.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 240 + 80 * dependencies.count)
        encoder.array(count: 13)
        encodeContext(to: &encoder)
        encoder.int(payloadLength)
        encoder.byteString(payloadHash)
        return encoder.bytes
    }

    /// Fields 0 to 10: the associated data that binds a sealed payload to its place.
    public var associatedData: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 200 + 80 * dependencies.count)
        encoder.array(count: 11)
        encodeContext(to: &encoder)
        return encoder.bytes
    }

    private func encodeContext(to encoder: inout CBOREncoder) {
        encoder.uint(Self.version)
        encoder.uint(kind)
        encoder.byteString(document)
        encoder.byteString(device)
        encoder.uint(UInt64(incarnation))
        encoder.uint(sequence)
        if let previous { encoder.byteString(previous) } else { encoder.byteString([]) }
        encoder.uint(timestamp.rawValue)
        encoder.byteString(grant)
        if let keyID { encoder.byteString(keyID) } else { encoder.byteString([]) }
        encoder.array(count: dependencies.count)
        for dependency in dependencies { dependency.encode(to: &encoder) }
    }
}

extension OperationHeader {
    /// Reads the canonical form and rejects every other.
    ///
    /// - Throws: `Malformed` for bytes that no author of this version would sign: another version,
    ///   too many or unsorted dependencies, a previous id at 0 or none after it.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        guard bytes.count <= Limits.headerBytesMax else { throw Malformed(.outOfRange, at: 0) }
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 13)
        guard try decoder.uint() == Self.version else {
            throw Malformed(.unsupported, at: decoder.position)
        }
        kind = try decoder.uint()
        document = try decoder.identifier32()
        device = try decoder.identifier32()
        incarnation = try decoder.uint(as: UInt32.self)
        sequence = try decoder.uint()
        previous = OperationID(untrusted: try decoder.optionalBytes(count: 32))
        timestamp = HybridTimestamp(rawValue: try decoder.uint())
        grant = try decoder.identifier32()
        keyID = KeyID(untrusted: try decoder.optionalBytes(count: 16))
        dependencies = try Self.dependencies(from: &decoder, kind: kind)
        payloadLength = try decoder.int(max: OperationKind.payloadBytesMax(kind))
        payloadHash = try decoder.identifier32()
        try decoder.finish()
        guard (previous == nil) == (sequence == 0) else {
            throw Malformed(.inconsistent, at: bytes.count)
        }
    }

    private static func dependencies(
        from decoder: inout CBORDecoder, kind: UInt64
    ) throws(Malformed) -> [OperationReference] {
        let count = try decoder.arrayCount(max: OperationKind.dependenciesMax(kind))
        var dependencies: [OperationReference] = []
        dependencies.reserveCapacity(count)
        for _ in 0..<count {
            let next = try OperationReference(from: &decoder)
            if let last = dependencies.last, last.id >= next.id {
                throw Malformed(.keysOutOfOrder, at: decoder.position)
            }
            dependencies.append(next)
        }
        return dependencies
    }
}

extension OperationReference {
    /// Appends the wire form, an array of 4.
    public func encode(to encoder: inout CBOREncoder) {
        encoder.array(count: 4)
        encoder.byteString(device)
        encoder.uint(UInt64(incarnation))
        encoder.uint(sequence)
        encoder.byteString(id)
    }

    /// Reads the wire form, an array of 4.
    public init(from decoder: inout CBORDecoder) throws(Malformed) {
        try decoder.arrayCount(exactly: 4)
        self.init(
            device: try decoder.identifier32(),
            incarnation: try decoder.uint(as: UInt32.self),
            sequence: try decoder.uint(),
            id: try decoder.identifier32())
    }
}

extension CBORDecoder {
    /// A byte string of `count` bytes, or an empty one where the field says "none".
    mutating func optionalBytes(count: Int) throws(Malformed) -> [UInt8] {
        let start = position
        let bytes = try byteString(maxCount: count)
        guard bytes.isEmpty || bytes.count == count else {
            throw Malformed(.countExceeded, at: start)
        }
        return bytes
    }
}
