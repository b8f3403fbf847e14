import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Buying and spending on nodes that sync late.
struct `Coins of a ledger` {
    private let table: LedgerBench

    init() throws { table = try LedgerBench() }

    @Test func `are ordered, granted by hand, spent and given back`() throws {
        let (ada, bob) = (table.ada, table.bob)
        #expect(table.ledger["issuer"]?["name"] == "Ada" && table.ledger["self"] == true)
        let shown = try #require(try bob.ok("ledger.list").items.first)
        #expect(shown["name"] == "coins" && shown["self"] == false && shown["balance"] == 0)
        let item = try #require(try bob.ok("store.list").items.first)
        #expect(item["item"] == "small" && item["coins"] == 100 && item["price"] == "5 EUR")
        let order = try table.order(by: bob, ["amount": 2])
        let listed = try ada.ok("store.orders", ["state": "open"]).items
        #expect(listed.map { $0["id"] } == [order])
        #expect(listed.first?["coins"] == 200 && listed.first?["buyer"]?["name"] == "Bob")
        #expect(try table.cleo.ok("store.orders").items.isEmpty, "others' orders are not listed")
        #expect(try ada.ok("store.grant", ["order": order])["state"] == "granted")
        table.bench.advance(1_000)
        #expect(try bob.ok("coin.balance")["balance"] == 200)
        #expect(try ada.refused("store.grant", ["order": order]).kind == .alreadyRedeemed)
        let spend = try bob.ok("coin.spend", ["coins": 150, "purpose": "a logo"])
        #expect(spend["state"] == "spent")
        let short = try bob.refused("coin.spend", ["coins": 51, "purpose": "another"])
        #expect(short.kind == .insufficientCoins && short.kind.seed == "E21")
        #expect(short.hint == "wsx-node store list")
        let none = try bob.refused("coin.spend", ["coins": 0, "purpose": "nothing"])
        #expect(none.hint == "wsx-node coin balance shows how many you have")
        for (purpose, hint) in [
            ("a\nb", "use one line of plain text"), (" ", "use at least one letter or digit"),
        ] {
            let refused = try bob.refused(
                "coin.spend", ["coins": 1, "purpose": .string(purpose)])
            #expect(refused.kind == .badRequest && refused.hint == hint, "\(refused)")
        }
        table.bench.advance(1_000)
        #expect(try table.balance(of: "Bob", on: ada) == 50)
        let id = try #require(spend["id"])
        #expect(try bob.refused("store.refund", ["spend": id]).kind == .forbidden)
        #expect(try ada.ok("store.refund", ["spend": id])["state"] == "refunded")
        table.bench.advance(1_000)
        #expect(try bob.ok("coin.balance")["balance"] == 200)
        try table.expectPeace()
    }

