import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// The sources of passphrases on the command line.
struct `A secret on the command line` {
    @Test func `is read from a file, an open file, a command or standard input`() {
        let ways: [(words: [String], prepare: (MemoryIO) -> Void)] = [
            (["--passphrase-file", "/s"], { $0.files["/s"] = Array("long secret\nrest\n".utf8) }),
            (["--passphrase-fd", "7"], { $0.files["/dev/fd/7"] = Array("long secret".utf8) }),
            (
                ["--passphrase-command", "pass"],
                { $0.commands["pass"] = Array("long secret\n".utf8) }
            ),
            (["--passphrase", "-"], { $0.input = Array("long secret\n".utf8) }),
            (
                ["--ask-passphrase"],
                { io in
                    (io.isInputTerminal, io.isOutputTerminal) = (true, true)
                    io.secrets = ["long secret", "long secret"]
                }
            ),
        ]
        for way in ways {
            let io = MemoryIO()
            way.prepare(io)
            #expect(
                Program.run(
                    arguments: ["identity", "create", "--name", "Mina"] + way.words,
                    environment: [:], io: io) == 0, "\(way.words) \(io.errors)")
            #expect(io.node?.asked == ["createIdentity Mina under long secret"], "\(way.words)")
            #expect(!io.errors.contains("long secret"))
        }
    }

    @Test(arguments: [
        ["identity", "create", "--name", "M", "--passphrase", "long secret"],
        ["session", "unlock", "--passphrase", "long secret"],
        ["passphrase", "change", "--new", "long secret"],
        ["passphrase", "change", "--current", "long secret"],
        ["passcode", "set", "--code", "2580"],
    ])
    func `is refused where others could read it`(_ words: [String]) {
        let io = MemoryIO()
        #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
        #expect(io.node?.asked == [])
        #expect(!io.errors.contains("long secret") && !io.errors.contains("2580"))
    }

    @Test(arguments: [[], ["--json"]] as [[String]])
    func `that is shown is confirmed once it was printed`(_ flags: [String]) {
        let io = MemoryIO()
        let words = ["identity", "show", "--phrase"] + flags
        #expect(Program.run(arguments: words, environment: [:], io: io) == 0)
        #expect(io.output.contains("abacus"), "\(io.output)")
        #expect(io.node?.asked == ["identity and phrase, kept", "identity, seen abacus abdomen"])
    }

    @Test func `is what a command prints that ends well, and no more of it than fits`() {
        #expect(SecretInput.output(of: "echo secret", limit: 100) == Array("secret\n".utf8))
        #expect(SecretInput.output(of: "echo secret; exit 1", limit: 100) == nil)
        // It would write without end, and so the program would wait without end.
        #expect(SecretInput.output(of: "yes secret", limit: 100) == nil)
        #expect(SecretInput.output(of: "true | head -1", limit: 100) == [])
    }

    @Test func `that is typed twice differently changes nothing`() {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal) = (true, true)
        io.secrets = ["one secret here", "another secret"]
        #expect(io.run("passcode", "set") == 2)
        #expect(io.node?.asked == [])
        #expect(io.errors.contains("do not match"))
    }

    @Test func `that nobody can be asked for is named, with the ways to give it`() {
        let io = MemoryIO()
        #expect(io.run("passcode", "remove") == 2)
        #expect(io.errors.contains("--code-file") && io.errors.contains("not a terminal"))
        for (flags, says) in [
            ([], "no passphrase or passcode was given"),
            (["--no-input"], "--no-input forbids"),
            (["--json"], "--json asks for no secret"),
        ] as [([String], String)] {
            let terminal = MemoryIO()
            (terminal.isInputTerminal, terminal.isOutputTerminal) = (true, true)
            let words = ["passcode", "remove"] + flags
            #expect(Program.run(arguments: words, environment: [:], io: terminal) == 2)
            #expect(terminal.errors.contains(says), "\(terminal.errors)")
            #expect(terminal.errors.contains("--code-file"), "\(terminal.errors)")
        }
        let empty = MemoryIO()
        empty.files["/s"] = [0x0A]
        #expect(empty.run("passcode", "set", "--code-file", "/s") == 2)
        #expect(empty.run("passcode", "set", "--code-command", "fails") == 78)
        #expect(empty.run("passcode", "set", "--code-file", "/none") == 5)
    }
}
