import WorkspaceModel

/// Encodes and decodes messages: `type u8 || Enc map`, strict in form and in bounds.
///
/// - Source: PROTOCOL.md, 5.2 and 5.3.
extension SyncMessage {
    /// An address in a record, in bytes: a DNS name of 253 and a port.
    public static let addressBytesMax = 260
    /// Addresses in one record.
    public static let addressesMax = 16
    /// The code of an `error`, in bytes.
    public static let errorCodeBytesMax = 64
    /// Logs in one pull: their items fill a third of a message, their answers rarely less than one.
    public static let pullItemsMax = 512
    /// Places of one log that an asker names: 8 branches, sampled at doubling distances.
    public static let pullPointsMax = 8 * 65

    /// The first byte of the message.
    public var type: UInt8 {
        switch self {
        case .workspaceOpen: 0x01
        case .workspaceResult: 0x02
        case .joinHello: 0x03
        case .joinRequest: 0x04
        case .joinResult: 0x05
        case .linkOffer: 0x06
        case .linkRequest: 0x07
        case .linkResult: 0x08
        case .workspaceDigest: 0x10
        case .documentDigests: 0x11
        case .tips: 0x12
        case .pull: 0x13
        case .operations: Self.operationsType
        case .forkProbe: 0x17
        case .keyWant: 0x20
        case .keyHave: 0x21
        case .proofAsk: 0x88
        case .proofAnswer: 0x89
        case .accountAsk: 0x8a
        case .accountAnswer: 0x8b
        case .payloadWant: 0x90
        case .payloadHave: Self.payloadHaveType
        case .presence: 0x92
        case .typing: 0x93
        case .reading: 0x94
        case .book: 0x95
        case .reach: 0x96
        case .note: 0x97
        case .receipt: 0x98
        case .receiptResult: 0x99
        case .ping: 0x30
        case .peers: 0x31
        case .error: 0x3f
        }
    }

    /// The one type whose messages may have 1 MiB.
    static let operationsType: UInt8 = 0x15

    /// The type whose messages carry one payload of any size.
    static let payloadHaveType: UInt8 = 0x91

    /// Types of messages about blobs, decoded by `BlobStore` (PROTOCOL.md, 5.8).
    public static let blobTypes: ClosedRange<UInt8> = 0x80...0x84

    /// How large a message that begins with `type` may be, in bytes.
    static func bytesMax(type: UInt8) -> Int {
        switch type {
        case operationsType: Limits.operationsMessageBytesMax
        case payloadHaveType: Limits.payloadBytesMax + 1_024
        case blobTypes: Limits.blobMessageBytesMax
        default: Limits.messageBytesMax
        }
    }

    /// The message as it is sent, before it is cut into fragments.
    ///
    /// The caller must keep to the limits: the peer refuses a larger message.
    public func encoded() -> [UInt8] {
        var body = CBOREncoder(reservingBytes: reservation)
        body.item(raw: [type])
        encodeBody(to: &body)
        return body.bytes
    }

    /// A message from its bytes, or `nil` for a type that may be skipped when unknown (from 0x80).
    public static func decoded(_ bytes: [UInt8]) throws(SyncViolation) -> SyncMessage? {
        guard let type = bytes.first else { throw .emptyMessage }
        guard bytes.count <= bytesMax(type: type) else { throw .messageTooLarge }
        guard type < 0x80 || isOptional(type) else { return nil }
        var body = CBORDecoder(bytes, in: 1..<bytes.count)
        let message: SyncMessage?
        do {
            message = try decodeBody(type: type, from: &body)
            if message != nil { try body.finish() }
        } catch {
            throw .malformed(type: type, error)
        }
        guard let message else { throw .unknownMessage(type: type) }
        return message
    }

    /// Whether this version knows a type that older nodes ignore.
    private static func isOptional(_ type: UInt8) -> Bool {
        (0x90...0x99).contains(type) || (0x88...0x8b).contains(type)
    }

