import CRDTStore
import WorkspaceModel

/// The heading of a ledger, which is needed more often than its other content.
struct LedgerHeading {
    let document: DocumentID
    let issuer: MemberID
    /// What its issuer calls it.
    let name: String
    /// The price of a workspace that is paid from it, coins; `nil` for none.
    let workspacePrice: UInt64?
}

/// A cached heading, which outlives the ledger that it was taken from.
struct KeptHeading {
    /// The short number of its workspace.
    let workspace: Int64
    let issuer: MemberID
    /// `nil` where the issuer has not opened the ledger.
    let heading: LedgerHeading?
    /// By what the workspace of the document is paid, as somebody says there (W-96).
    let payments: [LedgerFold.Payment]
    /// As in the ledger: a heading is computed again when one of these has gone.
    var tips: [Int64: OpenLedger.Tip]
}

/// Headings: names, prices and payments are found without folding ledgers again, of which at most
/// `Limits.ledgersOpenMax` are in memory. There are at most `Limits.ledgersListedMax` per
/// workspace, and other ledgers are not looked at.
extension Ledgers {
    /// The ledgers of a workspace that their issuers have opened, by their ids.
    func headings(in workspace: Workspace) throws(StorageError) -> [LedgerHeading] {
        try lookThrough(workspace).compactMap(\.heading)
    }

    /// By which spends elsewhere somebody says that a workspace is paid.
    func payments(in workspace: Workspace) throws(StorageError) -> [LedgerFold.Payment] {
        try lookThrough(workspace).flatMap(\.payments)
    }

    private func lookThrough(_ workspace: Workspace) throws(StorageError) -> [KeptHeading] {
        var looked: Set<Int64> = []
        var found: [KeptHeading] = []
        for document in documents(in: workspace).prefix(Limits.ledgersListedMax) {
            guard let number = store.operations.document(document, in: workspace.number)?.number,
                let kept = try keep(document, numbered: number, in: workspace)
            else { continue }
            looked.insert(number)
            found.append(kept)
        }
        // Others have taken the places of some, or those count no longer.
        keptHeadings = keptHeadings.filter {
            $0.value.workspace != workspace.number || looked.contains($0.key)
        }
        return found
    }

    /// The cached heading of a document, computed again when one of its tips has gone.
    private func keep(
        _ document: DocumentID, numbered number: Int64, in workspace: Workspace
    ) throws(StorageError) -> KeptHeading? {
        if var kept = keptHeadings[number],
            try areWhole(&kept.tips, of: document, in: workspace)
        {
            keptHeadings[number] = kept
            return kept
        }
        keptHeadings[number] = nil
        guard let ledger = try ledger(document, in: workspace) else { return nil }
        let fold = ledger.fold
        let kept = KeptHeading(
            workspace: workspace.number, issuer: ledger.issuer,
            heading: fold.name.map {
                LedgerHeading(
                    document: document, issuer: ledger.issuer, name: $0,
                    workspacePrice: fold.workspacePrice)
            }, payments: fold.payments, tips: ledger.tips)
        keptHeadings[number] = kept
        return kept
    }

    /// Forgets the heading of a ledger where something was said that may change it, whether it counts or
    /// not.
    func noteHeading(_ said: LedgerContent, _ operation: AssertionSource, in workspace: Workspace) {
        guard let kept = keptHeadings[operation.document] else { return }
        switch said {
        case .payment: break
        case .opening, .workspacePrice:
            // An operation by anybody but the issuer never changes it.
            let author = workspace.judged.subject(ofGrant: operation.grant)
            if let author, author != kept.issuer { return }
        default: return
        }
        keptHeadings[operation.document] = nil
    }
}
