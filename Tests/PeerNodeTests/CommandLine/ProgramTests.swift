import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `The program` {
    private let io = MemoryIO()

    @Test func `tells its version without a daemon`() {
        io.node = nil
        #expect(io.run("version") == 0)
        #expect(io.output == "wsx-node \(Release.version)\n")
        #expect(io.run("version", "--json") == 0)
        #expect(io.output.hasSuffix(Release.json.text + "\n"))
    }

    @Test func `prints short help when it is called bare`() {
        #expect(io.run() == 0)
        #expect(io.output == Manual.shortHelp)
    }

    @Test func `explains every command at every level`() {
        for command in Command.all {
            guard let words = command.line?.words else { continue }
            let io = MemoryIO()
            let status = Program.run(arguments: words + ["--help"], environment: [:], io: io)
            #expect(status == 0)
            #expect(io.output == Manual.help(for: command))
        }
        let io = MemoryIO()
        #expect(io.run("channel") == 2)
        #expect(io.output.isEmpty)
        #expect(io.run("channel", "-h") == 0)
        #expect(io.output.contains("channel create NAME"))
    }

    @Test func `ends with 3 and a command to run when no daemon answers`() {
        io.node = nil
        #expect(io.run("send", "general", "hi", "--home", "/h") == 3)
        #expect(io.errors.contains("hint: wsx-node --home /h up\n"))
        #expect(io.output.isEmpty)
    }

    @Test func `writes failures as JSON on standard error when asked`() throws {
        let failure = NodeError.notFound("channel", "nope", field: "channel")
        io.node?.failure = failure
        #expect(io.run("send", "nope", "hi", "--json") == 5)
        #expect(io.output.isEmpty)
        #expect(io.errors == failure.json.text + "\n")
    }

    @Test func `sends what was said, and the workspace only when one was named`() {
        #expect(io.run("send", "#general", "hi") == 0)
        #expect(io.output == "m_01hx9t4c  saved\n")
        #expect(io.node?.asked == ["send name(\"general\") hi text"])
        #expect(io.run("workspace", "show", environment: ["WSX_NODE_WORKSPACE": "acme"]) == 0)
        #expect(io.run("workspace", "show", "-w", "w_c9f04t1e000000000000000000") == 0)
        #expect(io.run("workspace", "show") == 0)
        let asked = io.node?.asked.suffix(3) ?? []
        #expect(
            Array(asked) == [
                "workspace Optional(PeerNode.WorkspaceReference.name(\"acme\"))",
                "workspace Optional(PeerNode.WorkspaceReference.id(\"w_c9f04t1e000000000000000000\"))",
                "workspace nil",
            ])
    }

    @Test func `reads standard input for a dash, and for nothing else`() {
        io.input = Array("from a pipe\n".utf8)
        #expect(io.run("send", "general", "-") == 0)
        #expect(io.node?.asked == ["send name(\"general\") from a pipe text"])
        #expect(io.run("send", "general") == 2)
        #expect(io.errors.contains("which text?\nhint: usage: wsx-node send CHANNEL "))
        // On a terminal until ctrl-D.
        io.isInputTerminal = true
        #expect(io.run("send", "general", "-") == 0)
        #expect(io.errors.contains("Ctrl-D"))
        io.isInputTerminal = false
        io.input = [0xFF]
        #expect(io.run("send", "general", "-") == 2)
    }

    @Test(arguments: [20_000, 1_100_000])
    func `says how long a text may be, however much too long it is`(count: Int) {
        let io = MemoryIO()
        io.input = [UInt8](repeating: 0x78, count: count)
        #expect(io.run("send", "general", "-") == 1)
        let told = count > 1_048_576 ? "more than 1048576" : "\(count)"
        #expect(
            io.errors.contains("the message is too long: \(told) bytes, at most 16384 allowed"),
            "\(io.errors)")
        #expect(io.node?.asked == [])
    }

    @Test func `checks bounds before it connects`() {
        io.node = nil
        #expect(io.run("log", "general", "-n", "101") == 2)
        #expect(io.errors.contains("'-n' must be an integer, 1 to 100"))
    }

    @Test func `streams events, acknowledges them by name, and ends after a count`() {
        io.events = (1...3).map {
            EventObject(
                sequence: $0, cursor: "e1.\($0)", at: 1, type: "message.created",
                data: ["id": "m_1"])
        }
        #expect(io.run("events", "--as", "bot", "--count", "2", "--json") == 0)
        #expect(io.output.split(separator: "\n").count == 2)
        #expect(io.node?.asked == ["subscribe []", "ack bot e1.1", "ack bot e1.2"])
    }

    @Test func `starts a daemon where the one before has just gone, and waits for it`() {
        io.isBroken = true
        io.endsAfter = 300
        #expect(io.run("up", "--name", "Mina", "--timeout", "200ms") != 0)
        #expect(io.startedWith == nil && io.errors.contains("still shutting down"))
        #expect(io.run("up", "--name", "Mina") == 0)
        #expect(io.startedWith == [])
    }

    @Test(arguments: [
        (["--name", "Lee", "--workspace", "w\nx"], "'--workspace': the text contains a character"),
        (
            ["--name", "Lee", "-w", "abcdefghijabcdefghijabcdefghija"],
            "'--workspace': a name has at"
        ),
        (["--name", "Lee,Ann", "-w", "acme"], "'--name': a name cannot contain a comma"),
    ])
    func `checks the names of what is new before it makes anything`(
        _ row: (flags: [String], says: String)
    ) {
        let io = MemoryIO()
        io.node = nil
        let words = ["up"] + row.flags
        #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
        #expect(io.errors.contains(row.says), "\(io.errors)")
        #expect(io.startedWith == nil && io.node == nil)
    }

    @Test(arguments: [
        ("--home", "a folder"), ("--socket", "a path"), ("--workspace", "a name or an id"),
    ])
    func `takes no empty word for a place`(_ row: (flag: String, needs: String)) {
        for words in [["status", row.flag, ""], [row.flag + "=", "status"]] {
            let io = MemoryIO()
            #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
            #expect(io.errors.contains("'\(row.flag)' needs \(row.needs)"), "\(io.errors)")
            #expect(io.node?.asked == [])
        }
    }

    @Test func `starts a daemon once, and makes what is missing`() {
        io.node = nil
        #expect(io.run("up", "--name", "Mina", "-w", "acme", "--listen", "127.0.0.1:0") == 0)
        #expect(io.startedWith == ["--listen", "127.0.0.1:0"])
        let asked = io.node?.asked ?? []
        #expect(asked.prefix(3) == ["session", "identity", "select name(\"acme\")"])
        io.startedWith = nil
        #expect(io.run("up") == 0)
        #expect(io.startedWith == nil)
        #expect(io.run("down") == 0)
        io.node?.failure = .stopping
        #expect(io.run("down") == 0)
        io.node?.failure = NodeError(.forbidden, "no")
        #expect(io.run("down") == 4)
        io.node = nil
        #expect(io.run("down") == 0)
    }

    @Test func `calls raw methods and describes them`() {
        #expect(io.run("rpc", "message.send", "channel=general", "text=x") == 0)
        #expect(io.output.hasPrefix(#"{"id":"m_01hx9t4c""#))
        #expect(io.run("rpc", "--list") == 0)
        #expect(io.output.contains("rpc.discover\t"))
        #expect(io.run("rpc", "--describe", "message.send") == 0)
        #expect(io.run("rpc") == 2)
        #expect(io.run("rpc", "mesage.send") == 1)
        #expect(io.errors.contains("did you mean 'message.send'?"))
        #expect(io.run("rpc", "message.send", "--params", #"{"channel":"a","text":"y"}"#) == 0)
        #expect(io.node?.asked.last == "send name(\"a\") y text")
    }

    static let folders: [([String: String], String?, String, String)] = [
        ([:], "/h", "/h/control.sock", "/h/config.toml"),
        (["WSX_NODE_HOME": "/e"], nil, "/e/control.sock", "/e/config.toml"),
        (["WSX_NODE_HOME": "/e", "WSX_NODE_SOCKET": "/s"], nil, "/s", "/e/config.toml"),
        (["WSX_NODE_SOCKET": "/s"], "/h", "/h/control.sock", "/h/config.toml"),
        (
            ["HOME": "/u", "XDG_RUNTIME_DIR": "/run/user/1"], nil,
            "/run/user/1/wsx-node/control.sock", "/u/.config/wsx-node/config.toml"
        ),
        (
            ["HOME": "/u", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"], nil,
            "/u/.local/state/wsx-node/run/control.sock", "/c/wsx-node/config.toml"
        ),
        (
            ["HOME": ""], nil, "/home/mina/.local/state/wsx-node/run/control.sock",
            "/home/mina/.config/wsx-node/config.toml"
        ),
    ]

    @Test(arguments: folders)
    func `finds its folders by the rules of the desktop`(
        _ row: (environment: [String: String], home: String?, socket: String, settings: String)
    ) throws {
        let paths = try Paths(
            home: row.home, socket: nil, environment: row.environment, io: MemoryIO())
        #expect(paths.socket == row.socket)
        #expect(paths.configuration == row.settings)
    }

    @Test func `refuses a socket path that the system cannot take`() {
        #expect(io.run("socket", "--home", "/" + String(repeating: "x", count: 93)) == 0)
        #expect(io.run("socket", "--home", "/" + String(repeating: "x", count: 94)) == 78)
    }
}
