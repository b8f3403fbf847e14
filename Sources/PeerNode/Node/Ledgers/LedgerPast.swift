import WorkspaceModel

/// The state of a ledger when events were last recorded, as far as it may differ now. Events come
/// from comparing the two, so that nothing is reported twice, even if operations are added in
/// parts.
final class LedgerPast {
    typealias OrderState = LedgerFold.Order.State
    typealias SpendState = LedgerFold.Spend.State
    /// An order that has become something else, and what.
    typealias OrderChange = (
        key: MessageKey, buyer: MemberID, was: OrderState?, now: OrderState?
    )
    typealias SpendChange = (
        key: MessageKey, member: MemberID, was: SpendState?, now: SpendState?
    )

    /// The former states of orders and spends that were updated incrementally; `nil` for new ones.
    private var orders: [MessageKey: OrderState?] = [:]
    private var spends: [MessageKey: SpendState?] = [:]
    /// The complete former state, if the ledger was folded again since. The states above precede
    /// it.
    private var fold: LedgerFold?
    /// The operations that it was computed from, where the ledger was not in memory.
    private var entries: [OperationID: LedgerEntry]?
    /// The operations whose verdict has changed since.
    private var judged: Set<OperationID> = []
    /// Whether all that arrived since is from before this node joined; `nil` where nothing has
    /// arrived.
    var isBackfill: Bool?

    private let issuer: MemberID

    /// A ledger in which nothing has changed.
    init(issuer: MemberID) { self.issuer = issuer }

    /// A ledger that was not in memory.
    ///
    /// - Parameter entries: those that counted.
    init(issuer: MemberID, entries: [OperationID: LedgerEntry]) {
        self.issuer = issuer
        self.entries = entries
    }

    // MARK: Keeping

    /// Records the former state of an order that changes now.
    func note(order: MessageKey, was state: OrderState?) {
        guard fold == nil, entries == nil, orders[order] == nil else { return }
        orders.updateValue(state, forKey: order)
    }

    /// The same of a spend.
    func note(spend: MessageKey, was state: SpendState?) {
        guard fold == nil, entries == nil, spends[spend] == nil else { return }
        spends.updateValue(state, forKey: spend)
    }

    /// Keeps all of it: it is about to be folded again.
    func keep(_ fold: LedgerFold) {
        if self.fold == nil, entries == nil { self.fold = fold }
    }

    /// An operation that was stored before is opened only now.
    func forget(_ id: OperationID) { entries?[id] = nil }

    /// An operation counts now, or no longer does.
    func judge(_ entry: LedgerEntry, isValid: Bool) {
        guard entries != nil, judged.insert(entry.id).inserted else { return }
        entries?[entry.id] = isValid ? nil : entry
    }

    // MARK: Comparing

    /// Orders and spends that are something else than before, each in order.
    func changes(in now: LedgerFold) -> (orders: [OrderChange], spends: [SpendChange]) {
        let base = fold ?? entries.map { LedgerFold(issuer: issuer, $0.values) }
        return (changedOrders(from: base, to: now), changedSpends(from: base, to: now))
    }

    /// - Parameter base: the complete former state, where it has to be compared.
    private func changedOrders(from base: LedgerFold?, to now: LedgerFold) -> [OrderChange] {
        let keys = base.map { Set($0.orders.keys).union(now.orders.keys) } ?? Set(orders.keys)
        return keys.compactMap { key -> OrderChange? in
            let was: OrderState? = orders[key] ?? base?.orders[key]?.state
            let order = now.orders[key]
            guard was != order?.state, let buyer = (order ?? base?.orders[key])?.buyer else {
                return nil
            }
            return (key, buyer, was, order?.state)
        }.sorted { $0.key < $1.key }
    }

    private func changedSpends(from base: LedgerFold?, to now: LedgerFold) -> [SpendChange] {
        let keys = base.map { Set($0.spends.keys).union(now.spends.keys) } ?? Set(spends.keys)
        return keys.compactMap { key -> SpendChange? in
            let was: SpendState? = spends[key] ?? base?.spends[key]?.state
            let spend = now.spends[key]
            guard was != spend?.state, let member = (spend ?? base?.spends[key])?.member else {
                return nil
            }
            return (key, member, was, spend?.state)
        }.sorted { $0.key < $1.key }
    }
}
