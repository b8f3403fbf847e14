import WorkspaceModel

/// Adds one more operation. An order, a grant, or a spend that is its member's last is computed by
/// itself, so that the cost does not grow with the history. After a late spend, its member's spends
/// are evaluated again.
extension LedgerFold {
    /// Takes up a valid operation that was not among the others.
    ///
    /// - Parameter past: is told what orders and spends were that have become something else.
    /// - Returns: whether it was; if not, nothing has changed, and all of them have to be folded again.
    mutating func add(_ entry: LedgerEntry, noting past: LedgerPast?) -> Bool {
        guard entry.author == issuer else { return addForeign(entry, noting: past) }
        switch entry.content {
        case .opening(let name):
            guard self.name == nil else { return false }
            self.name = name
        case .item(let item, let offer):
            guard Self.isLater(entry, than: marks.lastItem), offers[entry.key] == nil,
                !marks.unmet.contains(entry.key)
            else { return false }
            takeItem(item, offer, by: entry)
        case .workspacePrice(let coins):
            guard Self.isLater(entry, than: prices.last?.entry) else { return false }
            prices.append((entry, coins))
        case .grant(let grant): return addGrant(grant, by: entry, noting: past)
        case .refund(let spend): addRefund(of: spend, noting: past)
        case .void(let order): return addVoid(of: order, noting: past)
        case .order(let word, let amount):
            return addOrder(of: word, amount, by: entry, noting: past)
        case .spend(let spend): return addSpend(spend, by: entry, noting: past)
        case .payment: addPayment(entry)
        }
        return true
    }

    /// Adds an operation by a member who is not the issuer.
    private mutating func addForeign(_ entry: LedgerEntry, noting past: LedgerPast?) -> Bool {
        switch entry.content {
        case .payment:
            addPayment(entry)
            return true
        case .order, .spend, .void: break
        case .opening, .item, .workspacePrice, .grant, .refund: return true
        }
        let count = counts[entry.author, default: 0]
        guard count < Limits.ledgerEntriesPerMemberMax else {
            // Behind the bound it says nothing; before it another one falls behind.
            guard Self.isLater(entry, than: marks.last[entry.author]) else { return false }
            counts[entry.author] = count + 1
            return true
        }
        let isTaken: Bool
        switch entry.content {
        case .order(let word, let amount):
            isTaken = addOrder(of: word, amount, by: entry, noting: past)
        case .spend(let spend): isTaken = addSpend(spend, by: entry, noting: past)
        case .void(let order):
            giveUp(order, by: entry.author, noting: past)
            isTaken = true
        default: isTaken = true
        }
        guard isTaken else { return false }
        counts[entry.author] = count + 1
        if Self.isLater(entry, than: marks.last[entry.author]) {
            marks.last[entry.author] = entry
        }
        return true
    }

    private static func isLater(_ entry: LedgerEntry, than other: LedgerEntry?) -> Bool {
        other.map { $0 < entry } ?? true
    }

    // MARK: Orders

    private mutating func addOrder(
        of word: MessageKey, _ amount: UInt64, by entry: LedgerEntry, noting past: LedgerPast?
    ) -> Bool {
        let key = entry.key
        guard orders[key] == nil, !marks.unmet.contains(key) else { return false }
        if takeOrder(of: word, amount, by: entry) { past?.note(order: key, was: nil) }
        return true
    }

    /// A buyer gives up an order, which their grant, if it has one, outlasts.
    private mutating func giveUp(
        _ order: MessageKey, by buyer: MemberID, noting past: LedgerPast?
    ) {
        guard let known = orders[order] else {
            marks.unmet.insert(order)
            return
        }
        guard known.buyer == buyer, known.state == .open else { return }
        orders[order]?.state = .void
        past?.note(order: order, was: .open)
    }

