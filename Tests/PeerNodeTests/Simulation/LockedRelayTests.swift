import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Nodes that relay what they cannot read.
struct `A locked relay` {
    private static let passphrase = "correct horse battery"

    /// Ada, sealed; Bob and Cleo, who joined by her invite.
    private func three(
        in world: SimulatedWorld
    ) throws -> (ada: SimulatedNode, bob: SimulatedNode, cleo: SimulatedNode) {
        let (ada, bob, cleo) = (world.addNode(), world.addNode(), world.addNode())
        try #require(
            ada.ask(
                "identity.create", ["name": "Ada", "passphrase": .string(Self.passphrase)])
                != nil)
        try #require(ada.ask("workspace.create", ["name": "acme"]) != nil)
        let link = try #require(Scenes.invite(by: ada))
        try #require(Scenes.join(link, by: bob, named: "Bob"))
        try #require(Scenes.join(link, by: cleo, named: "Cleo"))
        world.run(for: 5_000)
        return (ada, bob, cleo)
    }

    @Test(arguments: Seeds.explore(3))
    func `carries messages between two who never meet, and shows them when opened`(
        seed: UInt64
    ) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob, cleo) = try three(in: world)
        cleo.crash()
        #expect(ada.ask("lock.now")?["state"] == "locked")
        for number in 0..<20 {
            _ = bob.ask("message.send", ["channel": "general", "text": .string("b\(number)")])
        }
        world.run(for: 5_000)
        bob.crash()
        cleo.start()
        world.run(for: 400_000)
        let texts = (0..<20).map { "b\($0)" }
        #expect(Scenes.texts(of: "general", on: cleo) == texts)
        #expect(ada.ask("message.history", ["channel": "general"]) == nil)
        #expect(ada.ask("session.unlock", ["passphrase": .string(Self.passphrase)]) != nil)
        #expect(Scenes.texts(of: "general", on: ada) == texts)
        bob.start()
        world.run(for: 400_000)
        _ = ada.ask("message.send", ["channel": "general", "text": "open again"])
        world.run(for: 5_000)
        for node in [bob, cleo] {
            #expect(Scenes.texts(of: "general", on: node) == texts + ["open again"])
        }
        #expect(Set([ada, bob, cleo].map(Scenes.digest)).count == 1)
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(4))
    func `loses nothing wherever it crashes, locks and opens`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob, cleo) = try three(in: world)
        for round in 0..<4 {
            ada.call("lock.now")
            bob.call("message.send", ["channel": "general", "text": .string("b\(round)")])
            cleo.call("message.send", ["channel": "general", "text": .string("c\(round)")])
            if (seed &+ UInt64(round)).isMultiple(of: 2) { ada.commitsUntilCrash = round + 1 }
            world.run(for: 3_000)
            if !ada.isRunning { ada.start() }
            ada.commitsUntilCrash = nil
            _ = ada.ask("session.unlock", ["passphrase": .string(Self.passphrase)])
            world.run(for: 3_000)
        }
        world.run(for: 400_000)
        let all = Set((0..<4).flatMap { ["b\($0)", "c\($0)"] })
        for node in [ada, bob, cleo] {
            #expect(Set(Scenes.texts(of: "general", on: node)) == all)
        }
        #expect(Set([ada, bob, cleo].map(Scenes.digest)).count == 1)
        let unlocked = ada.ask("events.wait", ["since": "all", "limit": 1_000])
        let messages = (unlocked?["items"]?.arrayValue ?? []).filter {
            $0["type"] == "message.created"
        }.compactMap { $0["data"]?["id"]?.stringValue }
        #expect(messages.count == Set(messages).count, "nothing is told twice")
        #expect(Set(messages).count == all.count, "everything is told")
        #expect(world.failures == [])
    }
}
