import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Nodes that crash at every COMMIT while somebody joins and a private channel changes
/// its members and keys.
struct `A crash while a private channel changes` {
    /// What Ada's and Bob's machines hold when Cleo is about to join, and the link for her.
    private struct Beginning {
        let machines: [SimulatedNode.Snapshot]
        let link: String
        let now: UInt64
    }

    /// Ada owns workspace and channel, Bob is in both, Cleo joins. One of them crashes once.
    private struct Script {
        let world: SimulatedWorld
        let names = ["Ada", "Bob", "Cleo"]
        static let said = ["five", "four", "one", "three", "two"]
        private(set) var nodes: [SimulatedNode] = []
        /// How often each was started before anything happens.
        private(set) var starts: [Int] = []
        private var link = ""

        /// From the beginning.
        init() throws {
            world = SimulatedWorld(seed: 15)
            nodes = (0..<3).map { _ in world.addNode() }
            try must(0, "identity.create", ["name": "Ada"])
            try must(0, "workspace.create", ["name": "acme", "key": "w"])
            let invite = try must(0, "invite.create", ["uses": 5, "key": "i"])
            link = try #require(invite["link"]?.stringValue)
            try must(1, "workspace.join", ["link": .string(link), "name": "Bob"])
            try must(
                0, "channel.create",
                ["name": "board", "private": true, "history": "all", "key": "c"])
            try must(0, "channel.add", ["channel": "board", "members": ["Bob"]])
            try send(0, "one")
            world.run(for: 5_000)
        }

        /// The machines as they are now.
        var beginning: Beginning {
            Beginning(
                machines: nodes.prefix(2).map { $0.snapshot() }, link: link, now: world.now)
        }

        /// From where Cleo is about to join, with other dice.
        init(from beginning: Beginning) {
            world = SimulatedWorld(seed: 16)
            world.run(for: beginning.now - world.now)
            nodes = (0..<3).map { _ in world.addNode() }
            for (node, machine) in zip(nodes, beginning.machines) {
                node.putBack(to: machine)
                node.start()
            }
            link = beginning.link
            world.run(for: 5_000)
            starts = nodes.map(\.startCount)
        }

        /// Repeats a call until it succeeds, restarting crashed nodes.
        @discardableResult
        func must(_ index: Int, _ method: String, _ arguments: JSONValue) throws -> JSONValue {
            let node = nodes[index]
            var last = "no answer"
            for _ in 0..<40 {
                revive()
                guard let call = node.call(method, arguments) else { continue }
                world.run(within: 40_000) {
                    node.answers[call] != nil || nodes.contains { !$0.isRunning }
                }
                revive()
                world.run(within: 10_000) { node.answers[call] != nil || !node.isRunning }
                if let value = node.value(call) { return value }
                if case .failure(let error)? = node.answers[call] {
                    // The crash came after the COMMIT: it is done.
                    if error.kind == .duplicate || error.reason == "channel.not_in" {
                        return .null
                    }
                    last = "\(error)"
                }
                world.run(for: 1_000)
            }
            throw NodeError(.unreachable, "\(method): \(last)")
        }

        func revive() {
            for node in nodes where !node.isRunning { node.start() }
        }

        func send(_ index: Int, _ text: String) throws {
            try must(
                index, "message.send",
                ["channel": "board", "text": .string(text), "key": .string(text)])
        }

        /// - Parameter index: who crashes, if somebody does.
        func run(crashing index: Int? = nil) throws {
            try must(2, "workspace.join", ["link": .string(link), "name": "Cleo"])
            try must(0, "channel.add", ["channel": "board", "members": ["Cleo"]])
            try send(0, "two")
            try must(0, "channel.remove", ["channel": "board", "members": ["Bob"]])
            try send(0, "three")
            try must(0, "channel.add", ["channel": "board", "members": ["Bob"]])
            try send(2, "four")
            // What Bob says before he hears that he was out and is back counts for nobody. What
            // Ada said meanwhile opens only for who knows both.
            world.run(within: 600_000, every: 500) {
                revive()
                return Scenes.texts(of: "board", on: nodes[1]).contains("three")
            }
            try send(1, "five")
            // Nodes that crash from here on do so after everything was said.
            for _ in 0..<60 {
                revive()
                world.run(for: 5_000)
                if let index, nodes[index].startCount > starts[index], isWell { break }
            }
            revive()
        }

        private func texts(_ node: SimulatedNode) -> [String] {
            Scenes.texts(of: "board", on: node).sorted()
        }

        private func findings(_ node: SimulatedNode) -> [JSONValue] {
            node.ask("node.doctor")?["items"]?.arrayValue ?? []
        }

        /// As `check` has it.
        private var isWell: Bool {
            nodes.allSatisfy { node in
                node.isRunning && texts(node) == Self.said
                    && findings(node).allSatisfy { $0["id"] != "keys" }
            }
        }

        /// Everybody reads everything, once, and lacks no key.
        func check(_ note: String) throws {
            for node in nodes { node.commitsUntilCrash = nil }
            for (name, node) in zip(names, nodes) {
                #expect(texts(node) == Self.said, "\(name), \(note)")
                let findings = findings(node)
                #expect(!findings.isEmpty)
                #expect(findings.allSatisfy { $0["id"] != "keys" }, "\(name), \(note)")
            }
            #expect(world.failures == [], "\(note)")
        }
    }

    @Test(arguments: [0, 1, 2])
    func `leaves nobody without a way to read, whichever COMMIT of a join or rekey was the last`(
        index: Int
    ) throws {
        let first = try Script()
        let beginning = first.beginning
        first.world.end()
        let plain = Script(from: beginning)
        let before = plain.nodes[index].commitCount
        try plain.run()
        let count = plain.nodes[index].commitCount - before
        try plain.check("without a crash")
        plain.world.end()
        #expect(count > 5)
        for commit in 1...count {
            let script = Script(from: beginning)
            script.nodes[index].commitsUntilCrash = commit
            do {
                try script.run(crashing: index)
                try script.check("commit \(commit) of \(count)")
            } catch {
                Issue.record("crash of node \(index) at commit \(commit): \(error)")
            }
            let starts = script.nodes[index].startCount - script.starts[index]
            #expect(starts == 1, "commit \(commit) of \(count)")
            script.world.end()
        }
    }
}
