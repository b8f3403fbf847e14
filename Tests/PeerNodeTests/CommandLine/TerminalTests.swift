import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `On a terminal` {
    private func terminal() -> MemoryIO {
        let io = MemoryIO()
        io.isInputTerminal = true
        io.isOutputTerminal = true
        return io
    }

    private static let link =
        "wsx://join/06brdnwcxgv17qq2qvkrry8tzs8ysww07shfybm7728qvs2fvhvghgj4r46p68s37g27y00006b9qnjt20"

    @Test func `the bare program shows where one stands`() {
        let io = terminal()
        #expect(io.run() == 0)
        #expect(io.output.hasPrefix("Mina  d_device00\n\nacme  "))
        #expect(io.output.contains("#general  nothing yet\n"))
        #expect(io.output.contains("\nnext: wsx-node "))
        io.node = nil
        io.output = ""
        #expect(io.run() == 0)
        #expect(io.output.hasSuffix("next: wsx-node up --name NAME --workspace WORKSPACE\n"))
    }

    @Test func `a log and help go through a pager, unless somebody minds`() {
        let io = terminal()
        #expect(io.run("log", "general") == 0)
        #expect(io.run("help") == 0)
        #expect(io.paged.map(\.command) == ["less -FIRX", "less -FIRX"])
        #expect(io.output.isEmpty)
        #expect(io.run("help", environment: ["PAGER": "more"]) == 0)
        #expect(io.run("help", environment: ["PAGER": "more", "WSX_NODE_PAGER": "most"]) == 0)
        #expect(io.paged.suffix(2).map(\.command) == ["more", "most"])
        let before = io.paged.count
        #expect(io.run("help", "--no-pager") == 0)
        #expect(io.run("help", environment: ["WSX_NODE_PAGER": ""]) == 0)
        #expect(io.run("log", "general", "--json") == 0)
        io.hasPager = false
        #expect(io.run("help") == 0)
        io.isOutputTerminal = false
        io.hasPager = true
        #expect(io.run("help") == 0)
        #expect(io.paged.count == before)
        #expect(io.output.contains("flags for every command"))
    }

    @Test func `a log that is longer than the screen opens at its end`() {
        let io = terminal()
        io.outputRows = 2
        #expect(io.run("log", "general") == 0)
        #expect(io.run("log", "general", "--after", "m_01hx9t4c000000000000000000") == 0)
        #expect(io.run("help") == 0)
        #expect(io.run("log", "general", environment: ["PAGER": "less"]) == 0)
        #expect(io.run("log", "general", environment: ["PAGER": "most"]) == 0)
        io.outputRows = 3
        #expect(io.run("log", "general") == 0)
        #expect(
            io.paged.map(\.command) == [
                "less -FIRX +G", "less -FIRX", "less -FIRX", "less +G", "most", "less -FIRX",
            ])
    }

    @Test func `deleting asks first, unless it is told not to`() {
        let id = "m_01hx9t4c000000000000000000"
        for (answer, isDone) in [("y", true), ("Yes", true), ("n", false), ("", false)] {
            let io = terminal()
            io.answer = answer
            io.node?.ownRole = "admin"
            #expect((io.run("message", "delete", id) == 0) == isDone, "\(answer)")
            #expect(io.errors.hasPrefix("Delete 'hello' by Mina, "))
            #expect(io.node?.asked.first == "messages [\"\(id)\"]")
            #expect((io.node?.asked.last == "deleteMessage \(id) false") == isDone)
        }
        for words in [["--yes"], ["--undo"]] {
            let io = terminal()
            let status = Program.run(
                arguments: ["message", "delete", id] + words, environment: [:], io: io)
            #expect(status == 0, "\(words)")
            #expect(!io.errors.contains("Delete "))
        }
        // It is somebody else's: a script has to mean it.
        let pipe = MemoryIO()
        pipe.node?.ownRole = "admin"
        #expect(pipe.run("message", "delete", id) == 2)
        #expect(pipe.errors.contains("--yes"))
        #expect(pipe.run("message", "delete", id, "--yes") == 0)
        #expect(pipe.node?.asked.last == "deleteMessage \(id) false")
        #expect(pipe.output == "restored\n")
    }

    @Test func `a question that may not be asked is no yes`() {
        let id = "m_01hx9t4c000000000000000000"
        for (isSelf, isTerminal, status) in [
            (true, true, Int32(2)), (false, true, 2), (true, false, 0), (false, false, 2),
        ] {
            let io = MemoryIO()
            io.isInputTerminal = isTerminal
            io.node?.ownRole = "admin"
            io.node?.changesMessage = { $0.isSelf = isSelf }
            #expect(io.run("message", "delete", id, "--no-input") == status, "\(io.errors)")
            let isDone = io.node?.asked.last == "deleteMessage \(id) false"
            #expect(isDone == (status == 0))
            #expect(io.errors.contains("hint: add --yes to confirm") == (status == 2))
        }
    }

    @Test func `sending waits a moment to tell who holds it, and for no longer`() {
        let io = terminal()
        #expect(io.run("send", "general", "hi") == 0)
        #expect(io.waited <= 300)
        #expect(io.output == "m_01hx9t4c  saved\n")
        let pipe = MemoryIO()
        #expect(pipe.run("send", "general", "hi") == 0)
        #expect(pipe.node?.asked == ["send name(\"general\") hi text"])
    }

    @Test func `sending into a public channel that you are not in says so`() {
        let io = terminal()
        #expect(io.run("send", "general", "hi") == 0)
        #expect(io.errors.contains("you are not in general, and get no notifications"))
        #expect(io.errors.contains("wsx-node channel join general"))
        let changes: [(inout ChannelObject) -> Void] = [
            { $0.isJoined = true }, { $0.isPrivate = true }, { $0.kind = "dm" },
        ]
        for change in changes {
            let other = terminal()
            other.node?.changesChannel = change
            #expect(other.run("send", "general", "hi") == 0)
            #expect(!other.errors.contains("you are not in"), "\(other.errors)")
        }
        let quiet = terminal()
        #expect(quiet.run("send", "general", "hi", "--quiet") == 0)
        #expect(!quiet.errors.contains("you are not in"))
    }

    @Test func `a new identity is asked for its name, and only there`() {
        let io = terminal()
        io.node = nil
        io.answer = "Joon"
        #expect(io.run("up", "--listen", "127.0.0.1:0") == 0)
        #expect(io.errors.contains("name"))
        for flags in [["--no-input"], ["--json"]] {
            let silent = terminal()
            silent.node = nil
            silent.answer = "Joon"
            let words = ["join", Self.link] + flags
            #expect(Program.run(arguments: words, environment: [:], io: silent) == 2)
            #expect(silent.startedWith == nil)
        }
        let pipe = MemoryIO()
        pipe.node = nil
        #expect(pipe.run("join", Self.link) == 2)
        #expect(pipe.startedWith == nil)
        #expect(pipe.errors.contains("hint: add --name NAME\n"))
    }

    @Test func `joining asks for the link where it is missing, and knows one for a device`() {
        let io = terminal()
        io.node = nil
        io.answer = "wsx://device/b4qx"
        #expect(io.run("join", "--name", "Joon") == 1)
        #expect(io.errors.hasPrefix("Invite link: "), "\(io.errors)")
        #expect(io.errors.contains("that is a device link, not an invite\n"))
        #expect(io.errors.contains("wsx-node device link LINK\n"))
        #expect(io.startedWith == nil)
        for flags in [["--no-input"], ["--json"]] {
            let silent = terminal()
            silent.answer = Self.link
            #expect(Program.run(arguments: ["join"] + flags, environment: [:], io: silent) == 2)
            #expect(!silent.errors.contains("Invite link"))
        }
    }

    @Test func `a link that is none starts nothing`() {
        let io = MemoryIO()
        io.node = nil
        #expect(io.run("join", "wsx://join/abc", "--name", "Joon") == 1)
        #expect(io.run("join", String(Self.link.dropLast()) + "1", "--name", "Joon", "--json") == 1)
        #expect(io.startedWith == nil)
        #expect(io.errors.contains("invite_invalid"))
    }

    @Test func `holders are shown in one line, with the people who are away`() {
        var holders = HolderText(count: 1)
        #expect(holders.text == "saved")
        holders.total = 3
        #expect(holders.text == "saved; on its way to 2 devices")
        holders.count = 2
        holders.offline = [("am\u{1B}ber", 20_000)]
        #expect(
            holders.text
                == "saved on 2 devices; on its way to 1 more (am\\u{1b}ber offline 20 s)")
        holders.offline = [("a", nil), ("b", 60_000), ("c", 7_200_000), ("d", nil)]
        #expect(
            holders.text
                == "saved on 2 devices; on its way to 1 more "
                + "(a unknown, b offline 1 min, c offline 2 h, 1 more)")
        holders.total = 1
        #expect(holders.text == "saved on 2 devices")
    }
}

