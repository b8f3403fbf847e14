import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The fold of a ledger compared with its definition, and with itself in other orders.
struct `What a ledger says` {
    private static let issuer = MemberID([UInt8](repeating: 1, count: 16))
    private static let buyers = (2...4).map { MemberID([UInt8](repeating: $0, count: 16)) }
    private static let coins: [UInt64] = [
        1, 2, 3, 5, 8, Limits.ledgerCoinsMax - 1, Limits.ledgerCoinsMax,
    ]

    /// A word that a workspace is paid by a spend elsewhere.
    private static func payment(_ spend: MessageKey) -> LedgerContent {
        .payment(in: WorkspaceID([UInt8](repeating: 7, count: 32)), ledger: .zero, spend: spend)
    }

    /// What a payment names, as the fold has it.
    private static func named(by entry: LedgerEntry) -> LedgerFold.Payment? {
        guard case .payment(let workspace, let ledger, let spend) = entry.content else {
            return nil
        }
        return .init(workspace: workspace, ledger: ledger, spend: spend)
    }

    /// A ledger in which many words have one time, or even one key, and name each other at random.
    private static func entries(_ random: inout SeededGenerator, count: Int) -> [LedgerEntry] {
        var keys: [MessageKey] = []
        var entries: [LedgerEntry] = []
        for _ in 0..<count {
            let author =
                random.oneIn(2) ? issuer : buyers.randomElement(using: &random) ?? issuer
            func named() -> MessageKey {
                keys.randomElement(using: &random)
                    ?? MessageKey(timestamp: HybridTimestamp(rawValue: 0), idPrefix: 0)
            }
            let amount = UInt64(1 + random.below(3))
            let price = coins.randomElement(using: &random) ?? 1
            let content: LedgerContent
            switch random.below(14) {
            case 0: content = .opening(name: "coins \(random.below(3))")
            case 1, 2:
                content = .item(
                    "item \(random.below(2))",
                    random.oneIn(5) ? nil : .init(label: "l", coins: price, price: "p"))
            case 3: content = .workspacePrice(random.oneIn(3) ? nil : price)
            case 4, 5, 6: content = .order(of: named(), amount: amount)
            case 7, 8:
                content = .grant(
                    .init(
                        order: named(), billing: "b \(random.below(6))", coins: price, paidAt: 0))
            case 9, 10: content = .spend(.init(coins: UInt64(1 + random.below(6)), purpose: "x"))
            case 11: content = .refund(of: named())
            case 12: content = payment(named())
            default: content = .void(order: named())
            }
            let id = OperationID(
                [UInt8](repeating: 0, count: 7) + [UInt8(random.below(3))] + random.bytes(24))
            let entry = LedgerEntry(
                timestamp: HybridTimestamp(rawValue: UInt64(random.below(count))), id: id,
                author: author, content: content)
            keys.append(entry.key)
            entries.append(entry)
        }
        return entries
    }

