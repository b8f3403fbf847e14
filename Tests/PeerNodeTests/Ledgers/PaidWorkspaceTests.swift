import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Workspaces that cost coins if an issuer says so.
struct `A workspace that is paid` {
    private let table: LedgerBench

    init() throws {
        table = try LedgerBench()
        try table.ada.ok("store.price", ["coins": "60"])
        table.bench.advance(1_000)
    }

    /// Selects a workspace by its name, as people do.
    private func shown(_ name: String, on node: BenchNode) throws -> JSONValue {
        try node.ok("workspace.get", ["workspace": .string(name)])
    }

    @Test func `spends its price, and shows it to members who trust the issuer`() throws {
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        try table.grant(to: bob)
        let made = try bob.ok("workspace.create", ["name": "paid", "paid_from": "coins"])
        #expect(made["name"] == "paid")
        #expect(try bob.ok("coin.balance", ["workspace": "acme"])["balance"] == 40)
        let payment = try shown("paid", on: bob)["payment"]
        #expect(payment?["state"] == "paid" && payment?["coins"] == 60)
        #expect(payment?["issuer"]?["name"] == "Ada" && payment?["payer"]?["name"] == "Bob")
        // Cleo knows the ledger, Eve does not.
        try cleo.join(try bob.link(["uses": 5]))
        bench.advance(60_000)
        #expect(try shown("paid", on: cleo)["payment"]?["state"] == "paid")
        let eve = try bench.bareNode("Eve")
        try eve.join(try bob.link(["uses": 5]))
        bench.advance(60_000)
        #expect(try eve.ok("workspace.get")["payment"]?["state"] == "unknown")
        // All that the ledger says is that somebody paid for something.
        let spend = try #require(
            try ada.ok("coin.spends", ["all": true]).items.first { $0["coins"] == 60 })
        #expect(spend["purpose"] == "a workspace" && spend["member"]?["name"] == "Bob")
        #expect(try ada.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
        #expect(
            try bob.ok("channel.list", ["scope": "all", "workspace": "paid"]).texts("name")
                == ["general"])
        #expect(try bob.ok("ledger.list", ["workspace": "paid"]).items.isEmpty)
        // Given back, it is not paid any more.
        try ada.ok("store.refund", ["spend": spend["id"] ?? .null])
        bench.advance(60_000)
        #expect(try shown("paid", on: bob)["payment"]?["state"] == "unpaid")
        for node in [bob, cleo, eve] {
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
    }

    @Test func `is not made where coins are short, and nothing is spent`() throws {
        let bob = table.bob
        let short = try bob.refused(
            "workspace.create", ["name": "short", "paid_from": "coins"])
        #expect(short.kind == .insufficientCoins && short.kind.seed == "E21")
        #expect(try bob.ok("workspace.list").texts("name") == ["acme"])
        #expect(try bob.ok("coin.spends").items.isEmpty)
        let none = try bob.refused("workspace.create", ["name": "x", "paid_from": "gold"])
        #expect(none.kind == .notFound)
        // Nobody can be forced to pay; others see that.
        try bob.ok("workspace.create", ["name": "free"])
        #expect(try shown("free", on: bob)["payment"]?["state"] == "unpaid")
        // Where it costs nothing, nothing is asked for.
        try table.ada.ok("store.price", ["coins": "none"])
        table.bench.advance(1_000)
        try bob.ok("workspace.create", ["name": "gift"])
        #expect(try shown("gift", on: bob)["payment"] == nil)
        #expect(try shown("acme", on: table.ada)["payment"] == nil)
    }

    /// The caller would believe that it was paid.
    @Test func `is not made where its ledger has no price`() throws {
        let (ada, bob) = (table.ada, table.bob)
        try table.grant(to: bob)
        try ada.ok("store.price", ["coins": "none"])
        table.bench.advance(1_000)
        let refused = try bob.refused(
            "workspace.create", ["name": "gift", "paid_from": "coins"])
        #expect(refused.kind == .conflict && refused.reason == "ledger.no_price")
        #expect(refused.message == "the ledger 'coins' has no price for a workspace")
        #expect(refused.hint?.contains("wsx-node store price COINS") == true)
        #expect(try bob.ok("workspace.list").texts("name") == ["acme"])
        #expect(try bob.ok("coin.balance")["balance"] == 100)
        #expect(try bob.ok("coin.spends").items.isEmpty)
    }

    @Test func `has a price that is a number or none`() throws {
        let ada = table.ada
        for text in ["-1", "1.5", "x", "9007199254740992", "99999999999999999999"] {
            let refused = try ada.refused("store.price", ["coins": .string(text)])
            #expect(refused.kind == .badRequest, "\(text)")
        }
        #expect(try ada.ok("store.price")["value"] == 60)
        #expect(try table.bob.ok("store.price")["value"] == 60)
        #expect(try ada.ok("store.price", ["coins": "0"])["value"]?.isNull == true)
    }

    /// One spend pays for one workspace, and only at the price of its time.
    @Test func `is not paid by another workspace's spend, by a claim, or by too little`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        try table.grant(to: bob)
        try bob.ok("workspace.create", ["name": "first", "paid_from": "coins"])
        let acme = try #require(bob.host?.core.workspaces.values.first { $0.displayName == "acme" })
        let ledger = try #require(bob.host?.core.ledgers.documents(in: acme).first)
        let spend = try #require(
            try bob.ok("coin.spends", ["workspace": "acme"]).items.first?["id"]?.stringValue)
        let key = try #require(PublicID.ledgerKey(spend, prefix: "s_"))
        // A changed program says the same of another workspace.
        try bob.ok("workspace.create", ["name": "second"])
        try bob.inTurn { core, workspace in
            let document = try #require(try core.ledgers.makeDocument(in: workspace))
            _ = try core.privates.authorContent(
                .ledger(.payment(in: acme.id, ledger: ledger, spend: key)), to: document,
                in: workspace)
        }
        #expect(try shown("second", on: bob)["payment"]?["state"] == "unpaid")
        #expect(try shown("first", on: bob)["payment"]?["state"] == "paid")
        // Or spends less than is asked.
        try bob.ok("workspace.create", ["name": "third"])
        try bob.inTurn { core, workspace in
            let known = try #require(try core.ledgers.ledger(ledger, in: acme))
            try core.ledgers.pay(
                WorkspaceTender(workspace: acme, ledger: known, coins: 1), for: workspace)
        }
        #expect(try shown("third", on: bob)["payment"]?["state"] == "unpaid")
        // A later price changes nothing for who has paid.
        try ada.ok("store.price", ["coins": "1000"])
        bench.advance(60_000)
        #expect(try shown("first", on: bob)["payment"]?["state"] == "paid")
    }

    // MARK: More words than are looked at

    /// The ledger of acme on a node, and where that is.
    private func issued(on node: BenchNode) throws -> (workspace: Workspace, ledger: DocumentID) {
        let core = try #require(node.host?.core)
        let acme = try #require(core.workspaces.values.first { $0.displayName == "acme" })
        return (acme, try #require(core.ledgers.documents(in: acme).first))
    }

    /// Has a node name so many spends that nobody knows in a document of the selected workspace.
    private func claim(_ count: Int, in document: DocumentID, by node: BenchNode) throws {
        let (acme, ledger) = try issued(on: node)
        try node.inTurn { core, workspace in
            for number in 0..<count {
                let key = MessageKey(
                    timestamp: HybridTimestamp(rawValue: UInt64(number)), idPrefix: 1)
                _ = try #require(
                    try core.privates.authorContent(
                        .ledger(.payment(in: acme.id, ledger: ledger, spend: key)), to: document,
                        in: workspace))
            }
        }
    }

    /// Has a node pay for the selected workspace, and say so in a document of it.
    private func pay(in document: DocumentID, by node: BenchNode) throws {
        let (acme, ledger) = try issued(on: node)
        try node.inTurn { core, workspace in
            let open = try #require(try core.ledgers.ledger(ledger, in: acme))
            let spend = try #require(
                try core.ledgers.write(
                    .spend(
                        .init(
                            coins: 60, purpose: "a workspace",
                            workspace: Ledgers.name(of: workspace.id))), to: open, in: acme))
            _ = try #require(
                try core.privates.authorContent(
                    .ledger(.payment(in: acme.id, ledger: ledger, spend: spend.key)),
                    to: document, in: workspace))
        }
    }

    private func makeDocument(by node: BenchNode) throws -> DocumentID {
        try node.inTurn { core, workspace in
            try #require(try core.ledgers.makeDocument(in: workspace))
        }
    }

    /// W-96: what others say stands behind what the founder says, also where it came before.
    @Test func `is paid also where others have named more spends than are looked at`() throws {
        let (bob, cleo, bench) = (table.bob, table.cleo, table.bench)
        try table.grant(to: bob)
        try bob.ok("workspace.create", ["name": "second"])
        let document = try makeDocument(by: bob)
        try cleo.join(try bob.link(["uses": 5]))
        bench.advance(60_000)
        try cleo.ok("workspace.select", ["workspace": "second"])
        try claim(2 * Limits.paymentsOfWorkspaceMax, in: document, by: cleo)
        bench.advance(60_000)
        #expect(try shown("second", on: bob)["payment"]?["state"] == "unpaid")
        try bob.ok("workspace.select", ["workspace": "second"])
        try pay(in: document, by: bob)
        bench.advance(60_000)
        for node in [bob, cleo] {
            #expect(try shown("second", on: node)["payment"]?["state"] == "paid", "\(node.name)")
            try node.restart()
            #expect(try shown("second", on: node)["payment"]?["state"] == "paid", "\(node.name)")
        }
    }

    @Test func `has so many words about its payment in a document`() throws {
        let bob = table.bob
        try table.grant(2, to: bob)
        for (name, state, count) in [
            ("last", "paid", Limits.paymentsOfWorkspaceMax - 1),
            ("beyond", "unpaid", Limits.paymentsOfWorkspaceMax),
        ] {
            try bob.ok("workspace.create", ["name": .string(name)])
            let document = try makeDocument(by: bob)
            try claim(count, in: document, by: bob)
            try pay(in: document, by: bob)
            #expect(
                try shown(name, on: bob)["payment"]?["state"] == .string(state), "\(name)")
        }
    }

    /// What is remembered of a document is what counts now.
    @Test func `shows what was said of its payment just now`() throws {
        let bob = table.bob
        try table.grant(to: bob)
        try bob.ok("workspace.create", ["name": "second"])
        #expect(try shown("second", on: bob)["payment"]?["state"] == "unpaid")
        let document = try makeDocument(by: bob)
        #expect(try shown("second", on: bob)["payment"]?["state"] == "unpaid")
        try pay(in: document, by: bob)
        #expect(try shown("second", on: bob)["payment"]?["state"] == "paid")
    }
}