struct `A short id` {
    @Test func `is one with its letter and at least six more`() {
        #expect(ReferenceResolver.isShort("m_01hx9t"))
        #expect(!ReferenceResolver.isShort("m_01hx9"))
        #expect(!ReferenceResolver.isShort("m_01hx9l"))
        #expect(!ReferenceResolver.isShort("x_01hx9t"))
        #expect(!ReferenceResolver.isShort("general"))
        #expect(!ReferenceResolver.isShort("m_" + String(repeating: "0", count: 26)))
    }

    @Test(arguments: [
        (subject: "m_01hx9t", isShort: true), ("c_01hx9t", true), ("u_01hx9t", true),
        ("@Mina", false), ("#general", false), ("last", false),
    ])
    func `looks up the beginning of the subject of why`(_ row: (subject: String, isShort: Bool))
        throws
    {
        let why = try #require(Command.all.first { $0.name == "why" })
        let values: JSONObject = ["subject": .string(row.subject)]
        #expect(ReferenceResolver.needed(values, why) == row.isShort)
    }

    @Test func `is shown by its last letters, and found by what is shown`() throws {
        let id = "d_1a5nz2z18n854jynsjjeqvxebw"
        let shown = Rendering.shortened(id)
        #expect(shown == "d_…qvxebw")
        #expect(Rendering.shortened("d_device00") == "d_device00")
        for typed in [shown, "d_...qvxebw"] {
            #expect(ReferenceResolver.ending(ofShown: typed) == "qvxebw")
        }
        for other in ["d_qvxebw", "qvxebw", "…qvxebw", "x_…qvxebw", "d_…qv", "d_…qvx ebw"] {
            #expect(ReferenceResolver.ending(ofShown: other) == nil, "\(other)")
        }
        for row in [
            (["device", "rename", "d_…3qm2xb", "desk"], "renameDevice d_00007k3qm2xb desk"),
            (["channel", "show", "c_…3qm2xc"], "channel id(\"c_00007k3qm2xc\")"),
            (["invite", "revoke", "i_…3qm2xa", "--yes"], "revoke i_7k3qm2xa"),
        ] {
            let io = MemoryIO()
            io.node?.device = DeviceObject(id: "d_00007k3qm2xb", name: "amber", addedAt: 1)
            io.node?.changesChannel = { $0.id = "c_00007k3qm2xc" }
            #expect(Program.run(arguments: row.0, environment: [:], io: io) == 0, "\(io.errors)")
            #expect(io.node?.asked.last == row.1)
        }
        let messages = MemoryIO()
        #expect(messages.run("message", "show", "m_…hx9t4c", "--in", "general") == 0)
        #expect(messages.node?.asked == ["history latest 100", "messages [\"m_01hx9t4c\"]"])
    }

