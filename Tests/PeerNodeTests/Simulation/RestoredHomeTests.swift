import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// PROTOCOL 6.2: a home that is restored from a backup has no guard, and goes on as a new store.
struct `A home that comes back from a backup` {
    private struct Scene {
        let world: SimulatedWorld
        let ada: SimulatedNode
        let bob: SimulatedNode
        let folder = BackupFolder()

        init(seed: UInt64) throws {
            world = SimulatedWorld(seed: seed)
            (ada, bob) = (world.addNode(), world.addNode())
            let link = try #require(Scenes.found(world, by: ada))
            #expect(Scenes.join(link, by: bob, named: "Bob"))
            world.run(for: 5_000)
        }

        @discardableResult
        func say(_ text: String, in channel: String = "general", on node: SimulatedNode)
            -> JSONValue?
        {
            node.ask("message.send", ["channel": .string(channel), "text": .string(text)])?["id"]
        }

        func makeBackup() throws -> String {
            let path = folder.newPath()
            _ = try #require(ada.ask("backup.create", ["path": .string(path)]))
            return path
        }

        /// Ada's home is lost, and one takes its place.
        func replaceHome(by path: String) throws {
            ada.crash(isSilent: true)
            ada.putBack(to: try folder.restore(path))
            ada.start()
        }

        func store(of node: SimulatedNode) -> StoreID? {
            node.host?.core.session.storeIdentity?.store
        }

        func events(_ type: JSONValue, on node: SimulatedNode) -> [JSONValue] {
            let page = node.ask(
                "events.wait", ["since": "all", "types": .array([type]), "limit": 100])
            return page?["items"]?.arrayValue ?? []
        }

        func expectSame(_ texts: Set<String>) {
            for node in world.nodes {
                let shown = Scenes.texts(of: "general", on: node)
                #expect(Set(shown) == texts, "node \(node.index)")
                #expect(shown.count == texts.count, "something is shown twice: \(shown)")
                #expect(Scenes.digest(of: node) == Scenes.digest(of: bob))
                #expect(events("fork.found", on: node).isEmpty)
            }
            #expect(world.failures == [])
        }
    }

    @Test func `gets back what peers have of it since, and not what was deleted`() throws {
        let scene = try Scene(seed: 41)
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        defer { world.end() }
        scene.say("before", on: ada)
        let deleted = try #require(scene.say("deleted since", on: ada))
        world.run(for: 5_000)
        let path = try scene.makeBackup()
        let old = try #require(scene.store(of: ada))
        scene.say("since", on: ada)
        #expect(ada.ask("message.delete", ["message": deleted]) != nil)
        let board: JSONValue = ["name": "board", "private": true, "history": "all"]
        #expect(ada.ask("channel.create", board) != nil)
        #expect(ada.ask("channel.add", ["channel": "board", "members": ["Bob"]]) != nil)
        scene.say("between us", in: "board", on: ada)
        world.run(for: 30_000)
        #expect(Scenes.texts(of: "board", on: bob) == ["between us"])
        try scene.replaceHome(by: path)
        scene.say("again", on: ada)
        world.run(for: 60_000)
        scene.expectSame(["before", "since", "again"])
        #expect(Scenes.texts(of: "board", on: ada) == ["between us"])
        #expect(scene.store(of: ada) != old)
        let told = try #require(scene.events("store.restored", on: ada).last)
        #expect(told["data"]?["reason"] == "missing")
        for node in world.nodes { #expect(`Lives by chance`.checkAgain(node) == []) }
    }

    @Test func `is without what nobody else has heard, and so is everybody`() throws {
        let scene = try Scene(seed: 42)
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        defer { world.end() }
        scene.say("before", on: ada)
        world.run(for: 5_000)
        let path = try scene.makeBackup()
        world.network.part(ada, bob)
        scene.say("lost", on: ada)
        try scene.replaceHome(by: path)
        scene.say("again", on: ada)
        world.network.part(ada, bob, false)
        world.run(for: 120_000)
        scene.expectSame(["before", "again"])
    }

    @Test func `is one more store where the old home runs on`() throws {
        let scene = try Scene(seed: 43)
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        defer { world.end() }
        scene.say("before", on: ada)
        world.run(for: 5_000)
        let path = try scene.makeBackup()
        scene.say("since", on: ada)
        world.run(for: 5_000)
        let copy = world.addNode(restoring: try scene.folder.restore(path))
        world.run(for: 30_000)
        for (text, node) in [("old", ada), ("new", copy), ("old again", ada)] {
            scene.say(text, on: node)
            world.run(for: 5_000)
        }
        world.run(for: 60_000)
        scene.expectSame(["before", "since", "old", "new", "old again"])
        #expect(Set([ada, bob, copy].compactMap(scene.store(of:))).count == 3)
        #expect(world.run(within: 300_000) { bob.host?.core.links.network.links.count == 2 })
    }

    @Test func `is of a file that is whole, and lacks words that nobody has seen`() throws {
        let scene = try Scene(seed: 44)
        let (world, ada) = (scene.world, scene.ada)
        defer { world.end() }
        let path = scene.folder.newPath()
        let made = try #require(ada.ask("backup.create", ["path": .string(path)]))
        #expect(made["phrase_left_out"] == true && made["sealed"] == false)
        let checked = ada.ask("backup.verify", ["path": .string(path)])
        #expect((checked?["operations"]?.integerValue ?? 0) > 3)
        // None is written over.
        #expect(ada.ask("backup.create", ["path": .string(path)]) == nil)
        try scene.replaceHome(by: path)
        #expect(ada.ask("identity.show") != nil)
        #expect(ada.ask("identity.show", ["phrase": true]) == nil)
        #expect(throws: NodeError.self) { try scene.folder.restore(scene.folder.newPath()) }
    }
}
