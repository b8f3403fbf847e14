import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Fetching blobs from other devices.
extension Files {
    /// Has a blob be fetched, whole, until it is here: also after a restart.
    func want(_ number: Int64, isUrgent: Bool = false) throws(StorageError) {
        guard let row = try store.blobs.row(number), !row.held.isWhole else { return }
        if !row.isWanted {
            try write()
            try store.blobs.set(.wanted, true, of: number)
        }
        try fetch(row, isUrgent: isUrgent)
    }

    /// Goes on with what was being fetched when the process ended.
    ///
    /// It goes round through all that is wanted, so that blobs which nobody has keep none from coming.
    func resume() throws(StorageError) {
        var isAgain = false
        while transfers.count < BlobLimits.transfersMax {
            let rows = try store.blobs.wanted(from: nextWanted, limit: BlobLimits.transfersMax)
            for row in rows where transfers.count < BlobLimits.transfersMax {
                try fetch(row)
                nextWanted = row.number + 1
            }
            guard rows.isEmpty else { continue }
            if isAgain { return }
            isAgain = true
            nextWanted = 0
        }
    }

    /// Makes room for other transfers, where one has waited in vain for long.
    func leaveIdle() throws(StorageError) {
        guard transfers.count >= BlobLimits.transfersMax else { return }
        let idle = transfers.keys.sorted().filter { root in
            guard let since = scheduler.state(of: root)?.waitingSince else { return false }
            return since &+ Limits.fileWaitMilliseconds <= time.monotonic
        }
        guard !idle.isEmpty else { return }
        for root in idle { endTransfer(root) }
        try resume()
    }

    /// - Parameter part: the chunks that somebody waits for; `nil` for all there are.
    func fetch(
        _ row: BlobTable.Row, chunks part: Range<Int>? = nil, isUrgent: Bool = false
    ) throws(StorageError) {
        guard let blob = row.blob, !row.held.isWhole else { return }
        // Of two sizes that messages claim of one root only one is true, and the other never comes.
        if isUrgent, let other = transfers[blob.root], other.blob != blob,
            scheduler.state(of: blob.root)?.byteCount == 0
        {
            endTransfer(blob.root)
        }
        if isUrgent, transfers[blob.root] == nil { try leaveIdle() }
        guard
            scheduler.fetch(
                blob, held: row.held, chunks: part ?? 0..<blob.shape.chunkCount,
                isUrgent: isUrgent, at: time.monotonic)
        else { return }
        guard transfers[blob.root] == nil else {
            if part == nil { transfers[blob.root]?.isPart = false }
            return
        }
        transfers[blob.root] = FileTransfer(number: row.number, blob: blob)
        transfers[blob.root]?.isPart = part != nil
        if !row.held.isEmpty, blob.shape.chunkCount > 1 { try ask(.tree(of: blob)) }
    }

    /// Ends a transfer; what is here of it stays.
    func endTransfer(_ root: BlobRoot) {
        send(scheduler.end(root))
        transfers[root] = nil
        for link in services.keys { services[link]?.asked.remove(root) }
    }

    /// Asks everybody who may know of a blob what they hold of it.
    func askHolders() throws(StorageError) {
        let links = network.ordered.filter(mayTransfer)
        for root in transfers.keys.sorted() {
            guard var transfer = transfers[root] else { continue }
            let age = transfer.readersAt.map { time.monotonic - min($0, time.monotonic) }
            if age.map({ $0 >= Limits.blobReadersMilliseconds }) ?? true {
                (transfer.readers, transfer.workspace) = try readers(of: transfer.number)
                transfer.readersAt = time.monotonic
                transfers[root] = transfer
            }
            for link in links {
                guard let device = link.peer?.device, transfer.readers.contains(device),
                    services[link.id, default: FileService()].asked.insert(root).inserted
                else { continue }
                askWhatIsHeld(of: root, on: link)
            }
        }
    }

    // MARK: What comes

    /// A piece of a blob came.
    ///
    /// - Returns: whether somebody had asked for it.
    func received(_ piece: BlobPiece, from peer: PieceScheduler.PeerID) throws(StorageError) -> Bool
    {
        let (arrival, messages) = scheduler.take(piece, from: peer, at: time.monotonic)
        send(messages)
        switch arrival {
        case .store(let blob, let leaf): try ask(.store(piece, of: blob, leaf: leaf))
        case .late: break
        case .unasked: return false
        }
        return true
    }

