public import WorkspaceModel

/// Encodes and decodes messages: `type u8 || Enc map`. Only a piece carries its bytes raw: `83 ||
/// root 32 || piece number u32, little endian || bytes`.
extension BlobMessage {
    /// The first bytes of these messages.
    public static let types: ClosedRange<UInt8> = 0x80...0x84
    /// Bytes of a piece before its contents.
    public static let pieceHeadBytes = 37
    private static let pieceType: UInt8 = 0x83

    /// One more than the largest piece number.
    private static let pieceCountMax =
        BlobLimits.chunkCountMax << (BlobLimits.chunkBitsMax - BlobLimits.chunkBitsMin)

    /// The first byte of the message.
    public var type: UInt8 {
        switch self {
        case .want: 0x80
        case .have: 0x81
        case .leaves: 0x82
        case .piece: Self.pieceType
        case .cancel: 0x84
        }
    }

    /// The message as it is sent.
    public func encoded() -> [UInt8] {
        switch self {
        case .piece(let piece):
            return Self.pieceHead(piece.root, piece.number) + piece.bytes
        default:
            var body = CBOREncoder(reservingBytes: 128)
            body.item(raw: [type])
            encodeBody(to: &body)
            return body.bytes
        }
    }

    /// The head of a piece's message, for callers that read the bytes from a file
    /// into the same array.
    public static func pieceHead(_ root: BlobRoot, _ number: Int) -> [UInt8] {
        var head: [UInt8] = [pieceType]
        head.reserveCapacity(pieceHeadBytes + BlobLimits.pieceBytesMax)
        root.append(to: &head)
        for shift in stride(from: 0, to: 32, by: 8) {
            head.append(UInt8(truncatingIfNeeded: number >> shift))
        }
        return head
    }

    /// A message from its bytes, `nil` for an unknown type.
    public static func decoded(_ bytes: [UInt8]) throws(Malformed) -> BlobMessage? {
        guard let type = bytes.first, types.contains(type) else { return nil }
        guard bytes.count <= BlobLimits.messageBytesMax else {
            throw Malformed(.countExceeded, at: BlobLimits.messageBytesMax)
        }
        if type == pieceType { return .piece(try piece(bytes)) }
        var body = CBORDecoder(bytes, in: 1..<bytes.count)
        let message = try decodeBody(type, from: &body)
        try body.finish()
        return message
    }

    private static func piece(_ bytes: [UInt8]) throws(Malformed) -> BlobPiece {
        let contents = bytes.dropFirst(pieceHeadBytes)
        guard let root = BlobRoot(untrusted: bytes, in: 1..<33), !contents.isEmpty else {
            throw Malformed(.truncated, at: bytes.count)
        }
        guard contents.count <= BlobLimits.pieceBytesMax else {
            throw Malformed(.countExceeded, at: pieceHeadBytes)
        }
        let number = bytes[33..<pieceHeadBytes].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard number < pieceCountMax else { throw Malformed(.outOfRange, at: 33) }
        return BlobPiece(root: root, number: number, bytes: contents)
    }

    private func encodeBody(to body: inout CBOREncoder) {
        switch self {
        case .want(let want):
            body.map(count: want.leaves == nil ? 2 : 3)
            body.root(want.root)
            body.key(2)
            body.ranges(want.pieces)
            if let leaves = want.leaves {
                body.key(3)
                body.range(leaves)
            }
        case .have(let root, let holding):
            body.map(count: holding == nil ? 1 : 4)
            body.root(root)
            guard let holding else { return }
            body.shape(holding.shape)
            body.key(4)
            holding.map.encode(to: &body)
        case .leaves(let root, let proof):
            body.map(count: 6)
            body.root(root)
            body.shape(proof.shape)
            body.key(4)
            body.int(proof.first)
            body.key(5)
            body.hashes(proof.leaves)
            body.key(6)
            body.hashes(proof.hashes)
        case .cancel(let root, let pieces):
            body.map(count: pieces == nil ? 1 : 2)
            body.root(root)
            guard let pieces else { return }
            body.key(2)
            body.ranges(pieces)
        case .piece: break
        }
    }

