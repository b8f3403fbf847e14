import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// What somebody at a terminal is told besides an answer.
@Suite struct `Besides an answer` {
    private func terminal() -> MemoryIO {
        let io = MemoryIO()
        io.isOutputTerminal = true
        return io
    }

    @Test func `a list that goes on says how`() {
        let io = terminal()
        #expect(io.run("invite", "list") == 0)
        #expect(io.errors == "there is more: add --cursor p_2\n")
        let all = terminal()
        #expect(all.run("channel", "list") == 0)
        #expect(all.errors.isEmpty)
        for flag in ["--json", "--plain", "--quiet"] {
            let io = terminal()
            #expect(io.run("invite", "list", flag) == 0)
            #expect(io.errors.isEmpty, "\(flag)")
        }
        let pipe = MemoryIO()
        #expect(pipe.run("invite", "list") == 0)
        #expect(pipe.errors.isEmpty)
    }

    @Test func `a log that goes on names the message to go on from`() throws {
        for (arguments, wanted) in [
            ([], ["older messages: add --before"]), (["--after", "p_1"], ["newer messages: add"]),
            (["--around", "p_1"], ["older messages", "newer messages"]),
        ] {
            let io = terminal()
            io.node?.pageEnds = ("p_8", "p_9")
            #expect(
                Program.run(arguments: ["log", "general"] + arguments, environment: [:], io: io)
                    == 0)
            #expect(io.errors.split(separator: "\n").count == wanted.count, "\(io.errors)")
            for words in wanted { #expect(io.errors.contains(words), "\(io.errors)") }
        }
        let all = terminal()
        #expect(all.run("log", "general") == 0)
        #expect(all.errors.isEmpty)
    }

    @Test func `filters in a query that finds nothing are named as flags`() {
        #expect(
            SearchFilterWords.flags(in: "plan from:@Mina IN:general has:link after:2026-01-01 x:y")
                == ["--from @Mina", "--in general", "--has link", "--after 2026-01-01"])
        #expect(SearchFilterWords.flags(in: "from: a:b https://x.y in").isEmpty)
        #expect(SearchFilterWords.flags(in: "in:a;b") == ["--in 'a;b'"])
        let io = MemoryIO()
        io.node?.findsNothing = true
        #expect(io.run("search", "plan in:general") == 0)
        #expect(io.errors == "hint: filters are flags: --in general\n")
        let found = MemoryIO()
        #expect(found.run("search", "plan in:general") == 0)
        #expect(!found.errors.contains("flags"))
    }

    @Test func `a new workspace says how other devices come into it`() throws {
        let io = terminal()
        let node = try #require(io.node)
        node.listedWorkspaces = [
            WorkspaceObject(id: "w_0ther000", name: "other", createdAt: 1, digest: "9f"),
            WorkspaceObject(id: "w_acme0000", name: "acme", createdAt: 1, digest: "9f"),
        ]
        node.device.isSelf = false
        #expect(io.run("--home", "/tmp/x", "workspace", "create", "acme") == 0)
        #expect(
            io.errors
                == "your other devices are not in it yet: wsx-node --home /tmp/x device link"
                + " adds them\n")
        for change: (TableNode) -> Void in [
            { $0.device.isSelf = true }, { $0.device.isRevoked = true },
            { $0.device.isRecovery = true }, { $0.listedWorkspaces = nil },
        ] {
            let io = terminal()
            let node = try #require(io.node)
            node.listedWorkspaces = [
                WorkspaceObject(id: "w_0ther000", name: "other", createdAt: 1, digest: "9f")
            ]
            node.device.isSelf = false
            change(node)
            #expect(io.run("workspace", "create", "acme") == 0)
            #expect(io.errors.isEmpty)
        }
    }
}
