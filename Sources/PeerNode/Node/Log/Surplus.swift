import CRDTStore
import WorkspaceModel

/// Which branches of a document exceed the bound (PROTOCOL.md, 2.1): how far the others are
/// retained without them, and how far they stay stored.
final class Surplus {
    private let document: OperationStore.DocumentRow
    private let workspace: Workspace
    private let log: OperationLog
    private var operations: OperationStore { log.store.operations }

    /// How far the branches of logs count, and are stored for their own sake; cached by log.
    private var counted: [LogName: OperationStore.BranchEnds] = [:]
    private var stored: [LogName: OperationStore.BranchEnds] = [:]
    /// Citations of waiting operations: the cited ones and their past would have to arrive again.
    private lazy var awaited = citationsByLog()

    init(of document: OperationStore.DocumentRow, in workspace: Workspace, asking log: OperationLog)
    {
        self.document = document
        self.workspace = workspace
        self.log = log
    }

    /// The new ends of branches that are retained less far than before, `nil` for not at all: what
    /// no longer counts and nothing retained cites.
    func unkept(_ branches: [LogBranch]) throws(StorageError) -> [Int64: UInt64?] {
        var lowering = BranchLowering(
            operations, reach: { $0.kept?.sequence },
            wanted: { (branch) throws(StorageError) in try self.countedEnd(of: branch) })
        try lowering.lower(branches)
        return lowering.ends
    }

    /// The new ends of branches that are truncated, `nil` for not at all. Kept are what is
    /// retained, what something waiting needs, and the first of the void branches, in case a
    /// verdict changes; with the past of all of these. Branches within the bound stay in any case.
    func removable(_ branches: [LogBranch]) throws(StorageError) -> [Int64: UInt64?] {
        var lowering = BranchLowering(
            operations, reach: { $0.tipSequence },
            wanted: { (branch) throws(StorageError) in try self.storedEnd(of: branch) },
            settle: { [operations] (branch, end) throws(StorageError) in
                try operations.servableEnd(of: branch.number, at: end)
            })
        try lowering.lower(branches)
        return lowering.ends
    }

    // MARK: What is wanted

    private func countedEnd(of branch: LogBranch) throws(StorageError) -> UInt64? {
        if let known = counted[branch.log] { return known[branch.number] }
        let ends = try log.retention.countedEnds(of: siblings(of: branch))
        counted[branch.log] = ends
        return ends[branch.number]
    }

    private func storedEnd(of branch: LogBranch) throws(StorageError) -> UInt64? {
        if let known = stored[branch.log] { return known[branch.number] }
        let log = siblings(of: branch)
        var ends = operations.tipEnds(of: log)
        if log.count > Limits.branchesMax {
            ends = try voidEnds(of: log)
            for branch in log {
                guard let kept = branch.kept?.sequence else { continue }
                ends[branch.number] = max(ends[branch.number] ?? 0, kept)
            }
            try raise(&ends, toAwaitedOf: branch.log)
        }
        stored[branch.log] = ends
        return ends[branch.number]
    }

    private func siblings(of branch: LogBranch) -> [LogBranch] {
        operations.branches(of: branch.log, in: workspace.number)
    }

    /// How far the first of the void branches of a log reach.
    private func voidEnds(of log: [LogBranch]) throws(StorageError) -> OperationStore.BranchEnds {
        let valid = self.log.retention.validEnds(of: log)
        var ends: OperationStore.BranchEnds = [:]
        var count = 0
        for leaf in try operations.leaves(of: log, ends: operations.tipEnds(of: log))
        where count < Limits.voidBranchesMax {
            guard let branch = operations.branch(leaf), branch.kept?.sequence != branch.tipSequence
            else { continue }
            let steps = operations.steps(through: branch.tipSequence, of: leaf)
            // A place that leads to a removed one is removed with it.
            let isSurplus = steps.contains { step in
                guard let end = valid[step.owner] else { return false }
                let kept = operations.branch(step.owner)?.kept?.sequence
                return kept.map { min(end, step.last) > $0 } ?? true
            }
            if isSurplus { continue }
            count += 1
            for step in steps { ends[step.owner] = max(ends[step.owner] ?? 0, step.last) }
        }
        return ends
    }

    private func raise(
        _ ends: inout OperationStore.BranchEnds, toAwaitedOf log: LogName
    ) throws(StorageError) {
        for citation in awaited[log] ?? [] {
            let reference = OperationReference(
                device: log.device, incarnation: log.incarnation,
                sequence: citation.place.sequence, id: citation.id)
            guard
                let place = try operations.find(reference, in: document.id, of: workspace.number)
            else { continue }
            ends[place.branch] = max(ends[place.branch] ?? 0, place.sequence)
        }
    }

    private func citationsByLog() -> [LogName: [WaitingRoom.Citation]] {
        // Runs that are taken next have left the buffer, but still cite.
        let next = log.released.filter { $0.run.log.document == document.id }.flatMap(\.cited)
        return Dictionary(
            grouping: log.waiting.citations(in: document.id) + next, by: \.place.log)
    }
}
