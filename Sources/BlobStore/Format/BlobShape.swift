/// The division of a blob into chunks and pieces, which follows from its size alone.
///
/// A chunk is 2^k bytes of ciphertext, the last one fewer; 16 of them are the tag, so it holds 2^k
/// - 16 bytes of plaintext. k is the smallest number from 18 on that gives at most 16,384 chunks.
/// Chunk i starts at i * 2^k of the ciphertext. Pieces are blocks of 2^18 bytes.
///
/// An empty blob has one chunk, which is only a tag, so every tree has a leaf.
public struct BlobShape: Hashable, Sendable {
    /// Bytes of plaintext, at most `BlobLimits.blobBytesMax`.
    public let byteCount: UInt64
    /// k: a full chunk has 2^k bytes of ciphertext.
    public let chunkBits: Int
    /// How many chunks there are, from 1 to `BlobLimits.chunkCountMax`.
    public let chunkCount: Int

    /// By how many bytes a chunk is longer than its plaintext.
    static let tagByteCount = 16

    /// The shape of a blob of this size, `nil` if it is above the limit. Takes any number.
    public init?(byteCount: UInt64) {
        guard byteCount <= BlobLimits.blobBytesMax else { return nil }
        var bits = BlobLimits.chunkBitsMin
        while Self.chunkCount(of: byteCount, bits: bits) > UInt64(BlobLimits.chunkCountMax) {
            bits += 1
        }
        self.byteCount = byteCount
        chunkBits = bits
        chunkCount = Int(Self.chunkCount(of: byteCount, bits: bits))
    }

    /// The shape that a peer claims, `nil` unless it is the one of that size.
    public init?(untrusted byteCount: UInt64, chunkBits: UInt64) {
        guard let shape = Self(byteCount: byteCount), UInt64(shape.chunkBits) == chunkBits else {
            return nil
        }
        self = shape
    }

    private static func chunkCount(of byteCount: UInt64, bits: Int) -> UInt64 {
        let chunk = plaintextBytesPerChunk(bits: bits)
        // The callers keep `byteCount` below 2^39, so nothing here overflows.
        return max(1, (byteCount + chunk - 1) / chunk)
    }

    private static func plaintextBytesPerChunk(bits: Int) -> UInt64 {
        (1 << UInt64(bits)) - UInt64(tagByteCount)
    }

    /// Bytes of plaintext in every chunk but the last.
    public var plaintextBytesPerChunk: Int { Int(Self.plaintextBytesPerChunk(bits: chunkBits)) }

    /// Bytes of ciphertext in every chunk but the last.
    public var chunkBytes: Int { 1 << chunkBits }

    /// Bytes of ciphertext in all.
    public var ciphertextByteCount: UInt64 {
        byteCount + UInt64(chunkCount) * UInt64(Self.tagByteCount)
    }

    /// The last chunk.
    public var lastChunk: Int { chunkCount - 1 }

    /// A chunk's plaintext range in the file, `nil` for an invalid chunk.
    public func plaintextRange(of chunk: Int) -> Range<UInt64>? {
        guard (0..<chunkCount).contains(chunk) else { return nil }
        let start = UInt64(chunk) * UInt64(plaintextBytesPerChunk)
        return start..<min(byteCount, start + UInt64(plaintextBytesPerChunk))
    }

    /// A chunk's range in the ciphertext, `nil` for an invalid chunk.
    public func ciphertextRange(of chunk: Int) -> Range<UInt64>? {
        guard (0..<chunkCount).contains(chunk) else { return nil }
        let start = UInt64(chunk) << UInt64(chunkBits)
        return start..<min(ciphertextByteCount, start + UInt64(chunkBytes))
    }

    /// Bytes of ciphertext in a chunk, 0 for an invalid one.
    public func ciphertextByteCount(of chunk: Int) -> Int {
        ciphertextRange(of: chunk).map { Int($0.upperBound - $0.lowerBound) } ?? 0
    }

    /// Bytes of plaintext in a chunk, 0 for an invalid one.
    public func plaintextByteCount(of chunk: Int) -> Int {
        plaintextRange(of: chunk).map { Int($0.upperBound - $0.lowerBound) } ?? 0
    }
}

/// Pieces: the part of a chunk that one message carries.
extension BlobShape {
    /// How many pieces every chunk but the last has, as a power of two.
    private var pieceBits: Int { chunkBits - BlobLimits.chunkBitsMin }

    /// How many pieces there are in all, at most 2^20.
    public var pieceCount: Int {
        let piece = UInt64(BlobLimits.pieceBytesMax)
        return Int((ciphertextByteCount + piece - 1) / piece)
    }

    /// The pieces of a chunk, empty for an invalid one.
    public func pieces(of chunk: Int) -> Range<Int> {
        guard (0..<chunkCount).contains(chunk) else { return 0..<0 }
        let start = chunk << pieceBits
        return start..<min(pieceCount, (chunk + 1) << pieceBits)
    }

    /// The chunk that contains a piece, `nil` for an invalid piece.
    public func chunk(ofPiece piece: Int) -> Int? {
        (0..<pieceCount).contains(piece) ? piece >> pieceBits : nil
    }

    /// A piece's range in the ciphertext, `nil` for an invalid piece.
    public func ciphertextRange(ofPiece piece: Int) -> Range<UInt64>? {
        guard (0..<pieceCount).contains(piece) else { return nil }
        let start = UInt64(piece) * UInt64(BlobLimits.pieceBytesMax)
        return start..<min(ciphertextByteCount, start + UInt64(BlobLimits.pieceBytesMax))
    }

    /// Bytes in a piece, 0 for an invalid one.
    public func byteCount(ofPiece piece: Int) -> Int {
        ciphertextRange(ofPiece: piece).map { Int($0.upperBound - $0.lowerBound) } ?? 0
    }
}

/// Ranges of plaintext, as in HTTP range requests.
extension BlobShape {
    /// The part of one chunk that a range of plaintext needs.
    public struct ChunkRange: Hashable, Sendable {
        /// The chunk.
        public let chunk: Int
        /// The range in its plaintext.
        public let bytes: Range<Int>
    }

    /// The chunks that contain `range`, in order, with the bytes of each; empty for a range that is
    /// empty or outside the file.
    public func chunkRanges(of range: Range<UInt64>) -> [ChunkRange] {
        guard !range.isEmpty, range.upperBound <= byteCount else { return [] }
        let size = UInt64(plaintextBytesPerChunk)
        let chunks = Int(range.lowerBound / size)...Int((range.upperBound - 1) / size)
        return chunks.compactMap { chunk in
            guard let whole = plaintextRange(of: chunk) else { return nil }
            let part = whole.clamped(to: range)
            return ChunkRange(
                chunk: chunk,
                bytes: Int(
                    part.lowerBound - whole.lowerBound)..<Int(part.upperBound - whole.lowerBound))
        }
    }
}
