import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `What is shown` {
    /// Texts with which somebody might attack a terminal or a reader.
    static let hostile = [
        "\u{1B}[2J\u{1B}[31mred", "\u{1B}]0;title\u{7}", "\u{1B}]8;;http://x\u{1B}\\link",
        "\u{1B}]52;c;aGk=\u{7}", "\u{1B}P0;1|x\u{1B}\\", "back\u{8}\u{8}space", "a\rb", "\u{9B}31m",
        "\u{202E}reversed", "\u{2066}isolated", "line\n14:03  Mina   fake line", "\u{2028}x",
        "a\u{0}b", "\u{7F}", "\u{200E}mark",
    ]

    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.value == 0x0A || scalar.value == 0x09
                || ![.control, .format, .lineSeparator, .paragraphSeparator]
                    .contains(scalar.properties.generalCategory)
        }
    }

    @Test(arguments: hostile)
    func `holds no control of others, in any form and on one line each`(_ text: String) throws {
        for flags in [[], ["--plain"], ["--json"]] {
            for line in [["log", "general"], ["message", "show", "m_000000"]] {
                let io = MemoryIO()
                io.node?.text = text
                io.node?.authorName = text
                #expect(Program.run(arguments: line + flags, environment: [:], io: io) == 0)
                let isJSON = flags == ["--json"]
                if !isJSON { #expect(isHarmless(io.output), "\(line) \(flags)") }
                #expect(
                    !io.output.unicodeScalars.contains {
                        $0.value < 0x20 && $0.value != 10 && $0.value != 9
                    })
                #expect(!io.output.unicodeScalars.contains { (0x7F...0x9F).contains($0.value) })
                // A message may have lines, and each further one stands under its text.
                let lines = text.utf8.split(separator: 0x0A)
                let expected = flags.isEmpty ? 1 + lines.count : 1
                if flags.isEmpty, lines.count > 1 { #expect(io.output.contains("\n      ")) }
                #expect(io.output.utf8.split(separator: 0x0A).count == expected)
            }
        }
    }

    @Test(arguments: hostile)
    func `holds no control of others in failures`(_ text: String) {
        let io = MemoryIO()
        io.node?.failure = NodeError(.notFound, text, hint: text)
        #expect(io.run("status") == 5)
        #expect(isHarmless(io.errors))
        #expect(io.errors.utf8.split(separator: 0x0A).count == 2)
    }

    @Test func `names what an ambiguous name may mean`() {
        let io = MemoryIO()
        let first: JSONValue = ["id": "c_1", "name": "twin"]
        let second: JSONValue = ["id": "c_2", "name": "a\u{1B}b"]
        io.node?.failure = .ambiguous("twin", candidates: [first, second], field: "channel")
        #expect(io.run("status") == 5)
        #expect(io.errors.utf8.split(separator: 0x0A).count == 4)
        #expect(io.errors.contains("          c_1  twin\n          c_2  a"))
        #expect(isHarmless(io.errors))
    }

    @Test func `groups a log by day`() {
        let io = MemoryIO()
        #expect(io.run("log", "general") == 0)
        #expect(io.output == "-- Today --\n06:00  Mina  hello\n" || io.output.hasPrefix("-- "))
        #expect(io.output.hasSuffix("06:00  Mina  hello\n"))
    }

    @Test func `aligns columns, wide letters too`() {
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        let items: JSONValue = [
            "items": [
                ["id": "u_1", "name": "회의", "role": "owner", "devices": 1, "self": true],
                ["id": "u_2", "name": "Joon", "role": "guest", "devices": 2, "self": false],
            ]
        ]
        #expect(
            rendering.text(items, of: "member.list") == """
                ID   NAME  ROLE   DEVICES  SELF
                u_1  회의  owner  1        yes
                u_2  Joon  guest  2        no

                """)
    }

    @Test func `gives programs columns without a header`() {
        let io = MemoryIO()
        #expect(io.run("member", "list", "--plain") == 0)
        #expect(io.output == "u_mina0000\tMina\towner\t1\tno\n")
    }

    @Test func `gives one object a line as JSON`() throws {
        let io = MemoryIO()
        #expect(io.run("channel", "list", "--json") == 0)
        let value = try JSONValue(parsing: io.output)
        #expect(value["id"] == "c_general0")
        #expect(value["items"] == nil)
    }

    static let colours: [(String?, [String: String], Bool, Bool)] = [
        (nil, [:], true, true), (nil, [:], false, false), (nil, ["NO_COLOR": "1"], true, false),
        (nil, ["NO_COLOR": ""], true, true), (nil, ["TERM": "dumb"], true, false),
        (nil, ["FORCE_COLOR": "1"], false, true), ("always", ["NO_COLOR": "1"], false, true),
        ("never", ["FORCE_COLOR": "1"], true, false), ("auto", [:], false, false),
    ]

    @Test(arguments: colours)
    func `has colour by flag, environment and terminal`(
        _ row: (flag: String?, environment: [String: String], isTerminal: Bool, expected: Bool)
    ) {
        #expect(
            Rendering.wantsColour(row.flag, row.environment, isTerminal: row.isTerminal)
                == row.expected)
    }
}