    private var reservation: Int {
        switch self {
        case .payloadHave(let have): 192 + have.payload.count
        case .operations(_, _, let runs, _):
            runs.reduce(into: 32) { $0 += $1.encodedBytesEstimate }
        case .tips(_, let tips, _): 32 + 80 * tips.count
        case .workspaceDigest: 4_128
        case .documentDigests(_, let buckets):
            buckets.reduce(into: 32) { $0 += 8 + 52 * $1.documents.count }
        case .pull(_, let pull):
            pull.items.reduce(into: 64) { $0 += 120 + 28 * $1.have.count }
        case .receipt(_, let word): 192 + word.receipt.utf8.count
        case .accountAsk(_, let ask): 192 + ask.token.utf8.count
        default: 192
        }
    }

    private func encodeBody(to body: inout CBOREncoder) {
        switch self {
        case .workspaceOpen(let opening): opening.encode(to: &body)
        case .workspaceResult(let tag, let refusal):
            body.map(count: 2)
            body.key(1)
            body.byteString(tag)
            body.key(2)
            body.uint(refusal.rawValue)
        case .joinHello(let invite, let proof):
            body.map(count: 2)
            body.key(1)
            body.byteString(invite)
            body.key(2)
            body.byteString(proof.bytes)
        case .joinRequest(let request): request.encode(to: &body)
        case .joinResult(let result): result.encode(to: &body)
        case .linkOffer(let offer): offer.encode(to: &body)
        case .linkRequest(let proofs): body.linkRequest(proofs)
        case .linkResult(let result): result.encode(to: &body)
        case .workspaceDigest(let workspace, let buckets):
            body.map(count: 2)
            body.workspace(workspace)
            body.key(2)
            body.byteString(buckets)
        case .documentDigests(let workspace, let buckets):
            body.documentDigests(workspace, buckets)
        case .tips(let workspace, let tips, let final): body.tips(workspace, tips, final: final)
        case .pull(let workspace, let pull): pull.encode(workspace, to: &body)
        case .operations(let workspace, let request, let runs, let isComplete):
            body.operations(workspace, request: request, runs, isComplete: isComplete)
        case .forkProbe(let workspace, let tip): body.forkProbe(workspace, tip)
        case .keyWant(let want): want.encode(to: &body)
        case .keyHave(let have): have.encode(to: &body)
        case .proofAsk(let workspace, let ask): ask.encode(workspace, to: &body)
        case .proofAnswer(let workspace, let answer): answer.encode(workspace, to: &body)
        case .accountAsk(let workspace, let ask): ask.encode(workspace, to: &body)
        case .accountAnswer(let workspace, let answer): answer.encode(workspace, to: &body)
        case .payloadWant(let want): want.encode(to: &body)
        case .payloadHave(let have): have.encode(to: &body)
        case .presence(let workspace, let word): word.encode(workspace, to: &body)
        case .typing(let workspace, let document):
            body.map(count: 2)
            body.workspace(workspace)
            body.key(2)
            body.byteString(document)
        case .reading(let workspace, let word): word.encode(workspace, to: &body)
        case .book(let workspace, let word): word.encode(workspace, to: &body)
        case .reach(let workspace, let word): word.encode(workspace, to: &body)
        case .note(let workspace, let word): word.encode(workspace, to: &body)
        case .receipt(let workspace, let word): word.encode(workspace, to: &body)
        case .receiptResult(let workspace, let result): result.encode(workspace, to: &body)
        case .ping(let number, let isAnswer):
            body.map(count: 2)
            body.key(1)
            body.uint(number)
            body.key(2)
            body.bool(isAnswer)
        case .peers(let workspace, let records): body.peers(workspace, records)
        case .error(let code, let retryAfterMilliseconds):
            body.map(count: 2)
            body.key(1)
            body.text(code)
            body.key(2)
            body.uint(retryAfterMilliseconds)
        }
    }

