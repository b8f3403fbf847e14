import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who writes into a ledger what no honest program would.
struct `A member who cheats in a ledger` {
    private struct Ledger {
        let document: DocumentID
        let offer: MessageKey
    }

    private func open(by node: SimulatedNode, in world: SimulatedWorld) throws -> Ledger {
        try #require(node.ask("ledger.open", ["name": "coins"]) != nil)
        let offered = node.ask(
            "store.offer", ["item": "small", "label": "s", "coins": 100, "price": "1 EUR"])
        try #require(offered != nil)
        world.run(for: 10_000)
        let core = try #require(node.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let document = try #require(core.ledgers.documents(in: workspace).first)
        let ledger = try #require(try core.ledgers.ledger(document, in: workspace))
        return Ledger(
            document: document, offer: try #require(ledger.fold.items.values.first))
    }

    private func key(of operation: SignedOperation) -> MessageKey {
        MessageKey(
            timestamp: operation.header.timestamp, idPrefix: operation.id.messagePrefix)
    }

    private func said(of ledger: Ledger, by node: SimulatedNode) throws -> [String] {
        let core = try #require(node.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let fold = try #require(try core.ledgers.ledger(ledger.document, in: workspace)).fold
        for account in fold.accounts.values {
            #expect(account.spent <= account.granted && account.granted <= 100)
        }
        return fold.spends.values.map { "\($0)" }.sorted()
            + fold.orders.values.map { "\($0)" }.sorted()
            + fold.accounts.map { "\($0)" }.sorted()
    }

    /// Twenty histories of one log, each with another spend of the same coins, dated at random; those
    /// beyond the eighth are not kept, also where they were looked at before.
    @Test(arguments: Seeds.explore(3))
    func `has spent the same coins once, whichever history comes first`(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        defer { scene.world.end() }
        let ledger = try open(by: scene.ada, in: scene.world)
        var trunk = HostileLog(scene.mallory, incarnation: 77, document: ledger.document)
        let ordered = trunk.write(
            plaintext: ContentPayload.ledger(.order(of: ledger.offer, amount: 1)).encoded,
            at: scene.wall)
        let link = scene.peer().connect(to: scene.ada)
        link.push(trunk.run())
        scene.world.run(for: 5_000)
        let order = PublicID.order(key(of: ordered))
        #expect(scene.ada.ask("store.grant", ["order": .string(order)])?["state"] == "granted")
        link.close()
        scene.world.run(for: 60_000)
        scene.world.network.part(scene.ada, scene.bob)
        var random = SeededGenerator(seed: seed)
        let start = scene.wall
        let branches = (0..<20).map { number in
            var log = trunk
            log.write(
                plaintext: ContentPayload.ledger(
                    .spend(.init(coins: UInt64(60 + random.below(40)), purpose: "\(number)"))
                ).encoded, at: start + UInt64(random.below(1_000)))
            return log
        }
        for (number, node) in [scene.ada, scene.bob].enumerated() {
            let link = scene.peer().connect(to: node)
            for (index, branch) in branches.enumerated() where index % 2 == number || index < 4 {
                link.push(branch.run(from: 1))
                scene.world.run(for: 200)
                if random.oneIn(3) { _ = try said(of: ledger, by: node) }
            }
            link.close()
        }
        scene.world.network.heal()
        try scene.expectHonestPeace()
        let first = try said(of: ledger, by: scene.ada)
        #expect(try said(of: ledger, by: scene.bob) == first, "WSX_SEED=\(seed)")
        for node in scene.honest {
            node.crash()
            node.start()
        }
        scene.world.run(for: 60_000)
        #expect(try said(of: ledger, by: scene.ada) == first, "WSX_SEED=\(seed)")
        #expect(try said(of: ledger, by: scene.bob) == first, "WSX_SEED=\(seed)")
        #expect(scene.world.failures == [])
    }

    /// Words of every type, well made and about nothing, or about others.
    @Test(arguments: Seeds.explore(2))
    func `changes nothing of what others have`(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        defer { scene.world.end() }
        let ledger = try open(by: scene.ada, in: scene.world)
        let bought = try #require(scene.bob.ask("store.buy", ["item": "small"])?["id"])
        scene.world.run(for: 5_000)
        #expect(scene.ada.ask("store.grant", ["order": bought])?["state"] == "granted")
        scene.world.run(for: 5_000)
        _ = scene.bob.ask("coin.spend", ["coins": 30, "purpose": "x"])
        scene.world.run(for: 5_000)
        let before = scene.ada.ask("coin.balance", ["member": "Bob"])
        let order = try #require(PublicID.ledgerKey(bought.stringValue ?? "", prefix: "p_"))
        let spend = try #require(
            PublicID.ledgerKey(
                scene.bob.ask("coin.spends")?["items"]?[0]?["id"]?.stringValue ?? "",
                prefix: "s_"))
        var log = HostileLog(scene.mallory, incarnation: 78, document: ledger.document)
        let words: [LedgerContent] = [
            .opening(name: "theirs"), .item("small", nil), .workspacePrice(1),
            .item("small", .init(label: "l", coins: Limits.ledgerCoinsMax, price: "0")),
            .order(of: spend, amount: 1_000), .order(of: ledger.offer, amount: 1),
            .grant(
                .init(order: order, billing: "b", coins: Limits.ledgerCoinsMax, paidAt: .max)),
            .spend(.init(coins: Limits.ledgerCoinsMax, purpose: "x")), .refund(of: spend),
            .void(order: order), .refund(of: order), .void(order: spend),
        ]
        for (number, word) in words.enumerated() {
            log.write(
                plaintext: ContentPayload.ledger(word).encoded,
                at: scene.wall + UInt64(number))
        }
        log.write(plaintext: [0x82, 0x18, 0x1c, 0xa0], at: scene.wall + 100)
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 5_000)
        #expect(link.isOpen)
        // Receipts for orders that are not Mallory's.
        link.send(
            .receipt(
                1, ReceiptSubmission(number: 1, ledger: ledger.document, order: order, receipt: "r")
            ))
        scene.world.run(for: 5_000)
        link.close()
        try scene.expectHonestPeace()
        for node in scene.honest {
            let after = node.ask("coin.balance", ["member": "Bob"])
            #expect(after?["balance"] == before?["balance"], "WSX_SEED=\(seed)")
            #expect(node.ask("ledger.list")?["items"]?[0]?["name"] == "coins")
            #expect(node.ask("store.list")?["items"]?[0]?["coins"] == 100)
            let mallory = node.ask("coin.balance", ["member": "Mallory 0"])
            #expect(mallory?["balance"] == 0)
        }
        #expect(scene.world.failures == [])
    }
}
