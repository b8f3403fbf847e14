public import WorkspaceModel

/// Decides which piece of which blob is asked of which peer.
///
/// It neither waits nor sends: the node tells it what happened, with the time, and does what `plan`
/// says. The same calls give the same plans.
///
/// - A peer is asked for what it delivers in a second, within the bounds of a window. Of those that
///   have room, the one that owes least is next.
/// - Transfers take turns at each peer, by chunk.
/// - A chunk comes from one peer, unless that one stalls or goes. When none is left that nobody was
///   asked for, the last ones are asked of a second.
/// - Who sends a wrong chunk or wrong leaves is asked no more for that blob.
public struct PieceScheduler: Sendable {
    /// A device, by a number that the node gives it for as long as it runs: not a link, so that
    /// nobody is trusted again for dialling again.
    public typealias PeerID = UInt64

    /// What is to be sent.
    public struct Message: Hashable, Sendable {
        /// To whom.
        public let peer: PeerID
        /// What: a want or a cancel.
        public let message: BlobMessage
    }

    /// What to do with a piece that came.
    public enum Arrival: Hashable, Sendable {
        /// Store it, with the leaf to judge its chunk by, and call `settle`.
        case store(BlobName, leaf: TreeHash?)
        /// It was asked for, and came too late to be of use.
        case late
        /// It was not asked for.
        case unasked
    }

    struct Peer: Sendable {
        var pace = PeerPace()
        /// Bytes that it was asked for and that did not come.
        var owed = 0
        /// Pieces that were asked for and called off, which may be on their way.
        var calledOff: Set<PieceName> = []
        /// Until when it is asked for nothing.
        var restsUntil: UInt64 = 0
        /// The transfer and chunk of which it was asked last.
        var turn: (root: BlobRoot, chunk: Int)?
    }

    struct PieceName: Hashable, Sendable {
        let root: BlobRoot
        let piece: Int
    }

    /// A chunk of which some pieces came that are of no use.
    public struct Forgotten: Hashable, Sendable {
        /// Of which blob.
        public let blob: BlobName
        /// Which chunk.
        public let chunk: Int

        /// What `takeForgotten` gives.
        public init(blob: BlobName, chunk: Int) {
            self.blob = blob
            self.chunk = chunk
        }
    }

    private var forgotten: [Forgotten] = []
    /// Who sent something wrong, and of what: also after the transfer, and after they left.
    private var liars: [BlobRoot: Set<PeerID>] = [:]
    var peers: [PeerID: Peer] = [:]
    var transfers: [BlobRoot: Transfer] = [:]
    var marks = TransferMarks()
    /// Pieces that were handed out to be stored, and are still in memory.
    private(set) var unsettledBytes = 0
    /// Bytes of pieces in memory elsewhere, such as those that are sent.
    public var otherBufferBytes = 0

    /// A scheduler without transfers.
    public init() {}

    /// Bytes of pieces in memory, and those that may come at any time.
    public var bufferBytes: Int {
        peers.values.reduce(unsettledBytes + otherBufferBytes) { $0 + $1.owed }
    }

    // MARK: Transfers

    /// Begins to fetch chunks of a blob, or more of them.
    ///
    /// - Parameters:
    ///   - held: what is held already; of a transfer that goes on it is not asked.
    ///   - chunks: which are wanted.
    ///   - isUrgent: whether somebody waits for these, so that they come first.
    /// - Returns: `false` where there are too many transfers; try again when one is over.
    public mutating func fetch(
        _ blob: BlobName, held: HaveMap, chunks: Range<Int>, isUrgent: Bool = false,
        at now: UInt64
    ) -> Bool {
        guard held.chunkCount == blob.shape.chunkCount else { return false }
        guard transfers[blob.root] != nil || transfers.count < BlobLimits.transfersMax else {
            return false
        }
        var transfer = transfers[blob.root] ?? Transfer(blob, held: held)
        guard transfer.shape == blob.shape else { return false }
        transfer.wanted.insert(chunks)
        if isUrgent { transfer.urgent.insert(chunks) }
        transfers[blob.root] = transfer
        marks.change(blob.root)
        if transfer.asked.isEmpty { marks.setIdle(true, blob.root, at: now) }
        return true
    }

    /// Ends a transfer, complete or not, and calls off what was asked for.
    public mutating func end(_ root: BlobRoot) -> [Message] {
        guard let transfer = transfers[root] else { return [] }
        for (piece, peers) in transfer.asked.sorted(by: { $0.key < $1.key }) {
            for peer in peers { callOff(piece, of: transfer.blob, by: peer) }
        }
        transfers[root] = nil
        marks.end(root)
        return transfer.sources.keys.sorted().map {
            Message(peer: $0, message: .cancel(root, pieces: nil))
        }
    }

    /// Goes on with a transfer that was paused because a piece could not be stored.
    public mutating func resume(_ root: BlobRoot) {
        guard transfers[root]?.isPaused == true else { return }
        transfers[root]?.isPaused = false
        marks.change(root)
    }

    /// Notes that chunks which were stored are not held after all.
    public mutating func lose(_ chunks: HaveMap, of root: BlobRoot) {
        guard transfers[root]?.shape.chunkCount == chunks.chunkCount else { return }
        for chunk in chunks.runs.joined() { transfers[root]?.held.remove(chunk) }
        marks.change(root)
    }

    // MARK: Peers

