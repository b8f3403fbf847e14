import WorkspaceModel

/// A ledger in memory: its valid operations, and the resulting state.
final class OpenLedger {
    let document: DocumentID
    /// The short number of its workspace.
    let workspace: Int64
    let issuer: MemberID
    /// When it was used last, as `Ledgers` counts.
    var usedAt: UInt64 = 0
    /// The last operation of each branch at the last check, by the branch's number: the only way to
    /// notice that an excess branch was removed.
    var tips: [Int64: OpenLedger.Tip] = [:]
    /// An operation that one device wrote twice is there once.
    private(set) var entries: [OperationID: LedgerEntry] = [:]
    /// By arrival number.
    private var arrivals: [Int64: OperationID] = [:]
    /// How many there are of those that have a bound together.
    private var counts: [LedgerShare: Int] = [:]
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

    /// The resulting state; computed again after an operation that cannot be added incrementally.
    var fold: LedgerFold {
        if let known { return known }
        let fold = LedgerFold(issuer: issuer, entries.values)
        known = fold
        return fold
    }

    /// Whether an operation is among those that count.
    func holds(_ arrival: Int64) -> Bool { arrivals[arrival] != nil }

    /// The operations that were stored up to some arrival number.
    func entries(through arrival: Int64) -> [OperationID: LedgerEntry] {
        let early = Set(arrivals.compactMap { $0.key <= arrival ? $0.value : nil })
        return entries.filter { early.contains($0.key) }
    }

    /// Adds a valid operation, which may have been added already. Operations that never have an
    /// effect are not kept.
    ///
    /// - Parameter past: is told what was different before.
    func add(_ entry: LedgerEntry, at arrival: Int64, noting past: LedgerPast? = nil) {
        guard let share = entry.share(inLedgerOf: issuer) else { return }
        arrivals[arrival] = entry.id
        guard entries.updateValue(entry, forKey: entry.id) == nil else { return }
        takeUp(entry, noting: past)
        guard let most = share.most else { return }
        let count = counts[share, default: 0] + 1
        counts[share] = count
        // Operations beyond the bound have no effect, whatever arrives: those before them only
        // become more.
        if count >= most + Limits.ledgerSurplusMax { prune(share, to: most) }
    }

    private func takeUp(_ entry: LedgerEntry, noting past: LedgerPast?) {
        // Taken out, so that it is changed where it is.
        guard var fold = known else { return }
        known = nil
        if fold.add(entry, noting: past) { known = fold } else { past?.keep(fold) }
    }

    private func prune(_ share: LedgerShare, to most: Int) {
        let own = entries.filter { $0.value.share(inLedgerOf: issuer) == share }
            .sorted { $0.value < $1.value }
        for (id, _) in own.dropFirst(most) { entries[id] = nil }
        arrivals = arrivals.filter { entries[$0.value] != nil }
        counts[share] = min(own.count, most)
    }
}
