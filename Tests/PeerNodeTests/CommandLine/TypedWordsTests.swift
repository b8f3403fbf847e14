import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `The words that somebody typed` {
    @Test(arguments: [
        (
            words: [[0x73, 0x65, 0x6E, 0x64], [0xFF]],
            message: "argument 2 is not UTF-8: '\u{FFFD}'"
        ),
        ([[0x63, 0x61, 0x66, 0xE9]], "argument 1 is not UTF-8: 'caf\u{FFFD}'"),
        ([[0xED, 0xA0, 0x80]], "argument 1 is not UTF-8: "), ([[0xC0, 0x80]], "argument 1 is not"),
    ])
    func `are refused where they are no UTF-8`(_ row: (words: [[UInt8]], message: String)) {
        let io = MemoryIO()
        #expect(Program.run(typed: row.words, environment: [:], io: io) == 2)
        #expect(io.errors.hasPrefix("wsx-node: " + row.message), "\(io.errors)")
        #expect(io.node?.asked.isEmpty == true)
        io.errors = ""
        let json = [Array("--json".utf8)] + row.words
        #expect(Program.run(typed: json, environment: [:], io: io) == 2)
        #expect((try? JSONValue(parsing: io.errors))?["data"]?["kind"] == "bad_request")
    }

    @Test func `are taken as they are where they are UTF-8`() {
        let io = MemoryIO()
        let words = ["send", "general", "caf\u{E9} 회의"].map { Array($0.utf8) }
        #expect(Program.run(typed: words, environment: [:], io: io) == 0)
        #expect(io.node?.asked == ["send name(\"general\") caf\u{E9} 회의 text"])
    }
}

struct `A failure of a command line` {
    private static let refused: [(line: [String], says: String)] = [
        (line: ["log", "general", "-n", "101"], says: "'-n' must be an integer, 1 to 100"),
        (["log", "general", "--limit", "101"], "'--limit' must be an integer, 1 to 100"),
        (["message", "show", "m_abc"], "the message must be an id, `m_…`, or at least its first"),
        (["search", "x", "--kind", "smell"], "'--kind' must be one of `"),
        (["join", "wsx://join/x", "--timeout", "1ms"], "'--timeout' must be a duration, 1s to "),
        (["channel", "mute", "general", "tomorrow"], "the duration cannot be 'tomorrow'"),
        (["send", "general"], "which text?"), (["log"], "which channel?"),
        (["member", "show"], "who?"), (["search"], "search for what?"),
        (
            ["channel", "transfer"],
            "which channel? to whom?\nhint: usage: wsx-node channel transfer"
        ),
        (["channel", "transfer", "plans"], "wsx-node: to whom?\n"),
        (["device", "rename", "my phone"], "wsx-node: which name?\n"),
        (
            ["media", "set"],
            "which kind? image, audio, video, other or all; which policy? manual, "
        ),
        (["media", "set", "smell", "x"], "the kind must be one of `image`, "),
        (["media", "set", "smell", "x"], "; the policy must be one of `manual`, `unmetered`, "),
        (["completion"], "which shell? bash, zsh or fish\n"),
        (["account", "link"], "which provider?\n"), (["file", "put"], "which file?\n"),
        (["workspace", "delete"], "which workspace?\n"),
        (["coin", "spend"], "how many coins? for what?\n"),
        (["send", "general", ""], "wsx-node: the message is empty\nhint: wsx-node help send\n"),
        (["presence", "set", "gone"], "the status must be one of `online`, `away`, `busy`, "),
        (["presence", "set"], "which status? online, away, busy or offline\n"),
        (["message", "react", "👍", "last"], "wrong order: the message comes first"),
        (["policy", "set", "join", "maybe"], "'join' must be one of `closed`, `request`, `open`"),
        (["policy", "set", "--join", "maybe"], "'--join' must be one of `closed`"),
    ]

    @Test(arguments: refused)
    func `names what was typed`(_ row: (line: [String], says: String)) {
        let io = MemoryIO()
        #expect(Program.run(arguments: row.line, environment: [:], io: io) == 2)
        #expect(io.errors.contains(row.says), "\(io.errors)")
        #expect(io.node?.asked.isEmpty == true)
    }

