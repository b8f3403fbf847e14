import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `People with several devices` {
    /// Ada's laptop, and Bob.
    private func pair(in world: SimulatedWorld) throws -> (SimulatedNode, SimulatedNode) {
        let (ada, bob) = (world.addNode(), world.addNode())
        let link = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        world.run(for: 1_000)
        return (ada, bob)
    }

    private func link(_ phone: SimulatedNode, to laptop: SimulatedNode) throws {
        let link = try #require(laptop.ask("device.link")?["link"])
        try #require(phone.ask("device.link", ["code": link, "name": "Ada"]) != nil)
    }

    @Test(arguments: Seeds.explore(2))
    func `link one while the others are away`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try pair(in: world)
        _ = bob.ask("message.send", ["channel": "general", "text": "from Bob"])
        world.run(for: 2_000)
        bob.crash()
        let phone = world.addNode()
        try link(phone, to: ada)
        #expect(Scenes.texts(of: "general", on: phone) == ["from Bob"])
        _ = phone.ask("message.send", ["channel": "general", "text": "from the phone"])
        world.run(for: 1_000)
        ada.crash()
        bob.start()
        // Bob has never heard of the phone; what it says of itself is enough.
        world.network.heal()
        ada.start()
        world.run(for: 400_000)
        for node in [ada, bob, phone] {
            #expect(Scenes.texts(of: "general", on: node) == ["from Bob", "from the phone"])
            #expect(Scenes.digest(of: node) == Scenes.digest(of: ada))
        }
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(2))
    func `come back after the loss of the only one`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try pair(in: world)
        _ = ada.ask("message.send", ["channel": "general", "text": "before"])
        let phrase = try #require(ada.ask("identity.show", ["phrase": true])?["phrase"])
        let link = try #require(Scenes.invite(by: ada))
        let lost = try #require(ada.ask("identity.show")?["id"])
        world.run(for: 2_000)
        ada.crash()
        let cleo = world.addNode()
        #expect(Scenes.join(link, by: cleo, named: "Cleo"))
        let fresh = world.addNode()
        let back = fresh.ask(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Ada"])
        #expect(back?["role"] == "owner")
        #expect(fresh.ask("device.revoke", ["device": lost, "phrase": phrase]) != nil)
        _ = fresh.ask("message.send", ["channel": "general", "text": "back"])
        world.run(for: 400_000)
        for node in [bob, cleo, fresh] {
            #expect(Scenes.texts(of: "general", on: node) == ["before", "back"])
            #expect(Scenes.digest(of: node) == Scenes.digest(of: fresh))
        }
        #expect(world.failures == [])
    }

    /// The second time the new home is linked to everybody already, for the first workspace.
    @Test(arguments: Seeds.explore(2))
    func `come back in each workspace of the same people`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try pair(in: world)
        #expect(ada.ask("workspace.create", ["name": "beta"]) != nil)
        let link = try #require(Scenes.invite(by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        world.run(for: 2_000)
        let phrase = try #require(bob.ask("identity.show", ["phrase": true])?["phrase"])
        let fresh = world.addNode()
        for workspace in ["acme", "beta"] {
            _ = ada.ask("workspace.select", ["workspace": .string(workspace)])
            let link = try #require(Scenes.invite(by: ada))
            let back = fresh.ask(
                "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Bob"])
            #expect(back?["name"]?.stringValue == workspace)
            world.run(for: 60_000)
        }
        for workspace in ["acme", "beta"] {
            let text: JSONValue = .string("back in \(workspace)")
            let said = fresh.ask(
                "message.send",
                ["workspace": .string(workspace), "channel": "general", "text": text])
            #expect(said != nil)
        }
        world.run(for: 60_000)
        for node in [ada, bob] {
            for workspace in try #require(node.ask("workspace.list")?["items"]?.arrayValue) {
                let id = try #require(workspace["id"]?.stringValue)
                let texts = Scenes.messages(of: "general", on: node, in: id)
                    .compactMap { $0["text"]?.stringValue }
                #expect(texts == ["back in \(workspace["name"]?.stringValue ?? "?")"])
            }
        }
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(2))
    func `hear nothing of one that was revoked while it was away`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try pair(in: world)
        let phone = world.addNode()
        try link(phone, to: ada)
        _ = phone.ask("message.send", ["channel": "general", "text": "kept"])
        world.run(for: 60_000)
        for node in [ada, bob] { world.network.part(node, phone) }
        for number in 0..<3 {
            _ = phone.ask(
                "message.send", ["channel": "general", "text": .string("late \(number)")])
        }
        let id = try #require(phone.ask("identity.show")?["id"])
        #expect(ada.ask("device.revoke", ["device": id])?["revoked"] == true)
        _ = ada.ask("message.send", ["channel": "general", "text": "secret"])
        world.run(for: 60_000)
        world.network.heal()
        world.run(for: 900_000)
        for node in [ada, bob] {
            #expect(Scenes.texts(of: "general", on: node) == ["kept", "secret"])
            #expect(Scenes.digest(of: node) == Scenes.digest(of: ada))
        }
        #expect(!Scenes.texts(of: "general", on: phone).contains("secret"))
        let refused = phone.ask("message.send", ["channel": "general", "text": "still here"])
        #expect(refused == nil)
    }
}
