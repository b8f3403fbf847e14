import CRDTStore
import WorkspaceModel

/// How far content is valid. Verdicts are kept by spans of one grant (`GrantSpan`), so that what
/// changes them costs the rows that change.
extension Messages {
    /// Judges what was just stored on a branch, and what of it waited for a cut's place to come.
    ///
    /// - Returns: whether a verdict is another one than before, of something that was there.
    func judgeAppended(
        to number: Int64, from first: UInt64, in workspace: Workspace,
        because source: OperationSource
    ) throws(StorageError) -> Bool {
        // Nothing bounds most spans, and only authority changes that.
        var isChanged = false
        guard let branch = store.operations.branch(number) else { return false }
        if isBounded(number) {
            isChanged = try judge(
                number, isJudged: { $0.validThrough != .max }, shownBefore: first, in: workspace,
                because: source)
        }
        let log = branch.log
        let branches = store.operations.branches(of: log, in: workspace.number)
        guard branches.count > 1 else { return isChanged }
        // A cut's place on one branch keeps what others have in common with it.
        var areOthers = false
        for other in branches where other.number != number && isBounded(other.number) {
            let changed = try judge(
                other.number, isJudged: { $0.validThrough != .max }, shownBefore: .max,
                in: workspace, because: source)
            areOthers = areOthers || changed
        }
        if areOthers { try core.log.retention.rekeep(log.document, in: workspace) }
        return isChanged || areOthers
    }

    private func isBounded(_ branch: Int64) -> Bool {
        store.operations.spans(of: branch).contains { $0.validThrough != .max }
    }

    /// Judges, shows and hides again the content of a document that cites these grants.
    ///
    /// - Parameter grants: their short numbers; `nil` for all there are.
    /// - Returns: whether anything changed.
    func judge(
        _ document: DocumentID, citing grants: Set<Int64>?, in workspace: Workspace,
        because source: OperationSource
    ) throws(StorageError) -> Bool {
        var hasChanged = false
        for branch in store.operations.branches(in: document, of: workspace.number) {
            let changed = try judge(
                branch.number, isJudged: { grants?.contains($0.grant) ?? true }, shownBefore: .max,
                in: workspace, because: source)
            hasChanged = hasChanged || changed
        }
        return hasChanged
    }

    private func judge(
        _ number: Int64, isJudged: (GrantSpan) -> Bool, shownBefore end: UInt64,
        in workspace: Workspace, because source: OperationSource
    ) throws(StorageError) -> Bool {
        guard let branch = store.operations.branch(number) else { return false }
        var bounds: [Int64: UInt64?] = [:]
        var hasChanged = false
        for (index, span) in store.operations.spans(of: number).enumerated() where isJudged(span) {
            let bound: UInt64?
            if let known = bounds[span.grant] {
                bound = known
            } else {
                bound = try self.bound(of: branch, under: span.grant, in: workspace)
                bounds[span.grant] = .some(bound)
            }
            guard bound != span.validThrough else { continue }
            try store.operations.setValid(through: bound, ofSpan: index, in: number)
            guard let places = store.operations.places(ofSpan: index, in: number),
                let moving = Self.moving(in: places, span.validThrough, bound, before: end)
            else { continue }
            hasChanged = true
            let isShown = bound.map { $0 > span.validThrough ?? 0 || span.validThrough == nil }
            if isShown == true { unsettled.noteGivenBack(moving.count, under: span.grant) }
            guard
                store.operations.document(numbered: branch.document)?.kind.holdsPublicMessages
                    == true
            else { continue }
            let positions = try store.operations.positions(in: branch.number, moving)
            turn.tally.noteRejudged(rows: positions.count)
            if isShown == true {
                try tellRestored(positions, of: branch, under: span.grant, in: workspace, source)
                try show(positions, of: branch, in: workspace, source)
            } else {
                try hide(positions, of: branch, under: span.grant, in: workspace, source)
            }
            let arrivals = positions.map(\.arrival)
            try judgeAnnotations(arrivals, isValid: isShown == true, in: workspace, source)
            try core.channels.judgeFollowing(arrivals, isValid: isShown == true, workspace)
            for family in core.contentFamilies {
                try family.judge(arrivals, isValid: isShown == true, in: workspace, source)
            }
        }
        return hasChanged
    }

    /// The operations of a span between the old and the new end of what is valid.
    private static func moving(
        in places: ClosedRange<UInt64>, _ old: UInt64?, _ new: UInt64?, before end: UInt64
    ) -> ClosedRange<UInt64>? {
        let ends = (new.map { old != nil && $0 < (old ?? 0) } ?? true) ? [new, old] : [old, new]
        guard let high = ends[1], end > 0, ends[0] != .max else { return nil }
        let first = max(places.lowerBound, ends[0].map { $0 + 1 } ?? 0)
        let last = min(places.upperBound, high, end - 1)
        return first <= last ? first...last : nil
    }

    /// Shows what counts from now on, and reports what was never displayed before.
    private func show(
        _ positions: [ViewStore.Position], of branch: LogBranch, in workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        let unseen = try store.view.unseen(positions, in: branch.document)
        try store.view.setVisibility(.shown, of: positions, in: branch.document)
        guard workspace.book.deleted[branch.log.document] == nil else { return }
        for position in unseen {
            guard let row = try store.view.stored(at: position, in: branch.document)?.row else {
                continue
            }
            try recordCreated(row, in: workspace, source)
        }
    }

    /// Tells the author, who is at this node, which messages count after all: those that were
    /// shown as refused.
    private func tellRestored(
        _ positions: [ViewStore.Position], of branch: LogBranch, under number: Int64,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        guard let grant = store.operations.grant(number),
            core.membership.isOwn(grant, of: branch.log.device, workspace)
        else { return }
        for position in positions {
            guard let row = try store.view.stored(at: position, in: branch.document),
                row.visibility == .refused
            else { continue }
            try turn.record(
                .messageRestored, workspace: workspace.number, document: branch.document,
                arrival: position.arrival, isBackfill: source.isBackfill)
        }
    }

    /// Hides what lost its effect. Its author still sees it, and is told.
    private func hide(
        _ positions: [ViewStore.Position], of branch: LogBranch, under number: Int64,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        let isOwn =
            store.operations.grant(number)
            .map { core.membership.isOwn($0, of: branch.log.device, workspace) } ?? false
        try store.view.setVisibility(
            isOwn ? .refused : .hidden, of: positions, in: branch.document)
        guard isOwn else { return }
        for position in positions {
            let row = try store.view.message(
                arrival: position.arrival, sort: position.sort, document: branch.document)
            guard row != nil, let stored = try store.operations.operation(position.arrival) else {
                continue
            }
            try core.events.recordRefused(stored, in: branch.document, workspace, source)
        }
    }

    /// The last place of a branch that is valid under a grant, `nil` for none.
    private func bound(
        of branch: LogBranch, under number: Int64, in workspace: Workspace
    ) throws(StorageError) -> UInt64? {
        guard let grant = store.operations.grant(number) else { return nil }
        let place = Workspace.LimitPlace(grant: grant, log: branch.log)
        let limit: ContentLimit
        if let known = workspace.judged.contentLimits[place] {
            limit = known
        } else {
            let kind = store.operations.document(numbered: branch.document)?.kind
            limit = workspace.judged.contentLimit(
                grant: grant, log: branch.log, leastRole: (kind ?? .unknown).access.leastRole)
            workspace.judged.contentLimits[place] = limit
        }
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        return try search.bound(of: limit)
    }
}