    /// Where somebody has just said something is where they are.
    @Test func `last without a conversation is in the one that was used last`() throws {
        let io = terminal()
        let node = try #require(io.node)
        node.ownMember = "u_mina0000"
        node.changesChannel = {
            let author = PersonObject(id: "u_mina0000", name: "Mina")
            $0.last = PreviewObject(id: "m_01hx9t4c", author: author, at: 1, text: "hello")
        }
        #expect(io.run("message", "react", "last", "👍") == 0, "\(io.errors)")
        #expect(io.errors.hasPrefix("the last message in #general\n"), "\(io.errors)")
        #expect(node.asked.last == "react m_01hx9t4c 👍 true")
        // Somebody else has answered since: what the reader said there is still the newest of theirs.
        node.changesChannel = {
            let author = PersonObject(id: "u_joon0000", name: "Joon")
            $0.last = PreviewObject(id: "m_0answer0", author: author, at: 2, text: "yes")
        }
        node.changesMessage = { $0.isSelf = true }
        #expect(io.run("message", "react", "last", "👍") == 0, "\(io.errors)")
        node.changesMessage = { _ in }
        #expect(io.run("message", "react", "last", "👍") == 2, "nothing of theirs is anywhere")
        // A script says what it means.
        node.changesMessage = { $0.isSelf = true }
        (io.isInputTerminal, io.errors) = (false, "")
        #expect(io.run("message", "react", "last", "👍") == 2)
        #expect(io.errors.contains("hint: add --in CHANNEL\n"))
    }

