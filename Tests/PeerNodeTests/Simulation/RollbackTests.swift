import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// 3-protocol 3.8, D09: a machine restored as a whole, guard file included.
struct `A machine put back to an earlier moment` {
    private func pair(_ seed: UInt64) throws -> (SimulatedWorld, SimulatedNode, SimulatedNode) {
        let world = SimulatedWorld(seed: seed)
        let ada = world.addNode()
        let bob = world.addNode()
        let link = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        world.run(for: 5_000)
        return (world, ada, bob)
    }

    private func say(_ text: String, _ node: SimulatedNode) -> UInt64? {
        node.call("message.send", ["channel": "general", "text": .string(text)])
    }

    private func events(_ type: String, on node: SimulatedNode) -> [JSONValue] {
        node.ask("events.wait", ["since": "all", "types": [.string(type)], "limit": 100])?["items"]?
            .arrayValue ?? []
    }

    private func expectSame(_ world: SimulatedWorld, _ texts: Set<String>) {
        for node in world.nodes where node.isRunning {
            let shown = Scenes.texts(of: "general", on: node)
            #expect(Set(shown) == texts)
            #expect(shown.count == texts.count, "something is shown twice: \(shown)")
            #expect(Scenes.digest(of: node) == Scenes.digest(of: world.nodes[0]))
        }
        #expect(world.failures == [])
    }

    @Test func `asks its peer first and writes on without a fork`() throws {
        let (world, ada, bob) = try pair(7)
        defer { world.end() }
        let old = ada.snapshot()
        for text in ["one", "two", "three"] { _ = say(text, ada) }
        world.run(for: 10_000)
        ada.putBack(to: old)
        ada.start()
        // In the first turn, before any link can stand.
        let call = try #require(say("four", ada))
        world.run(within: 10_000) { ada.answers[call] != nil }
        #expect(ada.value(call) != nil)
        world.run(for: 60_000)
        expectSame(world, ["one", "two", "three", "four"])
        #expect(events("fork.found", on: bob).isEmpty)
        let restored = try #require(events("store.restored", on: ada).last)
        #expect(restored["data"]?["reason"] == "peersKnowMore")
        let warnings = ada.ask("node.status")?["warnings"]?.arrayValue ?? []
        #expect(warnings.contains { $0["kind"] == "store.restored" })
        let findings = ada.ask("node.doctor")?["items"]?.arrayValue ?? []
        #expect(findings.contains { $0["id"] == "restored" && $0["state"] == "warn" })
        // The next start goes on with the new store.
        ada.crash()
        ada.start()
        world.run(for: 5_000)
        #expect(events("store.restored", on: ada).count == 1)
    }

    @Test func `waits with writing only, and never for long`() throws {
        let (world, ada, bob) = try pair(8)
        defer { world.end() }
        // Bob's machine takes connections and says nothing.
        world.run(for: 60_000)
        ada.crash()
        ada.start()
        world.network.part(ada, bob)
        let begun = world.now
        let call = try #require(say("slow", ada))
        #expect(ada.ask("workspace.list") != nil)
        world.run(within: 10_000) { ada.answers[call] != nil }
        #expect(ada.value(call) != nil)
        #expect(world.now - begun <= 2_100)
    }

    @Test func `writes at once where there is nobody to ask`() throws {
        let world = SimulatedWorld(seed: 9)
        defer { world.end() }
        let ada = world.addNode()
        _ = try #require(Scenes.found(world, by: ada))
        ada.crash()
        ada.start()
        let begun = world.now
        let call = try #require(say("alone", ada))
        world.run(within: 10_000) { ada.answers[call] != nil }
        #expect(ada.value(call) != nil)
        #expect(world.now - begun < 50)
    }

    @Test func `keeps both branches when nobody could be asked`() throws {
        let (world, ada, bob) = try pair(10)
        defer { world.end() }
        let old = ada.snapshot()
        _ = say("first life", ada)
        world.run(for: 10_000)
        bob.crash()
        ada.putBack(to: old)
        ada.start()
        let call = try #require(say("second life", ada))
        world.run(within: 10_000) { ada.answers[call] != nil }
        #expect(ada.value(call) != nil)
        bob.start()
        world.run(for: 120_000)
        expectSame(world, ["first life", "second life"])
        #expect(!events("fork.found", on: bob).isEmpty)
        let forks = (bob.ask("node.doctor")?["items"]?.arrayValue ?? [])
            .filter { $0["id"] == "fork" }
        #expect(forks.first?["message"]?.stringValue?.contains("signed two operations") == true)
    }

    /// After each step of a small life the machine is put back to each step before.
    @Test(arguments: 0..<6)
    func `loses and doubles nothing, from any moment of its life`(_ prefix: Int) throws {
        let (world, ada, bob) = try pair(20 + UInt64(prefix))
        defer { world.end() }
        var snapshots = [ada.snapshot()]
        var texts: Set<String> = []
        for step in 0..<5 {
            let text = "step \(step)"
            texts.insert(text)
            #expect(ada.ask("message.send", ["channel": "general", "text": .string(text)]) != nil)
            if step == 2 { _ = ada.ask("channel.create", ["name": "plans"]) }
            snapshots.append(ada.snapshot())
        }
        world.run(for: 10_000)
        ada.putBack(to: snapshots[prefix])
        ada.start()
        texts.insert("after")
        #expect(ada.ask("message.send", ["channel": "general", "text": "after"]) != nil)
        world.run(for: 120_000)
        expectSame(world, texts)
        #expect(events("fork.found", on: bob).isEmpty)
        let channels = ada.ask("channel.list", ["scope": "all"])?["items"]?.arrayValue ?? []
        #expect(channels.count == 2)
    }

    @Test func `nine times over converges on the branches that count`() throws {
        let (world, ada, bob) = try pair(31)
        defer { world.end() }
        let old = ada.snapshot()
        var texts: Set<String> = []
        for life in 0..<9 {
            ada.putBack(to: old)
            bob.crash()
            ada.start()
            texts.insert("life \(life)")
            #expect(
                ada.ask("message.send", ["channel": "general", "text": .string("life \(life)")])
                    != nil)
            // Bob hears of each life only after its first word.
            bob.start()
            world.run(for: 30_000)
        }
        world.run(for: 120_000)
        // More ends of one log than accidents make: as many as count stay, the same everywhere.
        let shown = Set(Scenes.texts(of: "general", on: ada))
        #expect(shown.count == Limits.branchesMax && shown.isSubset(of: texts))
        expectSame(world, shown)
    }

    @Test func `running twice converges too`() throws {
        let (world, ada, bob) = try pair(32)
        defer { world.end() }
        let twin = world.addCopy(of: ada)
        var texts: Set<String> = []
        for (node, name) in [(ada, "ada"), (twin, "twin")] {
            for number in 0..<3 {
                texts.insert("\(name) \(number)")
                _ = node.ask(
                    "message.send", ["channel": "general", "text": .string("\(name) \(number)")])
                world.run(for: 2_000)
            }
        }
        // Two homes of one device take turns at their peer.
        world.run(for: 30_000)
        ada.crash()
        world.run(for: 300_000)
        twin.crash()
        ada.start()
        world.run(for: 300_000)
        twin.start()
        world.run(for: 300_000)
        #expect(Set(Scenes.texts(of: "general", on: bob)) == texts)
        #expect(world.failures == [])
    }
}
