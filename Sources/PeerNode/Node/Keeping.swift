import CRDTStore
import WorkspaceModel

/// Which operations of a content document are kept: the valid ones of the first branches of each
/// log, and what those have in their past (PROTOCOL.md, 2.1 and 5.4).
extension NodeCore {
    /// Makes the kept tips of a content document anew, after verdicts or branches changed.
    func rekeep(_ document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let branches = store.operations.branches(in: document, of: workspace.number)
        var tips: [Int64: LogBranch.KeptTip] = [:]
        var ranges: [(branch: Int64, places: ClosedRange<UInt64>)] = []
        for log in logs(in: branches) {
            let ends = try countedEnds(of: log)
            for branch in log {
                guard let end = ends[branch.number], end >= branch.forkSequence,
                    let tip = try keptTip(of: branch, at: end)
                else { continue }
                tips[branch.number] = tip
                ranges.append((branch.number, branch.forkSequence...end))
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
    func keepCited(
        by ranges: [(branch: Int64, places: ClosedRange<UInt64>)], of document: DocumentID,
        in workspace: Workspace
    ) throws(StorageError) {
        let branches = store.operations.branches(in: document, of: workspace.number)
        var tips: [Int64: LogBranch.KeptTip] = [:]
        for branch in branches { tips[branch.number] = branch.kept }
        try close(&tips, with: ranges, in: document, of: workspace)
        for branch in branches { setKept(tips[branch.number], of: branch.number, in: workspace) }
        try keepGrants(of: document, in: workspace)
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
        for citation in waiting.citations(in: document) {
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
        var ranges: [(branch: Int64, places: ClosedRange<UInt64>)] = []
        for (number, end) in others.sorted(by: { $0.key < $1.key }) {
            guard let branch = store.operations.branch(number) else { continue }
            let next = tips[number].map { $0.sequence + 1 } ?? branch.forkSequence
            guard next <= end else { continue }
            tips[number] = .init(sequence: end, id: .zero)
            ranges.append((number, next...end))
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

    /// The grants without effect that kept operations of a document cite.
    func voidGrants(citedIn document: DocumentID, of workspace: Workspace) -> Set<OperationID> {
        var void: Set<OperationID> = []
        for branch in store.operations.branches(in: document, of: workspace.number) {
            guard let kept = branch.kept else { continue }
            for span in store.operations.spans(of: branch.number) where span.first <= kept.sequence
            {
                guard let grant = store.operations.grant(span.grant),
                    !workspace.evaluator.isValid(grant)
                else { continue }
                void.insert(grant)
            }
        }
        return void
    }

    /// Whether any operation of a branch at these places is void, so that it is kept only because
    /// of what comes behind it.
    func coversVoid(_ branch: Int64, _ range: ClosedRange<UInt64>) -> Bool {
        let spans = store.operations.spans(of: branch)
        return spans.indices.contains { index in
            guard let places = store.operations.places(ofSpan: index, in: branch),
                places.overlaps(range)
            else { return false }
            return (spans[index].validThrough ?? 0) < min(places.upperBound, range.upperBound)
                || spans[index].validThrough == nil
        }
    }

    /// Raises `tips` until the past of everything below them is below them.
    private func close(
        _ tips: inout [Int64: LogBranch.KeptTip],
        with ranges: [(branch: Int64, places: ClosedRange<UInt64>)], in document: DocumentID,
        of workspace: Workspace
    ) throws(StorageError) {
        var left = ranges
        while let (number, range) = left.popLast() {
            for place in try past(of: number, range, in: document, of: workspace) {
                guard let owner = store.operations.branch(place.branch) else { continue }
                let next = tips[owner.number].map { $0.sequence + 1 } ?? owner.forkSequence
                guard next <= place.sequence else { continue }
                tips[owner.number] = .init(sequence: place.sequence, id: place.link.id)
                left.append((owner.number, next...place.sequence))
            }
        }
    }

    /// What these operations of a branch cite, and where the branch leaves its parent.
    private func past(
        of branch: Int64, _ range: ClosedRange<UInt64>, in document: DocumentID,
        of workspace: Workspace
    ) throws(StorageError) -> [StoredPlace] {
        var places: [StoredPlace] = []
        for reference in try store.operations.dependencies(in: branch, range) {
            try store.operations.find(reference, in: document, of: workspace.number)
                .map { places.append($0) }
        }
        if range.lowerBound > 0, range.lowerBound == store.operations.branch(branch)?.forkSequence {
            try store.operations.place(in: branch, at: range.lowerBound - 1)
                .map { places.append($0) }
        }
        return places
    }
}
