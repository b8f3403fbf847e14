import WorkspaceModel

/// The state of a ledger: a pure function of the set of its valid operations (PROTOCOL.md, 3.10).
/// It depends on neither a clock nor an order of arrival. From scratch it costs n log n; a later
/// operation is mostly added incrementally (`add`).
struct LedgerFold {
    /// Coins that are sold, by one word of the issuer.
    struct Offer {
        let item: String
        let offer: LedgerContent.Offer
    }

    /// What somebody ordered.
    struct Order {
        /// The state of an order.
        enum State: String {
            case open, paid, granted, void
        }

        let key: MessageKey
        let buyer: MemberID
        /// The word by which it was offered.
        let offer: MessageKey
        let item: String
        let amount: UInt64
        /// For the whole order, at most `Limits.ledgerCoinsMax`.
        let coins: UInt64
        var state = State.open
        /// The id of its payment, where a grant was accepted.
        var billing: String?
    }

    /// A spend, counted or not.
    struct Spend {
        /// The state of a spend.
        enum State: String {
            case spent, insufficient, refunded
        }

        let key: MessageKey
        let member: MemberID
        let spend: LedgerContent.Spend
        var state = State.spent
    }

    /// The account of one member.
    struct Account: Equatable {
        /// Coins of all grants that give some, at most `Limits.ledgerCoinsMax`.
        var granted: UInt64 = 0
        /// Coins of all spends that count; never more than were granted.
        var spent: UInt64 = 0

        /// Never negative: spends count only while it suffices.
        var balance: UInt64 { granted >= spent ? granted - spent : 0 }
    }

    let issuer: MemberID
    /// What it is called; `nil` where its issuer has not opened it.
    var name: String?
    /// By word; of those that were taken back too.
    var offers: [MessageKey: Offer] = [:]
    /// The words that count, by the bytes of their items: texts that only look alike are two.
    var items: [[UInt8]: MessageKey] = [:]
    var orders: [MessageKey: Order] = [:]
    var spends: [MessageKey: Spend] = [:]
    /// The accounts of members who were granted coins.
    var accounts: [MemberID: Account] = [:]
    /// How many orders, spends and voids of each member count towards their bound.
    var counts: [MemberID: Int] = [:]
    /// The words about what a workspace costs, in order.
    var prices: [(entry: LedgerEntry, coins: UInt64?)] = []
    /// The payments that were taken.
    var billed: Set<[UInt8]> = []
    /// Intermediate results for adding one more operation.
    var marks = LedgerMarks()

    /// The reference to a spend in another workspace's ledger.
    struct Payment: Hashable {
        let workspace: WorkspaceID
        let ledger: DocumentID
        let spend: MessageKey
    }

    /// - Parameters:
    ///   - issuer: the author's member of the operation that made the document.
    ///   - entries: all valid operations of it, in any order.
    init(issuer: MemberID, _ entries: some Sequence<LedgerEntry>) {
        self.issuer = issuer
        let ordered = entries.sorted().filter { isWithinBound($0) }
        takeWords(of: ordered)
        takePayments(of: ordered)
        take(ordered)
        settle(ordered)
    }

    /// The current offer of an item.
    func offer(of item: String) -> Offer? {
        items[Array(item.utf8)].flatMap { offers[$0] }
    }

    /// The current price of a workspace, `nil` for none.
    var workspacePrice: UInt64? { prices.last?.coins }

    /// The price of a workspace before a spend.
    func workspacePrice(before spend: MessageKey) -> UInt64? {
        prices.last { $0.entry.key < spend }?.coins
    }

    /// Whether a payment of this name was taken, for whichever order.
    func isBilled(_ billing: String) -> Bool { billed.contains(Array(billing.utf8)) }

    /// The spends by which somebody says that this workspace is paid, with their ledgers: as many
    /// as are looked at, the issuer's first (W-96).
    var payments: [Payment] {
        marks.payments.compactMap { entry in
            guard case .payment(let workspace, let ledger, let spend) = entry.content else {
                return nil
            }
            return Payment(workspace: workspace, ledger: ledger, spend: spend)
        }
    }

    /// The account of a member; empty where there are no operations about them.
    func account(of member: MemberID) -> Account { accounts[member] ?? Account() }

    // MARK: Folding

    /// Leaves out what one member has too much of.
    private mutating func isWithinBound(_ entry: LedgerEntry) -> Bool {
        guard case .member? = entry.share(inLedgerOf: issuer) else { return true }
        let count = counts[entry.author, default: 0]
        counts[entry.author] = count + 1
        guard count < Limits.ledgerEntriesPerMemberMax else { return false }
        marks.last[entry.author] = entry
        return true
    }

    /// Takes what the issuer says of the ledger itself, which everything else rests on.
    private mutating func takeWords(of entries: [LedgerEntry]) {
        for entry in entries {
            switch entry.content {
            case .opening(let name) where entry.author == issuer: self.name = self.name ?? name
            case .item(let item, let offer) where entry.author == issuer:
                takeItem(item, offer, by: entry)
            case .workspacePrice(let coins) where entry.author == issuer:
                prices.append((entry, coins))
            default: break
            }
        }
    }

