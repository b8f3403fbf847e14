/// One blob being fetched: what is wanted, what has arrived, and what is requested from whom.
struct Transfer: Sendable {
    let blob: BlobName
    /// Chunks to fetch, including those held.
    var wanted: HaveMap
    /// Those of them that a caller waits for.
    var urgent: HaveMap
    /// Chunks that are stored and verified.
    var held: HaveMap
    /// Chunks of which a piece was requested or has arrived.
    var begun: HaveMap
    /// The peer that supplies the pieces of a chunk.
    var owners: [Int: PieceScheduler.PeerID] = [:]
    /// Chunks that came wrong from several peers: now all pieces come from one.
    var exclusive: Set<Int> = []
    /// Requested pieces with their peers, two at most.
    var asked: [Int: [PieceScheduler.PeerID]] = [:]
    /// When a second peer may be asked for a piece: the first should have sent it by then.
    var secondAt: [Int: UInt64] = [:]
    /// Pieces of incomplete chunks, with their senders.
    var arrived: [Int: PieceScheduler.PeerID] = [:]
    /// The chunks that each peer holds.
    var sources: [PieceScheduler.PeerID: HaveMap] = [:]
    /// Proven hashes of chunks, and the chunks that can be verified.
    private(set) var leaves: [Int: TreeHash] = [:]
    private(set) var judged: HaveMap
    /// The peer that leaves were requested from, and the chunks.
    var leavesAsked: (peer: PieceScheduler.PeerID, chunks: Range<Int>)?
    /// Whether storing failed: nothing is requested until it works again.
    var isPaused = false

    init(_ blob: BlobName, held: HaveMap) {
        self.blob = blob
        self.held = held
        wanted = HaveMap(blob.shape)
        urgent = wanted
        begun = wanted
        // The root verifies the only chunk.
        judged = blob.shape.chunkCount == 1 ? .whole(blob.shape) : wanted
    }

    /// Adds proven leaves.
    mutating func know(_ leaves: [TreeHash], from first: Int) {
        for (offset, leaf) in leaves.enumerated() {
            self.leaves[first + offset] = leaf
            judged.insert(first + offset)
        }
    }

    var shape: BlobShape { blob.shape }

    /// Whether everything wanted is held.
    var isComplete: Bool {
        HaveMap.first(in: [wanted], outside: [held]) == nil
    }

    /// The chunks that can be verified when this peer sends them: their hashes are known, or
    /// requested from the same peer, which sends them first.
    func judged(from peer: PieceScheduler.PeerID) -> HaveMap {
        guard let leavesAsked, leavesAsked.peer == peer else { return judged }
        var map = judged
        map.insert(leavesAsked.chunks)
        return map
    }

    /// The next piece of a chunk that was neither requested nor arrived.
    func nextPiece(of chunk: Int) -> Int? {
        shape.pieces(of: chunk).first { asked[$0] == nil && arrived[$0] == nil }
    }

    /// Drops the request for a piece from `peer`; its chunk is free again if nothing of it is left.
    mutating func release(_ piece: Int, by peer: PieceScheduler.PeerID) {
        guard let peers = asked[piece] else { return }
        let left = peers.filter { $0 != peer }
        asked[piece] = left.isEmpty ? nil : left
        if left.isEmpty { secondAt[piece] = nil }
        tidy(piece)
    }

    /// Marks a chunk as not begun once nothing of it is requested or has arrived.
    mutating func tidy(_ piece: Int) {
        guard let chunk = shape.chunk(ofPiece: piece), begun.contains(chunk) else { return }
        let isEmpty = shape.pieces(of: chunk).allSatisfy { asked[$0] == nil && arrived[$0] == nil }
        guard isEmpty else { return }
        begun.remove(chunk)
        owners[chunk] = nil
    }

    /// Discards the pieces of a chunk.
    ///
    /// - Returns: their senders.
    mutating func discard(_ chunk: Int) -> Set<PieceScheduler.PeerID> {
        var senders: Set<PieceScheduler.PeerID> = []
        for piece in shape.pieces(of: chunk) {
            if let sender = arrived.removeValue(forKey: piece) { senders.insert(sender) }
        }
        if let piece = shape.pieces(of: chunk).first { tidy(piece) }
        return senders
    }
}
