public import WorkspaceModel

/// Decides which piece of which blob is requested from which peer.
///
/// It neither waits nor sends: the node reports events with their time, and carries out what `plan`
/// returns. It is deterministic.
///
/// - A peer is asked for what it delivers in a second, within the bounds of a window. Among those
///   with room, the one that owes least is next.
/// - Transfers take turns at each peer, by chunk.
/// - A chunk comes from one peer, unless that one stalls or leaves. Once every chunk is requested,
///   the last ones are requested from a second peer.
/// - A peer that sends a wrong chunk or wrong leaves is not asked again for that blob.
public struct PieceScheduler: Sendable {
    /// A device, by a number that the node keeps for as long as it runs. It is not a link's number,
    /// so that reconnecting does not restore trust.
    public typealias PeerID = UInt64

    /// A message to send.
    public struct Message: Hashable, Sendable {
        /// The recipient.
        public let peer: PeerID
        /// The message: a want or a cancel.
        public let message: BlobMessage
    }

    /// What to do with an arrived piece.
    public enum Arrival: Hashable, Sendable {
        /// Store it, verify its chunk with the leaf, and call `settle`.
        case store(BlobName, leaf: TreeHash?)
        /// It was requested, and arrived too late to be useful.
        case late
        /// It was not requested.
        case unasked
    }

    struct Peer: Sendable {
        var pace = PeerPace()
        /// Requested bytes that have not arrived.
        var owed = 0
        /// Cancelled pieces that may still be on their way.
        var calledOff: Set<PieceName> = []
        /// Until when no requests are sent to it.
        var restsUntil: UInt64 = 0
        /// The transfer and chunk of its last request.
        var turn: (root: BlobRoot, chunk: Int)?
    }

    struct PieceName: Hashable, Sendable {
        let root: BlobRoot
        let piece: Int
    }

    /// A chunk with pieces that are no longer useful.
    public struct Forgotten: Hashable, Sendable {
        /// The blob.
        public let blob: BlobName
        /// The chunk.
        public let chunk: Int

        /// A result of `takeForgotten`.
        public init(blob: BlobName, chunk: Int) {
            self.blob = blob
            self.chunk = chunk
        }
    }

    private var forgotten: [Forgotten] = []
    /// Peers that sent wrong data, by blob: kept after the transfer, and after they left.
    private var liars: [BlobRoot: Set<PeerID>] = [:]
    var peers: [PeerID: Peer] = [:]
    var transfers: [BlobRoot: Transfer] = [:]
    var marks = TransferMarks()
    /// Bytes of pieces handed out for storing, and still in memory.
    private(set) var unsettledBytes = 0
    /// Bytes of pieces elsewhere in memory, such as those being sent.
    public var otherBufferBytes = 0

    /// A scheduler without transfers.
    public init() {}

    /// Bytes of pieces in memory, including those that may arrive at any time.
    public var bufferBytes: Int {
        peers.values.reduce(unsettledBytes + otherBufferBytes) { $0 + $1.owed }
    }

    // MARK: Transfers

    /// Starts fetching chunks of a blob, or adds some to a transfer.
    ///
    /// - Parameters:
    ///   - held: the chunks held already; ignored for an existing transfer.
    ///   - chunks: the wanted chunks.
    ///   - isUrgent: whether a caller waits for these, so that they come first.
    /// - Returns: `false` if there are too many transfers; try again when one ends.
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

    /// Ends a transfer, complete or not, and cancels its requests.
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

    /// Resumes a transfer that was paused because a piece could not be stored.
    public mutating func resume(_ root: BlobRoot) {
        guard transfers[root]?.isPaused == true else { return }
        transfers[root]?.isPaused = false
        marks.change(root)
    }

    /// Stored chunks turned out to be lost.
    public mutating func lose(_ chunks: HaveMap, of root: BlobRoot) {
        guard transfers[root]?.shape.chunkCount == chunks.chunkCount else { return }
        for chunk in chunks.runs.joined() { transfers[root]?.held.remove(chunk) }
        marks.change(root)
    }

    // MARK: Peers

    /// Records what a peer says that it holds; `nil` is nothing.
    ///
    /// Requested pieces that it no longer holds are requested from others.
    public mutating func note(_ holding: BlobHolding?, of root: BlobRoot, from peer: PeerID) {
        guard var transfer = transfers[root], !isBanned(peer, from: root) else { return }
        guard transfer.sources[peer] != nil || transfer.sources.count < BlobLimits.sourcesMax else {
            return
        }
        // A peer with another shape does not have a blob with this root.
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

    /// A peer will not send these pieces, or nothing of the blob.
    public mutating func refuse(_ pieces: [Range<Int>]?, of root: BlobRoot, from peer: PeerID) {
        guard let transfer = transfers[root] else { return }
        guard let pieces else { return note(nil, of: root, from: peer) }
        for piece in transfer.asked.keys.sorted()
        where transfer.asked[piece]?.contains(peer) == true {
            guard pieces.contains(where: { $0.contains(piece) }) else { continue }
            release(piece, of: root, by: peer)
            if let chunk = transfer.shape.chunk(ofPiece: piece) {
                // `release` has marked the freed pieces, so they are requested from others.
                transfers[root]?.sources[peer]?.remove(chunk)
                if transfers[root]?.owners[chunk] == peer { disown(chunk, of: root) }
            }
        }
    }

    /// A peer left. Its requests go to others; what it sent is kept.
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

    /// Frees all requests to a peer for a blob.
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

    /// Removes a chunk's owner. An exclusive chunk starts over.
    private mutating func disown(_ chunk: Int, of root: BlobRoot) {
        guard var transfer = transfers[root] else { return }
        transfer.owners[chunk] = nil
        if transfer.exclusive.contains(chunk), !transfer.discard(chunk).isEmpty {
            forgotten.append(Forgotten(blob: transfer.blob, chunk: chunk))
        }
        transfers[root] = transfer
        marks.change(root)
    }

    /// Chunks whose pieces are no longer useful: call `ChunkStore.forget` for each.
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

    /// A peer no longer owes a piece, though it may still arrive.
    private mutating func callOff(_ piece: Int, of blob: BlobName, by peer: PeerID) {
        guard var state = peers[peer] else { return }
        state.owed = max(0, state.owed - blob.shape.byteCount(ofPiece: piece))
        if state.calledOff.count >= BlobLimits.wantedPiecesPerLinkMax { state.calledOff = [] }
        state.calledOff.insert(PieceName(root: blob.root, piece: piece))
        peers[peer] = state
    }

    /// Whether a peer sent wrong data for this blob, in this transfer or an earlier one.
    func isBanned(_ peer: PeerID, from root: BlobRoot) -> Bool {
        liars[root]?.contains(peer) == true
    }

    /// Excludes a peer as a source of this blob.
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
