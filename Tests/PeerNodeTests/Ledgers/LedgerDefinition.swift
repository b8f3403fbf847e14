import WorkspaceModel

@testable import PeerNode

/// A ledger as PROTOCOL.md 3.10 defines it: each question is answered separately, by examining the
/// whole set again. Slow, and unlike `LedgerFold`.
struct LedgerDefinition {
    let issuer: MemberID
    let all: [LedgerEntry]

    /// W-83: those of one member that count.
    private func isCounted(_ entry: LedgerEntry) -> Bool {
        guard entry.author != issuer else { return true }
        switch entry.content {
        case .order, .spend, .void: break
        default: return true
        }
        let before = all.filter { other in
            guard other.author == entry.author, other < entry else { return false }
            switch other.content {
            case .order, .spend, .void: return true
            default: return false
            }
        }
        return before.count < 16_384
    }

    private var counted: [LedgerEntry] { all.filter(isCounted) }

    private var issued: [LedgerEntry] { counted.filter { $0.author == issuer } }

    private func last(_ fits: (LedgerEntry) -> Bool) -> LedgerEntry? {
        issued.filter(fits).max { $0 < $1 }
    }

    /// W-84: whether no other one of its kind has its key and a smaller id.
    private func isFirst(_ entry: LedgerEntry, _ isKind: (LedgerContent) -> Bool) -> Bool {
        !counted.contains { $0.key == entry.key && $0.id < entry.id && isKind($0.content) }
    }

    // MARK: Orders

    private func offer(_ key: MessageKey) -> (item: String, offer: LedgerContent.Offer)? {
        let found = issued.filter { entry in
            guard entry.key == key, case .item(_, .some) = entry.content else { return false }
            return true
        }.min { $0.id < $1.id }
        guard case .item(let item, let offer?)? = found?.content else { return nil }
        return (item, offer)
    }

    /// W-86. An order without an offer does not count, and takes no other order's key.
    func order(_ key: MessageKey) -> (buyer: MemberID, coins: UInt64)? {
        let found = counted.compactMap { entry -> (id: OperationID, MemberID, UInt64)? in
            guard entry.key == key, case .order(let word, let amount) = entry.content,
                let offered = offer(word)
            else { return nil }
            let coins = offered.offer.coins.multipliedFullWidth(by: amount)
            guard coins.high == 0, coins.low <= Limits.ledgerCoinsMax else { return nil }
            return (entry.id, entry.author, coins.low)
        }.min { $0.id < $1.id }
        return found.map { ($0.1, $0.2) }
    }

    /// W-87: whether a grant is taken.
    private func isTaken(_ entry: LedgerEntry) -> Bool {
        guard entry.author == issuer, case .grant(let grant) = entry.content else { return false }
        let isBilled = issued.contains { other in
            guard other < entry, case .grant(let earlier) = other.content else { return false }
            return earlier.billing.utf8.elementsEqual(grant.billing.utf8)
        }
        guard !isBilled else { return false }
        return !issued.contains { other in
            guard other < entry, case .grant(let earlier) = other.content else { return false }
            return earlier.order == grant.order && isTaken(other)
        }
    }

    private func isVoided(_ order: MessageKey, by member: MemberID) -> Bool {
        counted.contains { entry in
            guard entry.author == member, case .void(let voided) = entry.content else {
                return false
            }
            return voided == order
        }
    }

    /// W-88 and W-89: what a grant gives.
    private func given(by entry: LedgerEntry) -> (member: MemberID, coins: UInt64)? {
        guard isTaken(entry), case .grant(let grant) = entry.content,
            let order = order(grant.order), !isVoided(grant.order, by: issuer)
        else { return nil }
        let before = issued.filter { $0 < entry }.compactMap { given(by: $0) }
            .filter { $0.member == order.buyer }.reduce(0) { $0 + $1.coins }
        return before + grant.coins <= Limits.ledgerCoinsMax ? (order.buyer, grant.coins) : nil
    }

