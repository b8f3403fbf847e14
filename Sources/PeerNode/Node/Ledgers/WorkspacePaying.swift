import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// A ledger that can pay for a workspace, and the price.
struct WorkspaceTender {
    let workspace: Workspace
    let ledger: OpenLedger
    let coins: UInt64
}

/// Coins for a workspace: what its founder spends in an issuer's ledger, and the operation in the
/// new workspace that refers to it (PROTOCOL.md, W-96). Nobody can be forced to pay; those who
/// trust the issuer see who did.
extension Ledgers {
    /// The name of a workspace in the ledger of another: only those who know that workspace
    /// recognize it.
    static func name(of workspace: WorkspaceID) -> PaidWorkspace {
        PaidWorkspace(prefixOf: Hash.name("wsx-paid1", workspace.bytes) as OperationID)
    }

    /// Spends the price of a workspace that was founded in this turn, and says so there.
    ///
    /// - Parameter tender: `nil` where nobody asked for it to be paid.
    /// - Throws: where this device may not write both, upon which neither is there, nor the workspace.
    func pay(_ tender: WorkspaceTender?, for workspace: Workspace) throws(StorageError) {
        guard let tender else { return }
        let (ledger, payer) = (tender.ledger, tender.workspace)
        let spend = LedgerContent.Spend(
            coins: tender.coins, purpose: "a workspace", workspace: Self.name(of: workspace.id))
        guard let spent = try write(.spend(spend), to: ledger, in: payer),
            let document = try makeDocument(in: workspace),
            try core.privates.authorContent(
                .ledger(.payment(in: payer.id, ledger: ledger.document, spend: spent.key)),
                to: document, in: workspace) != nil
        else { throw StorageError(.other, "a workspace could not be paid", statement: "pay") }
    }

    /// Makes a document in which things are said of coins.
    ///
    /// - Returns: its id, or `nil` when this device may not.
    func makeDocument(in workspace: Workspace) throws(StorageError) -> DocumentID? {
        let nonce = environment.random.bytes(16)
        return try core.log.authorAuthority(
            in: workspace, { _ in .createDocument(type: Workspace.ledgerType, nonce: nonce) }
        ).map { DocumentID(sameBytesAs: $0) }
    }

    /// Whether a workspace is paid; `nil` where nothing says so and nobody whom this home trusts asks for
    /// it.
    func payment(of workspace: Workspace) throws(StorageError) -> PaymentObject? {
        // Each ledger once: more of them may be named in turns than are in memory.
        let named = Dictionary(grouping: try payments(in: workspace), by: Place.init)
        var best: PaymentObject?
        for (place, payments) in named.sorted(by: { $0.key < $1.key }) {
            let found = try object(of: payments, at: place, for: workspace)
            if found.state == "paid" { return found }
            // An unknown state ranks above one that is known not to be a payment.
            if best == nil || found.state == "unknown" { best = found }
        }
        if let best { return best }
        for other in core.workspaces.values.sorted(by: { $0.number < $1.number })
        where other !== workspace && other.standing == .member {
            for ledger in try headings(in: other) where ledger.workspacePrice != nil {
                return PaymentObject(
                    state: "unpaid", ledger: PublicID.ledger(ledger.document),
                    issuer: core.membership.person(ledger.issuer, in: other))
            }
        }
        return nil
    }

    /// A ledger that is said to have the spend.
    private struct Place: Hashable, Comparable {
        let workspace: WorkspaceID
        let ledger: DocumentID

        init(_ payment: LedgerFold.Payment) {
            (workspace, ledger) = (payment.workspace, payment.ledger)
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.workspace, left.ledger) < (right.workspace, right.ledger)
        }
    }

    /// The result for payments from one ledger: whether one of them is a payment.
    private func object(
        of payments: [LedgerFold.Payment], at place: Place, for workspace: Workspace
    ) throws(StorageError) -> PaymentObject {
        let id = PublicID.ledger(place.ledger)
        let other = core.workspaces.values.first { $0.id == place.workspace }
        guard let other, other !== workspace,
            let ledger = try ledger(place.ledger, in: other), ledger.fold.name != nil
        else { return PaymentObject(state: "unknown", ledger: id) }
        let fold = ledger.fold
        let issuer = core.membership.person(ledger.issuer, in: other)
        for payment in payments {
            guard let spend = fold.spends[payment.spend], spend.state == .spent,
                spend.spend.workspace == Self.name(of: workspace.id),
                spend.spend.coins >= fold.workspacePrice(before: payment.spend) ?? 0
            else { continue }
            return PaymentObject(
                state: "paid", ledger: id, issuer: issuer,
                payer: core.membership.person(spend.member, in: other),
                coins: Int64(clamping: spend.spend.coins))
        }
        return PaymentObject(state: "unpaid", ledger: id, issuer: issuer)
    }
}
