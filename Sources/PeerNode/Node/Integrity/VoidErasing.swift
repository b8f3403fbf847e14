import CRDTStore
import WorkspaceModel

/// Erases what removals, revocations and departures have cut off, 30 days after this node knew of
/// both. It is in no digest, so no peer notices; what this home's person wrote stays.
extension Integrity {
    /// Erases a slice of what is due, and looks again soon, or later where nothing was.
    func eraseVoid() throws(StorageError) {
        guard mayWrite, home != nil, nextVoidErasure <= time.monotonic else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            guard try !eraseVoid(in: workspace) else {
                nextVoidErasure = time.monotonic &+ 1
                return
            }
        }
        nextVoidErasure = time.monotonic &+ Limits.voidErasureMilliseconds
    }

    /// - Returns: whether something was erased; then there may be more.
    private func eraseVoid(in workspace: Workspace) throws(StorageError) -> Bool {
        for document in store.operations.documents(ofWorkspace: workspace.number).sorted()
        where document != workspace.id {
            let branches = store.operations.branches(in: document, of: workspace.number)
            // Younger branches first: they may build on operations beyond a cut of an older one.
            for branch in branches.sorted(by: { $0.number > $1.number })
            where try isDue(branch, branches, in: workspace) {
                try eraseTail(of: branch, in: workspace)
                return true
            }
        }
        return false
    }

    /// Whether what a branch holds behind its kept end may go.
    private func isDue(
        _ branch: LogBranch, _ others: [LogBranch], in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let kept = branch.kept?.sequence
        guard kept.map({ $0 < branch.tipSequence }) ?? true,
            workspace.owner(of: branch.log.device) != workspace.member
        else { return false }
        let operations = store.operations
        if let kept, try operations.servableEnd(of: branch.number, at: kept) == branch.tipSequence {
            return false
        }
        let isBuiltOn = others.contains {
            $0.parent == branch.number && $0.forkSequence > (kept ?? branch.forkSequence)
        }
        guard !isBuiltOn,
            let place = try store.operations.place(in: branch.number, at: branch.tipSequence),
            let tip = try store.operations.operation(place.arrival),
            let revocation = workspace.judged.revocation(
                reachingContent: tip.entry.grant, of: branch.log.device, leastRole: .member),
            let record = workspace.authority[revocation],
            let known = try store.operations.operation(record.arrival)
        else { return false }
        let since = UInt64(max(tip.seen, known.seen, 0))
        return since &+ Limits.voidMilliseconds <= time.wall
    }

    private func eraseTail(
        of branch: LogBranch, in workspace: Workspace
    ) throws(StorageError) {
        try write()
        let slice = UInt64(Limits.erasedPerTurnMax)
        var end = branch.kept.map(\.sequence)
        if branch.tipSequence - min(branch.tipSequence, end ?? branch.forkSequence) > slice {
            end = branch.tipSequence - slice
        }
        let isGone = end.map { $0 < branch.forkSequence } ?? true
        let gone = try store.operations.cut(branch.number, behind: end)
        try core.queries.reindex(gone, of: branch.document)
        try store.view.remove(gone, in: branch.document)
        if isGone {
            store.peers.forget(branch: branch.number)
            workspace.sealed.roots.forget(branch.log.document)
        }
        turn.emit(
            .log(.info, "void.erased device=\(PublicID.device(branch.log.device))"))
    }
}
