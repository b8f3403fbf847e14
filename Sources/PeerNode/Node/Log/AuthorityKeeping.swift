import CRDTStore
import WorkspaceModel

/// Retention in the authority document: keeps valid operations, grants without effect that retained
/// content cites, operations that only a later version can judge, and the past of all of these
/// (PROTOCOL.md, 5.4).
extension Retention {
    /// Moves what is kept of the authority document after an operation came.
    ///
    /// - Parameter branch: the branch it is on.
    func rekeepAuthority(
        after operation: OperationID, _ change: AuthChange, on branch: Int64,
        in workspace: Workspace
    ) throws(StorageError) {
        let evaluator = workspace.judged.evaluator
        guard workspace.judged.awaitsLaterVersion == evaluator.awaitsLaterVersion else {
            return try rekeepAuthority(in: workspace)
        }
        let isForLater = workspace.judged.awaitsLaterVersion && evaluator.isOpaque(operation)
        let held = isForLater ? [operation] : change.becameValid
        try rekeepAuthority(
            holding: held, releasing: change.becameInvalid,
            on: held == [operation] ? branch : nil, in: workspace)
    }

    /// Moves the kept tips of the authority document after reasons to keep came or went.
    ///
    /// - Parameter branch: the branch of the first of `held`, if known.
    func rekeepAuthority(
        holding held: [OperationID], releasing released: [OperationID],
        on branch: Int64? = nil, in workspace: Workspace
    ) throws(StorageError) {
        let evaluator = workspace.judged.evaluator
        // In this order, so that what goes from one reason to another is never dropped between.
        let fresh = workspace.judged.kept.hold(held, citing: evaluator.directPast)
        let gone = workspace.judged.kept.release(released, citing: evaluator.directPast)
        if let branch, gone.isEmpty, fresh == held, let id = fresh.first, fresh.count == 1,
            let record = workspace.authority[id]
        {
            // The usual case: all that it cites was kept already.
            return setKept(.init(sequence: record.sequence, id: id), of: branch, in: workspace)
        }
        var ends: [Int64: KeptEnd] = [:]
        for id in fresh + gone {
            guard let record = workspace.authority[id],
                let branch = try self.branch(of: id, record, in: workspace)
            else { continue }
            let tip = LogBranch.KeptTip(sequence: record.sequence, id: id)
            ends[branch, default: KeptEnd()]
                .note(tip, isKept: workspace.judged.kept.contains(id))
        }
        for (number, end) in ends.sorted(by: { $0.key < $1.key }) {
            try move(number, to: end, in: workspace)
        }
    }

    /// Recomputes all retained tips of the authority document.
    ///
    /// - Cost: linear in the size of the document.
    func rekeepAuthority(in workspace: Workspace) throws(StorageError) {
        let evaluator = workspace.judged.evaluator
        var kept = KeptOperations()
        _ = kept.hold(evaluator.validOperations, citing: evaluator.directPast)
        for grants in workspace.judged.grants.values {
            _ = kept.hold(Array(grants), citing: evaluator.directPast)
        }
        workspace.judged.awaitsLaterVersion = evaluator.awaitsLaterVersion
        if workspace.judged.awaitsLaterVersion {
            _ = kept.hold(evaluator.opaqueOperations, citing: evaluator.directPast)
        }
        workspace.judged.kept = kept
        // What a missing part retains is unknown. Tips stay as they are until it is back and
        // everything is judged again.
        guard !room.hasDamagedAuthority(workspace) else { return }
        var last: [LogName: LogBranch.KeptTip] = [:]
        for id in workspace.authorityOrder where kept.contains(id) {
            guard let record = workspace.authority[id],
                last[record.log].map({ $0.sequence < record.sequence }) ?? true
            else { continue }
            last[record.log] = .init(sequence: record.sequence, id: id)
        }
        for branch in store.operations.branches(in: workspace.id, of: workspace.number) {
            let isOnly = store.operations.branches(of: branch.log, in: workspace.number).count == 1
            let tip = isOnly ? last[branch.log] : try lastKept(of: branch, in: workspace)
            guard branch.kept != tip else { continue }
            try store.begin()
            setKept(tip, of: branch.number, in: workspace)
        }
    }

    private func lastKept(
        of branch: LogBranch, in workspace: Workspace
    ) throws(StorageError) -> LogBranch.KeptTip? {
        var sequence = branch.tipSequence
        while sequence >= branch.forkSequence {
            if let place = try store.operations.place(in: branch.number, at: sequence),
                workspace.judged.kept.contains(place.link.id)
            {
                return .init(sequence: sequence, id: place.link.id)
            }
            guard sequence > 0 else { return nil }
            sequence -= 1
        }
        return nil
    }

    /// The branch of an operation, which is ambiguous only in a forked log.
    private func branch(
        of id: OperationID, _ record: Workspace.AuthorityRecord, in workspace: Workspace
    ) throws(StorageError) -> Int64? {
        let branches = store.operations.branches(of: record.log, in: workspace.number)
        if branches.count == 1 { return branches.first?.number }
        let reference = OperationReference(
            device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, id: id)
        return try store.operations.find(reference, in: workspace.id, of: workspace.number)?.branch
    }

    private func move(
        _ number: Int64, to end: KeptEnd, in workspace: Workspace
    ) throws(StorageError) {
        guard let branch = store.operations.branch(number) else { return }
        if let last = end.lastKept, branch.kept.map({ $0.sequence < last.sequence }) ?? true {
            return setKept(last, of: number, in: workspace)
        }
        guard let gone = end.firstGone, let kept = branch.kept, gone.sequence <= kept.sequence
        else {
            return
        }
        var tip: LogBranch.KeptTip?
        if gone.sequence > branch.forkSequence,
            let previous = workspace.judged.evaluator.operation(gone.id)?.previous
        {
            tip = .init(sequence: gone.sequence - 1, id: previous)
        }
        setKept(tip, of: number, in: workspace)
    }

    func setKept(_ tip: LogBranch.KeptTip?, of branch: Int64, in workspace: Workspace) {
        guard store.operations.branch(branch)?.kept != tip else { return }
        store.operations.setKept(tip, of: branch)
        store.operations.branch(branch).map {
            _ = workspace.held.staleDocuments.insert($0.log.document)
        }
        moved[workspace.number, default: []].insert(branch)
    }
}

/// A change to what is retained of one branch, which is always a prefix of it.
private struct KeptEnd {
    /// The last operation that is kept from now on.
    private(set) var lastKept: LogBranch.KeptTip?
    /// The first that is no longer retained.
    private(set) var firstGone: LogBranch.KeptTip?

    mutating func note(_ tip: LogBranch.KeptTip, isKept: Bool) {
        if isKept {
            if lastKept.map({ $0.sequence < tip.sequence }) ?? true { lastKept = tip }
        } else if firstGone.map({ tip.sequence < $0.sequence }) ?? true {
            firstGone = tip
        }
    }
}

extension AuthEvaluator {
    /// The direct past of an operation.
    fileprivate func directPast(of id: OperationID) -> [OperationID] {
        guard let operation = operation(id) else { return [] }
        return operation.dependencies + (operation.previous.map { [$0] } ?? [])
    }
}
