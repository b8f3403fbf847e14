import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Nodes that crash at every COMMIT while somebody joins and a private channel changes
/// its members and keys.
struct `A crash while a private channel changes` {
    /// Ada owns workspace and channel, Bob is in both, Cleo joins. One of them crashes once.
    private struct Script {
        let world = SimulatedWorld(seed: 15)
        let names = ["Ada", "Bob", "Cleo"]
        private(set) var nodes: [SimulatedNode] = []
        private var link = ""

        init() throws {
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

        func run() throws {
            try must(2, "workspace.join", ["link": .string(link), "name": "Cleo"])
            try must(0, "channel.add", ["channel": "board", "members": ["Cleo"]])
            try send(0, "two")
            try must(0, "channel.remove", ["channel": "board", "members": ["Bob"]])
            try send(0, "three")
            try must(0, "channel.add", ["channel": "board", "members": ["Bob"]])
            try send(2, "four")
            // What Bob says before he hears that he was out and is back counts for nobody. What
            // Ada said meanwhile opens only for who knows both.
            world.run(within: 600_000) {
                revive()
                return Scenes.texts(of: "board", on: nodes[1]).contains("three")
            }
            try send(1, "five")
            // Nodes that crash from here on do so after everything was said.
            for _ in 0..<60 {
                revive()
                world.run(for: 5_000)
            }
            revive()
        }

        /// Everybody reads everything, once, and lacks no key.
        func check(_ note: String) throws {
            for node in nodes { node.commitsUntilCrash = nil }
            for (name, node) in zip(names, nodes) {
                let texts = Scenes.texts(of: "board", on: node).sorted()
                #expect(
                    texts == ["five", "four", "one", "three", "two"], "\(name), \(note)")
                let findings = node.ask("node.doctor")?["items"]?.arrayValue ?? []
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
        let plain = try Script()
        let before = plain.nodes[index].commitCount
        try plain.run()
        let count = plain.nodes[index].commitCount - before
        try plain.check("without a crash")
        plain.world.end()
        #expect(count > 5)
        for commit in 1...count {
            let script = try Script()
            script.nodes[index].commitsUntilCrash = commit
            do {
                try script.run()
                try script.check("commit \(commit) of \(count)")
            } catch {
                Issue.record("crash of node \(index) at commit \(commit): \(error)")
            }
            #expect(script.nodes[index].startCount == 2, "commit \(commit) of \(count)")
            script.world.end()
        }
    }
}
