/// One blob that is being fetched: what is wanted, what came, and who is asked for what.
struct Transfer: Sendable {
    let blob: BlobName
    /// Chunks that are to be held in the end.
    var wanted: HaveMap
    /// Those of them that somebody waits for.
    var urgent: HaveMap
    /// Chunks that are stored and right.
    var held: HaveMap
    /// Chunks of which a piece was asked for or came.
    var begun: HaveMap
    /// Who asks for the pieces of a chunk that was begun.
    var owners: [Int: PieceScheduler.PeerID] = [:]
    /// Chunks that came wrong from several peers: now all of it comes from one.
    var exclusive: Set<Int> = []
    /// Pieces that were asked for, and of whom; two at most.
    var asked: [Int: [PieceScheduler.PeerID]] = [:]
    /// From when on a second may be asked for a piece: the first should have sent it by then.
    var secondAt: [Int: UInt64] = [:]
    /// Pieces of chunks that are not whole, and who sent them.
    var arrived: [Int: PieceScheduler.PeerID] = [:]
    /// Who holds what.
    var sources: [PieceScheduler.PeerID: HaveMap] = [:]
    /// Hashes of chunks that were proven, and which chunks these are.
    private(set) var leaves: [Int: TreeHash] = [:]
    private(set) var judged: HaveMap
    /// Of whom leaves were asked, and which.
    var leavesAsked: (peer: PieceScheduler.PeerID, chunks: Range<Int>)?
    /// Whether the disk could not take a piece: nothing is asked for until it can.
    var isPaused = false

    init(_ blob: BlobName, held: HaveMap) {
        self.blob = blob
        self.held = held
        wanted = HaveMap(blob.shape)
        urgent = wanted
        begun = wanted
        // The root judges the only chunk.
        judged = blob.shape.chunkCount == 1 ? .whole(blob.shape) : wanted
    }

    /// Notes leaves that were proven.
    mutating func know(_ leaves: [TreeHash], from first: Int) {
        for (offset, leaf) in leaves.enumerated() {
            self.leaves[first + offset] = leaf
            judged.insert(first + offset)
        }
    }

    var shape: BlobShape { blob.shape }

    /// Whether all that is wanted is held.
    var isComplete: Bool {
        HaveMap.first(in: [wanted], outside: [held]) == nil
    }

    /// The chunks that can be judged when a peer sends them: their hashes are known, or on their way
    /// from this very peer, who sends these first.
    func judged(from peer: PieceScheduler.PeerID) -> HaveMap {
        guard let leavesAsked, leavesAsked.peer == peer else { return judged }
        var map = judged
        map.insert(leavesAsked.chunks)
        return map
    }

    /// The next piece of a chunk that was neither asked for nor came.
    func nextPiece(of chunk: Int) -> Int? {
        shape.pieces(of: chunk).first { asked[$0] == nil && arrived[$0] == nil }
    }

    /// Forgets that `peer` was asked for a piece; its chunk is free again if nothing of it is left.
    mutating func release(_ piece: Int, by peer: PieceScheduler.PeerID) {
        guard let peers = asked[piece] else { return }
        let left = peers.filter { $0 != peer }
        asked[piece] = left.isEmpty ? nil : left
        if left.isEmpty { secondAt[piece] = nil }
        tidy(piece)
    }

    /// Forgets that a chunk was begun once nothing of it was asked for or came.
    mutating func tidy(_ piece: Int) {
        guard let chunk = shape.chunk(ofPiece: piece), begun.contains(chunk) else { return }
        let isEmpty = shape.pieces(of: chunk).allSatisfy { asked[$0] == nil && arrived[$0] == nil }
        guard isEmpty else { return }
        begun.remove(chunk)
        owners[chunk] = nil
    }

    /// Forgets what came of a chunk.
    ///
    /// - Returns: who sent it.
    mutating func discard(_ chunk: Int) -> Set<PieceScheduler.PeerID> {
        var senders: Set<PieceScheduler.PeerID> = []
        for piece in shape.pieces(of: chunk) {
            if let sender = arrived.removeValue(forKey: piece) { senders.insert(sender) }
        }
        if let piece = shape.pieces(of: chunk).first { tidy(piece) }
        return senders
    }
}
