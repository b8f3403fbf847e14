import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Where a run belongs, in a log that may have forked.
extension NodeCore {
    struct RunPosition {
        let place: OperationStore.Place
        let link: ChainLink?
        /// Entries at its start that are stored already.
        let skipped: Int
        /// The whole run, where it had to be checked to find its place.
        var checked: [CheckedOperation] = []
    }

    /// What placing a run has found.
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
            run.firstSequence == only.tipSequence &+ 1
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
    /// The run does not name its previous operation, so every stored candidate is tried; the
    /// signature of the run verifies behind one of them only. Where it would be surplus behind a
    /// candidate, its ids say so and no signature is looked at: the branches that are too many
    /// cost hashing, and there are few candidates because branches are bounded.
    private func placeBesideOthers(
        _ run: OperationRun, _ branches: [LogBranch], in workspace: Workspace, isNeeded: Bool
    ) throws(StorageError) -> Placing {
        let bound = isNeeded ? nil : try branchBound(of: run.log, branches, in: workspace)
        var firstRefusal: Rejection?
        var isSurplus = false
        for candidate in try candidates(before: run.firstSequence, in: branches) {
            let identities: [ChainLink]
            var position: RunPosition
            do throws(Rejection) {
                identities = try OperationChecks.identities(of: run, after: candidate.link)
            } catch {
                firstRefusal = firstRefusal ?? error
                continue
            }
            position = try follow(identities, of: run, from: candidate, in: workspace)
            if try bound?.excludes(position, identities, of: run, waiting, store) == true {
                isSurplus = true
                continue
            }
            do throws(Rejection) {
                position.checked = try OperationChecks.check(run, after: candidate.link)
            } catch {
                firstRefusal = firstRefusal ?? error
                continue
            }
            return .at(position)
        }
        return isSurplus ? .surplus : .refused(firstRefusal ?? .badSignature)
    }

    /// What a newcomer to a log with many branches is measured by, `nil` where there is room. The
    /// authority document has no bound: each of its operations decides about others.
    private func branchBound(
        of log: LogName, _ branches: [LogBranch], in workspace: Workspace
    ) throws(StorageError) -> BranchBound? {
        guard branches.count >= Limits.branchesMax, log.document != workspace.id else { return nil }
        return BranchBound(branches: branches, ends: validEnds(of: branches))
    }

    private struct Candidate {
        let branch: Int64
        let link: ChainLink?
    }

    /// The stored operations that a run starting at `sequence` may continue.
    private func candidates(
        before sequence: UInt64, in branches: [LogBranch]
    ) throws(StorageError) -> [Candidate] {
        guard sequence > 0 else {
            return branches.first.map { [Candidate(branch: $0.number, link: nil)] } ?? []
        }
        var seen: Set<Int64> = []
        var candidates: [Candidate] = []
        for branch in branches where branch.tipSequence >= sequence - 1 {
            guard let owner = store.operations.owner(of: sequence - 1, in: branch.number),
                seen.insert(owner).inserted,
                let link = try store.operations.link(in: owner, at: sequence - 1)
            else { continue }
            candidates.append(Candidate(branch: branch.number, link: link))
        }
        return candidates
    }

    /// Walks along stored operations as long as they equal the run's, over all branches, and
    /// says where the rest of the run goes.
    private func follow(
        _ identities: [ChainLink], of run: OperationRun, from start: Candidate,
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

/// The branches of a log that a newcomer has to come before, or among, to be kept.
private struct BranchBound {
    let branches: [LogBranch]
    let ends: OperationStore.BranchEnds

    /// Whether what is new of a run stands behind all that is kept, and nothing waits for it.
    func excludes(
        _ position: NodeCore.RunPosition, _ identities: [ChainLink], of run: OperationRun,
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
        // What an operation cites that came before it is taken, or that would wait for ever.
        let place = run.firstSequence + UInt64(position.skipped)
        return !new.enumerated().contains { offset, link in
            waiting.awaits(.operation(link.id))
                || waiting.cites(.init(link.id, at: .init(run.log, place + UInt64(offset))))
        }
    }
}
