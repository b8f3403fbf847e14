import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Retention: which operations are kept, and which branches changed by that.
///
/// In a content document these are the valid operations of the first branches of each log, and
/// their causal past (PROTOCOL.md, 2.1 and 5.4).
final class Retention: LogPart {
    /// Branches whose kept tip moved in this turn, by workspace.
    var moved: [Int64: Set<Int64>] = [:]

    /// Recomputes the retained tips of a content document, after verdicts changed.
    func rekeep(_ document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let branches = store.operations.branches(in: document, of: workspace.number)
        let wasRootKept = try sink.isRootKept(of: document, in: workspace)
        var ends: OperationStore.BranchEnds = [:]
        var ranges: [KeptRange] = []
        for log in logs(in: branches) {
            let counted = try countedEnds(of: log)
            for branch in log {
                guard let end = counted[branch.number], end >= branch.forkSequence else { continue }
                ends[branch.number] = end
                ranges.append(.init(branch: branch.number, places: branch.forkSequence...end))
            }
        }
        try close(&ends, with: ranges)
        try sink.addRoot(to: &ends, of: document, in: workspace)
        for branch in branches { try keep(branch, through: ends[branch.number], in: workspace) }
        try keepGrants(of: document, in: workspace)
        try sink.judgeRoot(of: document, wasKept: wasRootKept, in: workspace)
    }

    /// Keeps a branch as far as a place, or nothing of it.
    func keep(
        _ branch: LogBranch, through end: UInt64?, in workspace: Workspace
    ) throws(StorageError) {
        guard branch.kept?.sequence != end else { return }
        let tip = try end.flatMap { (end) throws(StorageError) in try keptTip(of: branch, at: end) }
        setKept(tip, of: branch.number, in: workspace)
    }

    /// Branches are in the order of their logs.
    func logs(in branches: [LogBranch]) -> [[LogBranch]] {
        var logs: [[LogBranch]] = []
        for branch in branches {
            if logs.last?.last?.log == branch.log {
                logs[logs.count - 1].append(branch)
            } else {
                logs.append([branch])
            }
        }
        return logs
    }

    /// How far the branches of one log are valid.
    func validEnds(of branches: [LogBranch]) -> OperationStore.BranchEnds {
        var ends: OperationStore.BranchEnds = [:]
        for branch in branches {
            store.operations.lastValid(of: branch.number).map { ends[branch.number] = $0 }
        }
        return ends
    }

    /// The same, of the first branches only.
    func countedEnds(
        of branches: [LogBranch]
    ) throws(StorageError) -> OperationStore.BranchEnds {
        let ends = validEnds(of: branches)
        guard ends.count > Limits.branchesMax else { return ends }
        return try store.operations.ends(
            ofFirst: Limits.branchesMax, of: branches, ends: ends)
    }

    private func keptTip(
        of branch: LogBranch, at sequence: UInt64
    ) throws(StorageError) -> LogBranch.KeptTip? {
        if branch.tipSequence == sequence { return .init(sequence: sequence, id: branch.tip.id) }
        return try store.operations.place(in: branch.number, at: sequence)
            .map { .init(sequence: sequence, id: $0.link.id) }
    }

    /// Retains, valid or not, what newly retained operations cite: a peer cannot store those
    /// without it.
    ///
    /// - Cost: proportional to what is newly retained, not to what the document holds.
    func keepCited(
        by ranges: [KeptRange], of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        var raised: OperationStore.BranchEnds = [:]
        let covered = try close(&raised, with: ranges) { $0.kept?.sequence }
        for (number, end) in raised.sorted(by: { $0.key < $1.key }) {
            guard let branch = store.operations.branch(number) else { continue }
            try keep(branch, through: end, in: workspace)
        }
        try keepGrants(citedBy: covered, of: document, in: workspace)
    }

    // MARK: Grants that lost their effect

    /// Retains the void grants that retained content of a document cites: a peer cannot place that
    /// content without them.
    func keepGrants(of document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let void = voidGrants(citedIn: document, of: workspace)
        let known = workspace.judged.grants[document] ?? []
        guard void != known else { return }
        workspace.judged.grants[document] = void.isEmpty ? nil : void
        try rekeepAuthority(
            holding: void.subtracting(known).sorted(),
            releasing: known.subtracting(void).sorted(), in: workspace)
    }

    /// The same for operations that are kept from now on, where nothing else has changed.
    func keepGrants(
        citedBy ranges: [KeptRange], of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        let known = workspace.judged.grants[document] ?? []
        var void: Set<OperationID> = []
        for range in ranges {
            for span in store.operations.spans(of: range.branch, overlapping: range.places) {
                guard let grant = voidGrant(of: span, in: workspace), !known.contains(grant)
                else { continue }
                void.insert(grant)
            }
        }
        guard !void.isEmpty else { return }
        workspace.judged.grants[document] = known.union(void)
        try rekeepAuthority(holding: void.sorted(), releasing: [], in: workspace)
    }

    /// The grants without effect that kept operations of a document cite.
    func voidGrants(citedIn document: DocumentID, of workspace: Workspace) -> Set<OperationID> {
        var void: Set<OperationID> = []
        for branch in store.operations.branches(in: document, of: workspace.number) {
            guard let kept = branch.kept else { continue }
            for span in store.operations.spans(of: branch.number) where span.first <= kept.sequence
            {
                voidGrant(of: span, in: workspace).map { _ = void.insert($0) }
            }
        }
        return void
    }

    private func voidGrant(of span: GrantSpan, in workspace: Workspace) -> OperationID? {
        guard let grant = store.operations.grant(span.grant),
            !workspace.judged.evaluator.isValid(grant)
        else { return nil }
        return grant
    }

    /// Raises `ends` until the past of everything below them is below them.
    ///
    /// - Parameter base: how far a branch without an entry in `ends` reaches already.
    /// - Returns: everything that is below them from now on, `ranges` included.
    @discardableResult
    private func close(
        _ ends: inout OperationStore.BranchEnds, with ranges: [KeptRange],
        above base: (LogBranch) -> UInt64? = { _ in nil }
    ) throws(StorageError) -> [KeptRange] {
        var covered = ranges
        var next = 0
        while next < covered.count {
            let range = covered[next]
            next += 1
            for place in try store.operations.past(of: range.branch, at: range.places) {
                guard let owner = store.operations.branch(place.branch) else { continue }
                let end = ends[owner.number] ?? base(owner)
                let first = end.map { $0 + 1 } ?? owner.forkSequence
                guard first <= place.sequence else { continue }
                ends[owner.number] = place.sequence
                covered.append(.init(branch: owner.number, places: first...place.sequence))
            }
        }
        return covered
    }
}

/// Retained operations of one branch.
struct KeptRange {
    /// The branch's number.
    let branch: Int64
    /// Their places, from 0.
    let places: ClosedRange<UInt64>
}
