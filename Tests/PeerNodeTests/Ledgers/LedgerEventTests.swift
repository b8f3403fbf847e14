import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Events about orders and spends: who gets them, and how often.
struct `Events of a ledger` {
    private let table: LedgerBench

    init() throws { table = try LedgerBench() }

    /// What a node was told since a cursor: types and states, in order.
    private func told(_ node: BenchNode, since cursor: String) throws -> [String] {
        try node.events(since: cursor, types: ["order.*", "spend.*"]).map {
            "\($0["type"]?.stringValue ?? "") \($0["data"]?["state"]?.stringValue ?? "")"
        }
    }

    private func cursors(_ nodes: [BenchNode]) throws -> [String] {
        try nodes.map { try $0.cursor() }
    }

    private func phone(of node: BenchNode) throws -> BenchNode {
        let phone = try table.bench.bareNode("Phone")
        let link = try node.ok("device.link")["link"] ?? .null
        try phone.ok("device.link", ["code": link, "name": .string(node.name)])
        table.bench.advance(60_000)
        return phone
    }

    // MARK: Whom

    @Test func `go to the issuer and to whom it concerns, once, with the whole object`() throws {
        let (ada, bob, cleo) = (table.ada, table.bob, table.cleo)
        let starts = try cursors(table.nodes)
        let order = try table.order(by: bob, ["amount": 2])
        for (node, start) in zip([ada, bob], starts) {
            let event = try #require(try node.events(since: start, types: ["order.created"]).first)
            #expect(event["data"] == (try node.ok("store.orders").items.first), "\(node.name)")
            #expect(event["data"]?["id"] == order && event["backfill"] == false)
        }
        try ada.ok("store.grant", ["order": order])
        table.bench.advance(1_000)
        let spend = try bob.ok("coin.spend", ["coins": 150, "purpose": "a logo"])
        table.bench.advance(1_000)
        let shown = try #require(try ada.events(since: starts[0], types: ["spend.created"]).first)
        #expect(shown["data"] == (try ada.ok("coin.spends", ["all": true]).items.first))
        try ada.ok("store.refund", ["spend": spend["id"] ?? .null])
        table.bench.advance(60_000)
        for (node, start) in zip([ada, bob], starts) {
            #expect(
                try told(node, since: start) == [
                    "order.created open", "order.granted granted", "spend.created spent",
                    "spend.refunded refunded",
                ], "\(node.name)")
        }
        #expect(try told(cleo, since: starts[2]).isEmpty, "what others buy is not listed either")
        #expect(try cleo.ok("store.orders").items.isEmpty)
        // The same whenever they are read, though the spend is something else by now.
        let later = try ada.events(since: starts[0], types: ["spend.created"]).first
        #expect(later?["data"]?["state"] == "spent")
        try table.expectPeace()
    }

    @Test func `tell of orders that end, and of what they had paid for`() throws {
        let (ada, bob) = (table.ada, table.bob)
        let starts = try cursors([ada, bob])
        let given = try table.order(by: bob)
        try bob.ok("store.void", ["order": given])
        table.bench.advance(1_000)
        let paid = try table.order(by: bob)
        try ada.ok("store.grant", ["order": paid])
        table.bench.advance(1_000)
        try bob.ok("coin.spend", ["coins": 60, "purpose": "a logo"])
        table.bench.advance(1_000)
        try ada.ok("store.void", ["order": paid])
        table.bench.advance(1_000)
        for (node, start) in zip([ada, bob], starts) {
            #expect(
                try told(node, since: start) == [
                    "order.created open", "order.voided void", "order.created open",
                    "order.granted granted", "spend.created spent", "order.voided void",
                    "spend.overturned insufficient",
                ], "\(node.name)")
        }
        // Coins for another order let it count again.
        try table.grant(to: bob)
        #expect(try told(ada, since: starts[0]).last == "spend.restored spent")
        #expect(try told(bob, since: starts[1]).last == "spend.restored spent")
    }

    @Test func `have names that are asked for, and no guest hears any`() throws {
        for type in ["order.*", "spend.*", "attestation.*", "account.*", "order.granted"] {
            #expect(try table.ada.events(types: [type]).isEmpty, "\(type)")
        }
        #expect(table.ada.outcome("events.wait", ["types": ["order.sold"]]) == "bad_request")
        let guests = try GuestTable()
        try guests.ada.ok("ledger.open", ["name": "coins"])
        try guests.ada.ok(
            "store.offer", ["item": "small", "label": "s", "coins": 5, "price": "1"])
        guests.bench.advance(60_000)
        let start = try guests.gita.cursor()
        try guests.bob.ok("store.buy", ["item": "small"])
        guests.bench.advance(60_000)
        #expect(try guests.ada.events(types: ["order.created"]).count == 1)
        #expect(try told(guests.gita, since: start).isEmpty)
    }

    // MARK: Apart and together

    @Test func `tell of a spend that is overturned when two devices meet again`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        try table.grant(to: bob)
        let phone = try phone(of: bob)
        let pairs = [
            (bob, phone), (bob, ada), (bob, table.cleo), (phone, ada), (phone, table.cleo),
        ]
        for (one, other) in pairs { bench.cut(one, other) }
        let starts = try cursors([ada, bob, phone])
        try bob.ok("coin.spend", ["coins": 70, "purpose": "by the laptop"])
        bench.advance(1_000)
        let late = try phone.ok("coin.spend", ["coins": 70, "purpose": "by the phone"])
        for (one, other) in pairs { bench.heal(one, other) }
        bench.advance(300_000)
        for (node, start) in zip([ada, bob, phone], starts) {
            let all = try told(node, since: start)
            let made = all.filter { $0.hasPrefix("spend.created") }
            #expect(made.count == 2, "\(node.name) \(all)")
            let lost = try node.events(since: start, types: ["spend.overturned"])
            #expect(lost.map { $0["data"]?["id"] } == [late["id"]], "\(node.name) \(all)")
            #expect(all.count == 3, "\(node.name) \(all)")
        }
        #expect(try told(table.cleo, since: "all").isEmpty)
    }

    /// What comes late changes what was told before a restart. The ledger is in nobody's memory then.
    @Test func `tell of what a late spend overturns, also after a restart`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        try table.grant(to: bob)
        let phone = try phone(of: bob)
        for other in [bob, ada, table.cleo] { bench.cut(phone, other) }
        let start = try ada.cursor()
        try phone.ok("coin.spend", ["coins": 70, "purpose": "by the phone"])
        bench.advance(1_000)
        let later = try bob.ok("coin.spend", ["coins": 70, "purpose": "by the laptop"])
        bench.advance(1_000)
        #expect(try told(ada, since: start) == ["spend.created spent"])
        try ada.restart()
        bench.advance(60_000)
        #expect(try told(ada, since: start) == ["spend.created spent"], "a start tells nothing")
        try ada.restart()
        for other in [bob, ada, table.cleo] { bench.heal(phone, other) }
        bench.advance(300_000)
        let all = try told(ada, since: start)
        #expect(
            all == [
                "spend.created spent", "spend.created spent", "spend.overturned insufficient",
            ])
        let lost = try ada.events(since: start, types: ["spend.overturned"]).first
        #expect(lost?["data"]?["id"] == later["id"])
        try ada.restart()
        bench.advance(60_000)
        #expect(try told(ada, since: start) == all)
    }

    @Test func `are of the past for a device that was not there`() throws {
        let bob = table.bob
        try table.grant(to: bob)
        let phone = try phone(of: bob)
        let events = try phone.events(types: ["order.*", "spend.*"])
        #expect(events.map { $0["type"] } == ["order.created", "order.granted"])
        #expect(events.allSatisfy { $0["backfill"] == true })
        let start = try phone.cursor()
        try bob.ok("coin.spend", ["coins": 5, "purpose": "x"])
        table.bench.advance(1_000)
        let fresh = try phone.events(since: start, types: ["spend.*"])
        #expect(fresh.count == 1 && fresh.first?["backfill"] == false)
    }

    // MARK: Locks, rebuilding, verdicts

    @Test func `that came while the node was locked are told when it is open`() throws {
        let (ada, bob) = (table.ada, table.bob)
        let order = try table.order(by: bob)
        try bob.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        let start = try bob.cursor()
        try bob.ok("lock.now")
        try ada.ok("store.grant", ["order": order])
        table.bench.advance(5_000)
        try bob.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try told(bob, since: start) == ["order.granted granted"])
        // Nothing is news twice.
        try bob.ok("lock.now")
        try bob.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        try bob.restart()
        try bob.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try told(bob, since: start) == ["order.granted granted"])
    }

    @Test func `are no news where a store is built again`() throws {
        try table.grant(to: table.bob)
        let starts = try cursors(table.nodes)
        for node in table.nodes { try node.rebuildStore() }
        table.bench.advance(60_000)
        for (node, start) in zip(table.nodes, starts) {
            #expect(try told(node, since: start).isEmpty, "\(node.name)")
        }
        try table.order(by: table.bob)
        #expect(try told(table.ada, since: starts[0]) == ["order.created open"])
    }

    /// Cleo removes Bob, and had not heard of what he spent.
    @Test(arguments: [false, true])
    func `tell of a spend that loses its effect`(isRestarted: Bool) throws {
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        try ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        try table.grant(to: bob)
        bench.cut(cleo, bob)
        bench.cut(cleo, ada)
        let start = try ada.cursor()
        let spend = try bob.ok("coin.spend", ["coins": 40, "purpose": "unheard"])
        bench.advance(1_000)
        try cleo.ok("member.remove", ["member": "Bob"])
        if isRestarted { try ada.restart() }
        bench.heal(cleo, ada)
        bench.advance(300_000)
        let events = try ada.events(since: start, types: ["order.*", "spend.*"])
        #expect(events.map { $0["type"] } == ["spend.created", "spend.overturned"])
        #expect(events.allSatisfy { $0["data"]?["id"] == spend["id"] })
        #expect(events.last?["data"]?["state"] == "insufficient")
        #expect(events.last?["data"]?["ledger"] == table.ledger["id"])
    }

    // MARK: Costs

    /// A ledger that somebody else keeps is read by nobody who has said nothing there.
    @Test func `have nobody read a ledger that is not theirs`() throws {
        try table.grant(to: table.bob)
        for node in table.nodes { try node.restart() }
        table.bench.advance(60_000)
        try table.order(by: table.bob)
        func inMemory(_ node: BenchNode) throws -> Int {
            try #require(node.host?.core).ledgers.documentsInMemory.count
        }
        #expect(try inMemory(table.ada) == 1 && inMemory(table.bob) == 1)
        #expect(try inMemory(table.cleo) == 0)
        let core = try #require(table.ada.host?.core)
        #expect(core.ledgers.pasts.isEmpty && core.ledgers.news.isEmpty, "nothing is left over")
    }

    // MARK: Notices

    private func pairs(_ notice: Notice?) -> [String: String] {
        Dictionary(
            (notice?.variables ?? []).map { ($0.name, $0.value) },
            uniquingKeysWith: { one, _ in one })
    }

    @Test func `let people know of what they wait for, and what they lose`() throws {
        let (ada, bob) = (table.ada, table.bob)
        for node in table.nodes { try node.ok("notify.command", ["command": "show it"]) }
        let order = try table.order(by: bob, ["amount": 2])
        let asked = pairs(ada.notices.last)
        #expect(ada.notices.count == 1 && asked["WSX_EVENT_TYPE"] == "order.created")
        #expect(asked["WSX_AUTHOR"] == "Bob" && asked["WSX_CHANNEL_NAME"] == "coins")
        #expect(
            asked["WSX_TEXT"]
                == "ordered 2 x Small pack (5 EUR each), and waits for your grant")
        #expect(asked["WSX_LEDGER"] == table.ledger["id"]?.stringValue)
        #expect(asked["WSX_BOT"] == "notify" && asked["WSX_WORKSPACE_NAME"] == "acme")
        try ada.ok("store.grant", ["order": order])
        table.bench.advance(1_000)
        #expect(bob.notices.count == 1)
        #expect(pairs(bob.notices.last)["WSX_AUTHOR"] == "Ada")
        #expect(pairs(bob.notices.last)["WSX_TEXT"] == "gave you 200 coins for Small pack")
        let given = try JSONValue(parsing: try #require(bob.notices.last).input)
        #expect(given["id"] == order && given["state"] == "granted")
        try bob.ok("coin.spend", ["coins": 60, "purpose": "a logo"])
        table.bench.advance(1_000)
        try ada.ok("store.void", ["order": order])
        table.bench.advance(1_000)
        #expect(pairs(bob.notices.last)["WSX_EVENT_TYPE"] == "spend.overturned")
        #expect(
            pairs(bob.notices.last)["WSX_TEXT"]
                == "your 60 coins for a logo do not count: you have too few")
        #expect(bob.notices.count == 2 && ada.notices.count == 1)
        #expect(table.cleo.notices.isEmpty)
        // Where a command checks payments, nobody has to; and who wants no notices gets none.
        try ada.ok("store.verify_command", ["command": "check"])
        try table.order(by: bob)
        #expect(ada.notices.count == 1)
        try ada.ok("store.verify_command", ["command": ""])
        try ada.ok("notify.set", ["level": "none"])
        try table.order(by: bob)
        #expect(ada.notices.count == 1)
    }
}

