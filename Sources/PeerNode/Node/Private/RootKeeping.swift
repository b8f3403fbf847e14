import CRDTStore
import WorkspaceModel

/// Retains the first operation of a private document for as long as anything else in it is
/// retained.
final class RootKeeping: CorePart {
    private static let kept = OperationSource.released(source: 0, isBackfill: true)

    /// The branch that begins with the root of a private document.
    private func rootBranch(
        of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> LogBranch? {
        if let known = workspace.sealed.roots[document] {
            guard let number = known else { return nil }
            if let branch = store.operations.branch(number) { return branch }
        }
        let root = OperationID(sameBytesAs: document)
        for branch in store.operations.branches(in: document, of: workspace.number)
        where branch.forkSequence == 0 {
            guard try store.operations.place(in: branch.number, at: 0)?.link.id == root else {
                continue
            }
            workspace.sealed.roots.note(branch.number, of: document)
            return branch
        }
        workspace.sealed.roots.note(nil, of: document)
        return nil
    }

    private func isPrivate(_ document: DocumentID, in workspace: Workspace) -> Bool {
        store.operations.privateDocument(document, in: workspace.number) != nil
    }

    /// Adds the root to what is retained of a private document, if anything else of it is.
    func addRoot(
        to ends: inout OperationStore.BranchEnds, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        guard !ends.isEmpty, isPrivate(document, in: workspace),
            let root = try rootBranch(of: document, in: workspace), ends[root.number] == nil
        else { return }
        ends[root.number] = 0
    }

    /// Retains the root from now on, if something else in the document is retained, or the root has
    /// arrived.
    func keepRoot(of document: DocumentID, in workspace: Workspace) throws(StorageError) {
        guard isPrivate(document, in: workspace),
            let root = try rootBranch(of: document, in: workspace), root.kept == nil
        else { return }
        let branches = store.operations.branches(in: document, of: workspace.number)
        guard branches.contains(where: { $0.kept != nil }) else { return }
        try core.log.retention.keep(root, through: 0, in: workspace)
        try core.log.retention.keepGrants(
            citedBy: [.init(branch: root.number, places: 0...0)], of: document, in: workspace)
        core.privates.judgeLater(document, isAnew: true, in: workspace, from: Self.kept)
    }

    /// Judges a private document again if its root is newly retained, or no longer is.
    func judgeRoot(
        of document: DocumentID, wasKept: Bool, in workspace: Workspace
    ) throws(StorageError) {
        guard try isRootKept(of: document, in: workspace) != wasKept else { return }
        core.privates.judgeLater(document, isAnew: true, in: workspace, from: Self.kept)
    }

    /// Whether the root of a document is here and kept.
    func isRootKept(of document: DocumentID, in workspace: Workspace) throws(StorageError) -> Bool {
        guard isPrivate(document, in: workspace) else { return false }
        return try rootBranch(of: document, in: workspace)?.kept != nil
    }
}
