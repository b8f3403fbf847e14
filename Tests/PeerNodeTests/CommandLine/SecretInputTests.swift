import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// The sources of passphrases on the command line.
struct `A secret on the command line` {
    @Test func `is read from a file, an open file, a command or standard input`() {
        let ways: [(words: [String], prepare: (MemoryIO) -> Void)] = [
            (
                ["--passphrase-file", "/s"],
                { $0.files["/s"] = Array("quite a long secret\nrest\n".utf8) }
            ),
            (
                ["--passphrase-fd", "7"],
                { $0.files["/dev/fd/7"] = Array("quite a long secret".utf8) }
            ),
            (
                ["--passphrase-command", "pass"],
                { $0.commands["pass"] = Array("quite a long secret\n".utf8) }
            ),
            (["--passphrase", "-"], { $0.input = Array("quite a long secret\n".utf8) }),
            (
                ["--ask-passphrase"],
                { io in
                    (io.isInputTerminal, io.isOutputTerminal) = (true, true)
                    io.secrets = ["quite a long secret", "quite a long secret"]
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
            #expect(
                io.node?.asked == ["createIdentity Mina under quite a long secret"], "\(way.words)")
            #expect(!io.errors.contains("quite a long secret"))
        }
    }

    @Test(arguments: [
        ["identity", "create", "--name", "M", "--passphrase", "quite a long secret"],
        ["session", "unlock", "--passphrase", "quite a long secret"],
        ["passphrase", "change", "--new", "quite a long secret"],
        ["passphrase", "change", "--current", "quite a long secret"],
        ["passcode", "set", "--code", "2580"],
    ])
    func `is refused where others could read it`(_ words: [String]) {
        let io = MemoryIO()
        #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
        #expect(io.node?.asked == [])
        #expect(!io.errors.contains("quite a long secret") && !io.errors.contains("2580"))
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
        io.node?.hasPassphrase = true
        io.secrets = ["2580", "2581"]
        #expect(io.run("passcode", "set") == 2)
        #expect(io.node?.asked == ["session"])
        #expect(io.errors.contains("do not match"))
    }

    private struct Refusal {
        let words: [String]
        let state: (passphrase: Bool, passcode: Bool)
        let says: String
        let status: Int32
    }

    @Test func `is asked for only if the command can be carried out`() {
        let rows = [
            Refusal(
                words: ["passcode", "set"], state: (false, false),
                says: "a passcode needs a passphrase: your keys have none", status: 4),
            Refusal(
                words: ["passcode", "set"], state: (true, true),
                says: "there is already a passcode", status: 6),
            Refusal(
                words: ["passcode", "change"], state: (true, false),
                says: "there is no passcode", status: 5),
            Refusal(
                words: ["passcode", "remove"], state: (true, false),
                says: "there is no passcode", status: 5),
        ]
        for row in rows {
            let io = MemoryIO()
            (io.isInputTerminal, io.isOutputTerminal) = (true, true)
            io.node?.hasPassphrase = row.state.passphrase
            io.node?.hasPasscode = row.state.passcode
            io.secrets = ["2580", "2580", "2580"]
            let status = Program.run(arguments: row.words, environment: [:], io: io)
            #expect(status == row.status, "\(row.words) \(io.errors)")
            #expect(io.errors.contains(row.says), "\(io.errors)")
            #expect(io.secrets.count == 3 && io.node?.asked == ["session"])
        }
        // The node says that there is nothing to remove.
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal) = (true, true)
        _ = io.run("passphrase", "change", "--remove")
        #expect(io.node?.asked == ["session", "changePassphrase none none removed"])
        #expect(!io.errors.contains("[y/N]"), "\(io.errors)")
    }

    @Test(arguments: [
        (["passcode", "set"], "12", "passcode has four digits"),
        (["passphrase", "change"], "too short", "passphrase has at least 15 characters"),
    ])
    func `is told its rule before, and is typed once if it breaks that`(
        _ row: (words: [String], typed: String, rule: String)
    ) {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal) = (true, true)
        // Only `passcode set` needs the passphrase, which `passphrase change` would ask for.
        io.node?.hasPassphrase = row.words[0] == "passcode"
        io.secrets = [row.typed, row.typed]
        #expect(Program.run(arguments: row.words, environment: [:], io: io) == 2)
        #expect(io.secrets.count == 1)
        #expect(io.errors.hasPrefix("A \(row.rule)"), "\(io.errors)")
        #expect(io.errors.contains("wsx-node: a \(row.rule)"), "\(io.errors)")
        #expect(!io.errors.contains("--") && !io.errors.contains("Again"), "\(io.errors)")
        #expect(io.node?.asked == ["session"])
    }

    @Test func `from a file that is not there is missed, although it is not needed`() {
        let io = MemoryIO()
        #expect(io.run("session", "unlock", "--passphrase-file", "/none") == 5)
        #expect(io.errors.contains("there is no file '/none'"), "\(io.errors)")
        #expect(io.run("passphrase", "change", "--current-file", "/none", "--new-file", "/s") == 5)
        io.files["/s"] = Array("quite a long secret\n".utf8)
        #expect(io.run("session", "unlock", "--passphrase-file", "/s") == 0)
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
            terminal.node?.hasPasscode = true
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
