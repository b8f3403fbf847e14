import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Coins in a network with loss, delays and partitions.
struct `Coins in a network` {
    private func items(_ node: SimulatedNode, _ method: String, _ given: JSONValue = [:])
        -> [JSONValue]
    {
        node.ask(method, given)?["items"]?.arrayValue ?? []
    }

    /// Ada issues; Bob has a laptop and a phone, each with all of his coins, and spends them on both
    /// while the two are apart.
    @Test(arguments: Seeds.explore(3))
    func `that one person spends on two devices are spent once, everywhere alike`(
        seed: UInt64
    ) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, laptop, cleo) = (world.addNode(), world.addNode(), world.addNode())
        let invite = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(invite, by: laptop, named: "Bob"))
        #expect(Scenes.join(invite, by: cleo, named: "Cleo"))
        let phone = world.addNode()
        let link = try #require(laptop.ask("device.link")?["link"])
        try #require(phone.ask("device.link", ["code": link, "name": "Bob"]) != nil)
        #expect(ada.ask("ledger.open", ["name": "coins"]) != nil)
        _ = ada.ask(
            "store.offer", ["item": "small", "label": "s", "coins": 100, "price": "1 EUR"])
        world.run(for: 60_000)
        let order = try #require(laptop.ask("store.buy", ["item": "small"])?["id"])
        world.run(for: 60_000)
        #expect(ada.ask("store.grant", ["order": order])?["state"] == "granted")
        world.run(for: 60_000)
        #expect(phone.ask("coin.balance")?["balance"] == 100)
        let nodes = [ada, laptop, cleo, phone]
        for (index, one) in nodes.enumerated() {
            for other in nodes[(index + 1)...] { world.network.part(one, other, true) }
        }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<6 {
            let device = random.oneIn(2) ? laptop : phone
            _ = device.ask(
                "coin.spend", ["coins": .integer(Int64(10 + random.below(60))), "purpose": "x"])
            if random.oneIn(4) {
                device.crash()
                device.start()
            }
            world.run(for: UInt64(random.below(5_000)))
        }
        world.network.heal()
        for (index, one) in nodes.enumerated() {
            for other in nodes[(index + 1)...] { world.network.part(one, other, false) }
        }
        _ = ada.ask("message.send", ["channel": "general", "text": "together again"])
        world.run(for: 900_000)
        #expect(Set(nodes.map { Scenes.digest(of: $0) }).count == 1, "WSX_SEED=\(seed)")
        let spends = items(ada, "coin.spends", ["all": true])
        let balance = try #require(ada.ask("coin.balance", ["member": "Bob"])?["balance"])
        for node in nodes {
            #expect(items(node, "coin.spends", ["all": true]) == spends, "WSX_SEED=\(seed)")
            #expect(node.ask("coin.balance", ["member": "Bob"])?["balance"] == balance)
        }
        let spent = spends.filter { $0["state"] == "spent" }
            .reduce(0) { $0 + ($1["coins"]?.integerValue ?? 0) }
        #expect(balance == .integer(100 - spent) && spent <= 100, "WSX_SEED=\(seed)")
        let all: JSONValue = ["since": "all", "types": ["spend.*"], "limit": 1_000]
        for node in [ada, laptop, phone] {
            let events = items(node, "events.wait", all)
            for spend in spends {
                let told = events.filter { $0["data"]?["id"] == spend["id"] }
                let made = told.filter { $0["type"] == "spend.created" }
                #expect(made.count == 1, "WSX_SEED=\(seed) \(told)")
                #expect(told.last?["data"]?["state"] == spend["state"], "WSX_SEED=\(seed)")
            }
        }
        #expect(items(cleo, "events.wait", all).isEmpty)
        #expect(world.failures == [])
    }
}