    func granted(_ member: MemberID) -> UInt64 {
        issued.compactMap { given(by: $0) }.filter { $0.member == member }
            .reduce(0) { $0 + $1.coins }
    }

    /// W-92.
    func state(ofOrder key: MessageKey) -> String? {
        guard let order = order(key) else { return nil }
        let grants = issued.filter { entry in
            guard case .grant(let grant) = entry.content, grant.order == key else { return false }
            return isTaken(entry)
        }
        if isVoided(key, by: issuer) { return "void" }
        if grants.contains(where: { given(by: $0) != nil }) { return "granted" }
        if !grants.isEmpty { return "paid" }
        return isVoided(key, by: order.buyer) ? "void" : "open"
    }

    // MARK: Spends

    private func isSpend(_ content: LedgerContent) -> Bool {
        if case .spend = content { true } else { false }
    }

    private func spends(of member: MemberID) -> [LedgerEntry] {
        counted.filter { entry in
            entry.author == member && isSpend(entry.content) && isFirst(entry, isSpend)
        }
    }

    private func isRefunded(_ key: MessageKey) -> Bool {
        issued.contains { entry in
            guard case .refund(let spend) = entry.content else { return false }
            return spend == key
        }
    }

    /// W-90: asked of each by looking at those before it.
    private func counts(_ entry: LedgerEntry) -> Bool {
        guard case .spend(let spend) = entry.content, !isRefunded(entry.key) else { return false }
        let before = spends(of: entry.author).filter { $0 < entry && counts($0) }
            .reduce(UInt64(0)) { sum, other in
                guard case .spend(let earlier) = other.content else { return sum }
                return sum + earlier.coins
            }
        return before + spend.coins <= granted(entry.author)
    }

    func state(ofSpend key: MessageKey) -> String? {
        let found = counted.filter { $0.key == key && isSpend($0.content) }.min { $0.id < $1.id }
        guard let found else { return nil }
        return isRefunded(key) ? "refunded" : counts(found) ? "spent" : "insufficient"
    }

    func balance(_ member: MemberID) -> UInt64 {
        let spent = spends(of: member).filter(counts).reduce(UInt64(0)) { sum, entry in
            guard case .spend(let spend) = entry.content else { return sum }
            return sum + spend.coins
        }
        return granted(member) - spent
    }

    // MARK: Words

    var name: String? {
        let first = issued.filter { entry in
            if case .opening = entry.content { true } else { false }
        }.min { $0 < $1 }
        guard case .opening(let name)? = first?.content else { return nil }
        return name
    }

    /// W-85: the word by which an item is offered.
    func word(for item: String) -> MessageKey? {
        let last = last { entry in
            guard case .item(let other, let offer) = entry.content else { return false }
            return other.utf8.elementsEqual(item.utf8) && (offer == nil || isFirstOffer(entry))
        }
        guard let last, case .item(_, .some) = last.content else { return nil }
        return last.key
    }

    private func isFirstOffer(_ entry: LedgerEntry) -> Bool {
        !issued.contains { other in
            guard other.key == entry.key, other.id < entry.id,
                case .item(_, .some) = other.content
            else { return false }
            return true
        }
    }

    var workspacePrice: UInt64? {
        let last = last { entry in
            if case .workspacePrice = entry.content { true } else { false }
        }
        guard case .workspacePrice(let coins)? = last?.content else { return nil }
        return coins
    }

    // MARK: Payments

    private func isPayment(_ content: LedgerContent) -> Bool {
        if case .payment = content { true } else { false }
    }

    /// W-96: asked of each by counting those that are looked at before it.
    var payments: [LedgerEntry] {
        let all = all.filter { isPayment($0.content) }
        return all.filter { entry in
            let isIssuers = entry.author == issuer
            let before = all.filter { other in
                (other.author == issuer) == isIssuers
                    ? other < entry : other.author == issuer
            }
            return before.count < 64
        }
    }
}