    /// Notes what a peer says that it holds; `nil` is nothing.
    ///
    /// What it was asked for and no longer holds is asked of others.
    public mutating func note(_ holding: BlobHolding?, of root: BlobRoot, from peer: PeerID) {
        guard var transfer = transfers[root], !isBanned(peer, from: root) else { return }
        guard transfer.sources[peer] != nil || transfer.sources.count < BlobLimits.sourcesMax else {
            return
        }
        // Whoever says another shape speaks of no blob that has this root.
        let map = holding.flatMap { $0.shape == transfer.shape ? $0.map : nil }
        transfer.sources[peer] = map ?? HaveMap(transfer.shape)
        transfers[root] = transfer
        marks.setSources(transfer.sources.count, of: root)
        if peers[peer] == nil { peers[peer] = Peer() }
        let pieces = transfer.asked.keys.filter { transfer.asked[$0]?.contains(peer) == true }
        for piece in pieces.sorted() {
            guard let chunk = transfer.shape.chunk(ofPiece: piece), map?.contains(chunk) != true
            else { continue }
            release(piece, of: root, by: peer)
        }
        for (chunk, owner) in transfer.owners.sorted(by: { $0.key < $1.key })
        where owner == peer && map?.contains(chunk) != true {
            disown(chunk, of: root)
        }
    }

    /// Notes that a peer will not send these pieces, or none of the blob.
    public mutating func refuse(_ pieces: [Range<Int>]?, of root: BlobRoot, from peer: PeerID) {
        guard let transfer = transfers[root] else { return }
        guard let pieces else { return note(nil, of: root, from: peer) }
        for piece in transfer.asked.keys.sorted()
        where transfer.asked[piece]?.contains(peer) == true {
            guard pieces.contains(where: { $0.contains(piece) }) else { continue }
            release(piece, of: root, by: peer)
            if let chunk = transfer.shape.chunk(ofPiece: piece) {
                // What is free again is asked of others: `release` has marked it.
                transfers[root]?.sources[peer]?.remove(chunk)
                if transfers[root]?.owners[chunk] == peer { disown(chunk, of: root) }
            }
        }
    }

    /// Notes that a peer is gone. What it was asked for is asked of others; what it sent stays.
    public mutating func leave(_ peer: PeerID) {
        for root in transfers.keys.sorted() {
            drop(peer, from: root)
            forgetSource(peer, of: root)
        }
        peers[peer] = nil
    }

    private mutating func forgetSource(_ peer: PeerID, of root: BlobRoot) {
        guard transfers[root]?.sources.removeValue(forKey: peer) != nil else { return }
        marks.setSources(transfers[root]?.sources.count ?? 0, of: root)
    }

    /// Frees everything that a peer was asked for of a blob.
    ///
    /// - Returns: the pieces.
    @discardableResult
    mutating func drop(_ peer: PeerID, from root: BlobRoot) -> [Int] {
        guard let transfer = transfers[root] else { return [] }
        let pieces = transfer.asked.keys.filter { transfer.asked[$0]?.contains(peer) == true }
        for piece in pieces.sorted() { release(piece, of: root, by: peer) }
        if transfer.leavesAsked?.peer == peer {
            transfers[root]?.leavesAsked = nil
            marks.setAwaitsLeaves(false, root)
        }
        for (chunk, owner) in transfer.owners.sorted(by: { $0.key < $1.key })
        where owner == peer {
            disown(chunk, of: root)
        }
        return pieces.sorted()
    }

    /// Lets anybody go on with a chunk. One that has to come from one peer begins again.
    private mutating func disown(_ chunk: Int, of root: BlobRoot) {
        guard var transfer = transfers[root] else { return }
        transfer.owners[chunk] = nil
        if transfer.exclusive.contains(chunk), !transfer.discard(chunk).isEmpty {
            forgotten.append(Forgotten(blob: transfer.blob, chunk: chunk))
        }
        transfers[root] = transfer
        marks.change(root)
    }

    /// Chunks whose pieces are of no use any more: call `ChunkStore.forget` for each.
    public mutating func takeForgotten() -> [Forgotten] {
        defer { forgotten = [] }
        return forgotten
    }

    /// Frees one piece.
    mutating func release(_ piece: Int, of root: BlobRoot, by peer: PeerID) {
        guard let blob = transfers[root]?.blob,
            transfers[root]?.asked[piece]?.contains(peer) == true
        else { return }
        transfers[root]?.release(piece, by: peer)
        marks.change(root)
        callOff(piece, of: blob, by: peer)
    }

    /// Notes that a peer owes a piece no more, though it may still come.
    private mutating func callOff(_ piece: Int, of blob: BlobName, by peer: PeerID) {
        guard var state = peers[peer] else { return }
        state.owed = max(0, state.owed - blob.shape.byteCount(ofPiece: piece))
        if state.calledOff.count >= BlobLimits.wantedPiecesPerLinkMax { state.calledOff = [] }
        state.calledOff.insert(PieceName(root: blob.root, piece: piece))
        peers[peer] = state
    }

    /// Whether a peer sent something wrong of this blob, in this transfer or an earlier one.
    func isBanned(_ peer: PeerID, from root: BlobRoot) -> Bool {
        liars[root]?.contains(peer) == true
    }

    /// Asks a peer no more for this blob.
    mutating func ban(_ peer: PeerID, from root: BlobRoot) -> Message {
        drop(peer, from: root)
        if liars[root] == nil, liars.count >= BlobLimits.liarBlobsMax { liars = [:] }
        liars[root, default: []].insert(peer)
        forgetSource(peer, of: root)
        return Message(peer: peer, message: .cancel(root, pieces: nil))
    }

    mutating func noteUnsettled(_ difference: Int) {
        unsettledBytes = max(0, unsettledBytes + difference)
    }
}
