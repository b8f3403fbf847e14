import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Ledgers: who has how many coins according to an issuer, and receipts that are being checked.
///
/// The store has only the operations. They are folded in memory on demand, and updated
/// incrementally until an operation loses its effect. A ledger that nobody asks for uses no memory.
final class Ledgers: Component {
    /// The ledgers in memory, by the short numbers of their documents.
    private var open: [Int64: OpenLedger] = [:]
    /// The headings of ledgers that were used, including those that are no longer in memory.
    var keptHeadings: [Int64: KeptHeading] = [:]
    /// The last reported state of those ledgers that have changed since, by document.
    var pasts: [Int64: LedgerPast] = [:]
    /// Documents that somebody else created and in which the local member has written nothing.
    var foreign: Set<Int64> = []
    /// What has to be reported to people after this turn.
    var news: [LedgerNews] = []
    /// The last operation that had been reported when this turn began. Until that is known, all may
    /// have been.
    private(set) var settled = Int64.max
    /// Rises with each use of one.
    private var uses: UInt64 = 0
    /// Receipts that are being checked here, by number.
    var checks: [UInt64: ReceiptCheck] = [:]
    /// The number of the last of them.
    var lastCheck: UInt64 = 0
    /// How many receipts of each member are checked.
    var checkAllowances = GroupAllowances<MemberID>(
        tokens: Limits.receiptBurstPerMember, refillMilliseconds: Limits.receiptRefillMilliseconds)
    /// Receipts that another device is asked about, by number.
    var questions: [UInt64: ReceiptQuestion] = [:]
    /// The number of the last of them.
    var lastQuestion: UInt64 = 0

    override func forgetSecrets() {
        (open, keptHeadings, pasts, news, foreign) = ([:], [:], [:], [], [])
        forgetReceipts()
    }

    override func forgetWorkspaces() { forgetSecrets() }

    override func goOn(after former: Component) {
        guard let former = former as? Ledgers else { return }
        // Waiting callers were told to ask again, and links are opened again.
        (lastCheck, lastQuestion) = (former.lastCheck, former.lastQuestion)
        checkAllowances = former.checkAllowances
    }

    /// Everything stored by now is reported, except what waits for keys or was not compared yet.
    func beginTurn() {
        guard home != nil, turn.session.folding == nil, pasts.isEmpty else { return }
        settled = store.operations.arrival
    }

    // MARK: When time passes

    override var nextDeadline: UInt64? { Earliest(questionDue, checkDue).moment }

    override func tick() throws(StorageError) {
        try passChecks()
        try passQuestions()
    }

    // MARK: Which there are

    /// The current ledger of a document; `nil` where there is none that counts here.
    func ledger(
        _ document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> OpenLedger? {
        let creation = OperationID(sameBytesAs: document)
        guard home != nil, workspace.ownRole != .guest, workspace.isLedger(document),
            workspace.judged.isValid(creation),
            let issuer = workspace.judged.author(of: creation),
            let number = store.operations.document(document, in: workspace.number)?.number
        else { return nil }
        let ledger: OpenLedger
        if let known = open[number],
            try areWhole(&known.tips, of: document, in: workspace)
        {
            ledger = known
        } else {
            keep(number)
            ledger = try load(document, in: workspace, issuer: issuer)
            open[number] = ledger
            // An operation that waits to be opened is included already.
            if turn.session.folding != nil { remember(ledger, numbered: number) }
        }
        uses += 1
        ledger.usedAt = uses
        closeSurplus(besides: ledger)
        return ledger
    }

    /// All documents of a workspace that are ledgers and count, by their ids.
    func documents(in workspace: Workspace) -> [DocumentID] {
        guard workspace.ownRole != .guest else { return [] }
        return store.operations.documents(ofWorkspace: workspace.number).filter {
            workspace.isLedger($0)
                && workspace.judged.isValid(OperationID(sameBytesAs: $0))
        }
    }

    private func load(
        _ document: DocumentID, in workspace: Workspace, issuer: MemberID
    ) throws(StorageError) -> OpenLedger {
        let ledger = OpenLedger(document, of: workspace.number, issuer: issuer)
        try store.operations.forEachOperation(in: document, of: workspace.number) {
            (stored) throws(StorageError) in
            guard store.operations.isValid(stored.place.sequence, in: stored.place.branch),
                case .ledger(let said)? = try core.keys.content(of: stored, in: workspace)
            else { return }
            add(said, AssertionSource(stored), to: ledger, in: workspace)
        }
        _ = try areWhole(&ledger.tips, of: document, in: workspace)
        return ledger
    }

    /// Whether all operations that were taken from a document are still stored: of a device that
    /// writes several histories some are not kept. Otherwise records the current ends of its logs.
    ///
    /// - Parameter known: the last operation of each branch when it was looked at last.
    func areWhole(
        _ known: inout [Int64: OpenLedger.Tip], of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let branches = store.operations.branches(in: document, of: workspace.number)
        let tips = Dictionary(
            uniqueKeysWithValues: branches.map {
                ($0.number, OpenLedger.Tip(sequence: $0.tipSequence, id: $0.tip.id))
            })
        for (branch, tip) in known where tips[branch] != tip {
            let place = try tips[branch].flatMap { _ throws(StorageError) in
                try store.operations.place(in: branch, at: tip.sequence)
            }
            guard place?.link.id == tip.id else { return false }
        }
        known = tips
        return true
    }

    /// Adds what somebody said, whose grant says who that is.
    func add(
        _ said: LedgerContent, _ operation: AssertionSource, to ledger: OpenLedger,
        in workspace: Workspace, noting past: LedgerPast? = nil
    ) {
        guard let entry = entry(said, operation, in: workspace) else { return }
        ledger.add(entry, at: operation.arrival, noting: past)
    }

    /// An operation as one of a ledger.
    func entry(
        _ said: LedgerContent, _ operation: AssertionSource, in workspace: Workspace
    ) -> LedgerEntry? {
        workspace.judged.subject(ofGrant: operation.grant).map {
            LedgerEntry(
                timestamp: operation.timestamp, id: operation.id, author: $0, content: said)
        }
    }

    private func closeSurplus(besides kept: OpenLedger) {
        guard open.count > Limits.ledgersOpenMax else { return }
        // A ledger that changes in this turn stays until that is reported.
        let oldest = open.filter { $0.value !== kept && pasts[$0.key] == nil }
            .min { $0.value.usedAt < $1.value.usedAt }
        if let oldest { open[oldest.key] = nil }
    }

    /// One that is in memory.
    func known(_ document: Int64) -> OpenLedger? { open[document] }

    /// The documents of those that are in memory.
    var documentsInMemory: Set<DocumentID> { Set(open.values.map(\.document)) }

    /// Drops a ledger from memory; it is folded again from the store on demand.
    func drop(_ document: Int64) {
        keep(document)
        (open[document], keptHeadings[document]) = (nil, nil)
    }
}
