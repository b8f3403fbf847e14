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

    @Test(arguments: [
        (["channel", "delete", "general"], "Delete general and all that was said in it?"),
        (["member", "remove", "@Joon"], "Remove @Joon from the workspace?"),
        (["device", "revoke", "d_device00"], "Revoke d_device00 for ever?"),
        (["workspace", "leave"], "Leave the workspace?"),
        (["workspace", "leave", "acme"], "Leave acme?"),
    ])
    func `what cannot be taken back is asked about first`(
        _ words: [String], _ question: String
    ) {
        func run(_ answer: String?, _ more: [String] = [], isTerminal: Bool = true) -> MemoryIO {
            let io = MemoryIO()
            (io.isInputTerminal, io.answer) = (isTerminal, answer)
            let status = Program.run(arguments: words + more, environment: [:], io: io)
            let isDone = io.node?.asked.isEmpty == false
            #expect(isDone == (status == 0), "\(io.errors)")
            return io
        }
        for answer in [nil, "", "n", "no"] {
            let io = run(answer)
            #expect(io.errors.contains(question + " [y/N] ") && io.node?.asked == [])
        }
        #expect(run("Y").node?.asked.isEmpty == false)
        for more in ["--yes", "--no-input"] {
            let io = run(nil, [more])
            #expect(!io.errors.contains("[y/N]") && io.node?.asked.isEmpty == false)
        }
        #expect(run(nil, isTerminal: false).node?.asked.isEmpty == false)
    }

    @Test func `links that are still open are told of beside a removal`() {
        let io = MemoryIO()
        #expect(io.run("member", "remove", "@Joon") == 0)
        #expect(
            io.errors
                == "note: 1 open invite lets in whoever has the link: wsx-node invite list, "
                + "then invite revoke\n")
        let json = MemoryIO()
        #expect(json.run("member", "remove", "@Joon", "--json") == 0)
        #expect(json.errors.isEmpty)
    }

    @Test(arguments: [
        ["backup", "create", "-o", "/tmp/x", "--passphrase", "Foo-bar-123"],
        ["backup", "verify", "/tmp/x", "--passphrase", "Foo-bar-123"],
        ["identity", "recover", "wsx://join/x", "--phrase", "abacus abdomen"],
    ])
    func `a secret is no word of a command line`(_ words: [String]) {
        let io = MemoryIO()
        #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
        #expect(io.errors.contains("takes only '-'") && io.node?.asked == [])
    }

    @Test func `the beginning of several commands is an error for programs`() throws {
        let io = MemoryIO()
        #expect(io.run("channel", "--json") == 2)
        #expect(io.output.isEmpty)
        #expect(try JSONValue(parsing: io.errors)["data"]?["kind"] == "bad_request")
        let people = MemoryIO()
        #expect(people.run("channel") == 2)
        #expect(people.errors.contains("channel create"))
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
