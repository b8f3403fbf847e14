import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada issues "coins" and sells 100 of them as "small"; Bob and Cleo may buy.
struct LedgerBench {
    let bench: CoreBench
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode
    let ledger: JSONValue

    var nodes: [BenchNode] { [ada, bob, cleo] }

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob, cleo) = (table.bench, table.ada, table.bob, table.cleo)
        ledger = try ada.ok("ledger.open", ["name": "coins"])
        try ada.ok(
            "store.offer",
            ["item": "small", "label": "Small pack", "coins": 100, "price": "5 EUR"])
        bench.advance(5_000)
    }

    /// Orders once, and lets everybody hear of it.
    @discardableResult
    func order(by node: BenchNode, _ more: JSONObject = [:]) throws -> JSONValue {
        var given = more
        given["item"] = "small"
        let order = try node.ok("store.buy", .object(given))
        bench.advance(1_000)
        return order["id"] ?? .null
    }

    /// Has somebody own so many times 100 coins.
    func grant(_ count: Int = 1, to node: BenchNode) throws {
        for _ in 0..<count {
            try ada.ok("store.grant", ["order": try order(by: node)])
        }
        bench.advance(1_000)
    }

    /// Begins to redeem a receipt.
    func validate(
        _ order: JSONValue, _ receipt: String = "receipt", by node: BenchNode
    ) -> CallID {
        node.begin("store.validate", ["order": order, "receipt": .string(receipt)])
    }

    /// Lets the command that Ada's node asked last print this; `nil`: it failed or hung.
    @discardableResult
    func gateway(prints output: String?, at node: BenchNode? = nil) throws -> JSONValue {
        let issuer = node ?? ada
        let asked = issuer.notices.popLast()
        let notice = try #require(asked, "nothing was asked")
        let question = try #require(notice.question)
        bench.give(
            .noticed(.answered(question: question, output.map { Array($0.utf8) })), to: issuer)
        bench.settle()
        bench.advance(100)
        return try JSONValue(parsing: notice.input)
    }

    func balance(of name: String, on node: BenchNode) throws -> Int64 {
        try node.ok("coin.balance", ["member": .string(name)]).number("balance")
    }

    /// Everyone who sees an order or a spend in a list got one event for it, and last one for its
    /// current state; and no other events.
    func expectTold(_ comment: String = "") throws {
        for node in nodes {
            let events = try node.events(types: ["order.*", "spend.*"])
            let isIssuer: JSONValue = .bool(node === ada)
            let shown =
                try node.ok("store.orders", ["limit": 100]).items
                + node.ok("coin.spends", ["all": isIssuer, "limit": 100]).items
            for object in shown {
                let told = events.filter { $0["data"]?["id"] == object["id"] }
                let made = told.filter { $0["type"]?.stringValue?.hasSuffix(".created") == true }
                #expect(made.count == 1, "\(node.name) \(told) \(comment)")
                #expect(
                    told.last?["data"]?["state"] == object["state"],
                    "\(node.name) \(told) \(comment)")
            }
            let ids = shown.compactMap { $0["id"]?.stringValue }
            let told = events.compactMap { $0["data"]?["id"]?.stringValue }
            #expect(Set(told) == Set(ids), "\(node.name) \(comment)")
        }
    }

    /// The same for everyone, and nothing wrong in anybody's store.
    func expectPeace(_ comment: String = "") throws {
        let members = try ada.ok("member.list").texts("name")
        for name in members {
            let balances = try nodes.map { try balance(of: name, on: $0) }
            #expect(Set(balances).count == 1, "\(name) \(balances) \(comment)")
            #expect(balances[0] >= 0, "\(name) \(comment)")
        }
        let spends = try nodes.map { try $0.ok("coin.spends", ["all": true]).items }
        #expect(spends.allSatisfy { $0 == spends[0] }, "\(spends) \(comment)")
        for node in nodes {
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name) \(comment)")
        }
        #expect(try Set(nodes.map { try $0.digest() }).count == 1, "\(comment)")
    }
}