/// Computed only from the states before and after.
struct `The name of what became` {
    @Test func `of an order says its new state, and that it is new`() {
        typealias State = LedgerFold.Order.State
        let rows: [(State?, State?, [EventType])] = [
            (nil, .open, [.orderCreated]), (nil, .granted, [.orderCreated, .orderGranted]),
            (nil, .void, [.orderCreated, .orderVoided]), (.open, .granted, [.orderGranted]),
            (.open, .paid, [.orderPaid]), (.open, .void, [.orderVoided]),
            (.granted, .void, [.orderVoided]), (.granted, .open, [.orderReopened]),
            (.void, .granted, [.orderGranted]), (.open, nil, [.orderVoided]), (.open, .open, []),
            (nil, nil, []),
        ]
        for (was, now, types) in rows { #expect(Ledgers.types(was, now) == types) }
    }

    @Test func `of a spend says whether it counts`() {
        typealias State = LedgerFold.Spend.State
        let rows: [(State?, State?, [EventType])] = [
            (nil, .spent, [.spendCreated]),
            (nil, .insufficient, [.spendCreated, .spendOverturned]),
            (nil, .refunded, [.spendCreated, .spendRefunded]),
            (.spent, .insufficient, [.spendOverturned]), (.spent, .refunded, [.spendRefunded]),
            (.insufficient, .spent, [.spendRestored]), (.refunded, .spent, [.spendRestored]),
            (.spent, nil, [.spendOverturned]), (.spent, .spent, []),
        ]
        for (was, now, types) in rows { #expect(Ledgers.types(was, now) == types) }
    }
}