    /// Takes a word of the issuer's about an item that is later than all others.
    mutating func takeItem(
        _ item: String, _ offer: LedgerContent.Offer?, by entry: LedgerEntry
    ) {
        marks.lastItem = entry
        let word = Array(item.utf8)
        guard let offer else {
            items[word] = nil
            return
        }
        guard offers[entry.key] == nil else { return }
        offers[entry.key] = Offer(item: item, offer: offer)
        items[word] = entry.key
    }

    private mutating func takePayments(of entries: [LedgerEntry]) {
        for isIssuers in [true, false] {
            for entry in entries where (entry.author == issuer) == isIssuers {
                guard case .payment = entry.content,
                    marks.payments.count < Limits.paymentsOfWorkspaceMax
                else { continue }
                marks.payments.append(entry)
            }
        }
    }

    /// Takes orders and spends, each under its key once.
    private mutating func take(_ entries: [LedgerEntry]) {
        for entry in entries {
            let key = entry.key
            switch entry.content {
            case .order(let word, let amount):
                guard orders[key] == nil else { continue }
                takeOrder(of: word, amount, by: entry)
            case .spend(let spend):
                guard spends[key] == nil else { continue }
                spends[key] = Spend(key: key, member: entry.author, spend: spend)
                marks.spends[entry.author, default: []].append(key)
            default: break
            }
        }
    }

    /// Takes an order, where what it names was offered.
    ///
    /// - Returns: whether it is one now.
    @discardableResult
    mutating func takeOrder(of word: MessageKey, _ amount: UInt64, by entry: LedgerEntry) -> Bool {
        guard let offered = offers[word] else {
            marks.unmet.insert(word)
            return false
        }
        let (coins, isTooMuch) = offered.offer.coins.multipliedReportingOverflow(by: amount)
        guard !isTooMuch, coins <= Limits.ledgerCoinsMax else { return false }
        orders[entry.key] = Order(
            key: entry.key, buyer: entry.author, offer: word, item: offered.item,
            amount: amount, coins: coins)
        return true
    }

    /// Finds what becomes of orders, then of spends.
    private mutating func settle(_ entries: [LedgerEntry]) {
        var givenUp: Set<MessageKey> = []
        var taken: [LedgerContent.Grant] = []
        for entry in entries {
            switch entry.content {
            case .void(let order):
                if orders[order] == nil { marks.unmet.insert(order) }
                if entry.author == issuer {
                    marks.voided.insert(order)
                } else if orders[order]?.buyer == entry.author {
                    givenUp.insert(order)
                }
            case .refund(let spend) where entry.author == issuer:
                if spends[spend] == nil { marks.unmet.insert(spend) }
                marks.refunded.insert(spend)
            case .grant(let grant) where entry.author == issuer:
                marks.lastGrant = entry
                guard billed.insert(Array(grant.billing.utf8)).inserted,
                    marks.granted[grant.order] == nil
                else { continue }
                marks.granted[grant.order] = grant
                taken.append(grant)
            default: break
            }
        }
        for key in givenUp { orders[key]?.state = .void }
        for grant in taken { give(grant) }
        for key in marks.voided { orders[key]?.state = .void }
        for member in marks.spends.keys { settleSpends(of: member) }
    }

    /// Gives what was granted for an order, where nobody has ended it.
    private mutating func give(_ grant: LedgerContent.Grant) {
        guard let order = orders[grant.order] else {
            marks.unmet.insert(grant.order)
            return
        }
        orders[grant.order]?.billing = grant.billing
        guard !marks.voided.contains(grant.order) else { return }
        let given = account(of: order.buyer).granted
        let fits = grant.coins <= Limits.ledgerCoinsMax - given
        orders[grant.order]?.state = fits ? .granted : .paid
        if fits {
            accounts[order.buyer, default: Account()].granted = given + grant.coins
        } else {
            marks.isOverflown = true
        }
    }

    /// Finds which spends of a member count: those that the balance suffices for, one after the other.
    ///
    /// - Returns: what those were before that have become something else.
    @discardableResult
    mutating func settleSpends(of member: MemberID) -> [MessageKey: Spend.State] {
        var account = account(of: member)
        account.spent = 0
        var changed: [MessageKey: Spend.State] = [:]
        var isShort = false
        for key in marks.spends[member] ?? [] {
            guard let spend = spends[key] else { continue }
            var state = Spend.State.spent
            if marks.refunded.contains(key) {
                state = .refunded
            } else if spend.spend.coins <= account.balance {
                account.spent += spend.spend.coins
            } else {
                (state, isShort) = (.insufficient, true)
            }
            guard state != spend.state else { continue }
            spends[key]?.state = state
            changed[key] = spend.state
        }
        if isShort { marks.short.insert(member) } else { marks.short.remove(member) }
        accounts[member] = account == Account() ? nil : account
        return changed
    }
}
