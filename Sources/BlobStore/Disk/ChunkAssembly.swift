import WorkspaceCrypto
import WorkspaceModel

/// A chunk being assembled from pieces, with the hash of those that arrived in order.
struct ChunkAssembly {
    /// The chunk's pieces.
    let pieces: Range<Int>
    private(set) var missing: Int
    private var has: [Bool]
    /// The hash of the pieces before `hashed`.
    private let stream = BlobTree.leafStream()
    private var hashed = 0

    init(_ pieces: Range<Int>) {
        self.pieces = pieces
        missing = pieces.count
        has = [Bool](repeating: false, count: pieces.count)
    }

    /// Whether this piece arrived before.
    func contains(_ piece: Int) -> Bool {
        pieces.contains(piece) && has[piece - pieces.lowerBound]
    }

    /// Records a piece, and hashes it if it is the next one.
    mutating func insert(_ piece: Int, _ bytes: ArraySlice<UInt8>) {
        guard pieces.contains(piece), !contains(piece) else { return }
        has[piece - pieces.lowerBound] = true
        missing -= 1
        guard piece - pieces.lowerBound == hashed else { return }
        stream.update(span: bytes.span)
        hashed += 1
    }

    /// The leaf, once no piece is missing. Pieces that arrived out of order are read back.
    mutating func leaf(
        read: (Int) throws(BlobError) -> [UInt8]
    ) throws(BlobError) -> TreeHash {
        while hashed < pieces.count {
            stream.update(try read(pieces.lowerBound + hashed))
            hashed += 1
        }
        return TreeHash(stream.finish())
    }
}
