import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Two nodes in the simulation` {
    @Test(arguments: Seeds.explore(2))
    func `join by an invite and read each other`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = (world.addNode(), world.addNode())
        let link = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        _ = ada.ask("message.send", ["channel": "general", "text": "hello"])
        _ = bob.ask("message.send", ["channel": "general", "text": "good day"])
        world.run(for: 1_000)
        for node in [ada, bob] {
            #expect(Scenes.texts(of: "general", on: node).sorted() == ["good day", "hello"])
        }
        #expect(Scenes.digest(of: ada) == Scenes.digest(of: bob))
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(2))
    func `do the same again under the same seed`(seed: UInt64) throws {
        func run() throws -> TraceHash? {
            let world = SimulatedWorld(seed: seed)
            world.beginTrace()
            defer { world.end() }
            let (ada, bob) = (world.addNode(), world.addNode())
            let link = try #require(Scenes.found(world, by: ada))
            #expect(Scenes.join(link, by: bob, named: "Bob"))
            for number in 0..<10 {
                ada.call("message.send", ["channel": "general", "text": .string("a\(number)")])
                bob.call("message.send", ["channel": "general", "text": .string("b\(number)")])
                world.run(for: 100)
            }
            world.run(for: 200_000)
            return world.trace
        }
        let trace = try #require(try run())
        #expect(try run() == trace)
    }
}
