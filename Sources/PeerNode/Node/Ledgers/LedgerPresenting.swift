import CRDTStore
import WorkspaceModel

extension PublicID {
    static func ledger(_ id: DocumentID) -> String {
        "l_" + Base32.encode([UInt8](id.bytes.prefix(16)))
    }

    static func order(_ key: MessageKey) -> String { "p_" + Base32.encode(key.bytes) }

    static func spend(_ key: MessageKey) -> String { "s_" + Base32.encode(key.bytes) }

    /// The key of a ledger that `text` names, or `nil` for anything else.
    ///
    /// - Parameter prefix: `p_` of an order, `s_` of a spend.
    static func ledgerKey(_ text: String, prefix: String) -> MessageKey? {
        guard let bytes = bytes(text, prefix: prefix) else { return nil }
        let words = [bytes.prefix(8), bytes.suffix(8)].map { half in
            half.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        return MessageKey(timestamp: HybridTimestamp(rawValue: words[0]), idPrefix: words[1])
    }
}

/// Ledgers as people and scripts see them.
extension Ledgers {
    func object(of ledger: OpenLedger, _ workspace: Workspace) -> LedgerObject? {
        let fold = ledger.fold
        guard let name = fold.name else { return nil }
        return LedgerObject(
            id: PublicID.ledger(ledger.document), workspace: PublicID.workspace(workspace.id),
            name: name, issuer: core.membership.person(ledger.issuer, in: workspace),
            isOwn: ledger.issuer == workspace.member, items: Int64(fold.items.count),
            balance: Int64(clamping: fold.account(of: workspace.member).balance),
            workspacePrice: fold.workspacePrice.map { Int64(clamping: $0) })
    }

    /// The offers, by item.
    func items(of ledger: OpenLedger) -> [LedgerItemObject] {
        let fold = ledger.fold
        return fold.items.values.compactMap { fold.offers[$0] }
            .sorted { $0.item.utf8.lexicographicallyPrecedes($1.item.utf8) }
            .map {
                LedgerItemObject(
                    item: $0.item, label: $0.offer.label, coins: Int64(clamping: $0.offer.coins),
                    price: $0.offer.price, ledger: PublicID.ledger(ledger.document))
            }
    }

    func object(
        of order: LedgerFold.Order, in ledger: OpenLedger, _ workspace: Workspace
    ) -> OrderObject? {
        ledger.fold.offers[order.offer].map {
            object(of: order, by: $0, in: ledger.document, workspace)
        }
    }

    /// - Parameter offered: what the order names.
    func object(
        of order: LedgerFold.Order, by offered: LedgerFold.Offer, in document: DocumentID,
        _ workspace: Workspace
    ) -> OrderObject {
        OrderObject(
            id: PublicID.order(order.key), ledger: PublicID.ledger(document),
            item: order.item, label: offered.offer.label, amount: Int64(clamping: order.amount),
            coins: Int64(clamping: order.coins), price: offered.offer.price,
            buyer: core.membership.person(order.buyer, in: workspace),
            at: Int64(clamping: order.key.timestamp.milliseconds), state: order.state.rawValue)
    }

    func object(
        of spend: LedgerFold.Spend, in document: DocumentID, _ workspace: Workspace
    ) -> SpendObject {
        SpendObject(
            id: PublicID.spend(spend.key), ledger: PublicID.ledger(document),
            coins: Int64(clamping: spend.spend.coins), purpose: spend.spend.purpose,
            member: core.membership.person(spend.member, in: workspace),
            at: Int64(clamping: spend.key.timestamp.milliseconds), state: spend.state.rawValue)
    }

    func balance(
        of member: MemberID, in ledger: OpenLedger, _ workspace: Workspace
    ) -> BalanceObject? {
        let fold = ledger.fold
        guard let name = fold.name else { return nil }
        let account = fold.account(of: member)
        return BalanceObject(
            ledger: PublicID.ledger(ledger.document), name: name,
            member: core.membership.person(member, in: workspace),
            balance: Int64(clamping: account.balance), granted: Int64(clamping: account.granted),
            spent: Int64(clamping: account.spent))
    }
}
