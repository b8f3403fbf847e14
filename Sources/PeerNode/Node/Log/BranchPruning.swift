import CRDTStore
import WorkspaceModel

/// The bound on the branches of a log: when a device writes two histories, both are kept, but a
/// device that writes hundreds does not fill the disk of everybody else.
///
/// The cost depends on what is removed, not on the length of the document.
final class BranchPruning: LogPart {
    /// Logs with more branches than may stay.
    var overgrown: Set<WorkspaceLog> = []
    /// How many branches are too many of logs that were crowded already, until all that was waited
    /// for is taken.
    private var crowdedAt: [WorkspaceLog: Int] = [:]

    /// Nothing is crowded.
    func forget() { overgrown = [] }

    /// All that was waited for is taken.
    func forgetCrowded() { crowdedAt = [:] }

    /// Removes what is too much of the logs that got branches: as a rule once everything that came
    /// with them was taken.
    func pruneOvergrown() throws(StorageError) {
        // Verdicts decide which branches are removed.
        try core.sink.settleVerdicts()
        let logs = overgrown.sorted()
        overgrown.removeAll()
        var start = logs.startIndex
        while start < logs.endIndex {
            let (first, rest) = (logs[start], logs[start...])
            let end = rest.firstIndex { !$0.isBeside(first) } ?? logs.endIndex
            if let workspace = core.workspaces[first.workspace] {
                try prune(logs[start..<end].map(\.log), in: workspace)
            }
            start = end
        }
    }

    /// Removes branches that were kept only because a waiting operation cited them, once it waits
    /// no longer: it was taken, or dropped with its source.
    func pruneLoosened() throws(StorageError) {
        for (number, logs) in room.waiting.takeLoosened() {
            guard let workspace = core.workspaces[number] else { continue }
            for log in logs { noteBranches(of: log, in: workspace) }
        }
        if mayWrite, !overgrown.isEmpty { try pruneOvergrown() }
    }

    /// Notes all logs that have too many branches: after a start nothing waits that may need them.
    func noteOvergrown() {
        for (number, log) in store.operations.crowdedLogs {
            guard let document = store.operations.document(numbered: number),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            noteBranches(of: log, in: workspace)
        }
    }

    /// Records that a log has more branches than other bounds allow. The authority document has no
    /// such bound: each of its operations decides about others.
    func noteBranches(of log: LogName, in workspace: Workspace) {
        guard log.document != workspace.id else { return }
        let count = store.operations.branchCount(of: log, in: workspace.number)
        guard count > Limits.branchesMax else { return }
        overgrown.insert(.init(workspace: workspace.number, log: log))
    }

    /// Removes excess branches of a log that has so many that it cannot wait for the end of the
    /// turn: one message may bring thousands. If many remain, because they are needed, it is
    /// repeated only after half as many more.
    func pruneIfCrowded(_ log: LogName, in workspace: Workspace) throws(StorageError) {
        let place = WorkspaceLog(workspace: workspace.number, log: log)
        let most = crowdedAt[place] ?? Limits.branchesCrowdedMax
        guard overgrown.contains(place),
            store.operations.branchCount(of: log, in: workspace.number) > most
        else { return }
        try pruneOvergrown()
        let left = store.operations.branchCount(of: log, in: workspace.number)
        crowdedAt[place] = left + max(Limits.branchesCrowdedMax, left / 2)
    }

    /// Logs of one document. A removed branch also releases what it cites, in other logs too.
    private func prune(_ logs: [LogName], in workspace: Workspace) throws(StorageError) {
        var crowded: [LogBranch] = []
        for log in logs {
            let branches = store.operations.branches(of: log, in: workspace.number)
            if try hasExcess(branches) { crowded += branches }
        }
        guard let number = crowded.first?.document,
            let document = store.operations.document(numbered: number)
        else { return }
        try write()
        let surplus = Surplus(of: document, in: workspace, asking: room)
        let lowered = try surplus.unkept(crowded)
        for (number, end) in lowered.sorted(by: { $0.key < $1.key }) {
            guard let branch = store.operations.branch(number) else { continue }
            try room.retention.keep(branch, through: end, in: workspace)
        }
        try core.sink.keepRoot(of: document.id, in: workspace)
        if workspace.judged.grants[document.id] != nil {
            try room.retention.keepGrants(of: document.id, in: workspace)
        }
        let loosened = lowered.keys.sorted().compactMap { store.operations.branch($0) }
        try remove(try surplus.removable(crowded + loosened), of: document, in: workspace)
    }