    private mutating func addVoid(of order: MessageKey, noting past: LedgerPast?) -> Bool {
        guard let known = orders[order] else {
            marks.voided.insert(order)
            marks.unmet.insert(order)
            return true
        }
        // The granted coins become free, and another grant may fit then.
        guard known.state != .granted || !marks.isOverflown else { return false }
        marks.voided.insert(order)
        guard known.state != .void else { return true }
        orders[order]?.state = .void
        past?.note(order: order, was: known.state)
        guard known.state == .granted, let grant = marks.granted[order] else { return true }
        let given = account(of: known.buyer).granted
        accounts[known.buyer]?.granted = given >= grant.coins ? given - grant.coins : 0
        settle(known.buyer, noting: past)
        return true
    }

    private mutating func addGrant(
        _ grant: LedgerContent.Grant, by entry: LedgerEntry, noting past: LedgerPast?
    ) -> Bool {
        let billing = Array(grant.billing.utf8)
        let isNew = !billed.contains(billing) && marks.granted[grant.order] == nil
        let isLast = Self.isLater(entry, than: marks.lastGrant)
        // An earlier one takes the place of another that names the same payment or order.
        guard isNew || isLast, !marks.isOverflown else { return false }
        let known = orders[grant.order]
        if isNew, let known {
            let given = account(of: known.buyer).granted
            guard grant.coins <= Limits.ledgerCoinsMax - given else { return false }
        }
        billed.insert(billing)
        if isLast { marks.lastGrant = entry }
        guard isNew else { return true }
        marks.granted[grant.order] = grant
        guard let known else {
            marks.unmet.insert(grant.order)
            return true
        }
        orders[grant.order]?.billing = grant.billing
        guard !marks.voided.contains(grant.order) else { return true }
        orders[grant.order]?.state = .granted
        past?.note(order: grant.order, was: known.state)
        accounts[known.buyer, default: Account()].granted += grant.coins
        if marks.short.contains(known.buyer) { settle(known.buyer, noting: past) }
        return true
    }

    // MARK: Spends

    private mutating func addSpend(
        _ spend: LedgerContent.Spend, by entry: LedgerEntry, noting past: LedgerPast?
    ) -> Bool {
        let (key, member) = (entry.key, entry.author)
        guard spends[key] == nil, !marks.unmet.contains(key) else { return false }
        past?.note(spend: key, was: nil)
        spends[key] = Spend(key: key, member: member, spend: spend)
        guard let last = marks.spends[member]?.last, key < last else {
            marks.spends[member, default: []].append(key)
            takeLast(key, noting: past)
            return true
        }
        let place = marks.spends[member]?.firstIndex { key < $0 } ?? 0
        marks.spends[member]?.insert(key, at: place)
        settle(member, noting: past)
        return true
    }

    /// The last spend of a member changes nothing about those before it.
    private mutating func takeLast(_ key: MessageKey, noting past: LedgerPast?) {
        guard let spend = spends[key] else { return }
        var account = account(of: spend.member)
        guard spend.spend.coins <= account.balance else {
            spends[key]?.state = .insufficient
            marks.short.insert(spend.member)
            return
        }
        account.spent += spend.spend.coins
        accounts[spend.member] = account == Account() ? nil : account
    }

    private mutating func addRefund(of spend: MessageKey, noting past: LedgerPast?) {
        marks.refunded.insert(spend)
        guard let known = spends[spend] else {
            marks.unmet.insert(spend)
            return
        }
        if known.state != .refunded { settle(known.member, noting: past) }
    }

    private mutating func settle(_ member: MemberID, noting past: LedgerPast?) {
        for (key, state) in settleSpends(of: member) { past?.note(spend: key, was: state) }
    }

    // MARK: Payments

    private mutating func addPayment(_ entry: LedgerEntry) {
        let isIssuers = entry.author == issuer
        let place =
            marks.payments.firstIndex { other in
                let isOthers = other.author != issuer
                return isIssuers == isOthers ? isIssuers : entry < other
            } ?? marks.payments.count
        marks.payments.insert(entry, at: place)
        if marks.payments.count > Limits.paymentsOfWorkspaceMax { marks.payments.removeLast() }
    }
}
