import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Handles arriving pieces of blobs, and the results from the worker.
extension FileTransfers {
    /// A piece of a blob came.
    func received(
        _ piece: BlobPiece, from device: DeviceID, on link: PeerLink
    ) throws(StorageError) {
        let (arrival, messages) = scheduler.take(
            piece, from: numbers.enter(device), at: time.monotonic)
        send(messages)
        switch arrival {
        case .store(let blob, let leaf):
            try room.jobs.ask(.store(piece, of: blob, leaf: leaf))
        case .late: break
        case .unasked: sources[link.id, default: BlobSource()].unasked += 1
        }
    }

    /// Hashes of chunks came.
    func received(
        _ proof: TreeProof, of root: BlobRoot, from device: DeviceID
    ) throws(StorageError) {
        send(scheduler.take(proof, of: root, from: numbers.enter(device), at: time.monotonic))
        guard transfers[root]?.hasTree == false, let tree = scheduler.tree(of: root) else { return }
        transfers[root]?.hasTree = true
        try room.jobs.ask(.keep(tree))
    }

    /// A device said what it holds. It is stored where that is all of it, or no longer.
    func received(
        _ holding: BlobHolding?, of root: BlobRoot, from device: DeviceID
    ) throws(StorageError) {
        scheduler.note(holding, of: root, from: numbers.enter(device))
        let rows = try store.blobs.rows(startingWith: root.bytes)
        for row in rows where mayWrite {
            guard let blob = row.blob, holding.map({ $0.shape == blob.shape }) ?? true else {
                continue
            }
            let map = holding.flatMap { $0.map.isWhole ? $0.map.encoded : nil }
            try room.heldElsewhere.note(map, from: device.bytes, of: row.number)
        }
    }

    /// A device does not send what it was asked for.
    func refused(_ pieces: [Range<Int>]?, of root: BlobRoot, by device: DeviceID) {
        scheduler.refuse(pieces, of: root, from: numbers.enter(device))
    }

    // MARK: What came of it

    /// The worker has the hashes of all chunks.
    func know(_ tree: BlobTree) {
        scheduler.know(tree)
        transfers[tree.root]?.hasTree = true
    }

    /// A piece was stored, or could not be.
    func stored(_ piece: Int, of blob: BlobName, _ result: Result<PieceOutcome, BlobError>) {
        switch result {
        case .success(let outcome):
            send(scheduler.settle(piece, of: blob, outcome))
            guard case .whole = outcome else { return }
            let isComplete = scheduler.isComplete(blob.root)
            if isComplete { gathered.insert(blob.root) }
            let wait = isComplete ? Limits.blobGatherMilliseconds : Limits.blobClaimMilliseconds
            claimDue = min(claimDue ?? .max, time.monotonic &+ wait)
        case .failure(let error):
            scheduler.fail(piece, of: blob)
            if retryDue == nil {
                retryDue = time.monotonic &+ Limits.blobRetryMilliseconds
                turn.emit(.log(.warning, "blob.not_stored error=\(error.code)"))
            }
        }
    }

    /// Has what is stored so far count.
    func askForClaim() {
        claimDue = nil
        gathered = []
        turn.emit(.blob(.claim))
    }

    /// Has what has come whole count once nothing else is on its way, or there is much of it: a claim
    /// costs the disk as much for one small file as for many.
    func claimGathered() {
        guard !gathered.isEmpty,
            gathered.count >= Limits.blobsGatheredMax || scheduler.isQuiet
        else { return }
        askForClaim()
    }

    /// How much of a blob is here after a claim.
    enum Claimed {
        case part
        case whole
        /// Nobody knows it any more.
        case unknown
    }

    /// These chunks outlast a power cut now. A blob that is whole is not fetched any more.
    func claimed(_ claim: ChunkClaim) throws(StorageError) -> Claimed {
        guard let row = try store.blobs.row(claim.blob) else {
            try room.jobs.ask(.remove(claim.blob.root))
            return .unknown
        }
        var held = row.held
        held.formUnion(claim.chunks)
        try room.blobs.setHeld(held, of: row)
        guard held.isWhole else { return .part }
        if row.isWanted { try room.blobs.setWanted(false, of: row.number) }
        let root = claim.blob.root
        gathered.remove(root)
        if let transfer = transfers[root] {
            tell(transfer, scheduler.state(of: root), isOver: true)
            end(root)
        }
        return .whole
    }

    /// What was stored since the last claim is lost: everything continues from the tables.
    func unclaimed(_ error: BlobError) throws(StorageError) {
        turn.emit(.log(.warning, "blob.not_claimed error=\(error.code)"))
        gathered = []
        for root in transfers.keys.sorted() { end(root) }
        try resume()
    }

    /// Asks for everything again when the disk has had some time.
    func pause() {
        for root in transfers.keys.sorted() {
            guard let blob = transfers[root]?.blob else { continue }
            scheduler.fail(0, of: blob)
        }
        retryDue = time.monotonic &+ Limits.blobRetryMilliseconds
    }
}