    /// Removes a branch that is there under another name too.
    func remove(branch number: Int64) throws(StorageError) {
        guard let branch = store.operations.branch(number),
            let document = store.operations.document(numbered: branch.document),
            let workspace = core.workspaces[document.workspace]
        else { return }
        try write()
        try remove([number: UInt64?.none], of: document, in: workspace)
    }

    /// Removes the ends of branches.
    private func remove(
        _ ends: [Int64: UInt64?], of document: OperationStore.DocumentRow, in workspace: Workspace
    ) throws(StorageError) {
        guard !ends.isEmpty else { return }
        let branches = ends.keys.sorted().compactMap { store.operations.branch($0) }
        var allGone: Set<Int64> = []
        var isReviewed = false
        for branch in branches {
            let end = ends[branch.number] ?? nil
            // What these redactions deleted, or these undos restored, may no longer be so.
            if !isReviewed, try store.view.redactions.hasNamings(in: branch.number, behind: end) {
                try sink.reviewRedactions(inDocument: document.number)
                isReviewed = true
            }
            let gone = try store.operations.cut(branch.number, behind: end)
            try core.sink.reindex(gone, of: document.number)
            try store.view.remove(gone, in: document.number)
            allGone.formUnion(gone.map(\.arrival))
            if end == nil { store.peers.forget(branch: branch.number) }
        }
        workspace.sealed.roots.forget(document.id)
        workspace.sealed.documents[document.id]?.rights.cuts.forgetBounds()
        workspace.own.readMarks.lateLimits = [:]
        if document.id == workspace.profileDocument {
            try core.sink.forgetProfiles(storedAt: allGone, in: workspace)
        } else if let known = workspace.sealed.documents[document.id] {
            try forget(allGone, of: known, on: branches.map(\.log), in: workspace)
        }
        workspace.held.staleDocuments.insert(document.id)
    }

    /// Updates a private document after operations were removed: nothing for messages, whose rows
    /// are gone, and the rest once a turn.
    private func forget(
        _ gone: Set<Int64>, of document: PrivateDocument, on logs: [LogName],
        in workspace: Workspace
    ) throws(StorageError) {
        if document.records.values.contains(where: { gone.contains($0.arrival) }) {
            return core.sink.reloadPrivateLater(document.id, in: workspace)
        }
        // Where the operation that cuts is no longer stored, the cut is lifted; and in the settings
        // of this person's devices another value now counts.
        guard workspace.isOwn(document) || logs.contains(where: document.hasCuts(in:)) else {
            return
        }
        try core.sink.refoldLater(
            document, in: workspace, from: .released(source: 0, isBackfill: false))
    }

    /// Whether a log has more leaves than count, valid ones or void ones.
    private func hasExcess(_ branches: [LogBranch]) throws(StorageError) -> Bool {
        guard branches.count > Limits.branchesMax else { return false }
        let operations = store.operations
        let validLeaves = try operations.leaves(
            of: branches, ends: room.retention.validEnds(of: branches))
        let leaves = try operations.leaves(of: branches, ends: operations.tipEnds(of: branches))
        let excess = leaves.count - min(validLeaves.count, Limits.branchesMax)
        return validLeaves.count > Limits.branchesMax || excess > Limits.voidBranchesMax
    }
}

/// A log of one workspace.
struct WorkspaceLog: Hashable, Comparable {
    let workspace: Int64
    let log: LogName

    func isBeside(_ other: Self) -> Bool {
        workspace == other.workspace && log.document == other.log.document
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.workspace, left.log) < (right.workspace, right.log)
    }
}
