import CRDTStore
import WorkspaceModel

/// Splits runs. A run of an authority document may hold thousands of operations, each judged
/// together with others and able to affect many: a turn that took all of them would make every
/// caller wait.
extension OperationRun {
    /// Its beginning, as long as one turn may take at once, and what is left of it; a run that is
    /// short enough, or of content, stays whole.
    ///
    /// A beginning that is not well formed stays with the rest: it is refused for that.
    func split(ofAuthority document: DocumentID) -> (run: Self, rest: Self?) {
        let count = Limits.authorityPerPartMax
        guard log.document == document, entries.count > count else { return (self, nil) }
        let start = Self(
            log: log, firstSequence: firstSequence, previous: previous,
            entries: Array(entries.prefix(count)))
        guard let last = (try? OperationChecks.identities(of: start))?.last else {
            return (self, nil)
        }
        return (start, rest(from: count, behind: last.id))
    }

    /// Its first entries.
    func start(_ count: Int) -> Self {
        Self(
            log: log, firstSequence: firstSequence, previous: previous,
            entries: Array(entries.prefix(count)))
    }

    /// The rest of the run from one of its entries on, after `previous`.
    func rest(from offset: Int, behind previous: OperationID) -> Self {
        Self(
            log: log, firstSequence: firstSequence + UInt64(offset), previous: previous,
            entries: Array(entries.dropFirst(offset)))
    }
}

extension WaitingRoom.Guest {
    /// The same guest with another run: what is left of its own.
    func with(_ rest: OperationRun) -> Self {
        Self(
            run: rest, source: source, arrived: arrived, workspace: workspace,
            isBackfill: isBackfill, isOutsiders: isOutsiders, isAuthority: isAuthority,
            payer: payer, isAdmins: isAdmins, vouchers: vouchers, needed: needed, cited: cited)
    }
}
