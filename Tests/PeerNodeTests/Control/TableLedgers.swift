import WorkspaceModel

@testable import PeerNode

/// Ledgers: small fixed answers.
struct TableLedgers: LedgerCommands {
    let node: TableNode

    private static let mina = PersonObject(id: "u_mina0000", name: "Mina")

    static let ledger = LedgerObject(
        id: "l_01hx9t4c", workspace: "w_acme0000", name: "coins", issuer: mina, isOwn: true,
        items: 1, balance: 40, workspacePrice: nil)
    static let item = LedgerItemObject(
        item: "small", label: "Small pack", coins: 100, price: "5 EUR", ledger: ledger.id)
    static let order = OrderObject(
        id: "p_01hx9t4c", ledger: ledger.id, item: "small", label: "Small pack", amount: 1,
        coins: 100, price: "5 EUR", buyer: mina, at: 1_795_150_000_000, state: "open")
    static let spend = SpendObject(
        id: "s_01hx9t4c", ledger: ledger.id, coins: 5, purpose: "a logo", member: mina,
        at: 1_795_150_000_000, state: "spent")

    private func words(_ ledger: String?) -> String { ledger ?? "nil" }

    func open(_ name: String, _ scope: CallScope) throws(NodeError) -> Made<LedgerObject> {
        try node.note("ledger open \(name)", scope)
        return Made(Self.ledger)
    }

    func ledgers(
        _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<LedgerObject> {
        try node.note("ledgers \(page.limit)", scope)
        return Page([Self.ledger])
    }

    func balance(
        of member: MemberReference?, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> BalanceObject {
        try node.note("balance \(member.map { "\($0)" } ?? "own") \(words(ledger))", scope)
        return BalanceObject(
            ledger: Self.ledger.id, name: "coins", member: Self.mina, balance: 40, granted: 100,
            spent: 60)
    }

    func spend(
        _ coins: Int64, for purpose: String, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> Made<SpendObject> {
        try node.note("spend \(coins) \(purpose) \(words(ledger))", scope)
        return Made(Self.spend)
    }

    func spends(
        all: Bool, in ledger: String?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<SpendObject> {
        try node.note("spends \(all) \(words(ledger)) \(page.limit)", scope)
        return Page([Self.spend])
    }

    func refund(_ spend: String, _ scope: CallScope) throws(NodeError) -> SpendObject {
        try node.note("refund \(spend)", scope)
        return Self.spend
    }

    func items(
        in ledger: String?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<LedgerItemObject> {
        try node.note("items \(words(ledger)) \(page.limit)", scope)
        return Page([Self.item])
    }

    func offer(
        _ draft: OfferDraft, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> LedgerItemObject {
        try node.note(
            "offer \(draft.item) \(draft.label) \(draft.coins) \(draft.price) \(words(ledger))",
            scope)
        return Self.item
    }

    func withdraw(
        _ item: String, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> LedgerItemObject {
        try node.note("withdraw \(item) \(words(ledger))", scope)
        return Self.item
    }

    func buy(
        _ item: String, amount: Int64, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> Made<OrderObject> {
        try node.note("buy \(amount) \(item) \(words(ledger))", scope)
        return Made(Self.order)
    }

    func orders(
        _ filter: OrderFilter, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<OrderObject> {
        try node.note(
            "orders \(filter.state ?? "all") \(words(filter.ledger)) \(page.limit)", scope)
        return Page([Self.order])
    }

    func validate(
        _ order: String, receipt: String, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try node.note("validate \(order) \(receipt)", scope)
        return .reply(Self.order.json)
    }

    func grant(
        _ order: String, billing: String?, _ scope: CallScope
    ) throws(NodeError) -> OrderObject {
        try node.note("grant \(order) \(billing ?? "nil")", scope)
        return Self.order
    }

    func void(_ order: String, _ scope: CallScope) throws(NodeError) -> OrderObject {
        try node.note("void \(order)", scope)
        return Self.order
    }

    func price(
        _ coins: String?, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> StoreSettingObject {
        try node.note("price \(coins ?? "shown") \(words(ledger))", scope)
        return StoreSettingObject(of: "store.price", ledger: Self.ledger.id, value: 50)
    }

    func verifyCommand(
        _ command: String?, _ scope: CallScope
    ) throws(NodeError) -> StoreSettingObject {
        try node.note("verify \(command ?? "shown")", scope)
        return StoreSettingObject(
            of: "store.verify_command", ledger: nil, value: command.map { .string($0) })
    }
}
