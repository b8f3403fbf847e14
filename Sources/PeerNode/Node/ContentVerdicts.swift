import CRDTStore
import WorkspaceModel

/// How far content is valid. Verdicts are kept by spans of one grant (`GrantSpan`), so that what
/// changes them costs the rows that change.
extension NodeCore {
    /// Judges what was just stored on a branch, and what of it waited for a cut's place to come.
    func judgeAppended(
        to number: Int64, from first: UInt64, in workspace: Workspace
    ) throws(StorageError) {
        // Nothing bounds most spans, and only authority changes that.
        guard store.operations.spans(of: number).contains(where: { $0.validThrough != .max })
        else { return }
        try judge(number, isJudged: { $0.validThrough != .max }, shownBefore: first, in: workspace)
    }

    /// Judges anew what cites these grants, everywhere in a document, and shows and hides it.
    ///
    /// - Parameter grants: their short numbers; `nil` for all there are.
    /// - Returns: whether anything changed.
    func judge(
        _ document: DocumentID, citing grants: Set<Int64>?, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        var hasChanged = false
        for branch in store.operations.branches(in: document, of: workspace.number) {
            let changed = try judge(
                branch.number, isJudged: { grants?.contains($0.grant) ?? true }, shownBefore: .max,
                in: workspace)
            hasChanged = hasChanged || changed
        }
        return hasChanged
    }

    @discardableResult
    private func judge(
        _ number: Int64, isJudged: (GrantSpan) -> Bool, shownBefore end: UInt64,
        in workspace: Workspace
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
            hasChanged = true
            try store.operations.setValid(through: bound, ofSpan: index, in: number)
            guard let places = store.operations.places(ofSpan: index, in: number) else { continue }
            try show(branch, places, from: span.validThrough, to: bound, before: end)
        }
        return hasChanged
    }

    /// Moves the border between what is shown and what is hidden of a span.
    private func show(
        _ branch: LogBranch, _ places: ClosedRange<UInt64>, from old: UInt64?, to new: UInt64?,
        before end: UInt64
    ) throws(StorageError) {
        let isHidden = new.map { old != nil && $0 < (old ?? 0) } ?? true
        let (low, high) = isHidden ? (new, old) : (old, new)
        guard let high, end > 0, low != .max else { return }
        let first = max(places.lowerBound, low.map { $0 + 1 } ?? 0)
        let last = min(places.upperBound, high, end - 1)
        guard first <= last else { return }
        let positions = try store.operations.positions(in: branch.number, first...last)
        try store.view.setHidden(isHidden, positions, in: branch.document)
    }

    /// The last place of a branch that is valid under a grant, `nil` for none.
    private func bound(
        of branch: LogBranch, under number: Int64, in workspace: Workspace
    ) throws(StorageError) -> UInt64? {
        guard let grant = store.operations.grant(number) else { return nil }
        let place = Workspace.LimitPlace(grant: grant, log: branch.log)
        let limit: ContentLimit
        if let known = workspace.contentLimits[place] {
            limit = known
        } else {
            limit = workspace.evaluator.contentLimit(
                grant: grant, log: branch.log, leastRole: .member)
            workspace.contentLimits[place] = limit
        }
        switch limit {
        case .everything: return .max
        case .nothing: return nil
        case .cuts(let groups):
            var bound = UInt64.max
            for group in groups {
                var reach: UInt64?
                for cut in group {
                    guard let last = try lastCovered(by: cut, of: branch, in: workspace) else {
                        continue
                    }
                    reach = max(reach ?? 0, last)
                }
                guard let reach else { return nil }
                bound = min(bound, reach)
            }
            return bound
        }
    }

    /// The last place of a branch that is, or comes before, what a cut names: on whichever branch
    /// of the log that lies, for what branches share is the same.
    private func lastCovered(
        by cut: CutEntry, of branch: LogBranch, in workspace: Workspace
    ) throws(StorageError) -> UInt64? {
        for holder in store.operations.branches(of: branch.log, in: workspace.number)
        where holder.tipSequence >= cut.sequence {
            guard let place = try store.operations.place(in: holder.number, at: cut.sequence),
                Identifier16(prefixOf: place.link.id) == cut.id
            else { continue }
            return store.operations.lastCommon(
                of: branch.number, with: holder.number, through: cut.sequence)
        }
        return nil
    }
}
