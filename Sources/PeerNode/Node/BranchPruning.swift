import CRDTStore
import WorkspaceModel

/// The bound on the branches of a log: a device that writes two histories gets both kept, and one
/// that writes hundreds does not fill the disk of everybody else.
extension NodeCore {
    /// Removes what is too much of the documents in which logs got branches: as a rule once
    /// everything that came with them was taken.
    func pruneOvergrown() throws(StorageError) {
        let places = overgrown.sorted {
            ($0.workspace, $0.document) < ($1.workspace, $1.document)
        }
        overgrown.removeAll()
        for place in places {
            guard let workspace = workspaces[place.workspace] else { continue }
            try prune(place.document, in: workspace)
        }
    }

    /// Notes that a log has more branches than anything bounds by itself.
    func noteBranches(of log: LogName, in workspace: Workspace) {
        let branches = store.operations.branches(of: log, in: workspace.number)
        guard branches.count > Limits.branchesMax else { return }
        overgrown.insert(.init(workspace: workspace.number, document: log.document))
    }

    /// Removes what is too much where a log has so many branches that it cannot wait for the end of
    /// the turn: what one message brings may be thousands. Where that leaves many, because they are
    /// needed, it is done again only after as many more.
    func pruneIfCrowded(_ log: LogName, in workspace: Workspace) throws(StorageError) {
        let place = WorkspaceDocument(workspace: workspace.number, document: log.document)
        let most = crowdedAt[log] ?? Limits.branchesCrowdedMax
        guard overgrown.contains(place),
            store.operations.branches(of: log, in: workspace.number).count > most
        else { return }
        try pruneOvergrown()
        crowdedAt[log] =
            store.operations.branches(of: log, in: workspace.number).count
            + Limits.branchesCrowdedMax
    }

    /// All logs of a document at once: nothing is left whose past is not.
    private func prune(
        _ document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        let logs = logs(in: store.operations.branches(in: document, of: workspace.number))
        let crowded = logs.filter { $0.count > Limits.branchesMax }
        var hasExcess = false
        for log in crowded where !hasExcess { hasExcess = try self.hasExcess(log) }
        guard hasExcess else { return }
        try write()
        try rekeep(document, in: workspace)
        let left = try ends(leftOf: crowded, in: document, workspace)
        let number = store.operations.document(document, in: workspace.number)
        var silenced: Set<MemberID> = []
        // All of it while everything is there: what lies behind a branch that is gone is not opened.
        for branch in crowded.joined() where number?.kind == .channel {
            silenced.formUnion(try silenceTail(of: branch, left[branch.number], workspace))
        }
        for branch in crowded.joined() {
            // What these redactions deleted, or these undos brought back, may be so no more.
            if try store.view.hasNamings(in: branch.number, behind: left[branch.number]) {
                try reviewRedactions(inDocument: branch.document)
            }
            let gone = try store.operations.cut(branch.number, behind: left[branch.number])
            try reindex(gone, of: branch.document)
            try store.view.remove(gone, in: branch.document)
            if left[branch.number] == nil { store.peers.forget(branch: branch.number) }
        }
        if let number { try heedAgain(silenced, in: number.number, workspace) }
        try reloadPrivate(
            document, in: workspace, from: .released(source: 0, isBackfill: false))
        if document == workspace.profileDocument { try reloadProfiles(of: workspace) }
        workspace.staleDocuments.insert(document)
    }

    /// What is removed says nothing any more about who follows a channel.
    private func silenceTail(
        of branch: LogBranch, _ end: UInt64?, _ workspace: Workspace
    ) throws(StorageError) -> Set<MemberID> {
        let first = max(end.map { $0 + 1 } ?? 0, branch.forkSequence)
        guard first <= branch.tipSequence else { return [] }
        let gone = try store.operations.positions(in: branch.number, first...branch.tipSequence)
        return try silence(gone, in: branch.document, workspace)
    }

    /// Whether a log has more leaves than count, valid ones or void ones.
    private func hasExcess(_ branches: [LogBranch]) throws(StorageError) -> Bool {
        let validLeaves = try store.operations.leaves(of: branches, ends: validEnds(of: branches))
        let leaves = try store.operations.leaves(of: branches, ends: storedEnds(of: branches))
        let excess = leaves.count - min(validLeaves.count, Limits.branchesMax)
        return validLeaves.count > Limits.branchesMax || excess > Limits.voidBranchesMax
    }

    private func storedEnds(of branches: [LogBranch]) -> OperationStore.BranchEnds {
        var ends: OperationStore.BranchEnds = [:]
        for branch in branches { ends[branch.number] = branch.tipSequence }
        return ends
    }

    /// How far each branch stays stored: as far as it is kept, or needed by something that waits,
    /// and the first of those that are void, in case a verdict changes; with the past of all.
    private func ends(
        leftOf crowded: [[LogBranch]], in document: DocumentID, _ workspace: Workspace
    ) throws(StorageError) -> OperationStore.BranchEnds {
        var left = try neededEnds(of: document, in: workspace)
        let kept = left
        let numbers = Set(crowded.joined().map(\.number))
        var staying = kept
        // Of other logs everything stays, and so does what that cites.
        for branch in store.operations.branches(in: document, of: workspace.number)
        where !numbers.contains(branch.number) {
            staying[branch.number] = branch.tipSequence
        }
        for log in crowded {
            for (number, end) in try voidEnds(of: log, kept) {
                staying[number] = max(staying[number] ?? 0, end)
            }
        }
        try raise(&left, to: staying, in: document, workspace)
        return left
    }

    /// How far the first of the void branches of a log reach.
    private func voidEnds(
        of log: [LogBranch], _ kept: OperationStore.BranchEnds
    ) throws(StorageError) -> OperationStore.BranchEnds {
        let valid = validEnds(of: log)
        var ends: OperationStore.BranchEnds = [:]
        var count = 0
        for leaf in try store.operations.leaves(of: log, ends: storedEnds(of: log))
        where count < Limits.voidBranchesMax {
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
            count += 1
            for step in steps { ends[step.owner] = max(ends[step.owner] ?? 0, step.last) }
        }
        return ends
    }
}

/// A document of one workspace.
struct WorkspaceDocument: Hashable {
    let workspace: Int64
    let document: DocumentID
}
