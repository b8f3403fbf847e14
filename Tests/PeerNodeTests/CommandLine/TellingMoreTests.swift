import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// Remarks besides an answer, for a person at a terminal.
struct `Besides an answer` {
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
        #expect(io.errors == "hint: use flags to filter: --in general\n")
        let found = MemoryIO()
        #expect(found.run("search", "plan in:general") == 0)
        #expect(!found.errors.contains("flags"))
    }

    /// A command that nobody can take back.
    struct Severe: Sendable, CustomTestStringConvertible {
        let words: [String]
        let question: String
        /// What the node is asked for when it is done.
        let call: String
        /// Whether a script has to say that it means it.
        var needsYes = false
        /// Whether the node of these tests leaves the answer open.
        var answersLater = false
        /// What a person types who means it.
        var yes = "Y"
        var testDescription: String { words.joined(separator: " ") }
    }

    static let severe = [
        Severe(
            words: ["channel", "delete", "general"],
            question: "Delete #general and everything said in it? [y/N] ", call: "deleteChannel"),
        Severe(
            words: ["member", "remove", "@Joon"],
            question: "Remove Joon (member) from acme? [y/N] ", call: "remove"),
        Severe(
            words: ["device", "revoke", "d_device00"],
            question: "Revoke \"amber\" (added Thu 1 Jan 1970 01:00)? It can never come back."
                + " [y/N] ",
            call: "revoke"),
        Severe(
            words: ["workspace", "transfer", "@Joon"],
            question:
                "Make Joon the owner of acme? You stay as an admin, and only the new owner can"
                + " give it back. [y/N] ", call: "transfer"),
        Severe(
            words: ["channel", "transfer", "general", "@Joon"],
            question: "Make Joon the owner of #general? Only the new owner or an admin can change"
                + " that again. [y/N] ", call: "transferChannel"),
        Severe(words: ["workspace", "leave"], question: "Leave acme? [y/N] ", call: "leave"),
        Severe(
            words: ["workspace", "forget", "acme"],
            question: "Remove acme and its data from this device? [y/N] ", call: "forget"),
        Severe(
            words: ["workspace", "delete", "acme"],
            question: """
                This deletes acme for everyone: 1 person, 1 channel, 12 messages. It cannot be \
                undone.
                Type the name of the workspace to delete it: 
                """, call: "deleteWorkspace", needsYes: true, yes: "acme"),
        Severe(
            words: ["passphrase", "change", "--remove"],
            question: "Remove the passphrase? Your keys will be stored on this disk unprotected."
                + " [y/N] ", call: "changePassphrase", needsYes: true,
            answersLater: true),
        Severe(
            words: ["session", "logout", "--wipe", "messages"],
            question: "Erase all messages on this device? What others have comes back later."
                + " [y/N] ",
            call: "logOut", needsYes: true),
        Severe(
            words: ["note", "delete", "List", "--in", "general", "--purge"],
            question: "Erase all of the note List everywhere? It cannot be undone. [y/N] ",
            call: "note delete", needsYes: true),
    ]

    @Test(arguments: severe)
    func `what cannot be undone is asked about first, by its name`(_ row: Severe) {
        func run(
            _ answer: String?, _ more: [String] = [], isTerminal: Bool = true
        ) -> (io: MemoryIO, isDone: Bool) {
            let io = MemoryIO()
            io.node?.ownRole = "owner"
            if row.words.contains("forget") { io.node?.workspaceState = "left" }
            io.node?.hasPassphrase = true
            (io.isInputTerminal, io.answer) = (isTerminal, answer)
            // Where a secret is asked for, all of it is a terminal.
            if row.answersLater { io.isOutputTerminal = isTerminal }
            io.secrets = ["long secret"]
            let status = Program.run(arguments: row.words + more, environment: [:], io: io)
            let isDone = io.node?.asked.contains { $0.hasPrefix(row.call) } == true
            if !row.answersLater { #expect(isDone == (status == 0), "\(io.errors)") }
            return (io, isDone)
        }
        for answer in [nil, "", "n", "no"] {
            let (io, isDone) = run(answer)
            #expect(io.errors.contains(row.question) && !isDone, "\(io.errors)")
        }
        #expect(run(row.yes).isDone)
        let sure = run(nil, ["--yes"])
        #expect(sure.isDone && !sure.io.errors.contains("?"))
        // No question is no yes.
        let silent = run("y", ["--no-input"])
        #expect(!silent.isDone && silent.io.errors.contains("--no-input"), "\(silent.io.errors)")
        // The yes is no secret, and nobody may be asked for that either.
        #expect(run(nil, ["--no-input", "--yes"]).isDone == !row.answersLater)
        for more in [[], ["--no-input"]] {
            let script = run(nil, more, isTerminal: false)
            #expect(script.isDone == !row.needsYes)
            #expect(script.io.errors.contains("--yes") == row.needsYes, "\(script.io.errors)")
        }
    }

    @Test func `a request is approved by the beginning of a name, once that is confirmed`() throws {
        for (answer, isDone) in [("y", true), ("n", false)] {
            let io = terminal()
            (io.isInputTerminal, io.answer) = (true, answer)
            #expect((io.run("request", "approve", "jo") == 0) == isDone, "\(io.errors)")
            #expect(io.errors.hasPrefix("jo is Joon. Go on? [y/N] "), "\(io.errors)")
            let isAsked = io.node?.asked.contains("approve r_7k3qm2xa") == true
            #expect(isAsked == isDone)
        }
        // The whole name is enough, and a script gives that.
        for (name, isDone) in [("@joon", true), ("jo", false), ("m2xa", true)] {
            let io = MemoryIO()
            #expect((io.run("request", "approve", name) == 0) == isDone, "\(name)")
            #expect(io.errors.contains("request of 'jo'") != isDone, "\(io.errors)")
        }
    }

    @Test func `somebody may be called by a first name or the beginning of one`() throws {
        func asking() -> MemoryIO {
            let io = terminal()
            io.isInputTerminal = true
            return io
        }
        let io = asking()
        let node = try #require(io.node)
        node.people = ["Joon Kim", "Ada", "Adam"]
        #expect(io.run("member", "show", "@joon") == 0, "\(io.errors)")
        #expect(io.errors == "@joon is Joon Kim\n")
        #expect(node.asked.last?.contains("u_person00") == true)
        // Scripts must use whole names, and so must commands that take something away.
        let script = MemoryIO()
        script.node?.people = ["Joon Kim"]
        #expect(script.run("member", "show", "@joon") == 5)
        let other = asking()
        other.node?.people = ["Joon Kim", "Joon Lee"]
        #expect(other.run("member", "show", "@Joon") == 5)
        #expect(other.errors.contains("Joon Kim") && other.errors.contains("Joon Lee"))
        let nobody = asking()
        nobody.node?.people = ["Joon Kim"]
        #expect(nobody.run("member", "show", "@Kim") == 5)
        #expect(nobody.errors.contains("nobody here is called"))
    }

    @Test(arguments: [
        ("Hello @Jon, hello", "@Jon"), ("(@Ada)", "@Ada"), ("mail ada@example.org", nil),
        ("@ 5 pm", nil), ("@7pm", nil),
    ])
    func `an @ that mentions nobody is reported`(_ row: (text: String, name: String?)) {
        let message: JSONValue = [
            "text": .string(row.text), "mentions": [], "mentions_channel": false, "format": "text",
        ]
        #expect(Sending.unheard(in: message, []) == row.name)
    }

    /// Somebody was mentioned, and somebody else was not.
    @Test(
        arguments: [
            ("hi @Dana and @Nobody", ["Dana"], "@Nobody"),
            ("hi @Nobody and @Dana", ["Dana"], "@Nobody"),
            ("hi @Da and @Joon", ["Dana", "Joon Kim"], nil), ("hi @dana, @DANA", ["Dana"], nil),
            // A name of before, or an id: who is meant by which word is not known from here.
            ("hi @Former and @Nobody", ["Dana"], nil), ("hi @u_7k3q and @Nobody", ["Dana"], nil),
            ("hi @Dana", nil, nil),
        ] as [(text: String, mentioned: [String]?, name: String?)])
    func `an @ that mentions nobody is reported beside one that does`(
        _ row: (text: String, mentioned: [String]?, name: String?)
    ) {
        let message: JSONValue = [
            "text": .string(row.text), "mentions": ["u_1"], "mentions_channel": false,
            "format": "text",
        ]
        #expect(Sending.unheard(in: message, row.mentioned) == row.name)
    }

    @Test func `the word for everybody mentions everybody, and another one nobody`() {
        for (text, name) in [("@here hello", nil), ("@channel and @Nobody", "@Nobody")] {
            let message: JSONValue = [
                "text": .string(text), "mentions": [], "mentions_channel": true, "format": "text",
            ]
            #expect(Sending.unheard(in: message, []) == name)
        }
    }

    @Test(arguments: [
        (["ls"], "channels"), (["kick", "@Joon", "--yes"], "remove"), (["members"], "members"),
    ])
    func `words from elsewhere mean what they mean there`(_ row: (words: [String], call: String)) {
        let io = MemoryIO()
        _ = Program.run(arguments: row.words, environment: [:], io: io)
        #expect(io.node?.asked.contains { $0.hasPrefix(row.call) } == true, "\(io.errors)")
    }

    @Test func `the link for another device is waited for, until it is used`() {
        let io = terminal()
        io.isInputTerminal = true
        io.events = [
            EventObject(
                sequence: 1, cursor: "e1.1", at: 1, type: "device.added",
                data: ["id": "d_phone000", "name": "phone"])
        ]
        #expect(io.run("device", "link") == 0, "\(io.errors)")
        #expect(io.output.contains("wsx://device/b4qx"))
        #expect(io.output.hasSuffix("linked: phone\n"), "\(io.output)")
        let pipe = MemoryIO()
        #expect(pipe.run("device", "link") == 0)
        #expect(!pipe.output.contains("waiting"))
    }

    /// A device says what it is called a moment after it is in.
    @Test(arguments: [
        (renamed: "d_phone000x7", told: "phone", wait: Int64(0)),
        (renamed: "d_tablet00x7", told: "d_phone000", wait: Int64(5_000)),
    ])
    func `a linked device is reported by its name, once it has sent it`(
        _ row: (renamed: String, told: String, wait: Int64)
    ) {
        let io = terminal()
        (io.isInputTerminal, io.isSilent) = (true, true)
        let start = io.now
        io.events = [
            EventObject(
                sequence: 1, cursor: "e1.1", at: 1, type: "device.added",
                data: ["id": "d_phone000x7", "name": "d_phone000"]),
            EventObject(
                sequence: 2, cursor: "e1.2", at: 1, type: "device.renamed",
                data: ["id": .string(row.renamed), "name": "phone"]),
        ]
        #expect(io.run("device", "link") == 0, "\(io.errors)")
        #expect(io.output.hasSuffix("linked: \(row.told)\n"), "\(io.output)")
        #expect(io.now - start == row.wait)
    }

    /// What is revoked never comes back.
    @Test(
        arguments: [
            (answer: "2", revoked: "d_second00x7"), ("shelf", "d_third000x7"), ("amber", nil),
            ("4", nil),
        ] as [(answer: String, revoked: String?)])
    func `a lost device is taken for neither of two with that name`(
        _ row: (answer: String, revoked: String?)
    ) {
        let io = terminal()
        io.isInputTerminal = true
        io.node?.moreDevices = [
            DeviceObject(id: "d_second00x7", name: "amber", addedAt: 2),
            DeviceObject(id: "d_third000x7", name: "shelf", addedAt: 3),
        ]
        io.answer = row.answer
        #expect(io.run("device", "lost") == (row.revoked == nil ? 2 : 0), "\(io.errors)")
        let asked = io.node?.asked.last { $0.hasPrefix("revokeDevice ") }
        #expect(asked == row.revoked.map { "revokeDevice \($0) by phrase forced" })
    }

    /// The name that is known before anything was fetched is the one of the admission, and may be an old one.
    @Test func `a person who connects is not named before their name was fetched`() {
        func told(_ name: String?, _ method: String) -> String? {
            let person = name.map { PersonObject(id: "u_joon0000x7", name: $0).json }
            return FileMoving.progress(
                [
                    "type": "peer.connected",
                    "data": ["name": JSONValue(orNull: name), "member": person ?? .null],
                ], of: method)
        }
        for name in ["Joon", "u_joon0000", nil] {
            for method in ["workspace.join", "identity.recover"] {
                #expect(told(name, method) == "connected to someone in the workspace")
            }
            #expect(told(name, "device.link") == "connected to another device")
        }
    }

    @Test func `a person who comes back is greeted by name, if that is known`() {
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        let workspace: JSONValue = ["name": "acme", "role": "owner"]
        #expect(
            rendering.text(workspace, of: "identity.recover")
                .hasPrefix("welcome back, this is now a device of yours in acme, role owner\n"))
        #expect(
            rendering.recovered(workspace, name: "Dana")
                .hasPrefix("welcome back, Dana: this is now a device of yours in acme, role"))
    }

    @Test func `a text of several words needs no quotes`() {
        let io = MemoryIO()
        #expect(io.run("send", "general", "hello", "there", "--key", "k") == 0, "\(io.errors)")
        #expect(io.node?.asked.contains { $0.contains("hello there") } == true)
    }

    @Test func `links that are still open are reported after a removal`() {
        let io = MemoryIO()
        #expect(io.run("member", "remove", "@Joon") == 0)
        #expect(
            io.errors
                == "note: 1 open invite lets anyone with the link join: wsx-node invite list, "
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