    private static func decodeBody(
        _ type: UInt8, from body: inout CBORDecoder
    ) throws(Malformed) -> BlobMessage {
        let start = body.position
        let count = try body.mapCount(max: 6)
        let counts: [UInt8: [Int]] = [0x80: [2, 3], 0x81: [1, 4], 0x82: [6], 0x84: [1, 2]]
        guard counts[type]?.contains(count) == true else { throw Malformed(.wrongKeys, at: start) }
        try body.key(mustBe: 1)
        let root: BlobRoot = try body.identifier32()
        switch type {
        case 0x80:
            try body.key(mustBe: 2)
            var want = BlobWant(root: root, pieces: try body.ranges(below: pieceCountMax))
            if count == 3 {
                try body.key(mustBe: 3)
                want.leaves = try body.range(below: BlobLimits.chunkCountMax)
            }
            return .want(want)
        case 0x81:
            guard count == 4 else { return .have(root, nil) }
            let shape = try body.shape()
            try body.key(mustBe: 4)
            let map = try HaveMap(chunkCount: shape.chunkCount, from: &body)
            return .have(root, BlobHolding(shape: shape, map: map))
        case 0x82: return .leaves(root, try body.proof())
        default:
            guard count == 2 else { return .cancel(root, pieces: nil) }
            try body.key(mustBe: 2)
            return .cancel(root, pieces: try body.ranges(below: pieceCountMax))
        }
    }
}

extension CBOREncoder {
    fileprivate mutating func root(_ root: BlobRoot) {
        key(1)
        byteString(root)
    }

    fileprivate mutating func shape(_ shape: BlobShape) {
        key(2)
        uint(shape.byteCount)
        key(3)
        int(shape.chunkBits)
    }

    fileprivate mutating func range(_ range: Range<Int>) {
        array(count: 2)
        int(range.lowerBound)
        int(range.count)
    }

    fileprivate mutating func ranges(_ ranges: [Range<Int>]) {
        array(count: ranges.count)
        for range in ranges { self.range(range) }
    }

    fileprivate mutating func hashes(_ hashes: [TreeHash]) {
        var joined: [UInt8] = []
        joined.reserveCapacity(hashes.count * 32)
        for hash in hashes { hash.append(to: &joined) }
        byteString(joined)
    }
}

extension CBORDecoder {
    fileprivate mutating func key(mustBe wanted: UInt64) throws(Malformed) {
        let start = position
        guard try key() == wanted else { throw Malformed(.wrongKeys, at: start) }
    }

    fileprivate mutating func shape() throws(Malformed) -> BlobShape {
        try key(mustBe: 2)
        let start = position
        let byteCount = try uint()
        try key(mustBe: 3)
        guard let shape = BlobShape(untrusted: byteCount, chunkBits: try uint()) else {
            throw Malformed(.outOfRange, at: start)
        }
        return shape
    }

    /// Reads [first, count], which must not be empty and must end at `end` at the latest.
    fileprivate mutating func range(below end: Int) throws(Malformed) -> Range<Int> {
        let start = position
        try arrayCount(exactly: 2)
        let first = try int(max: end - 1)
        let count = try int(max: end - first)
        guard count > 0 else { throw Malformed(.outOfRange, at: start) }
        return first..<first + count
    }

    /// Reads ascending ranges with a gap between any two.
    fileprivate mutating func ranges(below end: Int) throws(Malformed) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for _ in 0..<(try arrayCount(max: BlobLimits.rangesPerMessageMax)) {
            let start = position
            let range = try range(below: end)
            guard ranges.last.map({ $0.upperBound < range.lowerBound }) ?? true else {
                throw Malformed(.keysOutOfOrder, at: start)
            }
            ranges.append(range)
        }
        return ranges
    }

    fileprivate mutating func proof() throws(Malformed) -> TreeProof {
        let shape = try shape()
        try key(mustBe: 4)
        let first = try int(max: shape.lastChunk)
        try key(mustBe: 5)
        let start = position
        let leaves = try hashes(max: BlobLimits.leavesPerMessageMax)
        try key(mustBe: 6)
        let proof = TreeProof(
            shape: shape, first: first, leaves: leaves,
            hashes: try hashes(max: BlobLimits.proofHashesMax))
        guard proof.chunks != nil else { throw Malformed(.outOfRange, at: start) }
        return proof
    }

    private mutating func hashes(max: Int) throws(Malformed) -> [TreeHash] {
        let start = position
        let range = try byteStringRange(maxCount: max * 32)
        var hashes: [TreeHash] = []
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 32) {
            // The end of the range bounds the last one too.
            guard offset + 32 <= range.upperBound,
                let hash = TreeHash(untrusted: bytes, in: offset..<offset + 32)
            else { throw Malformed(.countExceeded, at: start) }
            hashes.append(hash)
        }
        return hashes
    }
}
