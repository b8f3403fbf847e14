/// A bitmap of the chunks that are held, at most 2 KiB.
///
/// A value type: stored in the tables, sent to peers, and used by transfers for what is missing.
public struct HaveMap: Hashable, Sendable {
    /// How many chunks there are.
    public let chunkCount: Int
    /// How many of them are held.
    public private(set) var heldCount: Int
    private var words: [UInt64]

    /// An empty map for this many chunks.
    ///
    /// - Precondition: at most `BlobLimits.chunkCountMax`, as in every shape.
    public init(chunkCount: Int) {
        precondition((0...BlobLimits.chunkCountMax).contains(chunkCount), "no blob has as many")
        self.chunkCount = chunkCount
        heldCount = 0
        words = [UInt64](repeating: 0, count: (chunkCount + 63) / 64)
    }

    /// An empty map for a blob.
    public init(_ shape: BlobShape) { self.init(chunkCount: shape.chunkCount) }

    /// The full map of a blob.
    public static func whole(_ shape: BlobShape) -> HaveMap {
        var map = HaveMap(shape)
        map.insert(0..<shape.chunkCount)
        return map
    }

    /// Whether all chunks are held.
    public var isWhole: Bool { heldCount == chunkCount }

    /// Whether none is.
    public var isEmpty: Bool { heldCount == 0 }

    /// Whether a chunk is held; `false` for an invalid one.
    public func contains(_ chunk: Int) -> Bool {
        guard (0..<chunkCount).contains(chunk) else { return false }
        return words[chunk >> 6] & 1 << UInt64(chunk & 63) != 0
    }

    /// Marks a chunk as held. Ignores an invalid one.
    public mutating func insert(_ chunk: Int) {
        guard (0..<chunkCount).contains(chunk), !contains(chunk) else { return }
        words[chunk >> 6] |= 1 << UInt64(chunk & 63)
        heldCount += 1
    }

    /// Marks all chunks in a range as held.
    public mutating func insert(_ chunks: Range<Int>) {
        for chunk in chunks.clamped(to: 0..<chunkCount) { insert(chunk) }
    }

    /// Marks a chunk as missing.
    public mutating func remove(_ chunk: Int) {
        guard contains(chunk) else { return }
        words[chunk >> 6] &= ~(1 << UInt64(chunk & 63))
        heldCount -= 1
    }

    /// Adds the chunks that `other` holds.
    ///
    /// - Precondition: both have the same number of chunks.
    public mutating func formUnion(_ other: HaveMap) {
        precondition(chunkCount == other.chunkCount, "maps of two blobs")
        for index in words.indices { words[index] |= other.words[index] }
        heldCount = words.reduce(0) { $0 + $1.nonzeroBitCount }
    }

    /// The runs of held chunks, ascending, with a gap between any two.
    public var runs: [Range<Int>] {
        var runs: [Range<Int>] = []
        var chunk = first(from: 0, held: true)
        while let start = chunk {
            let end = first(from: start, held: false) ?? chunkCount
            runs.append(start..<end)
            chunk = first(from: end, held: true)
        }
        return runs
    }

    /// The first chunk from `start` on that is held, or missing.
    public func first(from start: Int, held: Bool) -> Int? {
        guard start >= 0 else { return nil }
        var chunk = start
        while chunk < chunkCount {
            let word = held ? words[chunk >> 6] : ~words[chunk >> 6]
            let rest = word & (.max << UInt64(chunk & 63))
            if rest != 0 {
                let found = chunk & ~63 + rest.trailingZeroBitCount
                return found < chunkCount ? found : nil
            }
            chunk = (chunk | 63) + 1
        }
        return nil
    }

    /// The first chunk that all maps of one list hold and none of the other; `nil` if there is
    /// none, or a map belongs to another blob.
    static func first(in inside: [HaveMap], outside: [HaveMap]) -> Int? {
        guard let first = inside.first,
            (inside + outside).allSatisfy({ $0.chunkCount == first.chunkCount })
        else { return nil }
        for index in first.words.indices {
            var word: UInt64 = .max
            for map in inside { word &= map.words[index] }
            for map in outside { word &= ~map.words[index] }
            if word != 0 { return index << 6 + word.trailingZeroBitCount }
        }
        return nil
    }

    /// Bytes of ciphertext in the held chunks.
    public func byteCount(of shape: BlobShape) -> UInt64 {
        guard shape.chunkCount == chunkCount else { return 0 }
        let whole = UInt64(heldCount) << UInt64(shape.chunkBits)
        guard contains(shape.lastChunk) else { return whole }
        let missing = shape.chunkBytes - shape.ciphertextByteCount(of: shape.lastChunk)
        return whole - UInt64(missing)
    }

    /// Bytes of the file in those chunks.
    public func plaintextByteCount(of shape: BlobShape) -> UInt64 {
        let tags = UInt64(heldCount) * UInt64(BlobShape.tagByteCount)
        let bytes = byteCount(of: shape)
        return bytes - min(bytes, tags)
    }
}
