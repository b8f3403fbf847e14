import WorkspaceModel

/// What a ledger says: a pure function of the set of its valid operations (PROTOCOL.md, 3.10). It has
/// neither a clock nor an order of arrival, and costs n log n.
struct LedgerFold {
    /// Coins that are sold, by one word of the issuer.
    struct Offer {
        let item: String
        let offer: LedgerContent.Offer
    }

    /// What somebody ordered.
    struct Order {
        /// What becomes of an order.
        enum State: String {
            case open, paid, granted, void
        }

        let key: MessageKey
        let buyer: MemberID
        /// The word by which it was offered.
        let offer: MessageKey
        let item: String
        let amount: UInt64
        /// Of all of it together, at most `Limits.ledgerCoinsMax`.
        let coins: UInt64
        var state = State.open
        /// What names its payment, where a grant was taken.
        var billing: String?
    }

    /// What somebody spent, or meant to.
    struct Spend {
        /// What becomes of a spend.
        enum State: String {
            case spent, insufficient, refunded
        }

        let key: MessageKey
        let member: MemberID
        let spend: LedgerContent.Spend
        var state = State.spent
    }

    /// What one member has.
    struct Account {
        /// Coins of all grants that give some, at most `Limits.ledgerCoinsMax`.
        var granted: UInt64 = 0
        /// Coins of all spends that count; never more than were granted.
        var spent: UInt64 = 0

        /// Never negative: spends count only while it suffices.
        var balance: UInt64 { granted >= spent ? granted - spent : 0 }
    }

    let issuer: MemberID
    /// What it is called; `nil` where its issuer has not opened it.
    private(set) var name: String?
    /// By word; of those that were taken back too.
    private(set) var offers: [MessageKey: Offer] = [:]
    /// The words that count, by the bytes of their items: texts that only look alike are two.
    private(set) var items: [[UInt8]: MessageKey] = [:]
    private(set) var orders: [MessageKey: Order] = [:]
    private(set) var spends: [MessageKey: Spend] = [:]
    private(set) var accounts: [MemberID: Account] = [:]
    /// How many orders, spends and voids of each member count towards their bound.
    private(set) var counts: [MemberID: Int] = [:]
    /// By which spends of which ledgers somebody says that this workspace is paid: so many as are looked at,
    /// those of the issuer first (W-96).
    private(set) var payments: [Payment] = []
    /// The words about what a workspace costs, in order.
    private var prices: [(entry: LedgerEntry, coins: UInt64?)] = []
    /// The payments that were taken.
    private var billed: Set<[UInt8]> = []

    /// What names a spend of another workspace's ledger.
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

    /// What is offered under a word now.
    func offer(of item: String) -> Offer? {
        items[Array(item.utf8)].flatMap { offers[$0] }
    }

    /// What a workspace costs now, `nil` for nothing.
    var workspacePrice: UInt64? { prices.last?.coins }

    /// What it cost before a spend.
    func workspacePrice(before spend: MessageKey) -> UInt64? {
        prices.last { $0.entry.key < spend }?.coins
    }

    /// Whether a payment of this name was taken, for whichever order.
    func isBilled(_ billing: String) -> Bool { billed.contains(Array(billing.utf8)) }

    /// What a member has; nothing, where nothing was said of them.
    func account(of member: MemberID) -> Account { accounts[member] ?? Account() }

    // MARK: Folding

    /// Leaves out what one member has too much of.
    private mutating func isWithinBound(_ entry: LedgerEntry) -> Bool {
        guard case .member? = entry.share(inLedgerOf: issuer) else { return true }
        let count = counts[entry.author, default: 0]
        counts[entry.author] = count + 1
        return count < Limits.ledgerEntriesPerMemberMax
    }

    /// Takes what the issuer says of the ledger itself, which everything else rests on.
    private mutating func takeWords(of entries: [LedgerEntry]) {
        for entry in entries {
            switch entry.content {
            case .opening(let name) where entry.author == issuer: self.name = self.name ?? name
            case .item(let item, let offer) where entry.author == issuer:
                let word = Array(item.utf8)
                guard let offer else {
                    items[word] = nil
                    continue
                }
                guard offers[entry.key] == nil else { continue }
                offers[entry.key] = Offer(item: item, offer: offer)
                items[word] = entry.key
            case .workspacePrice(let coins) where entry.author == issuer:
                prices.append((entry, coins))
            default: break
            }
        }
    }

    private mutating func takePayments(of entries: [LedgerEntry]) {
        for isIssuers in [true, false] {
            for entry in entries where (entry.author == issuer) == isIssuers {
                guard case .payment(let workspace, let ledger, let spend) = entry.content,
                    payments.count < Limits.paymentsOfWorkspaceMax
                else { continue }
                payments.append(Payment(workspace: workspace, ledger: ledger, spend: spend))
            }
        }
    }

    /// Takes orders and spends, each under its key once.
    private mutating func take(_ entries: [LedgerEntry]) {
        for entry in entries {
            let key = entry.key
            switch entry.content {
            case .order(let word, let amount):
                guard orders[key] == nil, let offered = offers[word] else { continue }
                let (coins, isTooMuch) = offered.offer.coins.multipliedReportingOverflow(
                    by: amount)
                guard !isTooMuch, coins <= Limits.ledgerCoinsMax else { continue }
                orders[key] = Order(
                    key: key, buyer: entry.author, offer: word, item: offered.item,
                    amount: amount, coins: coins)
            case .spend(let spend):
                guard spends[key] == nil else { continue }
                spends[key] = Spend(key: key, member: entry.author, spend: spend)
            default: break
            }
        }
    }

    /// Finds what becomes of orders, then of spends.
    private mutating func settle(_ entries: [LedgerEntry]) {
        var voided: Set<MessageKey> = []
        var givenUp: Set<MessageKey> = []
        var refunded: Set<MessageKey> = []
        var granted: [MessageKey: LedgerContent.Grant] = [:]
        var taken: [LedgerContent.Grant] = []
        for entry in entries {
            switch entry.content {
            case .void(let order):
                if entry.author == issuer {
                    voided.insert(order)
                } else if orders[order]?.buyer == entry.author {
                    givenUp.insert(order)
                }
            case .refund(let spend) where entry.author == issuer: refunded.insert(spend)
            case .grant(let grant) where entry.author == issuer:
                guard billed.insert(Array(grant.billing.utf8)).inserted,
                    granted[grant.order] == nil
                else { continue }
                granted[grant.order] = grant
                taken.append(grant)
            default: break
            }
        }
        for key in givenUp { orders[key]?.state = .void }
        for grant in taken {
            guard let order = orders[grant.order] else { continue }
            orders[grant.order]?.billing = grant.billing
            guard !voided.contains(grant.order) else { continue }
            let given = account(of: order.buyer).granted
            let fits = grant.coins <= Limits.ledgerCoinsMax - given
            orders[grant.order]?.state = fits ? .granted : .paid
            if fits { accounts[order.buyer, default: Account()].granted = given + grant.coins }
        }
        for key in voided { orders[key]?.state = .void }
        settleSpends(besides: refunded)
    }

    private mutating func settleSpends(besides refunded: Set<MessageKey>) {
        for key in spends.keys.sorted() {
            guard let spend = spends[key] else { continue }
            if refunded.contains(key) {
                spends[key]?.state = .refunded
            } else if spend.spend.coins <= account(of: spend.member).balance {
                accounts[spend.member, default: Account()].spent += spend.spend.coins
            } else {
                spends[key]?.state = .insufficient
            }
        }
    }
}
