public import WorkspaceModel

/// The pieces that one link's peer has asked for, and the order in which they go out.
///
/// Blobs take turns by chunk. At most 1 MiB of pieces waits in the link at a time, so that what is
/// asked for is memory only when it can be sent soon.
public struct PieceQueue: Sendable {
    /// What to read and send next.
    public struct Item: Hashable, Sendable {
        /// Of which blob.
        public let root: BlobRoot
        /// Which piece.
        public let piece: Int

        /// What `next` gives.
        public init(root: BlobRoot, piece: Int) {
            self.root = root
            self.piece = piece
        }
    }

    private struct Line: Sendable {
        let shape: BlobShape
        var pieces: [Int]
    }

    private var lines: [BlobRoot: Line] = [:]
    /// The blobs in the order of their turns.
    private var turns: [BlobRoot] = []
    /// Bytes of pieces that were given out and are not on the wire yet.
    public private(set) var queuedBytes = 0
    /// Pieces that wait.
    public private(set) var pieceCount = 0

    /// A link that was asked for nothing.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { pieceCount == 0 }

    /// Puts what a peer asks for behind the rest.
    ///
    /// - Parameters:
    ///   - map: which chunks are held here.
    /// - Returns: the pieces that will not be sent, as they are not held or too many: say so.
    public mutating func add(
        _ pieces: [Range<Int>], of blob: BlobName, held map: HaveMap
    ) -> [Range<Int>] {
        var line = lines[blob.root] ?? Line(shape: blob.shape, pieces: [])
        var refused: [Range<Int>] = []
        var waiting = Set(line.pieces)
        for range in pieces {
            // A range may name a million pieces, so it is left as soon as there is no room.
            var next = range.lowerBound
            while next < range.upperBound, pieceCount < BlobLimits.wantedPiecesPerLinkMax {
                let isHeld = blob.shape.chunk(ofPiece: next).map { map.contains($0) } ?? false
                guard isHeld else { break }
                if waiting.insert(next).inserted {
                    line.pieces.append(next)
                    pieceCount += 1
                }
                next += 1
            }
            if next < range.upperBound { refused.append(next..<range.upperBound) }
        }
        guard !line.pieces.isEmpty else { return refused }
        lines[blob.root] = line
        if !turns.contains(blob.root) { turns.append(blob.root) }
        return refused
    }

    /// Takes pieces back that the peer does not want any more; `nil` is all of the blob.
    public mutating func cancel(_ pieces: [Range<Int>]?, of root: BlobRoot) {
        guard var line = lines[root] else { return }
        let before = line.pieces.count
        if let pieces {
            line.pieces.removeAll { piece in pieces.contains { $0.contains(piece) } }
        } else {
            line.pieces = []
        }
        pieceCount -= before - line.pieces.count
        put(line, root)
    }

    private mutating func put(_ line: Line, _ root: BlobRoot) {
        lines[root] = line.pieces.isEmpty ? nil : line
        if line.pieces.isEmpty { turns.removeAll { $0 == root } }
    }

    /// The next piece to read, `nil` while enough waits in the link or in memory.
    ///
    /// - Parameter bufferBytes: bytes of pieces in memory elsewhere.
    public mutating func next(bufferBytes: Int) -> Item? {
        guard let root = turns.first, var line = lines[root], let piece = line.pieces.first else {
            return nil
        }
        let byteCount = line.shape.byteCount(ofPiece: piece)
        guard queuedBytes + byteCount <= BlobLimits.queuedPieceBytesPerLinkMax,
            bufferBytes + byteCount <= BlobLimits.bufferBytesMax
        else { return nil }
        line.pieces.removeFirst()
        pieceCount -= 1
        queuedBytes += byteCount
        let isChunkOver =
            line.pieces.first.flatMap { line.shape.chunk(ofPiece: $0) }
            != line.shape.chunk(ofPiece: piece)
        put(line, root)
        if isChunkOver, !line.pieces.isEmpty {
            turns.removeFirst()
            turns.append(root)
        }
        return Item(root: root, piece: piece)
    }

    /// Notes that bytes of pieces have left the link's buffer, or could not be read.
    public mutating func sent(_ byteCount: Int) { queuedBytes = max(0, queuedBytes - byteCount) }
}