    /// `nil` for an unknown type.
    private static func decodeBody(
        type: UInt8, from body: inout CBORDecoder
    ) throws(Malformed) -> SyncMessage? {
        switch type {
        case 0x01: return .workspaceOpen(try WorkspaceOpening(from: &body))
        case 0x02: return try workspaceResult(from: &body)
        case 0x03: return try joinHello(from: &body)
        case 0x04: return .joinRequest(try JoinRequest(from: &body))
        case 0x05: return .joinResult(try JoinResult(from: &body))
        case 0x06: return .linkOffer(try LinkOffer(from: &body))
        case 0x07: return .linkRequest(try body.linkRequest())
        case 0x08: return .linkResult(try LinkResult(from: &body))
        case 0x10: return try workspaceDigest(from: &body)
        case 0x11: return try documentDigests(from: &body)
        case 0x12: return try tips(from: &body)
        case 0x13: return try pull(from: &body)
        case operationsType: return try operations(from: &body)
        case 0x17: return try forkProbe(from: &body)
        case 0x20: return .keyWant(try KeyWant(from: &body))
        case 0x21: return .keyHave(try KeyHave(from: &body))
        case 0x88: return try proofAsk(from: &body)
        case 0x89: return try proofAnswer(from: &body)
        case 0x8a: return try accountAsk(from: &body)
        case 0x8b: return try accountAnswer(from: &body)
        case 0x90: return .payloadWant(try PayloadWant(from: &body))
        case payloadHaveType: return .payloadHave(try PayloadHave(from: &body))
        case 0x92: return try presence(from: &body)
        case 0x93: return try typing(from: &body)
        case 0x94: return try reading(from: &body)
        case 0x95: return try book(from: &body)
        case 0x96: return try reach(from: &body)
        case 0x97: return try note(from: &body)
        case 0x98: return try receipt(from: &body)
        case 0x99: return try receiptResult(from: &body)
        case 0x30: return try ping(from: &body)
        case 0x31: return try peers(from: &body)
        case 0x3f: return try error(from: &body)
        default: return nil
        }
    }
}

extension CBOREncoder {
    /// The first pair of most messages.
    mutating func workspace(_ number: WorkspaceNumber) {
        key(1)
        uint(UInt64(number))
    }

    /// The first two pairs of a message about one document, which has `pairs` of them; the value of
    /// the third comes next.
    mutating func document(
        _ document: DocumentID, in workspace: WorkspaceNumber, pairs: Int
    ) {
        map(count: pairs)
        self.workspace(workspace)
        key(2)
        byteString(document)
        key(3)
    }
}

extension CBORDecoder {
    /// Begins a map that must have exactly `count` pairs.
    mutating func mapCount(exactly count: Int) throws(Malformed) {
        let start = position
        guard try mapCount() == count else { throw Malformed(.wrongKeys, at: start) }
    }

    /// Reads a key that must be `wanted`.
    mutating func key(exactly wanted: UInt64) throws(Malformed) {
        let start = position
        guard try key() == wanted else { throw Malformed(.wrongKeys, at: start) }
    }

    /// Reads the first pair of most messages.
    mutating func workspace() throws(Malformed) -> WorkspaceNumber {
        try key(exactly: 1)
        return try uint(as: WorkspaceNumber.self)
    }

    /// Reads the first two pairs of a message about one document, up to the value of the third.
    mutating func document(
        pairs: Int
    ) throws(Malformed) -> (WorkspaceNumber, DocumentID) {
        try mapCount(exactly: pairs)
        let number = try workspace()
        try key(exactly: 2)
        let document: DocumentID = try identifier32()
        try key(exactly: 3)
        return (number, document)
    }

    /// Reads an array of at most `max` elements that strictly ascend by `order`.
    mutating func ascending<Element, Order: Comparable>(
        max: Int, by order: (Element) -> Order,
        _ element: (inout CBORDecoder) throws(Malformed) -> Element
    ) throws(Malformed) -> [Element] {
        let start = position
        var elements: [Element] = []
        for _ in 0..<(try arrayCount(max: max)) {
            let next = try element(&self)
            guard elements.last.map({ order($0) < order(next) }) ?? true else {
                throw Malformed(.keysOutOfOrder, at: start)
            }
            elements.append(next)
        }
        return elements
    }

    /// Reads a number that must be one of a closed list.
    mutating func code<Code: RawRepresentable>(
        _ type: Code.Type
    ) throws(Malformed) -> Code where Code.RawValue == UInt64 {
        let start = position
        guard let code = Code(rawValue: try uint()) else { throw Malformed(.outOfRange, at: start) }
        return code
    }

    /// Reads a signature: 64 bytes.
    mutating func signature() throws(Malformed) -> Signature {
        Signature(try byteString(exactly: Signature.byteCount))
    }
}
