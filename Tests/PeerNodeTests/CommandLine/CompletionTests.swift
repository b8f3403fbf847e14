import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `Completing a command line` {
    private static func names(_ what: Completion.Names) -> [Completion.Candidate] {
        switch what {
        case .channels:
            [
                .init(word: "general", summary: "all of us"), .init(word: "plans"),
                .init(word: "old"),
            ]
        case .openChannels:
            [.init(word: "general", summary: "all of us"), .init(word: "plans")]
        case .archivedChannels: [.init(word: "old")]
        case .members: [.init(word: "@Mina"), .init(word: "@Joon Kim")]
        case .workspaces: [.init(word: "acme")]
        case .invites: [.init(word: "i_1"), .init(word: "i_2")]
        case .requests: [.init(word: "r_1")]
        case .devices: [.init(word: "d_1")]
        case .peers: [.init(word: "d_2")]
        }
    }

    private static func words(_ before: [String], _ current: String) -> [String] {
        Completion(before, Command.all, names: names).candidates(for: current).map(\.word)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let line: String
        let found: [String]
        var testDescription: String { line }
        init(_ line: String, _ found: [String]) {
            self.line = line
            self.found = found
        }
    }

    /// Lines up to the cursor, and everything that can stand there.
    static let rows = [
        Row("sen", ["send"]), Row("completi", ["completion"]), Row("nothing", []),
        Row("member rem", ["remove"]), Row("read ", ["mark", "status"]),
        Row("channel mem", ["members"]), Row("--json sen", ["send"]),
        Row("--home /h sen", ["send"]), Row("--home=/h sen", ["send"]),
        Row("--exit-code sen", ["send"]), Row("-wacme sen", ["send"]), Row("-wac", ["-wacme"]),
        Row("log -n5 p", ["plans"]), Row("send plans -5", []),
        Row("send ", ["general", "plans", "@Mina", "@Joon Kim"]), Row("send g", ["general"]),
        Row("send @", ["@Mina", "@Joon Kim"]), Row("send general ", []),
        Row("send --json p", ["plans"]), Row("send --key k g", ["general"]),
        Row("send --key=k g", ["general"]), Row("send --key ", []), Row("send -- --", []),
        Row("send -- g", ["general"]), Row("send gen hello --cod", ["--code"]),
        Row("tail general p", ["plans"]), Row("log -n 5 p", ["plans"]),
        Row("channel add plans @M", ["@Mina"]), Row("-w ", ["acme"]),
        Row("log general --workspace ", ["acme"]), Row("log --workspace=", ["--workspace=acme"]),
        Row("--color ", ["auto", "always", "never"]), Row("--color=n", ["--color=never"]),
        Row("invite revoke ", ["i_1", "i_2"]), Row("request approve ", ["r_1"]),
        Row("device rename ", ["d_1"]), Row("peer remove ", ["d_2"]),
        Row("member role @Mina a", ["admin"]), Row("completion ", ["bash", "zsh", "fish"]),
        Row("up --announce ", ["on", "off"]), Row("help read ", ["mark", "status"]),
        Row("help htt", ["http"]), Row("presence set a", ["away"]),
        Row("rpc message.s", ["message.send", "message.star"]),
        Row("rpc --describe home", ["home.get"]),
        Row("config get net.", ["net.listen", "net.announce", "net.peers", "net.metered"]),
        Row("events --type message.c", ["message.created"]),
        Row("events --type typ", ["typing"]), Row("events --type pres", ["presence.changed"]),
        Row("events --as bot ", []),
        Row("workspace use ", ["acme"]), Row("log o", ["old"]), Row("send o", []),
        Row("channel unarchive ", ["old"]), Row("channel archive o", []),
    ]

    @Test(arguments: rows)
    func `gives what can stand at the cursor`(_ row: Row) {
        var before = row.line.split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        let current = before.removeLast()
        #expect(Self.words(before, current) == row.found)
    }

    @Test(arguments: [
        ("backup create -o ", true), ("backup create ", false), ("backup verify x", true),
        ("--home ", true),
        ("--socket=/r", true), ("session unlock --passphrase-file ", true),
        ("session unlock --passphrase-file=/x", true), ("message react ", false),
        ("send ", false), ("send general ", false), ("send --key ", false), ("", false),
        ("backup verify --", false), ("-w ", false), ("nothing here ", false),
    ])
    func `leaves to the shell what may be a file, and nothing else`(
        _ row: (line: String, isPath: Bool)
    ) {
        var before = row.line.split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        let current = before.removeLast()
        let completion = Completion(before, Command.all, names: Self.names)
        #expect(completion.takesPath(current) == row.isPath)
        let io = MemoryIO()
        let status = Program.run(
            arguments: ["__complete", "zsh"] + before + [current], environment: ["HOME": "/h"],
            io: io)
        #expect(status == (row.isPath ? CompletionScript.takesPath : 0))
    }

    @Test func `knows every command and every flag of the table`() {
        for command in Command.all {
            guard let line = command.line?.words else { continue }
            for place in line.indices {
                let found = Self.words(Array(line[..<place]), line[place])
                #expect(found.contains(line[place]), "\(line)")
            }
            let flags = Self.words(line, "--")
            for flag in command.flags { #expect(flags.contains("--" + flag.flag), "\(line)") }
            #expect(Set(flags).count == flags.count)
            for name in ArgumentScanner.globalNames { #expect(flags.contains(name), "\(line)") }
        }
    }

    @Test func `offers nothing that the program would not take`() throws {
        for command in Command.all {
            guard let line = command.line?.words else { continue }
            for flag in Self.words(line, "--") {
                do throws(NodeError) {
                    _ = try ArgumentScanner.scan(line + [flag], against: Command.all)
                } catch {
                    #expect(!error.message.hasPrefix("unknown flag"), "\(line) \(flag)")
                }
            }
        }
    }

    @Test func `says what a word is about`() {
        let found = Completion([], Command.all, names: Self.names).candidates(for: "")
        #expect(
            found.first { $0.word == "send" }?.summary
                == "Send a message. The answer comes once it is saved on disk.")
        #expect(found.first { $0.word == "read" }?.summary == "mark, status")
    }

    // MARK: The hidden command

    private func complete(_ io: MemoryIO, _ words: String...) -> [String] {
        io.output = ""
        let arguments = ["__complete"] + words
        #expect(Program.run(arguments: arguments, environment: ["HOME": "/h"], io: io) == 0)
        return io.output.split(separator: "\n").map(String.init)
    }

    @Test func `asks the daemon for names, of the workspace that is meant`() {
        let io = MemoryIO()
        #expect(complete(io, "fish", "send", "") == ["general\t", "@Mina\towner"])
        #expect(io.node?.asked == ["channels true", "members false"])
        #expect(complete(io, "zsh", "-w", "") == ["acme\t"])
        #expect(complete(io, "bash", "wsx-node send @M", "@M") == ["@Mina"])
        #expect(complete(io, "bash", "wsx-node send gen", "gen") == ["general"])
    }

    @Test func `gives nothing and fails at nothing when the daemon does not answer`() {
        let io = MemoryIO()
        io.node?.failure = NodeError(.locked, "no")
        #expect(complete(io, "fish", "send", "").isEmpty)
        io.node = nil
        #expect(complete(io, "fish", "send", "").isEmpty)
        #expect(
            complete(io, "fish", "sen") == [
                "send\tSend a message. The answer comes once it is saved on disk."
            ])
        #expect(complete(io).isEmpty && complete(io, "bash").isEmpty)
        #expect(complete(io, "bash", "", "").isEmpty == false)
        #expect(io.errors.isEmpty)
    }

    @Test func `asks no more when the time is over`() {
        let io = MemoryIO()
        let names = CompletionNames(io: io, socket: "/s", workspace: nil)
        io.now += CompletionNames.patience
        #expect(names.list(.channels).isEmpty)
        #expect(io.node?.asked.isEmpty == true)
    }

    /// The name of a channel must not run anything on the machine of a user who only
    /// presses Tab and Return.
    @Test(arguments: [
        "x;reboot", "$(reboot)", "`reboot`", "a|b", "a>b", "a<b", "-rf", "a\nb", "a\tb",
        "a\"b", "a\\b", "\u{1B}[2J", "a\u{202E}b", " a", "a ", "a\u{3000}b", "",
    ])
    func `leaves out names with which a shell runs commands`(_ name: String) {
        #expect(!CompletionNames.isSafe(name))
        let io = MemoryIO()
        io.node?.channelName = name
        #expect(complete(io, "bash", "wsx-node log ", "") == ["@Mina"])
    }

    @Test(arguments: [
        ("general", "general"), ("회의", "회의"), ("plan-2", "plan-2"), ("a.b", "a.b"),
        ("v1_2", "v1_2"), ("Joon Kim", "Joon\\ Kim"), ("naïve", "naïve"), ("Joon's", "Joon\\'s"),
        ("R&D (old)", "R\\&D\\ \\(old\\)"), ("#1!", "\\#1\\!"), ("a:b=c", "a:b=c"),
        ("~", "\\~"), ("*?", "\\*\\?"), ("a{b,c}[d]", "a\\{b,c\\}\\[d\\]"),
    ])
    func `offers names as people give them, quoted for bash`(
        _ row: (name: String, quoted: String)
    ) {
        #expect(CompletionNames.isSafe(row.name))
        let io = MemoryIO()
        io.node?.channelName = row.name
        #expect(complete(io, "bash", "wsx-node log ", "") == [row.quoted, "@Mina"])
        #expect(complete(io, "zsh", "log", "") == [row.name + "\t", "@Mina\towner"])
    }

    @Test func `reads the word at the cursor as it is typed, with its quotes`() {
        let io = MemoryIO()
        io.node?.channelName = "two words"
        for typed in ["two\\ w", "'two w", "\"two w"] {
            for shell in ["zsh", "fish"] {
                #expect(complete(io, shell, "send", typed) == ["two words\t"], "\(shell) \(typed)")
            }
            let line = "wsx-node send " + typed
            let whole = typed.hasPrefix("two") ? "two\\ words" : "two words"
            #expect(complete(io, "bash", line, typed) == [whole], "\(typed)")
        }
        #expect(complete(io, "zsh", "-w", "'my space'", "sen").count == 1)
    }

    @Test func `offers no archived channel to be written to`() {
        let io = MemoryIO()
        #expect(complete(io, "fish", "channel", "unarchive", "").isEmpty)
        io.node?.isArchived = true
        #expect(complete(io, "fish", "send", "") == ["@Mina\towner"])
        #expect(complete(io, "fish", "log", "") == ["general\t", "@Mina\towner"])
        #expect(complete(io, "fish", "channel", "unarchive", "") == ["general\t"])
    }

    @Test func `prints a stub for each shell, and refuses others`() {
        for (shell, words) in [
            ("bash", "complete -F"), ("zsh", "#compdef wsx-node"), ("fish", "complete -c wsx-node"),
        ] {
            let io = MemoryIO()
            io.node = nil
            #expect(io.run("completion", shell) == 0)
            #expect(io.output.contains(words) && io.output.contains("__complete \(shell)"))
        }
        let io = MemoryIO()
        #expect(io.run("completion", "csh") == 2)
        #expect(io.run("completion") == 2)
        #expect(io.output.isEmpty)
        #expect(io.errors.contains("bash") && io.errors.contains("usage: "))
        #expect(!Manual.fullHelp.contains(CompletionScript.word))
    }
}

