import WorkspaceModel

/// A ledger in memory: its valid operations, and what they say together.
final class OpenLedger {
    let document: DocumentID
    /// The short number of its workspace.
    let workspace: Int64
    let issuer: MemberID
    /// When it was used last, as `Ledgers` counts.
    var usedAt: UInt64 = 0
    /// By arrival number.
    private var entries: [Int64: LedgerEntry] = [:]
    /// How many of each member's there are that count towards a bound.
    private var counts: [MemberID: Int] = [:]
    private var known: LedgerFold?

    init(_ document: DocumentID, of workspace: Int64, issuer: MemberID) {
        self.document = document
        self.workspace = workspace
        self.issuer = issuer
    }

    /// What they say; made anew where something was added.
    var fold: LedgerFold {
        if let known { return known }
        let fold = LedgerFold(issuer: issuer, entries.values)
        known = fold
        return fold
    }

    /// Whether an operation is among those that count.
    func holds(_ arrival: Int64) -> Bool { entries[arrival] != nil }

    /// Takes up a valid operation, which may have been taken already.
    func add(_ entry: LedgerEntry, at arrival: Int64) {
        guard entries.updateValue(entry, forKey: arrival) == nil else { return }
        known = nil
        guard entry.author != issuer, entry.isCounted else { return }
        counts[entry.author, default: 0] += 1
        // Those behind the bound say nothing, whatever comes: what is before them only becomes more.
        guard counts[entry.author, default: 0] >= 2 * Limits.ledgerEntriesPerMemberMax else {
            return
        }
        prune(entry.author)
    }

    private func prune(_ author: MemberID) {
        let own = entries.filter { $0.value.author == author && $0.value.isCounted }
            .sorted { $0.value < $1.value }
        for (arrival, _) in own.dropFirst(Limits.ledgerEntriesPerMemberMax) {
            entries[arrival] = nil
        }
        counts[author] = min(own.count, Limits.ledgerEntriesPerMemberMax)
    }
}