    @Test func `are the issuer's alone to offer, price, grant and void`() throws {
        let bob = table.bob
        let order = try table.order(by: table.cleo)
        let calls: [(String, JSONValue)] = [
            ("store.offer", ["item": "free", "label": "f", "coins": 1, "price": "0"]),
            ("store.withdraw", ["item": "small"]), ("store.price", ["coins": "5"]),
        ]
        for (method, given) in calls {
            #expect(try bob.refused(method, given).kind == .forbidden, "\(method)")
        }
        for method in ["store.grant", "store.void"] {
            #expect(try bob.refused(method, ["order": order]).kind == .invalidReceipt, "\(method)")
        }
        #expect(
            try bob.refused("store.grant", ["order": "p_0000000000000000000000000"]).kind
                == .unknownOrder)
        // What a changed program writes counts for nothing.
        let document = try #require(
            try bob.inTurn { core, workspace in core.ledgers.documents(in: workspace) }.first)
        let key = try #require(PublicID.ledgerKey(order.stringValue ?? "", prefix: "p_"))
        for content: LedgerContent in [
            .grant(.init(order: key, billing: "forged", coins: 1_000, paidAt: 0)),
            .workspacePrice(1), .opening(name: "mine"), .void(order: key),
            .item("small", .init(label: "cheap", coins: 1_000_000, price: "0")),
        ] {
            try bob.write(.ledger(content), to: document)
        }
        table.bench.advance(5_000)
        for node in table.nodes {
            #expect(try node.ok("ledger.list").texts("name") == ["coins"])
            #expect(try node.ok("store.list").items.first?["coins"] == 100)
            #expect(try table.balance(of: "Cleo", on: node) == 0)
        }
        #expect(try table.ada.ok("store.orders").items.first?["state"] == "open")
        try table.expectPeace()
    }

    @Test func `go with a voided order, and what they paid for is insufficient`() throws {
        let (ada, bob) = (table.ada, table.bob)
        let order = try table.order(by: bob)
        try ada.ok("store.grant", ["order": order, "billing": "charge 1"])
        table.bench.advance(1_000)
        try bob.ok("coin.spend", ["coins": 60, "purpose": "a logo"])
        table.bench.advance(1_000)
        #expect(try ada.ok("store.void", ["order": order])["state"] == "void")
        table.bench.advance(1_000)
        #expect(try bob.ok("coin.balance")["balance"] == 0)
        #expect(try bob.ok("coin.spends").items.first?["state"] == "insufficient")
        // The payment was charged back, and pays for nothing else.
        let other = try table.order(by: table.cleo)
        let again = try ada.refused("store.grant", ["order": other, "billing": "charge 1"])
        #expect(again.kind == .alreadyRedeemed)
        // A buyer cancels what was not granted, and only that.
        #expect(try table.cleo.ok("store.void", ["order": other])["state"] == "void")
        try table.expectPeace()
    }

    /// E21, and two devices that are apart.
    @Test func `are spent once by two devices that are apart, everywhere alike`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        try table.grant(to: bob)
        let phone = try bench.bareNode("Phone")
        let link = try bob.ok("device.link")["link"] ?? .null
        try phone.ok("device.link", ["code": link, "name": "Bob"])
        bench.advance(60_000)
        #expect(try phone.ok("coin.balance")["balance"] == 100)
        let pairs = [
            (bob, phone), (bob, ada), (bob, table.cleo), (phone, ada), (phone, table.cleo),
        ]
        for (one, other) in pairs { bench.cut(one, other) }
        try bob.ok("coin.spend", ["coins": 70, "purpose": "by the laptop"])
        bench.advance(1_000)
        try phone.ok("coin.spend", ["coins": 70, "purpose": "by the phone"])
        #expect(try bob.ok("coin.balance")["balance"] == 30)
        #expect(try phone.ok("coin.balance")["balance"] == 30)
        for (one, other) in pairs { bench.heal(one, other) }
        bench.advance(300_000)
        for node in [ada, table.cleo, bob, phone] {
            #expect(try table.balance(of: "Bob", on: node) == 30, "\(node.name)")
            let spends = try node.ok("coin.spends", ["all": true]).items
            #expect(
                spends.map { $0["purpose"] } == ["by the phone", "by the laptop"],
                "\(node.name)")
            #expect(spends.map { $0["state"] } == ["insufficient", "spent"], "\(node.name)")
        }
        try table.expectPeace()
    }

    @Test(arguments: Seeds.explore(4))
    func `end alike in every order of arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (bench, nodes) = (table.bench, table.nodes)
        try table.grant(3, to: table.bob)
        try table.grant(2, to: table.cleo)
        var cuts: Set<[Int]> = []
        for _ in 0..<40 {
            let (a, b) = (random.below(3), random.below(3))
            let node = nodes[a]
            switch random.below(9) {
            case 0 where a < b && !cuts.contains([a, b]):
                bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2: try node.restart()
            case 3: bench.advance(UInt64(random.below(3_000)))
            case 4: _ = node.call("store.buy", ["item": "small"])
            case 5:
                let orders = try nodes[0].ok("store.orders").items
                guard let order = orders.randomElement(using: &random)?["id"] else { continue }
                _ = nodes[0].call(random.oneIn(3) ? "store.void" : "store.grant", ["order": order])
            case 6:
                let spends = try nodes[0].ok("coin.spends", ["all": true]).items
                guard let spend = spends.randomElement(using: &random)?["id"] else { continue }
                _ = nodes[0].call("store.refund", ["spend": spend])
            default:
                let coins = Int64(1 + random.below(150))
                _ = node.call("coin.spend", ["coins": .integer(coins), "purpose": "x"])
            }
        }
        for cut in cuts { bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        bench.advance(120_000)
        try table.expectPeace("WSX_SEED=\(seed)")
        try table.expectTold("WSX_SEED=\(seed)")
    }

    // MARK: What nobody takes back

    @Test func `are not had back by erasing what was spent`() throws {
        let (ada, bob) = (table.ada, table.bob)
        try table.grant(to: bob)
        try bob.ok("coin.spend", ["coins": 100, "purpose": "a logo"])
        table.bench.advance(1_000)
        let core = try #require(bob.host?.core)
        let workspace = try bob.workspace()
        let document = try #require(core.ledgers.documents(in: workspace).first)
        var spends: [StoredOperation] = []
        try core.turn.store.operations.forEachOperation(in: document, of: workspace.number) {
            (stored) throws(StorageError) in
            if case .ledger(.spend)? = try core.keys.content(of: stored, in: workspace) {
                spends.append(stored)
            }
        }
        let spend = try #require(spends.first)
        try bob.forceRedaction(of: spend, isOwn: true)
        table.bench.advance(60_000)
        // Nor on the word of an owner of the workspace.
        try ada.forceRedaction(of: spend, isOwn: false)
        table.bench.letPass(2 * 86_400_000)
        table.bench.advance(300_000)
        for node in table.nodes {
            #expect(try table.balance(of: "Bob", on: node) == 0, "\(node.name)")
            #expect(try node.ok("coin.spends", ["all": true]).items.first?["state"] == "spent")
            try node.restart()
            #expect(try table.balance(of: "Bob", on: node) == 0, "\(node.name)")
        }
        try table.expectPeace()
    }

    @Test func `of somebody who was removed are what was known of them`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        try table.grant(to: bob)
        bench.cut(ada, bob)
        bench.cut(table.cleo, bob)
        try bob.ok("coin.spend", ["coins": 40, "purpose": "unheard"])
        try ada.remove(bob)
        bench.heal(ada, bob)
        bench.heal(table.cleo, bob)
        bench.advance(60_000)
        for node in [ada, table.cleo] {
            #expect(try node.ok("coin.spends", ["all": true]).items.isEmpty, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        #expect(try bob.refused("coin.spend", ["coins": 1, "purpose": "x"]).kind != .internal)
    }

    // MARK: What it is not

    @Test func `are in no channel, no search and no history, and no message is in their ledger`()
        throws
    {
        let (ada, bob) = (table.ada, table.bob)
        try table.grant(to: bob)
        #expect(try bob.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
        let document = try #require(
            try bob.inTurn { core, workspace in core.ledgers.documents(in: workspace) }.first)
        let before = try ada.rowCount("message")
        let cursor = try ada.cursor()
        try ada.ok("notify.command", ["command": "show it"])
        try bob.write(.message(.init(text: "xylograph @Ada")), to: document)
        try bob.write(.note(.creation(title: "xylograph")), to: document)
        // And what is said of coins in a channel says nothing.
        let general = try #require(try bob.workspace().book.defaultChannel)
        try bob.write(.ledger(.opening(name: "xylograph")), to: general)
        table.bench.advance(5_000)
        #expect(try ada.rowCount("message") == before)
        let told = try ada.eventTypes(since: cursor).filter {
            $0.hasPrefix("message") || $0.hasPrefix("mention") || $0.hasPrefix("note")
                || $0.hasPrefix("channel")
        }
        #expect(told.isEmpty, "\(told)")
        #expect(ada.notices.isEmpty)
        #expect(try ada.log().isEmpty && ada.ok("note.list").items.isEmpty)
        #expect(try ada.ok("ledger.list").texts("name") == ["coins"])
        #expect(try ada.ok("search", ["query": "xylograph"]).items.isEmpty)
        try table.expectPeace()
    }

    @Test func `are the same after a restart, a lock and a rebuild`() throws {
        let (ada, bob) = (table.ada, table.bob)
        try table.grant(to: bob)
        try bob.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        try bob.ok("lock.now")
        #expect(try bob.refused("coin.balance").kind == .locked)
        try table.grant(to: table.cleo)
        try bob.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try table.balance(of: "Cleo", on: bob) == 100)
        try ada.restart()
        #expect(try table.balance(of: "Bob", on: ada) == 100)
        try ada.ok("node.check", ["repair": true])
        table.bench.advance(60_000)
        #expect(try table.balance(of: "Bob", on: ada) == 100)
        try table.expectPeace()
    }

    @Test func `are bought once by a call that comes again`() throws {
        let bob = table.bob
        let call: JSONValue = ["item": "small", "key": "k1"]
        let order = try bob.ok("store.buy", call)
        let again = try bob.ok("store.buy", call)
        #expect(again["id"] == order["id"] && again["replayed"] == true)
        let other = try bob.refused("store.buy", ["item": "small", "amount": 2, "key": "k1"])
        #expect(other.kind == .keyReused)
        #expect(try bob.ok("store.orders").items.count == 1)
        try table.grant(to: bob)
        let spend: JSONValue = ["coins": 5, "purpose": "x", "key": "k2"]
        let first = try bob.ok("coin.spend", spend)
        #expect(try bob.ok("coin.spend", spend)["id"] == first["id"])
        #expect(try bob.ok("coin.balance")["balance"] == 95)
    }

    /// W-83: what would not count is refused, and nothing is written.
    @Test func `are not said to be ordered, spent or cancelled by who has written too much`() throws
    {
        let bob = table.bob
        try table.grant(to: bob)
        let order = try table.order(by: bob)
        let core = try #require(bob.host?.core)
        let workspace = try bob.workspace()
        let document = try #require(core.ledgers.documents(in: workspace).first)
        let ledger = try #require(try core.ledgers.ledger(document, in: workspace))
        // As if they had been written, behind what was.
        for number in 0..<Limits.ledgerEntriesPerMemberMax {
            ledger.add(
                LedgerEntry(
                    timestamp: HybridTimestamp(rawValue: UInt64(Int64.max) + UInt64(number)),
                    id: OperationID(
                        bigEndianBytes(of: UInt64(number)) + [UInt8](repeating: 0, count: 24)),
                    author: workspace.member,
                    content: .void(
                        order: MessageKey(
                            timestamp: HybridTimestamp(rawValue: 1), idPrefix: 1))),
                at: -1 - Int64(number))
        }
        let before = try bob.digest()
        let calls: [(String, JSONValue)] = [
            ("store.void", ["order": order]), ("store.buy", ["item": "small"]),
            ("coin.spend", ["coins": 1, "purpose": "x"]),
        ]
        for (method, given) in calls {
            let refused = try bob.refused(method, given)
            #expect(refused.kind == .tooMany && refused.reason == "ledger.count", "\(method)")
        }
        #expect(try bob.digest() == before)
        #expect(try bob.ok("store.orders", ["state": "open"]).items.map { $0["id"] } == [order])
        #expect(try table.ada.ok("store.void", ["order": order])["state"] == "void")
    }

    @Test func `have a name that means one ledger`() throws {
        let (ada, bob) = (table.ada, table.bob)
        #expect(try ada.refused("ledger.open", ["name": "COINS"]).kind == .duplicate)
        try bob.ok("ledger.open", ["name": "coins"])
        table.bench.advance(5_000)
        // A member's own one takes away from nobody the one of an owner or admin.
        #expect(try ada.ok("coin.balance")["ledger"] == table.ledger["id"])
        #expect(try bob.ok("coin.balance")["ledger"] == table.ledger["id"])
        // For an issuer the default is their own ledger.
        #expect(try bob.ok("store.price", ["coins": "none"])["ledger"] != table.ledger["id"])
        let unclear = try ada.refused("coin.balance", ["ledger": "coins"])
        #expect(
            unclear.kind == .ambiguous && unclear.message == "'coins' could be any of 2 ledgers")
        #expect(unclear.hint?.hasPrefix("add --ledger l_") == true, "both have that name")
        // Lists are about all of them.
        let theirs = try #require(try bob.ok("ledger.list").items.first { $0["self"] == true })
        try bob.ok(
            "store.offer",
            [
                "item": "small", "label": "s", "coins": 7, "price": "1",
                "ledger": theirs["id"] ?? .null,
            ])
        table.bench.advance(1_000)
        let sold = try ada.ok("store.list").items.compactMap { $0["coins"]?.integerValue }
        #expect(sold.sorted() == [7, 100])
        let id = try #require(table.ledger["id"])
        #expect(try ada.ok("store.list", ["ledger": id]).items.count == 1)
        #expect(try ada.refused("store.list", ["ledger": "gold"]).kind == .notFound)
        let empty = try table.bench.node("Eve", workspace: "other")
        #expect(try empty.refused("coin.balance").kind == .notFound)
        for name in ["l_x", "", " \u{200b}"] {
            #expect(try ada.refused("ledger.open", ["name": .string(name)]).kind == .badRequest)
        }
    }
}

struct `A guest and ledgers` {
    @Test func `have nothing to do with each other`() throws {
        let table = try GuestTable()
        try table.ada.ok("ledger.open", ["name": "coins"])
        table.bench.advance(60_000)
        #expect(try table.bob.ok("ledger.list").texts("name") == ["coins"])
        #expect(try table.gita.ok("ledger.list").items.isEmpty)
        #expect(try table.gita.refused("coin.balance").kind == .notFound)
        #expect(try table.gita.refused("ledger.open", ["name": "mine"]).kind == .forbidden)
        #expect(try GuestTable.publicCount(on: table.gita) == 0, "not even sealed")
        #expect(try !ByteSearch.finds(Array("coins".utf8), in: table.gita.image))
    }
}
