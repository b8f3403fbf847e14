import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a node in one workspace stores, which its person may have left.
extension BenchNode {
    /// Each operation of a document, as a run of its own, as they came.
    func storedRuns(in document: DocumentID) throws -> [OperationRun] {
        let core = try #require(host?.core)
        let number = try #require(core.workspaces.values.first).number
        let operations = core.turn.store.operations
        var runs: [OperationRun] = []
        try operations.forEachOperation(in: document, of: number) {
            (stored) throws(StorageError) in
            runs.append(
                OperationRun(
                    log: stored.log, firstSequence: stored.place.sequence,
                    previous: try operations.previous(of: stored.place), entries: [stored.entry]))
        }
        return runs
    }

    /// The same of all documents.
    func storedRuns() throws -> [OperationRun] {
        let core = try #require(host?.core)
        let number = try #require(core.workspaces.values.first).number
        return try core.turn.store.operations.documents(ofWorkspace: number).flatMap {
            try storedRuns(in: $0)
        }
    }
}
