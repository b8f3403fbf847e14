import BlobStore
import Testing

struct `Shapes of blobs` {
    /// Size, k, chunks, pieces; the larger ones by Tests/interop/blobs.py.
    static let table: [(UInt64, Int, Int, Int)] = [
        (0, 18, 1, 1), (1, 18, 1, 1), (262_128, 18, 1, 1), (262_129, 18, 2, 2),
        (1_000_000, 18, 4, 4), (4_294_705_152, 18, 16_384, 16_384),
        (4_294_705_153, 19, 8_192, 16_384), (17_179_869_184, 21, 8_193, 65_537),
        (274_877_644_800, 24, 16_384, 1_048_576),
    ]

    @Test(arguments: table)
    func `follow from the size alone`(_ size: UInt64, _ bits: Int, _ chunks: Int, _ pieces: Int)
        throws
    {
        let shape = try #require(BlobShape(byteCount: size))
        #expect(shape.chunkBits == bits)
        #expect(shape.chunkCount == chunks)
        #expect(shape.pieceCount == pieces)
        #expect(BlobShape(untrusted: size, chunkBits: UInt64(bits)) == shape)
        #expect(BlobShape(untrusted: size, chunkBits: UInt64(bits) + 1) == nil)
        #expect(BlobShape(untrusted: size, chunkBits: .max) == nil)
    }

    @Test(arguments: [BlobLimits.blobBytesMax + 1, 1 << 62, UInt64(Int64.max), .max])
    func `end at the largest size`(_ size: UInt64) {
        #expect(BlobShape(byteCount: size) == nil)
        #expect(BlobShape(untrusted: size, chunkBits: 18) == nil)
    }

    @Test func `are the same numbers as in the limits`() {
        #expect(BlobLimits.blobBytesMax == 274_877_644_800)
        #expect(BlobLimits.pieceBytesMax == 262_144)
    }

    @Test(arguments: BlobBench.seeds(40))
    func `cover every byte once`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let size = UInt64(dice.below(1 << (4 + dice.below(34))))
        let shape = try #require(BlobShape(byteCount: size))
        var plaintext: UInt64 = 0
        var ciphertext: UInt64 = 0
        let checked = [0, 1, dice.below(shape.chunkCount), shape.lastChunk]
        if shape.chunkCount < 2_000 {
            for chunk in 0..<shape.chunkCount {
                #expect(shape.plaintextRange(of: chunk)?.lowerBound == plaintext)
                #expect(shape.ciphertextRange(of: chunk)?.lowerBound == ciphertext)
                plaintext += UInt64(shape.plaintextByteCount(of: chunk))
                ciphertext += UInt64(shape.ciphertextByteCount(of: chunk))
            }
            #expect(plaintext == size && ciphertext == shape.ciphertextByteCount)
        }
        for chunk in checked where chunk < shape.chunkCount {
            let pieces = shape.pieces(of: chunk)
            #expect(!pieces.isEmpty)
            let bytes = pieces.reduce(0) { $0 + shape.byteCount(ofPiece: $1) }
            #expect(bytes == shape.ciphertextByteCount(of: chunk))
            #expect(pieces.allSatisfy { shape.chunk(ofPiece: $0) == chunk })
        }
        #expect(shape.pieces(of: shape.lastChunk).upperBound == shape.pieceCount)
    }

    @Test func `have no chunk and no piece outside`() {
        let shape = BlobBench.shape(300_000)
        for chunk in [-1, 2, .min, .max] {
            #expect(shape.plaintextRange(of: chunk) == nil)
            #expect(shape.ciphertextRange(of: chunk) == nil)
            #expect(shape.pieces(of: chunk).isEmpty)
            #expect(shape.ciphertextByteCount(of: chunk) == 0)
            #expect(shape.chunk(ofPiece: chunk) == nil)
            #expect(shape.byteCount(ofPiece: chunk) == 0)
        }
    }

    @Test func `say which chunks a range of plaintext needs`() {
        let shape = BlobBench.shape(600_000)
        func chunks(_ range: Range<UInt64>) -> [Int] { shape.chunkRanges(of: range).map(\.chunk) }
        #expect(chunks(0..<1) == [0])
        #expect(chunks(262_127..<262_129) == [0, 1])
        #expect(chunks(262_128..<262_129) == [1])
        #expect(chunks(599_999..<600_000) == [2])
        #expect(chunks(0..<600_000) == [0, 1, 2])
        #expect(chunks(5..<5) == [])
        #expect(chunks(0..<600_001) == [])
        #expect(chunks(0..<UInt64.max) == [])
        #expect(
            shape.chunkRanges(of: 262_120..<262_130).map(\.bytes) == [262_120..<262_128, 0..<2])
    }
}
