import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Ledgers: who has how many coins, as an issuer says it, and receipts that are being checked.
///
/// The store has the operations alone. What they say is folded in memory when somebody asks, and kept up
/// to date until something lost its effect. A ledger that nobody asks about costs no memory.
final class Ledgers: Component {
    /// Those in memory, by the short numbers of their documents.
    private var open: [Int64: OpenLedger] = [:]
    /// What names those that were looked at, also where they are in memory no longer.
    var keptHeadings: [Int64: KeptHeading] = [:]
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
        (open, keptHeadings) = ([:], [:])
        forgetReceipts()
    }

    override func forgetWorkspaces() { forgetSecrets() }

    override func goOn(after former: Component) {
        guard let former = former as? Ledgers else { return }
        // Who waited was told to ask again, and links are made anew.
        (lastCheck, lastQuestion) = (former.lastCheck, former.lastQuestion)
        checkAllowances = former.checkAllowances
    }

    // MARK: When time passes

    override var nextDeadline: UInt64? { Earliest(questionDue, checkDue).moment }

    override func tick() throws(StorageError) {
        try passChecks()
        try passQuestions()
    }

    // MARK: Which there are

    /// The ledger of a document as it is now; `nil` where there is none that counts here.
    func ledger(
        _ document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> OpenLedger? {
        let creation = OperationID(sameBytesAs: document)
        guard home != nil, workspace.ownRole != .guest, workspace.isLedger(document),
            workspace.judged.evaluator.isValid(creation),
            let issuer = workspace.judged.evaluator.author(of: creation),
            let number = store.operations.document(document, in: workspace.number)?.number
        else { return nil }
        let ledger: OpenLedger
        if let known = open[number],
            try areWhole(&known.tips, of: document, in: workspace)
        {
            ledger = known
        } else {
            ledger = try load(document, in: workspace, issuer: issuer)
            open[number] = ledger
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
                && workspace.judged.evaluator.isValid(OperationID(sameBytesAs: $0))
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
            add(said, WordSource(stored), to: ledger, in: workspace)
        }
        _ = try areWhole(&ledger.tips, of: document, in: workspace)
        return ledger
    }

    /// Whether nothing has gone of what was taken from a document: of a device that writes several
    /// histories some are not kept. Otherwise notes where its logs end now.
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
        _ said: LedgerContent, _ operation: WordSource, to ledger: OpenLedger,
        in workspace: Workspace
    ) {
        guard let author = workspace.judged.evaluator.subject(ofGrant: operation.grant) else {
            return
        }
        ledger.add(
            LedgerEntry(
                timestamp: operation.timestamp, id: operation.id, author: author, content: said),
            at: operation.arrival)
    }

    private func closeSurplus(besides kept: OpenLedger) {
        guard open.count > Limits.ledgersOpenMax else { return }
        let oldest = open.filter { $0.value !== kept }.min { $0.value.usedAt < $1.value.usedAt }
        if let oldest { open[oldest.key] = nil }
    }

    /// One that is in memory.
    func known(_ document: Int64) -> OpenLedger? { open[document] }

    /// The documents of those that are in memory.
    var documentsInMemory: Set<DocumentID> { Set(open.values.map(\.document)) }

    /// Forgets one, which is made anew of what is stored when somebody asks.
    func drop(_ document: Int64) { (open[document], keptHeadings[document]) = (nil, nil) }

    /// Forgets those of a workspace for which a test holds, and what all of them are called: of those that
    /// are not in memory nobody knows what they were made of.
    func drop(of workspace: Workspace, where isStale: (OpenLedger) -> Bool) {
        keptHeadings = keptHeadings.filter { $0.value.workspace != workspace.number }
        open = open.filter { $0.value.workspace != workspace.number || !isStale($0.value) }
    }
}
