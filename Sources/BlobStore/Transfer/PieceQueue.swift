public import WorkspaceModel

/// The pieces that one link's peer has requested, in sending order.
///
/// Blobs take turns by chunk. At most 1 MiB of pieces waits in the link at a time, so that requests
/// take memory only when they can be sent soon.
public struct PieceQueue: Sendable {
    /// The next piece to read and send.
    public struct Item: Hashable, Sendable {
        /// The blob.
        public let blob: BlobName
        /// The piece.
        public let piece: Int

        /// A result of `next`.
        public init(blob: BlobName, piece: Int) {
            self.blob = blob
            self.piece = piece
        }
    }

    private struct Line: Sendable {
        let blob: BlobName
        var pieces: [Int]
    }

    private var lines: [BlobRoot: Line] = [:]
    /// The blobs in round-robin order.
    private var turns: [BlobRoot] = []
    /// Bytes of pieces handed out and not yet on the wire.
    public private(set) var queuedBytes = 0
    /// Waiting pieces.
    public private(set) var pieceCount = 0

    /// An empty queue.
    public init() {}

    /// Whether no piece waits.
    public var isEmpty: Bool { pieceCount == 0 }

    /// Appends a peer's request.
    ///
    /// - Parameters:
    ///   - map: the chunks held here.
    /// - Returns: the pieces that will not be sent, because they are not held or too many; the peer
    ///   must be told.
    public mutating func add(
        _ pieces: [Range<Int>], of blob: BlobName, held map: HaveMap
    ) -> [Range<Int>] {
        var line = lines[blob.root] ?? Line(blob: blob, pieces: [])
        var refused: [Range<Int>] = []
        var waiting = Set(line.pieces)
        for range in pieces {
            // A range may name a million pieces, so the loop ends as soon as there is no room.
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

    /// Removes pieces that the peer no longer needs; `nil` removes all of the blob.
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
    /// - Parameter bufferBytes: bytes of pieces elsewhere in memory.
    public mutating func next(bufferBytes: Int) -> Item? {
        guard let root = turns.first, var line = lines[root], let piece = line.pieces.first else {
            return nil
        }
        let shape = line.blob.shape
        let byteCount = shape.byteCount(ofPiece: piece)
        guard queuedBytes + byteCount <= BlobLimits.queuedPieceBytesPerLinkMax,
            bufferBytes + byteCount <= BlobLimits.bufferBytesMax
        else { return nil }
        line.pieces.removeFirst()
        pieceCount -= 1
        queuedBytes += byteCount
        let isChunkOver =
            line.pieces.first.flatMap { shape.chunk(ofPiece: $0) }
            != shape.chunk(ofPiece: piece)
        put(line, root)
        if isChunkOver, !line.pieces.isEmpty {
            turns.removeFirst()
            turns.append(root)
        }
        return Item(blob: line.blob, piece: piece)
    }

    /// Bytes of pieces have left the link's buffer, or could not be read.
    public mutating func sent(_ byteCount: Int) { queuedBytes = max(0, queuedBytes - byteCount) }
}
