import PeerNode
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// Removals in whole networks that are partitioned and heal.
struct `Removals in a network` {
    /// The owner, an admin and `count - 2` members.
    static func workspace(
        in world: SimulatedWorld, of count: Int
    ) throws -> [SimulatedNode] {
        let nodes = (0..<count).map { _ in world.addNode() }
        let link = try #require(Scenes.found(world, by: nodes[0]))
        for (index, node) in nodes.enumerated().dropFirst() {
            #expect(Scenes.join(link, by: node, named: "N\(index)"))
        }
        world.run(for: 20_000)
        #expect(nodes[0].ask("member.role", ["member": "N1", "role": "admin"]) != nil)
        world.run(for: 60_000)
        return nodes
    }

    /// Parts every node of one side from every node of the other.
    static func part(_ world: SimulatedWorld, _ left: [SimulatedNode], _ right: [SimulatedNode]) {
        for one in left { for other in right { world.network.part(one, other) } }
    }

    static func expectEqual(_ nodes: [SimulatedNode], _ note: String) {
        let digests = Set(nodes.compactMap { Scenes.digest(of: $0) })
        #expect(digests.count == 1, "\(note)")
        // A member who was out for a while still sees their messages from then, as rejected.
        let texts = Set(
            nodes.map { node in
                Scenes.messages(of: "general", on: node).filter { $0["state"] != "refused" }
                    .compactMap { $0["text"]?.stringValue }.sorted()
            })
        #expect(texts.count == 1, "\(note): \(texts)")
    }

    @Test(arguments: Seeds.explore(2))
    func `end alike when the removed wrote on the other side`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let nodes = try Self.workspace(in: world, of: 5)
        let (out, friend) = (nodes[4], nodes[3])
        _ = out.ask("message.send", ["channel": "general", "text": "known"])
        world.run(for: 60_000)
        Self.part(world, Array(nodes[0..<3]), [friend, out])
        #expect(nodes[0].ask("member.remove", ["member": "N4"]) != nil)
        for number in 0..<3 {
            _ = out.ask(
                "message.send", ["channel": "general", "text": .string("late \(number)")])
            _ = friend.ask(
                "message.send", ["channel": "general", "text": .string("friend \(number)")])
        }
        world.run(for: 60_000)
        #expect(Scenes.texts(of: "general", on: friend).count == 7)
        world.network.heal()
        world.run(for: 900_000)
        let honest = Array(nodes[0..<4])
        Self.expectEqual(honest, "after the removal")
        #expect(
            Scenes.texts(of: "general", on: nodes[0]).sorted()
                == ["friend 0", "friend 1", "friend 2", "known"])
        #expect(out.ask("workspace.get")?["role"] == .null)
        let states = Scenes.messages(of: "general", on: out)
            .filter { $0["state"] == "refused" }.compactMap { $0["text"]?.stringValue }
        #expect(states.sorted() == ["late 0", "late 1", "late 2"])
        #expect(world.failures == [])
    }

    /// Anything may be removed by anybody at any time, on any side, with restarts between.
    @Test(arguments: Seeds.explore(4))
    func `end alike no matter who removes whom, and when`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let nodes = try Self.workspace(in: world, of: 6)
        let random = SeededRandom(seed: seed)
        func any() -> SimulatedNode { nodes[Int(random.number(below: UInt64(nodes.count)))] }
        for step in 0..<40 {
            switch random.number(below: 12) {
            case 0: Self.part(world, [any()], [any(), any()].filter { $0 !== nodes[0] })
            case 1: world.network.heal()
            case 2:
                let target = 1 + random.number(below: UInt64(nodes.count - 1))
                _ = any().ask(
                    "member.remove", ["member": .string("N\(target)"), "force": true])
            case 3:
                let roles = ["admin", "member", "guest"]
                let target = 1 + random.number(below: UInt64(nodes.count - 1))
                _ = nodes[0].ask(
                    "member.role",
                    [
                        "member": .string("N\(target)"),
                        "role": .string(roles[Int(random.number(below: 3))]),
                    ])
            case 4: _ = any().ask("workspace.rekey")
            case 5:
                let node = any()
                node.crash()
                node.start()
            case 6 where random.number(below: 3) == 0: _ = any().ask("workspace.leave")
            default:
                _ = any().ask(
                    "message.send", ["channel": "general", "text": .string("m\(step)")])
            }
            world.run(for: random.number(below: 20_000))
        }
        world.network.heal()
        world.run(for: 1_800_000)
        let inside = nodes.filter { node in
            let role = node.ask("workspace.get")?["role"]?.stringValue
            return role != nil && role != "guest"
        }
        Self.expectEqual(inside, "seed \(seed)")
        // All members agree on who is in.
        let lists = Set(
            inside.map { node in
                (node.ask("member.list")?["items"]?.arrayValue ?? []).compactMap {
                    $0["id"]?.stringValue
                }.sorted()
            })
        #expect(lists.count == 1)
        let own = Set(
            inside.compactMap { node in
                (node.ask("member.list")?["items"]?.arrayValue ?? [])
                    .first { $0["self"] == true }?["id"]?.stringValue
            })
        #expect(own.isSubset(of: Set(lists.first ?? [])))
        #expect(world.failures == [])
    }
}
