import WorkspaceModel

/// A ledger in memory: its valid operations, and what they say together.
final class OpenLedger {
    let document: DocumentID
    /// The short number of its workspace.
    let workspace: Int64
    let issuer: MemberID
    /// When it was used last, as `Ledgers` counts.
    var usedAt: UInt64 = 0
    /// The last operation of each branch when it was looked at last, by the branch's number: what has gone
    /// since, as one branch too many, is not known otherwise.
    var tips: [Int64: OpenLedger.Tip] = [:]
    /// What one device wrote twice is there once.
    private var entries: [OperationID: LedgerEntry] = [:]
    /// By arrival number.
    private var arrivals: [Int64: OperationID] = [:]
    /// How many of each member's there are that count towards a bound.
    private var counts: [MemberID: Int] = [:]
    private var known: LedgerFold?

    /// Where a branch ended.
    struct Tip: Equatable {
        let sequence: UInt64
        let id: OperationID
    }

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
    func holds(_ arrival: Int64) -> Bool { arrivals[arrival] != nil }

    /// Takes up a valid operation, which may have been taken already.
    func add(_ entry: LedgerEntry, at arrival: Int64) {
        arrivals[arrival] = entry.id
        guard entries.updateValue(entry, forKey: entry.id) == nil else { return }
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
        for (id, _) in own.dropFirst(Limits.ledgerEntriesPerMemberMax) { entries[id] = nil }
        arrivals = arrivals.filter { entries[$0.value] != nil }
        counts[author] = min(own.count, Limits.ledgerEntriesPerMemberMax)
    }
}
