import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Messages about blobs, and giving others what they ask for.
extension Files {
    /// Takes a message about a blob.
    ///
    /// - Returns: why the link ends, if it does.
    func received(_ bytes: [UInt8], on link: PeerLink) throws(StorageError) -> LinkEnding? {
        guard mayTransfer(on: link), let device = link.peer?.device else { return nil }
        let message: BlobMessage?
        do throws(Malformed) { message = try BlobMessage.decoded(bytes) } catch {
            return LinkEnding(SyncViolation.malformed(type: bytes.first ?? 0, error))
        }
        let peer = number(of: device)
        switch message {
        case .want(let want)?: try wanted(want, on: link)
        case .have(let root, let holding)?: try received(holding, of: root, from: device)
        case .leaves(let root, let proof)?: try received(proof, of: root, from: peer)
        case .piece(let piece)?:
            if try !received(piece, from: peer) {
                services[link.id, default: FileService()].unasked += 1
            }
        case .cancel(let root, let pieces)?:
            services[link.id]?.queue.cancel(pieces, of: root)
            // Whoever asked about it and wants no more of it says nothing of what it has.
            let hadAsked = pieces == nil && services[link.id]?.watched.remove(root) != nil
            if !hadAsked { scheduler.refuse(pieces, of: root, from: peer) }
        case nil: break
        }
        let unasked = services[link.id]?.unasked ?? 0
        return unasked >= Limits.unaskedPiecesMax
            ? LinkEnding("sync.unasked", "pieces that nobody asked for") : nil
    }

    /// Bytes came on a link: a part of a piece shows that the other end is slow and not stalled.
    func heard(_ link: PeerLink) {
        guard !transfers.isEmpty, let service = services[link.id], !service.asked.isEmpty,
            let device = link.peer?.device
        else { return }
        let unfinished = link.session.unfinishedBlobBytes
        if unfinished > 0, unfinished != service.unfinishedBytes {
            scheduler.hear(number(of: device), at: time.monotonic)
        }
        services[link.id]?.unfinishedBytes = unfinished
    }

    /// A blob of which something is held.
    func heldRow(_ root: BlobRoot) throws(StorageError) -> (BlobTable.Row, BlobName)? {
        for row in try store.blobs.rows(startingWith: root.bytes) where row.byteCount > 0 {
            if let blob = row.blob { return (row, blob) }
        }
        return nil
    }

    private func wanted(_ want: BlobWant, on link: PeerLink) throws(StorageError) {
        var service = services[link.id] ?? FileService()
        defer { services[link.id] = service }
        if want.pieces.isEmpty, want.leaves == nil {
            if service.watched.count < BlobLimits.wantedBlobsPerLinkMax {
                service.watched.insert(want.root)
            }
            return link.session.send(
                raw: BlobMessage.have(want.root, try holding(of: want.root)).encoded(),
                in: .control)
        }
        guard let (row, blob) = try heldRow(want.root) else {
            return link.session.send(
                raw: BlobMessage.have(want.root, nil).encoded(), in: .control)
        }
        if let leaves = want.leaves {
            guard service.proofs < Limits.blobProofsPerLinkMax,
                leaves.count <= BlobLimits.leavesPerMessageMax,
                leaves.upperBound <= blob.shape.chunkCount
            else { return cancel(want.pieces, of: want.root, on: link) }
            service.proofs += 1
            try ask(.prove(leaves, of: blob, for: link.id.number))
        }
        service.blobs[want.root] = blob
        let refused = service.queue.add(want.pieces, of: blob, held: row.held)
        if !refused.isEmpty { cancel(refused, of: want.root, on: link) }
    }

    private func cancel(_ pieces: [Range<Int>], of root: BlobRoot, on link: PeerLink) {
        link.session.send(raw: BlobMessage.cancel(root, pieces: pieces).encoded(), in: .control)
    }

    private func holding(of root: BlobRoot) throws(StorageError) -> BlobHolding? {
        guard let (row, blob) = try heldRow(root), !row.held.isEmpty else { return nil }
        return BlobHolding(shape: blob.shape, map: row.held)
    }

    /// Tells whoever wants to hear of it what is held now.
    func tellHeld() throws(StorageError) {
        wordsDue = nil
        let roots = changed
        changed = []
        for root in roots.sorted() {
            let watching = network.ordered.filter {
                mayTransfer(on: $0) && services[$0.id]?.watched.contains(root) == true
            }
            guard !watching.isEmpty else { continue }
            let word = BlobMessage.have(root, try holding(of: root)).encoded()
            for link in watching { link.session.send(raw: word, in: .control) }
        }
    }

    // MARK: Pieces

    /// Has the desk read what links have room for.
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
            while let item = services[link]?.queue.next(bufferBytes: scheduler.bufferBytes) {
                guard let blob = services[link]?.blobs[item.root] else { continue }
                noteBuffers()
                try ask(.read(piece: item.piece, of: blob, for: link.number))
            }
        }
    }

    private func noteBuffers() {
        scheduler.otherBufferBytes = services.values.reduce(0) { $0 + $1.queue.queuedBytes }
    }

    /// The desk has read a piece, or could not.
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
            cancel([piece..<piece + 1], of: blob.root, on: peer)
            // What is not there is held by nobody who says so.
            guard error == .missing, mayWrite, let chunk = blob.shape.chunk(ofPiece: piece),
                let (row, _) = try heldRow(blob.root)
            else { return }
            var held = row.held
            held.remove(chunk)
            try setHeld(held, of: row)
        }
    }

    /// The desk has made a proof, or could not.
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
        case .failure: cancel([0..<blob.shape.pieceCount], of: blob.root, on: peer)
        }
    }
}
