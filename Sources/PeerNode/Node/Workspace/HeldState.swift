import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What this node holds of one workspace, for comparison with peers.
final class HeldState {
    /// Everything kept, for comparing with peers.
    var digest = WorkspaceDigest()
    /// Documents whose kept tips moved since the digest was made.
    var staleDocuments: Set<DocumentID> = []
    /// When others had the same of what a guest may know, by arrival number.
    var agreedInScope: [DeviceID: Int64] = [:]
    /// The largest `latest(of:)` of each document, to see when the clock does not order by itself.
    var newestTimestamp: [DocumentID: UInt64] = [:]
}