struct `A line that bash completes` {
    struct Row: Sendable {
        let line: String
        let words: [String]
        let current: String
        init(_ line: String, _ words: [String], _ current: String) {
            self.line = line
            self.words = words
            self.current = current
        }
    }

    static let rows = [
        Row("wsx-node se", ["wsx-node"], "se"), Row("wsx-node ", ["wsx-node"], ""),
        Row("w  send\tgen", ["w", "send"], "gen"), Row("", [], ""),
        Row("w 'a b' c", ["w", "a b"], "c"), Row("w a\\ b", ["w"], "a b"),
        Row("w \"a b", ["w"], "a b"), Row("w \"a\\\"b\" x", ["w", "a\"b"], "x"),
        Row("w '' x", ["w", ""], "x"), Row("w \"a\\b\" x", ["w", "a\\b"], "x"),
        Row("w --in=gen", ["w"], "--in=gen"), Row("w @Mi", ["w"], "@Mi"),
    ]

    @Test(arguments: rows)
    func `is cut as a shell cuts it`(_ row: Row) {
        let line = CompletionLine(row.line)
        #expect(line.words == row.words)
        #expect(line.current == row.current)
    }

    @Test func `is completed from where bash broke the word`() {
        #expect(CompletionLine("w se").replacement(of: "se", by: "send") == "send")
        let flag = CompletionLine("w --color=n")
        #expect(flag.replacement(of: "n", by: "--color=never") == "never")
        let sign = CompletionLine("w @Mi")
        #expect(sign.replacement(of: "Mi", by: "@Mina") == "Mina")
        #expect(sign.replacement(of: "@Mi", by: "@Mina") == "@Mina")
        let blank = CompletionLine("w @Joon\\ K")
        #expect(blank.replacement(of: "@Joon\\ K", by: "@Joon Kim") == "@Joon\\ Kim")
        #expect(blank.replacement(of: "Joon\\ K", by: "@Joon Kim") == "Joon\\ Kim")
        let quoted = CompletionLine("w \"@Joon K")
        #expect(quoted.replacement(of: "@Joon K", by: "@Joon Kim") == "@Joon Kim")
        #expect(quoted.replacement(of: "@Joon K", by: "@Joon K's") == "@Joon K's")
        #expect(quoted.replacement(of: "@Joon K", by: "@Joon K!") == nil)
        let single = CompletionLine("w 'Joon")
        #expect(single.replacement(of: "Joon", by: "Joon's") == "Joon'\\''s")
        for line in ["w --in='my c", "w --in=\"my c"] {
            let word = CompletionLine(line)
            #expect(word.replacement(of: "my c", by: "--in=my channel") == "my channel")
        }
        let half = CompletionLine("w my' c")
        #expect(half.replacement(of: " c", by: "my channel") == " channel")
    }
}
