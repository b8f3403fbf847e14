import CRDTStore
import WorkspaceModel

/// The bound on the branches of a log: a device that writes two histories gets both kept, and one
/// that writes hundreds does not fill the disk of everybody else.
extension NodeCore {
    /// Removes what is too much of the logs that got branches, once everything that came with
    /// them was taken.
    func pruneOvergrown() throws(StorageError) {
        let logs = overgrown.sorted { ($0.workspace, $0.log) < ($1.workspace, $1.log) }
        overgrown.removeAll()
        for place in logs {
            guard let workspace = workspaces[place.workspace] else { continue }
            try prune(place.log, in: workspace)
        }
    }

    /// Notes that a log has more branches than anything bounds by itself.
    func noteBranches(of log: LogName, in workspace: Workspace) {
        let branches = store.operations.branches(of: log, in: workspace.number)
        guard branches.count > Limits.branchesMax else { return }
        overgrown.insert(.init(workspace: workspace.number, log: log))
    }

    private func prune(_ log: LogName, in workspace: Workspace) throws(StorageError) {
        let branches = store.operations.branches(of: log, in: workspace.number)
        let valid = validEnds(of: branches)
        var stored: OperationStore.BranchEnds = [:]
        for branch in branches { stored[branch.number] = branch.tipSequence }
        let validLeaves = try store.operations.leaves(of: branches, ends: valid)
        let leaves = try store.operations.leaves(of: branches, ends: stored)
        let excess = leaves.count - min(validLeaves.count, Limits.branchesMax)
        guard validLeaves.count > Limits.branchesMax || excess > Limits.voidBranchesMax else {
            return
        }
        try write()
        try rekeep(log.document, in: workspace)
        let left = try ends(leftOf: leaves, in: log, valid: valid, workspace)
        for branch in branches {
            // What these redactions deleted, or these undos brought back, may be so no more.
            if try store.view.hasNamings(in: branch.number, behind: left[branch.number]) {
                try reviewRedactions(inDocument: branch.document)
            }
            let gone = try store.operations.cut(branch.number, behind: left[branch.number])
            try reindex(gone, of: branch.document)
            try store.view.remove(gone, in: branch.document)
            if left[branch.number] == nil { store.peers.forget(branch: branch.number) }
        }
        try reloadPrivate(
            log.document, in: workspace, from: .released(source: 0, isBackfill: false))
        if log.document == workspace.profileDocument {
            try reloadProfiles(of: workspace)
        }
        workspace.staleDocuments.insert(log.document)
    }

    /// How far each branch stays stored: as far as it is kept, and the first of those that are
    /// void, in case a verdict changes.
    private func ends(
        leftOf leaves: [Int64], in log: LogName, valid: OperationStore.BranchEnds,
        _ workspace: Workspace
    ) throws(StorageError) -> OperationStore.BranchEnds {
        var left: OperationStore.BranchEnds = [:]
        for branch in store.operations.branches(of: log, in: workspace.number) {
            branch.kept.map { left[branch.number] = $0.sequence }
        }
        let kept = left
        var voidCount = 0
        for leaf in leaves where voidCount < Limits.voidBranchesMax {
            guard let tip = store.operations.branch(leaf)?.tipSequence, kept[leaf] != tip else {
                continue
            }
            let steps = store.operations.steps(through: tip, of: leaf)
            // What leads over a place that has to go goes with it.
            let isSurplus = steps.contains { step in
                guard let end = valid[step.owner] else { return false }
                return kept[step.owner].map { min(end, step.last) > $0 } ?? true
            }
            if isSurplus { continue }
            voidCount += 1
            for step in steps { left[step.owner] = max(left[step.owner] ?? 0, step.last) }
        }
        return left
    }
}

/// A log of one workspace.
struct WorkspaceLog: Hashable {
    let workspace: Int64
    let log: LogName
}
