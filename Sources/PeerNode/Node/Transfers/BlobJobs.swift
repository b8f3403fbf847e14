import BlobStore
import CRDTStore
import WorkspaceModel

/// Jobs for the worker beside the loop, the only place that sees the bytes of blobs.
final class BlobJobs: FilePart {
    /// Whether the worker has had its first job.
    private var isBegun = false

    /// Hands a job to the worker. With the first one it hears what the tables say is held.
    func ask(_ job: BlobJob) throws(StorageError) {
        if !isBegun {
            isBegun = true
            var held: [BlobName: HaveMap] = [:]
            for row in try store.blobs.rows() {
                if let blob = row.blob, !row.held.isEmpty { held[blob] = row.held }
            }
            turn.emit(.blob(.begin(held: held)))
        }
        turn.emit(.blob(job))
    }

    /// Asks the worker for its current state, unless it was asked before.
    func begin() throws(StorageError) {
        if !isBegun { try ask(.claim) }
    }

    /// Only what the worker has done counts, and that is in the store.
    func goOn(after former: BlobJobs) { isBegun = former.isBegun }
}
