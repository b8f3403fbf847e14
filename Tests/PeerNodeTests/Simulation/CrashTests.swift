import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A node that crashes` {
    /// What one node was told is done, and how it goes on after a crash.
    private struct Script {
        let world: SimulatedWorld
        let ada: SimulatedNode
        let bob: SimulatedNode
        var acknowledged: [String] = []

        init(seed: UInt64) {
            world = SimulatedWorld(seed: seed)
            ada = world.addNode()
            bob = world.addNode()
        }

        /// Calls until it is answered, starting the node again where it crashed.
        func must(
            _ node: SimulatedNode, _ method: String, _ arguments: JSONValue
        ) throws -> JSONValue {
            for _ in 0..<4 {
                try revive()
                guard let call = node.call(method, arguments) else { continue }
                for _ in 0..<60 where node.isRunning && node.answers[call] == nil {
                    world.run(within: 1_000) { node.answers[call] != nil || !node.isRunning }
                    if node.isRunning { try revive() }
                }
                if let value = node.value(call) { return value }
                if case .failure(let error)? = node.answers[call], error.kind == .duplicate {
                    return .null
                }
            }
            throw NodeError(.unreachable, "\(method) was not answered")
        }

        /// Starts who crashed, and looks at what is left.
        func revive() throws {
            for node in [ada, bob] where !node.isRunning {
                node.start()
                try check(node)
            }
        }

        /// Everything that was acknowledged is there once, and nothing twice.
        func check(_ node: SimulatedNode) throws {
            let texts = Scenes.texts(of: "general", on: node)
            #expect(texts.count == Set(texts).count)
            let own = acknowledged.filter { $0.hasPrefix("\(node.index)") }
            #expect(Set(own).isSubset(of: texts))
        }

        mutating func send(_ node: SimulatedNode, count: Int) throws {
            for _ in 0..<count {
                let text = "\(node.index)-\(acknowledged.count)"
                _ = try must(
                    node, "message.send",
                    ["channel": "general", "text": .string(text), "key": .string(text)])
                acknowledged.append(text)
            }
        }

        mutating func run() throws {
            _ = try must(ada, "identity.create", ["name": "Ada"])
            _ = try must(ada, "workspace.create", ["name": "acme", "key": "w"])
            try send(ada, count: 5)
            let invite = try must(ada, "invite.create", ["uses": 5, "key": "i"])
            let link = try #require(invite["link"]?.stringValue)
            _ = try must(bob, "workspace.join", ["link": .string(link), "name": "Bob"])
            try send(ada, count: 4)
            try send(bob, count: 4)
            for _ in 0..<2 {
                world.run(for: 400_000)
                try revive()
            }
            let count = acknowledged.count
            for node in [ada, bob] {
                let texts = Scenes.texts(of: "general", on: node)
                #expect(texts.sorted() == acknowledged.sorted(), "\(count) on node \(node.index)")
            }
            #expect(Scenes.digest(of: ada) == Scenes.digest(of: bob))
            #expect(world.failures == [])
        }
    }

    @Test(arguments: [0, 1])
    func `goes on from the last commit, whichever it was`(index: Int) throws {
        var plain = Script(seed: 1)
        try plain.run()
        let count = plain.world.nodes[index].commitCount
        plain.world.end()
        #expect(count > 10)
        for commit in 1...count {
            var script = Script(seed: 1)
            script.world.nodes[index].commitsUntilCrash = commit
            do { try script.run() } catch {
                Issue.record(
                    """
                    crash of node \(index) at commit \(commit): \(error)
                    \(script.ada.log) \(script.bob.log)
                    """)
            }
            script.world.end()
        }
    }

    @Test(arguments: [StorageError.Kind.full, .ioFailure], [true, false])
    func `tells nobody of a turn whose commit failed`(
        kind: StorageError.Kind, isBefore: Bool
    ) throws {
        var options = SimulatedWorld.Options()
        options.expectsErrors = true
        let world = SimulatedWorld(seed: 3, options: options)
        defer { world.end() }
        let (ada, bob) = try `Nodes that were away`.pair(in: world)
        let fault = Fault(isBefore ? .commitBefore(0) : .commitAfter(0), StorageError(kind, "x"))
        try #require(ada.store).connection.inject(fault)
        let call = try #require(
            ada.call("message.send", ["channel": "general", "text": "lost?", "key": "k"]))
        world.run(within: 1_000) { ada.answers[call] != nil }
        guard case .failure(let error)? = ada.answers[call] else {
            Issue.record("an answer before the commit")
            return
        }
        #expect(error.kind == (kind == .full ? .storageFull : .storeFailed))
        #expect(Scenes.texts(of: "general", on: bob) == [])
        if kind == .ioFailure {
            let sent = ada.ask("message.send", ["channel": "general", "text": "no", "key": "n"])
            #expect(sent == nil)
            ada.crash()
            ada.start()
        }
        _ = try #require(
            ada.ask("message.send", ["channel": "general", "text": "lost?", "key": "k"]))
        world.run(for: 400_000)
        for node in [ada, bob] { #expect(Scenes.texts(of: "general", on: node) == ["lost?"]) }
    }
}
