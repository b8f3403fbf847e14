import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Incoming messages about blobs from peers, and outcomes of jobs from the worker.
extension Files {
    /// Takes a message about a blob.
    ///
    /// - Returns: why the link ends, if it does.
    func received(_ bytes: [UInt8], on link: PeerLink) throws(StorageError) -> LinkEnding? {
        guard link.mayCarryBlobs, let device = link.peer?.device else { return nil }
        let message: BlobMessage?
        do throws(Malformed) { message = try BlobMessage.decoded(bytes) } catch {
            return LinkEnding(SyncViolation.malformed(type: bytes.first ?? 0, error))
        }
        transfers.met(device)
        switch message {
        case .want(let want)?: try serving.wanted(want, on: link)
        case .have(let root, let holding)?:
            try transfers.received(holding, of: root, from: device)
            try holders.answered(holding, of: root, from: device)
        case .leaves(let root, let proof)?:
            try transfers.received(proof, of: root, from: device)
        case .piece(let piece)?: try transfers.received(piece, from: device, on: link)
        case .cancel(let root, let pieces)?:
            // A peer that cancels its own request says nothing about which pieces it has.
            let hadAsked = serving.cancelled(pieces, of: root, on: link)
            if !hadAsked { transfers.refused(pieces, of: root, by: device) }
        case nil: break
        }
        return transfers.ending(of: link)
    }

    /// A link is gone.
    func left(_ link: PeerLink) {
        serving.left(link)
        transfers.left(link)
    }

    /// Something came of a job of the worker.
    func took(_ outcome: BlobOutcome) throws(StorageError) {
        switch outcome {
        case .began(let less): try transfers.lost(less)
        case .stored(let piece, let blob, let result):
            transfers.stored(piece, of: blob, result)
        case .claimed(let claims):
            var isAnyWhole = false
            for claim in claims where mayWrite {
                if try took(claim) { isAnyWhole = true }
            }
            if isAnyWhole { try transfers.resume() }
        case .unclaimed(let error):
            try transfers.unclaimed(error)
            try tasks.fetchPartsAgain()
            transfers.pause()
        case .tree(let tree): transfers.know(tree)
        case .read(let piece, let blob, let link, let result):
            try serving.read(piece, of: blob, for: LinkID(link), result)
        case .proved(let blob, let link, let result):
            serving.proved(blob, for: LinkID(link), result)
        case .put(let id, let result): try tasks.put(id, result)
        case .saved(let id, let result): tasks.saved(id, result)
        case .verified(let id, let blob, let result):
            if let number = tasks.takeCheck(id) { return try checks.checked(number, result) }
            try tasks.verified(id, blob, result)
        case .opened(let id, let result): tasks.opened(id, result)
        case .streamed(let id): tasks.streamed(id)
        case .portion: break
        }
    }

    /// Chunks of a blob are durable now: what waits for them continues.
    ///
    /// - Returns: whether all of the blob is here, so that others may be fetched instead.
    private func took(_ claim: ChunkClaim) throws(StorageError) -> Bool {
        switch try transfers.claimed(claim) {
        case .unknown: return false
        case .part:
            try tasks.partCame(of: claim.blob)
            return false
        case .whole:
            try tasks.beginWaiting(for: claim.blob)
            return true
        }
    }
}
