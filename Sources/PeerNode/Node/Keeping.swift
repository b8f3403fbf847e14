import CRDTStore
import WorkspaceModel

/// Which operations of a content document are kept: the valid ones of the first branches of each
/// log, and what those have in their past (PROTOCOL.md, 2.1 and 5.4).
extension NodeCore {
    /// Makes the kept tips of a content document anew, after verdicts or branches changed.
    func rekeep(_ document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let branches = store.operations.branches(in: document, of: workspace.number)
        var tips: [Int64: LogBranch.KeptTip] = [:]
        var ranges: [KeptRange] = []
        for log in logs(in: branches) {
            let ends = try countedEnds(of: log)
            for branch in log {
                guard let end = ends[branch.number], end >= branch.forkSequence,
                    let tip = try keptTip(of: branch, at: end)
                else { continue }
                tips[branch.number] = tip
                ranges.append(.init(branch: branch.number, places: branch.forkSequence...end))
            }
        }
        try close(&tips, with: ranges, in: document, of: workspace)
        for branch in branches { setKept(tips[branch.number], of: branch.number, in: workspace) }
        try keepGrants(of: document, in: workspace)
    }

    /// Branches come in the order of their logs.
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
    private func countedEnds(
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
        if let kept = branch.kept, kept.sequence == sequence { return kept }
        if branch.tipSequence == sequence { return .init(sequence: sequence, id: branch.tip.id) }
        return try store.operations.place(in: branch.number, at: sequence)
            .map { .init(sequence: sequence, id: $0.link.id) }
    }

    /// Keeps, valid or not, what operations cite that are kept from now on: whoever takes those
    /// over cannot store them without it.
    ///
    /// - Cost: what is kept from now on, and not what the document holds.
    func keepCited(
        by ranges: [KeptRange], of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        var raised: [Int64: LogBranch.KeptTip] = [:]
        let covered = try close(&raised, with: ranges, in: document, of: workspace) { branch in
            store.operations.branch(branch)?.kept?.sequence
        }
        for (number, tip) in raised.sorted(by: { $0.key < $1.key }) {
            setKept(tip, of: number, in: workspace)
        }
        try keepGrants(citedBy: covered, of: document, in: workspace)
    }

    /// How far branches of a document are kept, or will be once what waits has what it cites: that,
    /// with its past, would have to come again.
    func neededEnds(
        of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> OperationStore.BranchEnds {
        var ends: OperationStore.BranchEnds = [:]
        for branch in store.operations.branches(in: document, of: workspace.number) {
            branch.kept.map { ends[branch.number] = $0.sequence }
        }
        var cited = ends
        // What is to be taken next has left the room, and cites still.
        let next = released.filter { $0.run.log.document == document }.flatMap(\.cited)
        for citation in waiting.citations(in: document) + next {
            let (log, sequence) = (citation.place.log, citation.place.sequence)
            let reference = OperationReference(
                device: log.device, incarnation: log.incarnation, sequence: sequence,
                id: citation.id)
            guard
                let place = try store.operations.find(
                    reference, in: document, of: workspace.number)
            else { continue }
            cited[place.branch] = max(cited[place.branch] ?? 0, sequence)
        }
        try raise(&ends, to: cited, in: document, workspace)
        return ends
    }

    /// Raises how far branches reach, and with them their past.
    func raise(
        _ ends: inout OperationStore.BranchEnds, to others: OperationStore.BranchEnds,
        in document: DocumentID, _ workspace: Workspace
    ) throws(StorageError) {
        var tips: [Int64: LogBranch.KeptTip] = [:]
        for (number, end) in ends { tips[number] = .init(sequence: end, id: .zero) }
        var ranges: [KeptRange] = []
        for (number, end) in others.sorted(by: { $0.key < $1.key }) {
            guard let branch = store.operations.branch(number) else { continue }
            let next = tips[number].map { $0.sequence + 1 } ?? branch.forkSequence
            guard next <= end else { continue }
            tips[number] = .init(sequence: end, id: .zero)
            ranges.append(.init(branch: number, places: next...end))
        }
        try close(&tips, with: ranges, in: document, of: workspace)
        ends = tips.mapValues(\.sequence)
    }

    // MARK: Grants that lost their effect

    /// Keeps the void grants that kept content of a document cites: whoever takes that over cannot
    /// place it without them.
    func keepGrants(of document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let void = voidGrants(citedIn: document, of: workspace)
        let known = workspace.keptGrants[document] ?? []
        guard void != known else { return }
        workspace.keptGrants[document] = void.isEmpty ? nil : void
        try rekeepAuthority(
            holding: void.subtracting(known).sorted(),
            releasing: known.subtracting(void).sorted(), in: workspace)
    }

    /// The same for operations that are kept from now on, where nothing else has changed.
    func keepGrants(
        citedBy ranges: [KeptRange], of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        let known = workspace.keptGrants[document] ?? []
        var void: Set<OperationID> = []
        for range in ranges {
            for span in store.operations.spans(of: range.branch, overlapping: range.places) {
                guard let grant = voidGrant(of: span, in: workspace), !known.contains(grant)
                else { continue }
                void.insert(grant)
            }
        }
        guard !void.isEmpty else { return }
        workspace.keptGrants[document] = known.union(void)
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
        guard let grant = store.operations.grant(span.grant), !workspace.evaluator.isValid(grant)
        else { return nil }
        return grant
    }

    /// Raises `tips` until the past of everything below them is below them.
    ///
    /// - Parameter base: how far a branch reaches already that has none of the tips.
    /// - Returns: everything that is below them from now on, `ranges` included.
    @discardableResult
    private func close(
        _ tips: inout [Int64: LogBranch.KeptTip], with ranges: [KeptRange],
        in document: DocumentID, of workspace: Workspace,
        above base: (Int64) -> UInt64? = { _ in nil }
    ) throws(StorageError) -> [KeptRange] {
        var covered = ranges
        var next = 0
        while next < covered.count {
            let range = covered[next]
            next += 1
            for place in try past(of: range, in: document, of: workspace) {
                guard let owner = store.operations.branch(place.branch) else { continue }
                let end = tips[owner.number]?.sequence ?? base(owner.number)
                let first = end.map { $0 + 1 } ?? owner.forkSequence
                guard first <= place.sequence else { continue }
                tips[owner.number] = .init(sequence: place.sequence, id: place.link.id)
                covered.append(.init(branch: owner.number, places: first...place.sequence))
            }
        }
        return covered
    }

    /// What these operations of a branch cite, and where the branch leaves its parent.
    private func past(
        of range: KeptRange, in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> [StoredPlace] {
        var places: [StoredPlace] = []
        let (branch, first) = (range.branch, range.places.lowerBound)
        for reference in try store.operations.dependencies(in: branch, range.places) {
            try store.operations.find(reference, in: document, of: workspace.number)
                .map { places.append($0) }
        }
        if first > 0, first == store.operations.branch(branch)?.forkSequence {
            try store.operations.place(in: branch, at: first - 1)
                .map { places.append($0) }
        }
        return places
    }
}

/// Operations of one branch that are kept.
struct KeptRange {
    /// The branch's number.
    let branch: Int64
    /// Their places, from 0.
    let places: ClosedRange<UInt64>
}
