import PeerNode
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// Private documents in networks whose nodes are never all online at once.
struct `Private documents in a network` {
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
        #expect(
            sender.ask("message.send", ["channel": "@N2", "text": "while you were out"]) != nil)
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

extension `Private documents in a network` {
    @Test(arguments: Seeds.explore(2))
    func `end alike when both sides open, rekey and remove while apart`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let nodes = try Self.people(5, in: world)
        _ = nodes[1].ask("channel.create", ["name": "board", "private": true, "history": "all"])
        _ = nodes[1].ask("channel.add", ["channel": "board", "members": ["N2", "N3", "N4"]])
        _ = nodes[1].ask("channel.role", ["channel": "board", "member": "N2", "role": "admin"])
        world.run(for: 60_000)
        for left in [1, 3] {
            for right in [2, 4] { world.network.part(nodes[left], nodes[right]) }
        }
        world.network.part(nodes[0], nodes[2])
        world.network.part(nodes[0], nodes[4])
        // Both sides remove one of the other, write, and open the same conversation.
        #expect(nodes[1].ask("channel.remove", ["channel": "board", "members": ["N4"]]) != nil)
        #expect(nodes[2].ask("channel.remove", ["channel": "board", "members": ["N3"]]) != nil)
        for node in [1, 2] {
            _ = nodes[node].ask(
                "message.send", ["channel": "board", "text": .string("from \(node)")])
            _ = nodes[node].ask(
                "message.send",
                ["channel": .string("@N\(3 - node)"), "text": .string("to \(3 - node)")])
        }
        world.run(for: 60_000)
        world.network.heal()
        world.run(for: 900_000)
        for node in [nodes[1], nodes[2]] {
            #expect(Scenes.texts(of: "board", on: node).sorted() == ["from 1", "from 2"])
            let people = node.ask("channel.members", ["channel": "board"])?["items"]
            #expect(people?.arrayValue?.count == 2)
        }
        #expect(Scenes.texts(of: "@N2", on: nodes[1]).sorted() == ["to 1", "to 2"])
        #expect(Scenes.texts(of: "@N1", on: nodes[2]).sorted() == ["to 1", "to 2"])
        for node in nodes[1...2] {
            #expect(node.ask("dm.list")?["items"]?.arrayValue?.count == 1)
        }
        // What is written from now on neither of the removed reads.
        _ = nodes[2].ask("message.send", ["channel": "board", "text": "us two"])
        world.run(for: 60_000)
        #expect(Scenes.texts(of: "board", on: nodes[1]).contains("us two"))
        for node in nodes[3...4] {
            #expect(!(try PrivateAudit(node: node).readable(from: nodes[1])).contains("us two"))
        }
        #expect(Set(nodes.compactMap { Scenes.digest(of: $0) }).count == 1)
        #expect(world.failures == [])
    }

    /// A crash after any COMMIT of who adds, removes and writes leaves nobody without a key:
    /// the operation and its boxes are in one transaction.
    @Test func `lose no key when their author crashes, whenever that is`() throws {
        func run(crashAt commit: Int?) throws -> Int {
            let world = SimulatedWorld(seed: 5)
            defer { world.end() }
            let nodes = try Self.people(4, in: world)
            let author = nodes[1]
            let start = author.commitCount
            author.commitsUntilCrash = commit
            func must(_ method: String, _ arguments: JSONValue) {
                for _ in 0..<3 {
                    if !author.isRunning { author.start() }
                    if author.ask(method, arguments, within: 10_000) != nil { return }
                    if author.isRunning { return }
                }
            }
            must("channel.create", ["name": "board", "private": true, "history": "all"])
            must("channel.add", ["channel": "board", "members": ["N2", "N3"]])
            must("message.send", ["channel": "board", "text": "one"])
            must("channel.remove", ["channel": "board", "members": ["N3"]])
            must("message.send", ["channel": "board", "text": "two"])
            must("message.send", ["channel": "@N2", "text": "psst"])
            if !author.isRunning { author.start() }
            world.run(for: 200_000)
            if !author.isRunning { author.start() }
            world.run(for: 200_000)
            let made = author.commitCount - start
            author.crash()
            world.run(for: 60_000)
            let texts = Set(Scenes.texts(of: "board", on: nodes[2]))
            #expect(texts.isSuperset(of: ["one", "two"]), "crash at \(commit ?? 0): \(texts)")
            #expect(Scenes.texts(of: "@N1", on: nodes[2]).contains("psst"))
            #expect(!Scenes.texts(of: "board", on: nodes[3]).contains("two"))
            #expect(world.failures == [])
            return made
        }
        let commits = try run(crashAt: nil)
        #expect(commits > 6)
        for commit in 1...min(commits, 12) { _ = try run(crashAt: commit) }
    }
}
