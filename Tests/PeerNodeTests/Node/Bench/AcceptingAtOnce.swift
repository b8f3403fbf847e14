import CRDTStore
import SyncProtocol
import WorkspaceModel

@testable import PeerNode

extension NodeCore {
    /// Accepts a run outside of a turn, with all that the ends of the next turns take for it.
    @discardableResult
    func acceptAtOnce(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        let outcome = try log.accept(run, in: workspace, from: source)
        repeat { try log.acceptReleased() } while !log.released.isEmpty
        return outcome
    }
}
