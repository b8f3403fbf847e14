import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Nodes that were away` {
    @Test(arguments: Seeds.explore(2))
    func `get all that was said, once and in order`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try Self.pair(in: world)
        bob.crash()
        for number in 0..<100 {
            ada.call("message.send", ["channel": "general", "text": .string("a\(number)")])
        }
        world.run(for: 2_000)
        bob.start()
        world.run(for: 400_000)
        #expect(Scenes.texts(of: "general", on: bob) == (0..<100).map { "a\($0)" })
        #expect(Scenes.digest(of: ada) == Scenes.digest(of: bob))
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(2))
    func `join through another member while the inviter is down`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try Self.pair(in: world)
        let cleo = world.addNode()
        let link = try #require(Scenes.invite(by: ada))
        world.run(for: 1_000)
        ada.crash()
        #expect(Scenes.join(link, by: cleo, named: "Cleo"))
        _ = cleo.ask("message.send", ["channel": "general", "text": "hello"])
        ada.start()
        world.run(for: 400_000)
        for node in [ada, bob, cleo] {
            #expect(Scenes.texts(of: "general", on: node) == ["hello"])
        }
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(2))
    func `find each other through a third`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try Self.pair(in: world)
        let cleo = world.addNode()
        let link = try #require(Scenes.invite(by: ada))
        #expect(Scenes.join(link, by: cleo, named: "Cleo"))
        world.run(for: 5_000)
        ada.crash()
        _ = bob.ask("message.send", ["channel": "general", "text": "without ada"])
        world.run(for: 60_000)
        #expect(
            Scenes.texts(of: "general", on: cleo) == ["without ada"],
            "bob \(bob.log) cleo \(cleo.log)")
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(1))
    func `cost little when nothing is new`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try Self.pair(in: world)
        for number in 0..<50 {
            _ = ada.ask("message.send", ["channel": "general", "text": .string("a\(number)")])
        }
        world.run(for: 60_000)
        let link = try #require(world.network.open.first)
        let before = link.byteCounts
        _ = ada.ask("message.send", ["channel": "general", "text": "one more"])
        world.run(for: 1_000)
        let after = link.byteCounts
        #expect(Scenes.texts(of: "general", on: bob).last == "one more")
        let live = zip(after, before).map { $0 - $1 }.reduce(0, +)
        #expect(live <= 900, "a live message cost \(live) bytes")
        world.run(for: 60_000)
        link.cut()
        world.run(for: 20_000)
        let again = try #require(world.network.open.first)
        #expect(again !== link)
        let resumed = again.byteCounts.reduce(0, +)
        // Two handshake payloads and a third, then what both say: 400 bytes and four frames.
        #expect(resumed <= 1_700, "connecting again cost \(resumed) bytes")
    }

    /// Two members with a link.
    static func pair(in world: SimulatedWorld) throws -> (SimulatedNode, SimulatedNode) {
        let (ada, bob) = (world.addNode(), world.addNode())
        let link = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        world.run(for: 1_000)
        return (ada, bob)
    }
}

struct `A device that writes twice at one place` {
    @Test(arguments: Seeds.explore(2))
    func `is shown as forked, and all nodes keep the same`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try `Nodes that were away`.pair(in: world)
        let cleo = world.addNode()
        let link = try #require(Scenes.invite(by: ada))
        #expect(Scenes.join(link, by: cleo, named: "Cleo"))
        world.run(for: 5_000)
        let twin = world.addCopy(of: bob)
        for (node, reached, other) in [(bob, ada, cleo), (twin, cleo, ada)] {
            for away in world.nodes where away !== node && away !== reached {
                world.network.part(node, away)
            }
            world.network.part(ada, cleo)
            _ = other
        }
        for number in 0..<3 {
            _ = bob.ask("message.send", ["channel": "general", "text": .string("b\(number)")])
            _ = twin.ask("message.send", ["channel": "general", "text": .string("t\(number)")])
        }
        world.run(for: 60_000)
        twin.crash()
        bob.crash()
        world.network.heal()
        world.run(for: 900_000)
        let views = [ada, cleo].map { Scenes.texts(of: "general", on: $0).sorted() }
        #expect(views[0] == views[1])
        #expect(Scenes.digest(of: ada) == Scenes.digest(of: cleo))
        let forks = [ada, cleo].map { node in
            node.log.filter { $0.hasPrefix("fork.found") }.count
        }
        if views[0].count == 6 { #expect(forks.allSatisfy { $0 >= 1 }) }
        #expect(views[0].count >= 3)
    }
}
