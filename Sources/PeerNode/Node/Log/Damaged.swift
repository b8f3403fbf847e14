import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Operations that the disk did not keep as they were, as far as others ask.
extension OperationLog {
    /// Notes damage that somebody came across. It is acted upon at the end of the turn.
    func noteDamage(at sequence: UInt64, of branch: Int64) {
        guard store.operations.noteDamage(at: sequence, of: branch) else { return }
        turn.hasMoreToDo = true
    }

    /// Whether a part of the authority document is damaged: then nobody can say who may do what.
    func hasDamagedAuthority(_ workspace: Workspace) -> Bool {
        store.operations.damagedBranches.contains { number in
            guard let branch = store.operations.branch(number) else { return false }
            return branch.document == workspace.number
        }
    }

    /// Brings the digest up to date with the kept tips that moved since it was asked last.
    func refreshDigest(of workspace: Workspace) {
        for document in workspace.held.staleDocuments {
            let isDeleted = workspace.isGone(document)
            do throws(StorageError) {
                workspace.held.digest.update(
                    document,
                    tips: isDeleted
                        ? []
                        : try store.operations.intactBranches(in: document, of: workspace.number))
            } catch { turn.failure = error }
        }
        workspace.held.staleDocuments = []
    }
}