struct `The settings file` {
    static let text = """
        # my node
        name = "Mina"   # shown to others

        [net]
        listen = "0.0.0.0:29790" # not "# this"
        announce = true
        """

    @Test func `keeps comments and order when a setting changes`() throws {
        var file = try ConfigFile(Array(Self.text.utf8))
        try file.set("net.listen", to: "127.0.0.1:0")
        try file.set("net.announce", to: "false")
        try file.set("log.level", to: "debug")
        try file.set("net.peers", to: #"["a:1", "b:2"]"#)
        #expect(
            String(decoding: file.bytes, as: UTF8.self) == """
                # my node
                name = "Mina"   # shown to others

                [net]
                peers = ["a:1", "b:2"]
                listen = "127.0.0.1:0"  # not "# this"
                announce = false

                [log]
                level = "debug"

                """)
        let again = try ConfigFile(file.bytes)
        #expect(try again.text(of: "net.listen") == "127.0.0.1:0")
        #expect(again.bytes == file.bytes)
    }

    @Test func `takes on and off for what is true or false`() throws {
        var file = try ConfigFile([])
        try file.set("chat.typing", to: "off")
        #expect(String(decoding: file.bytes, as: UTF8.self) == "[chat]\ntyping = false\n")
        try file.set("chat.typing", to: "on")
        #expect(try file.text(of: "chat.typing") == "true")
        try file.set("name", to: "off")
        #expect(try file.text(of: "name") == "off")
        #expect(throws: NodeError.self) { try file.set("chat.typing", to: "no") }
    }

    @Test func `is made where there is none`() throws {
        var file = try ConfigFile([])
        try file.set("name", to: "Mi\"na\u{1B}")
        #expect(String(decoding: file.bytes, as: UTF8.self) == "name = \"Mi\\\"na\\u001b\"\n")
        #expect(try file.text(of: "name") == "Mi\"na\u{1B}")
    }

    static let refused: [(String, Int)] = [
        ("nmae = \"x\"", 1), ("\n[net]\nlisten = 5", 3), ("[net", 1), ("name", 1),
        ("name = \"a\"\nname = \"b\"", 2), ("[net]\nannounce = yes", 2), ("= 5", 1),
        ("[net]\npeers = [1]", 2), ("name = ", 1), ("[]", 1),
    ]

    @Test(arguments: refused)
    func `is refused with the line`(_ row: (text: String, line: Int)) {
        let error = #expect(throws: NodeError.self) { _ = try ConfigFile(Array(row.text.utf8)) }
        #expect(error?.exitStatus == 78)
        #expect(error?.details["line"]?.integerValue == Int64(row.line))
    }

    @Test(arguments: [
        ("[net]\nlisten = \"junk", "write text between quotes, such as "),
        ("[net]\nannounce = yes", "write true or false"),
        ("[net]\npeers = 5", "write a list of texts, such as ["),
    ])
    func `says how the value is written`(_ row: (text: String, hint: String)) {
        let error = #expect(throws: NodeError.self) { _ = try ConfigFile(Array(row.text.utf8)) }
        #expect(error?.hint?.hasPrefix(row.hint) == true)
    }

    @Test func `is written and read by the command line`() {
        let io = MemoryIO()
        let environment = ["WSX_NODE_HOME": "/h"]
        #expect(io.run("config", "set", "net.listen", "[::]:1", environment: environment) == 0)
        #expect(io.run("config", "get", "net.listen", environment: environment) == 0)
        #expect(io.run("config", "path", environment: environment) == 0)
        #expect(io.output == "[::]:1\n/h/config.toml\n")
        #expect(io.run("config", "set", "net.lisen", "x", environment: environment) == 2)
        #expect(io.run("config", "get", "net.lisen", environment: environment) == 2)
        #expect(io.run("config", "get", "name", environment: environment) == 5)
    }

    @Test func `is not changed by half a command, nor to a name that nobody can have`() {
        let io = MemoryIO()
        let environment = ["WSX_NODE_HOME": "/h"]
        for (words, question) in [
            (["set", "name"], "which value?"), (["set"], "which setting?"),
            (["get"], "which setting?"),
        ] {
            io.errors = ""
            let status = Program.run(
                arguments: ["config"] + words, environment: environment, io: io)
            #expect(status == 2 && io.errors.contains(question), "\(io.errors)")
            #expect(io.errors.contains("hint: usage: wsx-node config "), "\(io.errors)")
        }
        for name in ["", " ", "Mi\u{1B}na", String(repeating: "a", count: 200)] {
            #expect(io.run("config", "set", "name", name, environment: environment) == 78)
        }
        #expect(io.files.isEmpty)
        #expect(io.run("config", "set", "mail.command", "", environment: environment) == 0)
        #expect(io.output.isEmpty)
    }

    @Test func `says that the name in it is for a new identity`() {
        let io = MemoryIO()
        let environment = ["WSX_NODE_HOME": "/h"]
        #expect(io.run("config", "set", "name", "Zed", environment: environment) == 0)
        #expect(io.errors.isEmpty)
        io.files["/h/identity/device.key"] = []
        #expect(io.run("config", "set", "name", "Zed", environment: environment) == 0)
        #expect(io.errors.contains("wsx-node profile set --name Zed"), "\(io.errors)")
    }
}
