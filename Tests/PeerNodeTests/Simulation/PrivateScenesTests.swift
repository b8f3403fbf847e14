import PeerNode
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// Private documents in networks whose nodes are never all there at once.
@Suite struct `Private documents in a network` {
    /// The owner and two members, all in step.
    static func three(_ world: SimulatedWorld) throws -> [SimulatedNode] {
        try `Private documents in a network`.people(3, in: world)
    }

    static func people(_ count: Int, in world: SimulatedWorld) throws -> [SimulatedNode] {
        let nodes = (0..<count).map { _ in world.addNode() }
        let link = try #require(Scenes.found(world, by: nodes[0]))
        for (index, node) in nodes.enumerated().dropFirst() {
            #expect(Scenes.join(link, by: node, named: "N\(index)"))
        }
        world.run(for: 60_000)
        return nodes
    }

    @Test func `carry a message through somebody who cannot read it`() throws {
        let world = SimulatedWorld(seed: 41)
        defer { world.end() }
        let nodes = try Self.three(world)
        let (relay, sender, receiver) = (nodes[0], nodes[1], nodes[2])
        receiver.crash()
        #expect(sender.ask("message.send", ["channel": "@N2", "text": "while you were out"]) != nil)
        world.run(for: 30_000)
        sender.crash()
        receiver.start()
        world.run(for: 120_000)
        #expect(Scenes.texts(of: "@N1", on: receiver) == ["while you were out"])
        #expect(relay.ask("dm.list")?["items"] == [])
        receiver.crash()
        sender.start()
        world.run(for: 60_000)
        sender.crash()
        receiver.start()
        #expect(receiver.ask("message.send", ["channel": "@N1", "text": "back"]) != nil)
        world.run(for: 60_000)
        receiver.crash()
        sender.start()
        world.run(for: 120_000)
        #expect(Scenes.texts(of: "@N2", on: sender) == ["while you were out", "back"])
        #expect(world.failures == [])
    }
}