    /// Hashes of chunks came.
    func received(
        _ proof: TreeProof, of root: BlobRoot, from peer: PieceScheduler.PeerID
    ) throws(StorageError) {
        send(scheduler.take(proof, of: root, from: peer, at: time.monotonic))
        guard transfers[root]?.hasTree == false, let tree = scheduler.tree(of: root) else { return }
        transfers[root]?.hasTree = true
        try ask(.keep(tree))
    }

    /// A device said what it holds. It is stored where that is all of it, or no longer.
    func received(
        _ holding: BlobHolding?, of root: BlobRoot, from device: DeviceID
    ) throws(StorageError) {
        scheduler.note(holding, of: root, from: number(of: device))
        let rows = try store.blobs.rows(startingWith: root.bytes)
        for row in rows where mayWrite {
            guard let blob = row.blob, holding.map({ $0.shape == blob.shape }) ?? true else {
                continue
            }
            let known = try store.blobs.holders(of: row.number)
                .first { $0.device == device.bytes }
            let map = holding.flatMap { $0.map.isWhole ? $0.map.encoded : nil }
            guard known?.map != map else { continue }
            try write()
            try store.blobs.setHolder(
                device.bytes, map, of: row.number, at: Int64(clamping: time.wall))
        }
        try noteAnswer(holding, of: root, from: device)
    }

    // MARK: What came of it

    /// A piece was stored, or could not be.
    func stored(
        _ piece: Int, of blob: BlobName, _ result: Result<PieceOutcome, BlobError>
    ) throws(StorageError) {
        switch result {
        case .success(let outcome):
            send(scheduler.settle(piece, of: blob, outcome))
            guard case .whole = outcome else { return }
            if scheduler.state(of: blob.root)?.isComplete == true {
                askForClaim()
            } else {
                claimDue = claimDue ?? time.monotonic &+ Limits.blobClaimMilliseconds
            }
        case .failure(let error):
            scheduler.fail(piece, of: blob)
            if retryDue == nil {
                retryDue = time.monotonic &+ Limits.blobRetryMilliseconds
                turn.emit(.log(.warning, "blob.not_stored error=\(error.code)"))
            }
        }
    }

    /// These chunks outlast a power cut now.
    func claimed(_ claims: [ChunkClaim]) throws(StorageError) {
        for claim in claims where mayWrite {
            guard let row = try store.blobs.row(claim.blob) else {
                // Nobody knows it any more.
                try ask(.remove(claim.blob.root))
                continue
            }
            var held = row.held
            held.formUnion(claim.chunks)
            try setHeld(held, of: row)
            if held.isWhole { try completed(row, claim.blob) } else { try partCame(of: claim.blob) }
        }
    }

    /// Writes what is held of a blob, and has peers hear of it.
    func setHeld(_ held: HaveMap, of row: BlobTable.Row) throws(StorageError) {
        guard let blob = row.blob else { return }
        try write()
        try store.blobs.setHeld(
            held.encoded, byteCount: Int64(clamping: held.byteCount(of: blob.shape)),
            of: row.number, at: Int64(clamping: time.wall))
        changed.insert(blob.root)
        wordsDue = wordsDue ?? time.monotonic
    }

    private func completed(_ row: BlobTable.Row, _ blob: BlobName) throws(StorageError) {
        if row.isWanted { try store.blobs.set(.wanted, false, of: row.number) }
        if let transfer = transfers[blob.root] {
            tell(transfer, scheduler.state(of: blob.root), isOver: true)
            endTransfer(blob.root)
        }
        try beginWaiting(for: blob)
        try resume()
    }

    /// What was stored since the last claim is not there: everything goes on from what the tables say.
    func unclaimed(_ error: BlobError) throws(StorageError) {
        turn.emit(.log(.warning, "blob.not_claimed error=\(error.code)"))
        for root in transfers.keys.sorted() { endTransfer(root) }
        try resume()
        try fetchPartsAgain()
        for root in transfers.keys.sorted() {
            // It is asked for again when the disk has had some time.
            guard let blob = transfers[root]?.blob else { continue }
            scheduler.fail(0, of: blob)
        }
        retryDue = time.monotonic &+ Limits.blobRetryMilliseconds
    }
}
