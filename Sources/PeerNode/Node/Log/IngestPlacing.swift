import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Finds the place of a run in a log that may have forked.
extension OperationLog {
    struct RunPosition {
        let place: OperationStore.Place
        let link: ChainLink?
        /// Entries at its start that are stored already.
        let skipped: Int
        /// The whole run, where it had to be checked to find its place.
        var checked: [CheckedOperation] = []
    }

    /// The result of placing a run.
    enum Placing {
        /// Its new operations go there.
        case at(RunPosition)
        /// It opens a branch behind those that a log keeps. It is passed over.
        case surplus
        /// It breaks a rule.
        case refused(Rejection)
    }

    /// - Parameter isNeeded: no branch of it is too many.
    func place(
        _ run: OperationRun, in workspace: Workspace, isNeeded: Bool = false
    ) throws(StorageError) -> Placing {
        let branches = store.operations.branches(of: run.log, in: workspace.number)
        guard !branches.isEmpty else {
            return .at(RunPosition(place: .newLog, link: nil, skipped: 0))
        }
        if branches.count == 1, let only = branches.first,
            run.firstSequence == only.tipSequence &+ 1, run.previous == only.tip.id
        {
            return .at(
                RunPosition(place: .behind(branch: only.number), link: only.tip, skipped: 0))
        }
        return try placeBesideOthers(run, branches, in: workspace, isNeeded: isNeeded)
    }

    /// Whether a run opens a branch behind those that its log keeps.
    func isSurplus(_ run: OperationRun, in workspace: Workspace) throws(StorageError) -> Bool {
        let branches = store.operations.branches(of: run.log, in: workspace.number)
        guard branches.count >= Limits.branchesMax,
            case .surplus = try place(run, in: workspace)
        else { return false }
        return true
    }

    /// The general case: part of the run is stored, or the log has forked, or forks here.
    ///
    /// The run names the entry that it continues, so it has one place, however many branches the
    /// log has. If it would exceed the bound there, its ids show that before any signature is
    /// checked: excess branches cost one hash per entry.
    private func placeBesideOthers(
        _ run: OperationRun, _ branches: [LogBranch], in workspace: Workspace, isNeeded: Bool
    ) throws(StorageError) -> Placing {
        guard let start = try start(of: run, branches, in: workspace) else {
            return .refused(.malformed(Malformed(.inconsistent, at: 0)))
        }
        let identities: [ChainLink]
        turn.tally.noteHashed(run.entries.count)
        do throws(Rejection) {
            identities = try OperationChecks.identities(of: run)
        } catch {
            return .refused(error)
        }
        var position = try follow(identities, of: run, from: start, in: workspace)
        let bound = isNeeded ? nil : try branchBound(of: run.log, branches, in: workspace)
        if try bound?.excludes(position, identities, of: run, waiting, store) == true {
            return .surplus
        }
        turn.tally.noteHashed(run.entries.count)
        do throws(Rejection) {
            position.checked = try OperationChecks.check(run, after: start.link)
        } catch {
            return .refused(error)
        }
        return .at(position)
    }

    /// The bound for a new branch of a log with many, `nil` where there is room. The authority
    /// document has no bound: each of its operations decides about others.
    private func branchBound(
        of log: LogName, _ branches: [LogBranch], in workspace: Workspace
    ) throws(StorageError) -> BranchBound? {
        guard branches.count >= Limits.branchesMax, log.document != workspace.id else { return nil }
        return BranchBound(branches: branches, ends: retention.validEnds(of: branches))
    }

    /// Where a run begins.
    private struct Start {
        /// The branch whose row holds the operation before it; at sequence 0 any.
        let branch: Int64
        let link: ChainLink?
    }

    /// The stored operation that a run continues, `nil` where there is none: the caller has made
    /// sure that it is stored.
    private func start(
        of run: OperationRun, _ branches: [LogBranch], in workspace: Workspace
    ) throws(StorageError) -> Start? {
        guard let previous = run.previousReference else {
            guard run.firstSequence == 0 else { return nil }
            return branches.first.map { Start(branch: $0.number, link: nil) }
        }
        return try store.operations.find(previous, in: run.log.document, of: workspace.number)
            .map { Start(branch: $0.branch, link: $0.link) }
    }

    /// Walks along stored operations as long as they equal the run's, over all branches, and
    /// says where the rest of the run goes.
    private func follow(
        _ identities: [ChainLink], of run: OperationRun, from start: Start,
        in workspace: Workspace
    ) throws(StorageError) -> RunPosition {
        var link = start.link
        var branch = start.branch
        for (skipped, identity) in identities.enumerated() {
            let sequence = run.firstSequence + UInt64(skipped)
            let reference = OperationReference(
                device: run.log.device, incarnation: run.log.incarnation, sequence: sequence,
                id: identity.id)
            let found = try store.operations.find(
                reference, in: run.log.document, of: workspace.number)
            if let found {
                branch = found.branch
                link = identity
                continue
            }
            if store.operations.damagedCount > 0,
                try store.operations.fits(identity, at: sequence, of: branch)
            {
                link = identity
                continue
            }
            if let tip = store.operations.branch(branch), tip.tip.id == link?.id {
                return RunPosition(place: .behind(branch: branch), link: link, skipped: skipped)
            }
            return RunPosition(
                place: .fork(of: branch, at: sequence), link: link, skipped: skipped)
        }
        return RunPosition(place: .newLog, link: link, skipped: identities.count)
    }
}

/// The branches of a log that a new branch has to sort before, or among, to be kept.
private struct BranchBound {
    let branches: [LogBranch]
    let ends: OperationStore.BranchEnds

    /// Whether the new part of a run sorts after everything that is kept, and nothing waits for it.
    func excludes(
        _ position: OperationLog.RunPosition, _ identities: [ChainLink], of run: OperationRun,
        _ waiting: WaitingRoom, _ store: NodeStore
    ) throws(StorageError) -> Bool {
        let branch: Int64
        switch position.place {
        case .behind(let number), .fork(let number, _): branch = number
        case .newLog: return false
        }
        let new = identities.dropFirst(position.skipped)
        guard let first = new.first else { return false }
        let count = try store.operations.leafCount(
            before: first.id, at: run.firstSequence + UInt64(position.skipped), behind: branch,
            of: branches, ends: ends)
        guard count >= Limits.branchesMax else { return false }
        // A run is taken when a waiting operation cites it; otherwise that one would wait without
        // end.
        let place = run.firstSequence + UInt64(position.skipped)
        return !waiting.needs(new, at: place, of: run.log)
    }
}
