import CRDTStore
import WorkspaceModel

/// Keeps the former state of ledgers until the changes are reported.
extension Ledgers {
    /// The last reported state of a ledger in memory; `nil` while nothing is reported.
    func past(of ledger: OpenLedger, numbered document: Int64) -> LedgerPast? {
        guard !turn.isBuilding else { return nil }
        if let known = pasts[document] { return known }
        // Computed now, so that later operations are added incrementally.
        _ = ledger.fold
        let past = LedgerPast(issuer: ledger.issuer)
        pasts[document] = past
        return past
    }

    /// Keeps all that a ledger says which is about to be read again, if it is in memory.
    func keep(_ document: Int64) {
        guard let ledger = known(document), let past = past(of: ledger, numbered: document) else {
            return
        }
        past.keep(ledger.fold)
    }

    /// Notes of a ledger that was read in this turn what it said before.
    func remember(_ ledger: OpenLedger, numbered document: Int64) {
        guard !turn.isBuilding, pasts[document] == nil else { return }
        pasts[document] = LedgerPast(
            issuer: ledger.issuer, entries: ledger.entries(through: settled))
    }

    func noteSource(_ source: OperationSource, of document: Int64) {
        guard let past = pasts[document] else { return }
        past.isBackfill = (past.isBackfill ?? true) && source.isBackfill
    }

    /// Loads a ledger because an operation arrived that may have to be reported here: the local
    /// member is its issuer, or has written something in it.
    ///
    /// - Parameter operation: the operation that arrived; `nil` where verdicts have changed.
    /// - Returns: whether it is in memory now.
    func read(
        _ document: Int64, for operation: AssertionSource?, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard !turn.isBuilding, home != nil,
            let row = store.operations.document(numbered: document),
            isOwn(row.id, operation, in: workspace),
            let ledger = try ledger(row.id, in: workspace)
        else { return false }
        remember(ledger, numbered: document)
        return true
    }

    private func isOwn(
        _ document: DocumentID, _ operation: AssertionSource?, in workspace: Workspace
    ) -> Bool {
        let judged = workspace.judged
        let own = workspace.member
        if judged.author(of: OperationID(sameBytesAs: document)) == own { return true }
        if let operation {
            if judged.subject(ofGrant: operation.grant) == own {
                foreign.remove(operation.document)
                return true
            }
            // Only an operation by the local member makes the ledger theirs.
            if foreign.contains(operation.document) { return false }
        }
        let isOwn = store.operations.branches(in: document, of: workspace.number).contains {
            judged.members(everUsing: $0.log.device).contains(own)
        }
        if !isOwn, let operation { foreign.insert(operation.document) }
        return isOwn
    }
}
