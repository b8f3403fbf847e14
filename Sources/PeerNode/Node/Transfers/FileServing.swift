import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// What one link is served.
struct FileService {
    /// The blobs that the peer wants to be told about.
    var watched: Set<BlobRoot> = []
    /// The pieces that it asked for.
    var queue = PieceQueue()
    /// Bytes of pieces that the session had when it was looked at last.
    var unsentBytes = 0
    /// Proofs that the worker makes.
    var proofs = 0

    /// The peer wants to hear of a blob, unless it does of too many.
    mutating func watch(_ root: BlobRoot) {
        guard watched.count < BlobLimits.wantedBlobsPerLinkMax else { return }
        watched.insert(root)
    }
}

/// What is said at a time to peers that have not asked (M-36).
struct UnaskedWords {
    private var left = Limits.holderWordsPendingMax

    /// Whether one more blob may be looked at.
    var hasRoom: Bool { left > 0 }

    /// Notes that a blob was looked at, and how many peers hear of it. To find out that nobody may
    /// costs as much.
    mutating func note(_ words: Int) { left -= max(words, 1) }
}

/// Serves the pieces that peers ask for.
final class FileServing: FilePart {
    private var services: [LinkID: FileService] = [:]

    /// Whether nobody has asked for anything.
    var isIdle: Bool { services.isEmpty }

    /// Whether pieces are in the queue of a link, as far as is known.
    func waits(for link: LinkID) -> Bool { services[link]?.unsentBytes ?? 0 > 0 }

    /// The other end of a link asks for something of a blob.
    func wanted(_ want: BlobWant, on link: PeerLink) throws(StorageError) {
        if want.pieces.isEmpty, want.leaves == nil {
            services[link.id, default: FileService()].watch(want.root)
            return link.tell(try room.blobs.holding(of: want.root), of: want.root)
        }
        guard let (row, blob) = try room.blobs.heldRow(want.root) else {
            return link.tell(nil, of: want.root)
        }
        if let leaves = want.leaves {
            guard services[link.id]?.proofs ?? 0 < Limits.blobProofsPerLinkMax,
                leaves.count <= BlobLimits.leavesPerMessageMax,
                leaves.upperBound <= blob.shape.chunkCount
            else { return link.cancel(want.pieces, of: want.root) }
            services[link.id, default: FileService()].proofs += 1
            try room.jobs.ask(.prove(leaves, of: blob, for: link.id.number))
        }
        // In place: a copy would cost as much as all that waits, for each request.
        let refused = services[link.id, default: FileService()].queue.add(
            want.pieces, of: blob, held: row.held)
        if !refused.isEmpty { link.cancel(refused, of: want.root) }
    }

    /// The peer no longer wants pieces, or does not send any.
    ///
    /// - Parameter pieces: `nil` for all, and for word of changes, too.
    /// - Returns: whether it had asked for word, so that it says nothing of what it has.
    func cancelled(_ pieces: [Range<Int>]?, of root: BlobRoot, on link: PeerLink) -> Bool {
        services[link.id]?.queue.cancel(pieces, of: root)
        return pieces == nil && services[link.id]?.watched.remove(root) != nil
    }

    /// Tells the peers that watch a blob what is held of it now. Of what is not all here any more
    /// all hear who may: they would go on counting this device, and might drop the last copy.
    func tellHeld() throws(StorageError) {
        let changed = room.blobs.takeChanged()
        let links = network.ordered.filter(\.mayCarryBlobs)
        // Without a link no readers are looked up: a start may find that very many blobs are gone.
        guard !links.isEmpty else { return }
        var unasked = UnaskedWords()
        for (root, isLost) in changed {
            var hearing = links.filter { services[$0.id]?.watched.contains(root) == true }
            if isLost, unasked.hasRoom {
                let others = try readers(of: root).filter { link in
                    !hearing.contains { $0 === link }
                }
                unasked.note(others.count)
                hearing += others
            }
            guard !hearing.isEmpty else { continue }
            let holding = try room.blobs.holding(of: root)
            for link in hearing { link.tell(holding, of: root) }
        }
    }

    /// A link to each device that is online and may hear of a blob.
    private func readers(of root: BlobRoot) throws(StorageError) -> [PeerLink] {
        var links: [PeerLink] = []
        for row in try store.blobs.rows(startingWith: root.bytes) {
            for (_, link) in try room.mentions.onlineReaders(of: row.number)
            where !links.contains(where: { $0 === link }) {
                links.append(link)
            }
        }
        return links
    }

    /// A link is gone.
    func left(_ link: PeerLink) { services[link.id] = nil }

    func forgetWorkspaces() { services = [:] }

    // MARK: Pieces

    /// Asks the worker to read what links have room for.
    func serve() throws(StorageError) {
        for link in services.keys.sorted() {
            guard let session = network.links[link]?.session, var service = services[link] else {
                continue
            }
            let unsent = session.unsentBlobBytes
            if unsent < service.unsentBytes { service.queue.sent(service.unsentBytes - unsent) }
            service.unsentBytes = unsent
            services[link] = service
        }
        noteBuffers()
        for link in services.keys.sorted() {
            while let item = services[link]?.queue.next(bufferBytes: room.transfers.bufferBytes) {
                noteBuffers()
                try room.jobs.ask(.read(piece: item.piece, of: item.blob, for: link.number))
            }
        }
    }

    private func noteBuffers() {
        room.transfers.noteSending(services.values.reduce(0) { $0 + $1.queue.queuedBytes })
    }

    /// The worker has read a piece, or could not.
    func read(
        _ piece: Int, of blob: BlobName, for link: LinkID, _ result: Result<[UInt8], BlobError>
    ) throws(StorageError) {
        guard let peer = network.links[link], services[link] != nil else { return }
        switch result {
        case .success(let message):
            peer.session.send(raw: message, in: .blob)
            services[link]?.unsentBytes += message.count
        case .failure(let error):
            services[link]?.queue.sent(blob.shape.byteCount(ofPiece: piece))
            peer.cancel([piece..<piece + 1], of: blob.root)
            // If a chunk is missing, this device no longer says that it holds the chunk.
            guard error == .missing, mayWrite, let chunk = blob.shape.chunk(ofPiece: piece),
                let (row, _) = try room.blobs.heldRow(blob.root)
            else { return }
            var held = row.held
            held.remove(chunk)
            try room.blobs.setHeld(held, of: row)
        }
    }

    /// The worker has made a proof, or could not.
    func proved(
        _ blob: BlobName, for link: LinkID, _ result: Result<TreeProof, BlobError>
    ) {
        services[link]?.proofs -= 1
        guard let peer = network.links[link] else { return }
        switch result {
        case .success(let proof):
            let message = BlobMessage.leaves(blob.root, proof).encoded()
            peer.session.send(raw: message, in: .blob)
            services[link]?.unsentBytes += message.count
        case .failure: peer.cancel([0..<blob.shape.pieceCount], of: blob.root)
        }
    }
}
