import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Two running copies of one home: neither keeps the other from connecting, and all who
/// can detect it are told.
struct `A home that runs twice` {
    private struct Scene {
        let world: SimulatedWorld
        let ada: SimulatedNode
        let bob: SimulatedNode
        let copy: SimulatedNode

        /// - Parameter isClone: of the whole machine, so that the copy takes itself for the original.
        init(seed: UInt64, isClone: Bool) throws {
            world = SimulatedWorld(seed: seed)
            (ada, bob) = (world.addNode(), world.addNode())
            let link = try #require(Scenes.found(world, by: bob))
            #expect(Scenes.join(link, by: ada, named: "Ada"))
            world.run(for: 10_000)
            copy = world.addCopy(of: ada, onto: isClone ? nil : 77)
            world.run(for: 10_000)
        }

        var stores: Set<StoreID> {
            Set(bob.host?.core.links.network.links.values.compactMap { $0.peer?.store } ?? [])
        }

        func say(_ text: String, on node: SimulatedNode) {
            _ = node.call("message.send", ["channel": "general", "text": .string(text)])
        }

        func kinds(of node: SimulatedNode) -> [String] {
            (node.ask("node.status")?["warnings"]?.arrayValue ?? [])
                .compactMap { $0["kind"]?.stringValue }
        }

        func told(_ node: SimulatedNode) -> Int {
            let events = node.ask(
                "events.wait", ["since": "all", "types": ["node.warning"], "limit": 100])
            return events?["items"]?.arrayValue?.filter { $0["data"]?["kind"] == "copy" }.count ?? 0
        }
    }

    @Test(arguments: [false, true], [31, 32, 33] as [UInt64])
    func `is linked twice, and everybody has everything`(isClone: Bool, seed: UInt64) throws {
        let scene = try Scene(seed: seed, isClone: isClone)
        let (world, ada, bob, copy) = (scene.world, scene.ada, scene.bob, scene.copy)
        defer { world.end() }
        #expect(world.run(within: 60_000) { scene.stores.count == 2 })
        var said: Set<String> = []
        for (number, node) in [ada, copy, bob, ada, copy].enumerated() {
            scene.say("\(number)", on: node)
            said.insert("\(number)")
            world.run(for: 5_000)
        }
        for node in world.nodes {
            #expect(Set(Scenes.texts(of: "general", on: node)) == said)
            #expect(Scenes.digest(of: node) == Scenes.digest(of: bob))
        }
        // It stays so, and nobody is dialled in vain.
        world.run(for: 600_000)
        #expect(bob.host?.core.links.network.links.count == 2)
        #expect(ada.host?.core.links.network.links.count == 1)
        #expect(copy.host?.core.links.network.links.count == 1)
        let status = bob.ask("node.status")?["warnings"]?.arrayValue ?? []
        #expect(!status.contains { $0["kind"] == "fork.found" }, "each has a log of its own")
        #expect(world.failures == [])
    }

    @Test(arguments: [false, true])
    func `is told to both, and to who is linked to them`(isClone: Bool) throws {
        let scene = try Scene(seed: 34, isClone: isClone)
        let (world, ada, bob, copy) = (scene.world, scene.ada, scene.bob, scene.copy)
        defer { world.end() }
        #expect(world.run(within: 60_000) { scene.stores.count == 2 })
        world.run(for: 5_000)
        #expect(scene.told(bob) == 1)
        #expect(scene.kinds(of: bob).contains("copy"))
        let findings = bob.ask("node.doctor")?["items"]?.arrayValue ?? []
        #expect(findings.contains { $0["id"] == "copy" && $0["state"] == "warn" })
        #expect(scene.kinds(of: copy).contains("store.restored"))
        if isClone {
            // On the same addresses: until it writes, nothing of it is seen.
            scene.say("here I am", on: copy)
            world.run(for: 5_000)
        } else {
            // It says nothing, but where it is.
            #expect(world.run(within: 60_000, every: 500) { scene.kinds(of: ada).contains("copy") })
            world.run(for: 60_000)
            #expect(scene.kinds(of: copy).contains("copy"))
        }
        #expect(scene.kinds(of: ada).contains("copy"))
        #expect(scene.told(ada) == 1)
        // Once one of them is gone, others need do nothing any more.
        copy.crash()
        world.run(for: 60_000)
        #expect(!scene.kinds(of: bob).contains("copy"))
        #expect(world.failures == [])
    }

    @Test func `gives way ever more rarely, whatever a peer says`() throws {
        let scene = try Scene(seed: 35, isClone: false)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let first = core.session.storeIdentity?.store
        let link = try #require(core.links.network.ordered.first)
        try core.syncing.received(.error(code: "link.doubled", retryAfterMilliseconds: 0), on: link)
        #expect(link.session.isInitiator && !link.hadParallelLink)
        scene.world.run(for: 1_000)
        _ = scene.ada.ask("node.status")
        #expect(core.session.storeIdentity?.store != first)
        let second = core.session.storeIdentity?.store
        for _ in 0..<5 {
            try core.syncing.received(
                .error(code: "link.doubled", retryAfterMilliseconds: 0), on: link)
            _ = scene.ada.ask("node.status")
        }
        #expect(core.session.storeIdentity?.store == second)
        // After an hour, and then after two.
        for isHeard in [true, false, true] {
            let before = core.session.storeIdentity?.store
            scene.world.run(for: 3_700_000)
            let link = try #require(core.links.network.ordered.first { !$0.hadParallelLink })
            try core.syncing.received(
                .error(code: "link.doubled", retryAfterMilliseconds: 0), on: link)
            scene.world.run(for: 1_000)
            _ = scene.ada.ask("node.status")
            #expect((core.session.storeIdentity?.store != before) == isHeard)
        }
    }

    @Test func `has as many links as there are places, and those that stand stay`() throws {
        let scene = try Scene(seed: 36, isClone: false)
        let (world, bob) = (scene.world, scene.bob)
        defer { world.end() }
        for machine in 0..<UInt64(Limits.linksPerDeviceMax) {
            world.addCopy(of: scene.ada, onto: 100 + machine)
            world.run(for: 20_000)
        }
        #expect(world.run(within: 60_000) { scene.stores.count == Limits.linksPerDeviceMax })
        let first = try #require(scene.ada.host?.core.session.storeIdentity?.store)
        world.run(for: 120_000)
        #expect(scene.stores.count == Limits.linksPerDeviceMax)
        #expect(scene.stores.contains(first))
        #expect(bob.host?.core.links.network.links.count == Limits.linksPerDeviceMax)
    }
}