    private func terminal() -> MemoryIO {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal) = (true, true)
        return io
    }

    @Test func `is one with the last letters of an id, at least four`() {
        for text in ["9t4c", "m_9t4c", "1hx9t4c"] {
            #expect(ReferenceResolver.isEnding(text, "m"), "\(text)")
        }
        for text in ["t4c", "m_t4c", "9t4l", "c_9t4c", "9t 4c", "", "last"] {
            #expect(!ReferenceResolver.isEnding(text, "m"), "\(text)")
        }
        #expect(!ReferenceResolver.isEnding(String(repeating: "0", count: 26), "m"))
        // What has no letter of a type before it is a name, where there are names.
        #expect(ReferenceResolver.isPart("c_9t4c", "c") && !ReferenceResolver.isPart("9t4c", "c"))
    }

    @Test func `of last letters means what ends so, where nothing begins so or is called so`() {
        func found(_ text: String, _ items: [(String, String)]) -> [String] {
            ReferenceResolver.meant(
                text, "c",
                among: items.map { .init(id: $0.0, candidate: .null, name: $0.1) }
            ).map(\.id)
        }
        let items = [("c_aaaaaa7k3q", "plans"), ("c_7k3q00bbbb", "board"), ("c_000000bbbb", "x")]
        #expect(found("c_7k3q", items) == ["c_aaaaaa7k3q"])
        #expect(found("c_7k3q00", items) == ["c_7k3q00bbbb"])
        #expect(found("c_bbbb", items) == ["c_7k3q00bbbb", "c_000000bbbb"])
        #expect(found("c_7k3q", items + [("c_zzzzzzzzzz", "C_7k3q")]).isEmpty)
    }

    @Test func `of last letters is looked for among the newest messages`() {
        let io = MemoryIO()
        #expect(io.run("message", "show", "9t4c", "--in", "general") == 0, "\(io.errors)")
        #expect(io.node?.asked == ["history latest 100", "messages [\"m_01hx9t4c\"]"])
        #expect(io.run("message", "show", "m_9t4c", "--in", "general") == 0, "\(io.errors)")
        #expect(io.run("message", "show", "9t4d", "--in", "general") == 5)
        #expect(io.errors.contains("there is no message '9t4d'"), "\(io.errors)")
        // Not more than a thousand, however many there are.
        io.node?.pageEnds = ("p_8", "p_9")
        io.node?.asked = []
        #expect(io.run("message", "show", "9t4d", "--in", "general") == 5)
        #expect(io.node?.asked.count == 10)
        io.errors = ""
        #expect(io.run("message", "show", "9t4c", "--in", "general") == 5)
        #expect(io.errors.contains("'9t4c' could be any of 10 things"), "\(io.errors)")
        // One in each page that is looked at: all are counted, and some are named.
        io.errors = ""
        #expect(io.run("message", "show", "m_01hx9t", "--in", "general") == 5)
        let count = ReferenceResolver.pagesMax
        #expect(io.errors.contains("'m_01hx9t' could be any of \(count) things"), "\(io.errors)")
        #expect(io.errors.split(separator: "\n").filter { $0.contains("m_01hx9t4c") }.count == 10)
    }

    @Test func `of last letters names an invite, too`() {
        let io = MemoryIO()
        #expect(io.run("invite", "revoke", "m2xa", "--yes") == 0, "\(io.errors)")
        #expect(io.node?.asked.last?.contains("i_7k3qm2xa") == true)
        #expect(io.run("invite", "revoke", "m2xb", "--yes") == 5)
        #expect(io.errors.contains("there is no invite 'm2xb'"), "\(io.errors)")
    }

    @Test func `of a beginning or last letters names a file, too`() {
        let io = MemoryIO()
        for text in ["b_01hx9t", "hx9t4c", "b_…hx9t4c"] {
            #expect(io.run("file", "show", text) == 0, "\(io.errors)")
            // Connected devices are asked first who has it.
            let asked = ["files", "fileHolders b_01hx9t4c", "file b_01hx9t4c"]
            #expect(io.node?.asked.suffix(3) == asked[...], "\(text)")
        }
        #expect(io.run("file", "drop", "b_01hx9t4c") == 0, "\(io.errors)")
        let dropped = ["fileHolders b_01hx9t4c", "dropFile b_01hx9t4c false"]
        #expect(io.node?.asked.suffix(2) == dropped[...])
        #expect(io.run("file", "show", "readme") == 5)
        #expect(io.errors.contains("there is no file 'readme'"), "\(io.errors)")
        #expect(io.errors.contains("hint: wsx-node file list\n"), "\(io.errors)")
    }

    @Test func `gives the time that its message was written`() {
        // 2026-11-21T01:22:44.187Z, in the 48 bits that a message's id begins with.
        let id = "m_06gzqckmbr001kab3w5p5hrk78"
        let exact = Base32Letters.milliseconds(of: id.utf8.dropFirst(2)[...])
        #expect(exact.since == exact.until)
        let short = Base32Letters.milliseconds(of: id.prefix(8).utf8.dropFirst(2)[...])
        #expect((short.since...short.until).contains(exact.since))
        #expect(short.until - short.since == (1 << 18) - 1)
    }

    @Test func `is looked for among the messages of its time`() {
        let io = MemoryIO()
        #expect(io.run("message", "show", "m_01hx9t", "--in", "general") == 0)
        #expect(io.node?.asked == ["history latest 100", "messages [\"m_01hx9t4c\"]"])
        #expect(io.run("message", "show", "last", "--in", "general") == 0)
        #expect(io.node?.asked.suffix(2) == ["history latest 1", "messages [\"m_01hx9t4c\"]"])
        #expect(io.run("message", "show", "last") == 2)
        #expect(io.errors.contains("hint: add --in CHANNEL\n"))
    }
}