    @Test(arguments: Seeds.explore(150))
    func `is what its definition says`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let entries = Self.entries(&random, count: 8 + random.below(22))
        let fold = LedgerFold(issuer: Self.issuer, entries)
        let definition = LedgerDefinition(issuer: Self.issuer, all: entries)
        #expect(fold.name == definition.name, "WSX_SEED=\(seed)")
        #expect(fold.workspacePrice == definition.workspacePrice, "WSX_SEED=\(seed)")
        #expect(
            Set(fold.payments) == Set(definition.payments.compactMap(Self.named)),
            "WSX_SEED=\(seed)")
        for item in ["item 0", "item 1"] {
            #expect(
                fold.items[Array(item.utf8)] == definition.word(for: item), "WSX_SEED=\(seed)")
        }
        for entry in entries {
            #expect(
                fold.orders[entry.key]?.state.rawValue == definition.state(ofOrder: entry.key),
                "WSX_SEED=\(seed)")
            #expect(
                fold.orders[entry.key]?.coins == definition.order(entry.key)?.coins,
                "WSX_SEED=\(seed)")
            #expect(
                fold.spends[entry.key]?.state.rawValue == definition.state(ofSpend: entry.key),
                "WSX_SEED=\(seed)")
        }
        for member in Self.buyers + [Self.issuer] {
            let account = fold.account(of: member)
            #expect(account.granted == definition.granted(member), "WSX_SEED=\(seed)")
            #expect(account.balance == definition.balance(member), "WSX_SEED=\(seed)")
            #expect(account.granted <= Limits.ledgerCoinsMax && account.spent <= account.granted)
        }
    }

    /// All of it in words, to be compared.
    private static func said(_ fold: LedgerFold) -> [String] {
        fold.orders.values.map { "\($0)" }.sorted() + fold.spends.values.map { "\($0)" }.sorted()
            + fold.accounts.map { "\($0)" }.sorted() + fold.items.map { "\($0)" }.sorted()
            + fold.payments.map { "\($0)" }
            + [fold.name ?? "", "\(String(describing: fold.workspacePrice))"]
    }

    @Test(arguments: Seeds.explore(30))
    func `is the same in every order of arrival`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let entries = Self.entries(&random, count: 200)
        let first = Self.said(LedgerFold(issuer: Self.issuer, entries))
        for _ in 0..<5 {
            let ledger = OpenLedger(DocumentID.zero, of: 1, issuer: Self.issuer)
            for (arrival, entry) in entries.shuffled(using: &random).enumerated() {
                ledger.add(entry, at: Int64(arrival))
                // Asked in between, it says the same in the end.
                if random.oneIn(20) { _ = ledger.fold.accounts }
            }
            #expect(Self.said(ledger.fold) == first, "WSX_SEED=\(seed)")
        }
    }

    /// What is told of parts that come one after the other is what tells the whole from the whole.
    @Test(arguments: Seeds.explore(60))
    func `changes as is noted, whatever comes after what`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let entries = Self.entries(&random, count: 120).shuffled(using: &random)
        let ledger = OpenLedger(DocumentID.zero, of: 1, issuer: Self.issuer)
        var before = ledger.fold
        var past = LedgerPast(issuer: Self.issuer)
        for (arrival, entry) in entries.enumerated() {
            ledger.add(entry, at: Int64(arrival), noting: past)
            // Somebody may ask in the middle of a turn.
            if random.oneIn(6) { _ = ledger.fold }
            guard random.oneIn(8) || arrival == entries.count - 1 else { continue }
            let now = LedgerFold(issuer: Self.issuer, entries.prefix(arrival + 1))
            #expect(Self.said(ledger.fold) == Self.said(now), "WSX_SEED=\(seed)")
            let changes = past.changes(in: ledger.fold)
            for key in Set(before.orders.keys).union(now.orders.keys) {
                let told = changes.orders.first { $0.key == key }
                let (was, state) = (before.orders[key]?.state, now.orders[key]?.state)
                #expect((told == nil) == (was == state), "WSX_SEED=\(seed)")
                #expect(told == nil || told?.was == was && told?.now == state)
            }
            for key in Set(before.spends.keys).union(now.spends.keys) {
                let told = changes.spends.first { $0.key == key }
                let (was, state) = (before.spends[key]?.state, now.spends[key]?.state)
                #expect((told == nil) == (was == state), "WSX_SEED=\(seed)")
                #expect(told == nil || told?.was == was && told?.now == state)
            }
            (before, past) = (now, LedgerPast(issuer: Self.issuer))
        }
    }

    /// Nothing that people usually do has all of it folded again.
    @Test func `takes up what usually comes by itself`() {
        let (entries, order) = Self.bought
        let buyer = Self.buyers[0]
        var fold = LedgerFold(issuer: Self.issuer, entries)
        let spend = Self.entry(7, buyer, .spend(.init(coins: 4, purpose: "x")))
        let second = Self.entry(5, Self.buyers[1], .order(of: entries[0].key, amount: 2))
        let payment = Self.payment(spend.key)
        let more = [
            Self.grant(4, order, "b"), spend,
            // Earlier than what is there already, as from a device that was away.
            second, Self.entry(6, buyer, .spend(.init(coins: 8, purpose: "early"))),
            Self.entry(9, Self.issuer, .refund(of: spend.key)),
            Self.grant(10, second.key, "c", coins: 20), Self.grant(11, second.key, "d"),
            Self.entry(12, Self.issuer, .void(order: order)),
            Self.entry(13, Self.issuer, .item("a", nil)),
            Self.entry(14, Self.issuer, .workspacePrice(3)),
            Self.entry(15, buyer, payment), Self.entry(3, Self.issuer, payment, id: 9),
            Self.entry(16, buyer, .void(order: second.key)),
        ]
        for (count, entry) in more.enumerated() {
            let isTaken = fold.add(entry, noting: nil)
            #expect(isTaken, "\(entry)")
            let whole = LedgerFold(issuer: Self.issuer, entries + more.prefix(count + 1))
            #expect(Self.said(fold) == Self.said(whole), "\(entry)")
        }
    }

    @Test func `is folded again where what comes is a matter of what came first`() {
        let (entries, order) = Self.bought
        let all = entries + [Self.grant(5, order, "b")]
        let before = Self.said(LedgerFold(issuer: Self.issuer, all))
        for entry in [
            Self.grant(4, order, "c"), Self.entry(0, Self.issuer, .item("a", nil)),
            LedgerEntry(
                timestamp: entries[1].timestamp, id: entries[1].id, author: Self.buyers[1],
                content: entries[1].content),
        ] {
            var fold = LedgerFold(issuer: Self.issuer, all)
            let isTaken = fold.add(entry, noting: nil)
            #expect(!isTaken, "\(entry)")
            #expect(Self.said(fold) == before, "what is not taken up changes nothing")
        }
        // So is what was named before it came.
        var fold = LedgerFold(issuer: Self.issuer, [Self.grant(5, order, "b"), entries[0]])
        let isTaken = fold.add(entries[1], noting: nil)
        #expect(!isTaken)
    }

    @Test func `says what it was before operations whose verdict changed`() {
        let (entries, order) = Self.bought
        let grant = Self.grant(4, order, "b")
        let spend = Self.entry(6, Self.buyers[0], .spend(.init(coins: 4, purpose: "x")))
        let all = Dictionary(uniqueKeysWithValues: (entries + [grant]).map { ($0.id, $0) })
        // The spend counts no more; the grant does only now, and an order is opened only now.
        let past = LedgerPast(issuer: Self.issuer, entries: all)
        past.judge(spend, isValid: false)
        past.judge(grant, isValid: true)
        past.judge(grant, isValid: false)
        let now = LedgerFold(issuer: Self.issuer, all.values)
        let (orders, spends) = past.changes(in: now)
        #expect(orders.map(\.was) == [.open] && orders.map(\.now) == [.granted])
        #expect(spends.map(\.was) == [.insufficient] && spends.map(\.now) == [nil])
        past.forget(entries[1].id)
        let later = past.changes(in: now).orders
        #expect(later.map(\.was) == [nil] && later.map(\.buyer) == [Self.buyers[0]])
    }

    // MARK: Single rules

    private static func entry(
        _ time: UInt64, _ author: MemberID, _ content: LedgerContent, id: UInt8 = 0
    ) -> LedgerEntry {
        LedgerEntry(
            timestamp: HybridTimestamp(rawValue: time),
            id: OperationID([id] + [UInt8](repeating: UInt8(truncatingIfNeeded: time), count: 31)),
            author: author, content: content)
    }

    /// A ledger with one offer of 10 coins, and a buyer's order of one of them.
    private static var bought: (entries: [LedgerEntry], order: MessageKey) {
        let offer = entry(1, issuer, .item("a", .init(label: "a", coins: 10, price: "1 EUR")))
        let order = entry(2, buyers[0], .order(of: offer.key, amount: 1))
        return ([offer, order], order.key)
    }

    private static func grant(
        _ time: UInt64, _ order: MessageKey, _ billing: String, by author: MemberID = issuer,
        coins: UInt64 = 10
    ) -> LedgerEntry {
        entry(
            time, author,
            .grant(.init(order: order, billing: billing, coins: coins, paidAt: 0)))
    }

    @Test func `grants only by operations of the issuer`() {
        let (entries, order) = Self.bought
        let forged = Self.grant(3, order, "b", by: Self.buyers[0])
        #expect(
            LedgerFold(issuer: Self.issuer, entries + [forged]).account(of: Self.buyers[0]).granted
                == 0)
        // Offers, prices, refunds and names neither.
        let spend = Self.entry(5, Self.buyers[0], .spend(.init(coins: 10, purpose: "x")))
        let words: [LedgerContent] = [
            .opening(name: "theirs"), .workspacePrice(1), .refund(of: spend.key),
            .item("a", .init(label: "mine", coins: 1_000, price: "0")), .item("a", nil),
            .void(order: order),
        ]
        let fold = LedgerFold(
            issuer: Self.issuer,
            entries + [Self.grant(3, order, "b"), spend]
                + words.enumerated().map {
                    Self.entry(6 + UInt64($0.offset), Self.buyers[1], $0.element)
                })
        #expect(fold.name == nil && fold.workspacePrice == nil)
        #expect(fold.offer(of: "a")?.offer.coins == 10)
        #expect(fold.spends[spend.key]?.state == .spent)
        #expect(fold.orders[order]?.state == .granted)
    }

    @Test func `counts one payment once, and one order once`() {
        let (entries, order) = Self.bought
        let again = Self.entry(3, Self.buyers[1], .order(of: entries[0].key, amount: 1))
        let fold = LedgerFold(
            issuer: Self.issuer,
            entries + [
                again, Self.grant(4, order, "paid"), Self.grant(5, order, "paid"),
                Self.grant(6, order, "paid twice"), Self.grant(7, again.key, "paid"),
            ])
        #expect(fold.account(of: Self.buyers[0]).granted == 10)
        #expect(fold.account(of: Self.buyers[1]).granted == 0)
        #expect(fold.orders[again.key]?.state == .open)
        // What was charged back gives its payment to no other order.
        let voided = LedgerFold(
            issuer: Self.issuer,
            entries + [
                again, Self.grant(4, order, "paid"), Self.grant(7, again.key, "paid"),
                Self.entry(8, Self.issuer, .void(order: order)),
            ])
        #expect(voided.account(of: Self.buyers[0]).granted == 0)
        #expect(voided.orders[order]?.state == .void && voided.orders[again.key]?.state == .open)
    }

    @Test func `lets one of two spends of the same coin count, the earlier`() {
        let (entries, order) = Self.bought
        let first = Self.entry(10, Self.buyers[0], .spend(.init(coins: 10, purpose: "phone")))
        let second = Self.entry(11, Self.buyers[0], .spend(.init(coins: 10, purpose: "laptop")))
        let small = Self.entry(12, Self.buyers[0], .spend(.init(coins: 1, purpose: "more")))
        let all = entries + [Self.grant(4, order, "b"), second, small, first]
        let fold = LedgerFold(issuer: Self.issuer, all)
        #expect(fold.spends[first.key]?.state == .spent)
        #expect(fold.spends[second.key]?.state == .insufficient)
        #expect(fold.spends[small.key]?.state == .insufficient)
        #expect(fold.account(of: Self.buyers[0]).balance == 0)
        let refunded = LedgerFold(
            issuer: Self.issuer, all + [Self.entry(13, Self.issuer, .refund(of: first.key))])
        #expect(refunded.spends[first.key]?.state == .refunded)
        #expect(refunded.spends[second.key]?.state == .spent)
    }

    @Test func `never has more coins than can be counted`() {
        let (entries, order) = Self.bought
        let again = Self.entry(3, Self.buyers[0], .order(of: entries[0].key, amount: 1))
        let fold = LedgerFold(
            issuer: Self.issuer,
            entries + [
                again, Self.grant(4, order, "a", coins: Limits.ledgerCoinsMax),
                Self.grant(5, again.key, "b", coins: 1),
            ])
        #expect(fold.account(of: Self.buyers[0]).balance == Limits.ledgerCoinsMax)
        #expect(fold.orders[again.key]?.state == .paid)
        let much = Self.entry(
            6, Self.issuer, .item("b", .init(label: "b", coins: Limits.ledgerCoinsMax, price: "1")))
        let order2 = Self.entry(7, Self.buyers[0], .order(of: much.key, amount: 2))
        #expect(LedgerFold(issuer: Self.issuer, [much, order2]).orders.isEmpty)
    }

    @Test func `takes a limited number of orders and spends of one member, the earliest`() {
        let member = Self.buyers[0]
        let most = Limits.ledgerEntriesPerMemberMax
        let ledger = OpenLedger(DocumentID.zero, of: 1, issuer: Self.issuer)
        let (entries, order) = Self.bought
        for (arrival, entry) in (entries + [Self.grant(4, order, "b")]).enumerated() {
            ledger.add(entry, at: Int64(arrival))
        }
        // From the latest to the earliest, three times as many as count.
        for number in (0..<3 * most).reversed() {
            ledger.add(
                LedgerEntry(
                    timestamp: HybridTimestamp(rawValue: UInt64(100 + number)),
                    id: OperationID(
                        [UInt8](repeating: 0, count: 28)
                            + bigEndianBytes(of: UInt64(number)).suffix(4)),
                    author: member, content: .void(order: order)), at: Int64(10 + number))
        }
        ledger.add(
            Self.entry(99, member, .spend(.init(coins: 3, purpose: "early"))), at: 1_000_000)
        ledger.add(
            Self.entry(
                200_000, member, .spend(.init(coins: 3, purpose: "late"))), at: 1_000_001)
        #expect(ledger.fold.spends.values.map(\.spend.purpose) == ["early"])
        #expect(ledger.fold.account(of: member).balance == 7)
        #expect(ledger.entries.count <= 3 + most + Limits.ledgerSurplusMax)
    }

    /// Else anybody could fill the memory of all who look at a ledger.
    @Test func `keeps no operations of others that only its issuer may write`() {
        let (entries, order) = Self.bought
        let ledger = OpenLedger(DocumentID.zero, of: 1, issuer: Self.issuer)
        for (arrival, entry) in entries.enumerated() { ledger.add(entry, at: Int64(arrival)) }
        let words: [LedgerContent] = [
            .opening(name: "theirs"), .workspacePrice(1), .refund(of: order),
            .item("a", .init(label: "mine", coins: 1_000, price: "0")), .item("a", nil),
            .grant(.init(order: order, billing: "b", coins: 1, paidAt: 0)),
        ]
        for (place, word) in words.enumerated() {
            ledger.add(
                Self.entry(10 + UInt64(place), Self.buyers[0], word), at: 100 + Int64(place))
            #expect(!ledger.holds(100 + Int64(place)), "\(word)")
        }
        #expect(ledger.entries.count == entries.count)
        for (place, word) in words.enumerated() {
            ledger.add(Self.entry(20 + UInt64(place), Self.issuer, word), at: 200 + Int64(place))
            #expect(ledger.holds(200 + Int64(place)), "\(word)")
        }
        #expect(ledger.entries.count == entries.count + words.count)
    }

    /// W-96: of more payments than are looked at those of the issuer come first, whenever they were written.
    @Test(arguments: Seeds.explore(3))
    func `looks at a limited number of payments, the issuer's first`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let most = Limits.paymentsOfWorkspaceMax
        func payment(_ number: Int, by author: MemberID) -> LedgerEntry {
            let key = MessageKey(
                timestamp: HybridTimestamp(rawValue: UInt64(number)), idPrefix: UInt64(number))
            return LedgerEntry(
                timestamp: key.timestamp,
                id: OperationID(
                    bigEndianBytes(of: UInt64(number)) + [UInt8](repeating: 0, count: 24)),
                author: author, content: Self.payment(key))
        }
        for own in [0, 10, most, most + 1] {
            let others = (0..<2 * Limits.ledgerSurplusMax).map {
                payment($0, by: Self.buyers[$0 % 3])
            }
            let issuers = (0..<own).map { payment(100_000 + $0, by: Self.issuer) }
            let ledger = OpenLedger(DocumentID.zero, of: 1, issuer: Self.issuer)
            for (arrival, entry) in (others + issuers).shuffled(using: &random).enumerated() {
                ledger.add(entry, at: Int64(arrival))
            }
            let looked = (issuers + others).prefix(most)
            #expect(
                ledger.fold.payments == looked.compactMap(Self.named), "\(own) WSX_SEED=\(seed)")
            #expect(ledger.entries.count <= own + most + Limits.ledgerSurplusMax)
            // Its definition looks through all of them for each.
            let few = Array(others.prefix(2 * most)) + issuers
            #expect(
                Set(LedgerDefinition(issuer: Self.issuer, all: few).payments.map(\.id))
                    == Set(looked.map(\.id)), "\(own) WSX_SEED=\(seed)")
        }
    }

    @Test func `names what a workspace cost before a spend`() {
        let words: [(UInt64, UInt64?)] = [(2, 5), (4, nil), (6, 9)]
        let fold = LedgerFold(
            issuer: Self.issuer,
            words.map { Self.entry($0.0, Self.issuer, .workspacePrice($0.1)) })
        func before(_ time: UInt64) -> UInt64? {
            fold.workspacePrice(
                before: MessageKey(timestamp: HybridTimestamp(rawValue: time), idPrefix: 0))
        }
        #expect([1, 3, 5, 7].map(before) == [nil, 5, nil, 9])
        #expect(fold.workspacePrice == 9)
    }
}