    /// The daemon refuses a call that sets nothing.
    @Test func `asks for a setting where there is none`() {
        let io = MemoryIO()
        io.node?.failure = NodeError(
            .badRequest, "nothing to set", hint: "give join or attachments",
            reason: "missing_parameter",
            fields: [
                .init(name: "join", reason: "missing"),
                .init(name: "attachments", reason: "missing"),
            ])
        #expect(io.run("policy", "set") == 2)
        #expect(
            io.errors == """
                wsx-node: which setting? who_may_invite, who_may_attest, join or attachments
                hint: wsx-node policy set join request

                """)
    }

    @Test func `of a raw call keeps the names that were typed, and says where they are explained`()
    {
        let io = MemoryIO()
        #expect(io.run("rpc", "message.send", "channel=general") == 2)
        #expect(
            io.errors == """
                wsx-node: 'text' is missing
                hint: see 'wsx-node rpc --describe message.send'

                """)
    }

    /// No parameter of a position is called by its name in a usage line.
    @Test func `asks about each position in words`() {
        for command in Command.all {
            for name in command.line?.positions ?? [] {
                guard let parameter = command.parameters.first(where: { $0.name == name }) else {
                    continue
                }
                let words = [parameter.question, parameter.noun]
                for word in words {
                    #expect(!word.contains("_") || word.hasPrefix("which setting?"), "\(word)")
                    #expect(!word.contains("@U") && !word.contains(name.uppercased()), "\(word)")
                }
                #expect(parameter.question.contains("?"))
            }
        }
    }

    @Test func `keeps the names of parameters for programs`() throws {
        let io = MemoryIO()
        #expect(io.run("log", "general", "-n", "101", "--json") == 2)
        let error = try JSONValue(parsing: String(io.errors.dropLast()))
        #expect(error["data"]?["field"] == "limit")
        #expect(error["message"] == "'limit' must be an integer, 1 to 100")
    }

    @Test func `of a daemon is told in the same words`() {
        let io = MemoryIO()
        io.node?.failure = NodeError(
            .badRequest, "'before', 'after' and 'around' cannot be combined", hint: nil,
            fields: [.init(name: "before", reason: "form"), .init(name: "after", reason: "form")])
        #expect(io.run("log", "general", "--before", "m_000000", "--plain") == 2)
        #expect(io.errors.contains("'--before', '--after' and 'around'"))
        #expect(!io.errors.contains("--after:"), "the sentence names it")
    }

    @Test func `has hints that act on the same home`() {
        let io = MemoryIO()
        io.node = nil
        #expect(io.run("--home", "/srv/my home", "unread") == 3)
        #expect(io.errors.contains("hint: wsx-node --home '/srv/my home' up\n"), "\(io.errors)")
        io.errors = ""
        #expect(io.run("unread", environment: ["WSX_NODE_HOME": "/srv/x"]) == 3)
        #expect(io.errors.contains("hint: wsx-node up\n"), "the environment says it again")
    }

    @Test(arguments: [
        ("wsx-node up", "wsx-node --home /h up"),
        ("run 'wsx-node a' or wsx-node b", "run 'wsx-node --home /h a' or wsx-node --home /h b"),
        ("wsx-node help send", "wsx-node help send"),
        ("usage: wsx-node send CHANNEL", "usage: wsx-node send CHANNEL"),
        ("is the wsx-nodes up?", "is the wsx-nodes up?"),
        ("wsx-node --home FOLDER join", "wsx-node --home FOLDER join"),
    ])
    func `repeats a home before each command`(_ row: (hint: String, told: String)) {
        var globals = GlobalFlags()
        #expect(HintText(globals).text(row.hint) == row.hint)
        globals.home = "/h"
        #expect(HintText(globals).text(row.hint) == row.told)
    }

    @Test(arguments: [
        ("/h", "/h"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("$x", "'$x'"),
    ])
    func `writes a word as a shell reads it`(_ row: (word: String, quoted: String)) {
        #expect(NodeError.shellWord(row.word) == row.quoted)
    }
}
