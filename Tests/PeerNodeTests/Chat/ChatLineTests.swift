import Testing
import WorkspaceModel

@testable import wsx_node

struct `A line of a conversation` {
    @Test(arguments: [
        (line: "hello", meaning: ChatLine.say("hello")), ("  ", .nothing), ("", .nothing),
        ("//etc/hosts", .say("/etc/hosts")), ("//", .say("/")), (" /quit", .say(" /quit")),
        ("/help", .help), ("/quit", .quit), ("/unread", .unread), ("/who", .who(nil)),
        ("/who last ", .who("last")), ("/join #random", .join("#random")),
        ("/dm @Mina Park", .direct("@Mina Park")), ("/dm Mina", .direct("@Mina")),
        ("/thread last", .thread("last")), ("/older", .older),
        ("/thread last  and then?", .answer(message: "last", text: "and then?")),
        ("/react @Mina 👍 ", .react(message: "@Mina", emoji: "👍")),
        ("/edit new text", .edit("new text")), ("/delete", .delete("")),
        ("/me waves", .say("_waves_")), ("/search two words", .more(.search("two words"))),
        ("/msg Joon hi there", .more(.direct(name: "@Joon", text: "hi there"))),
        ("/mute 2h", .more(.mute(7_200_000))), ("/mute", .more(.mute(nil))),
        ("/away", .more(.away(nil))), ("/topic", .more(.topic(""))), ("/next", .more(.next)),
        ("/star last", .more(.star("last"))), ("/unstar 2", .more(.unstar("2"))),
        ("/stars", .more(.stars)), ("/reminders", .more(.reminders)), ("/dismiss", .more(.dismiss)),
        ("/remind last tomorrow 9:00 hi", .more(.remind("last", "tomorrow 9:00 hi"))),
        ("/delete 2", .delete("2")), ("/edit two\nlines", .edit("two\nlines")),
    ])
    func `means what is said, or a command`(_ row: (line: String, meaning: ChatLine)) {
        #expect(ChatLine(row.line) == row.meaning)
    }

    @Test(arguments: [
        (line: "/remind last", says: "usage: /remind MSG WHEN"),
        ("/joim #a", "did you mean /join?"), ("/exitt", "did you mean /exit?"),
        ("/query", "usage: /dm @NAME"), ("/whois waves", "/help lists them."),
        ("/join", "usage: /join #CHANNEL"), ("/react last", "usage: /react MSG EMOJI"),
        ("/thread", "usage: /thread MSG [TEXT]"), ("/edit", "usage: /edit TEXT"), ("/", "/help"),
    ])
    func `says what is wrong with a command, and never guesses`(
        _ row: (line: String, says: String)
    ) {
        guard case .mismatch(let sentence) = ChatLine(row.line) else {
            Issue.record("\(row.line) was taken")
            return
        }
        #expect(sentence.contains(row.says), "\(sentence)")
    }

    @Test func `may be called as in other chats`() {
        for (typed, line) in [
            ("/exit", ChatLine.quit), ("/q", .quit), ("/bye", .quit), ("/names", .who(nil)),
            ("/part", .more(.leave)), ("/query @Joon", .direct("@Joon")), ("/?", .help),
        ] {
            #expect(ChatLine(typed) == line, "\(typed)")
        }
        let words = Set(ChatLine.words.map(\.word))
        #expect(ChatLine.otherNames.allSatisfy { words.contains($0.word) })
        #expect(words.isDisjoint(with: ChatLine.otherNames.map(\.typed)))
    }

    @Test func `is explained word by word`() {
        for word in ChatLine.words {
            #expect(ChatLine.helpText(columns: 80).contains("/\(word.word)"))
            let given = word.word == "mute" ? "2h" : "a b"
            if case .mismatch(let sentence) = ChatLine("/\(word.word) \(given)") {
                Issue.record("\(word.word): \(sentence)")
            }
        }
    }

    @Test(arguments: [30, 80, 200])
    func `is explained in lines that fit, broken between words`(_ columns: Int) {
        let text = ChatLine.helpText(columns: columns)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { columnWidth(String($0)) <= columns })
        let words = text.split { $0 == " " || $0 == "\n" }
        for word in ["(their", "newest),", "#channels", "quits."] {
            #expect(words.contains { $0 == word }, "\(word)")
        }
    }
}

struct `The people of a direct conversation` {
    @Test(arguments: [
        (typed: "@Joon", names: ["@Joon"]), ("@Joon,@Sora", ["@Joon", "@Sora"]),
        ("@Joon, Sora", ["@Joon", "@Sora"]), ("@Joon @Sora", ["@Joon", "@Sora"]),
        ("@Joon Kim @Ana Lu, Bo", ["@Joon Kim", "@Ana Lu", "@Bo"]), ("@Joon Kim", ["@Joon Kim"]),
        (" , ", []),
    ])
    func `are parted by commas and by signs`(_ row: (typed: String, names: [String])) {
        #expect(Chat.people(row.typed) == row.names)
    }
}

struct `The tab key` {
    private func starts(_ text: String) -> [ChatCompletion.Start] {
        var editor = LineEditor()
        _ = editor.press(.text(text))
        return ChatCompletion.starts(editor)
    }

    @Test(arguments: [
        (typed: "/he", starts: ["words 1 he"]), ("hi @mi", ["people 4 mi"]),
        ("#gen", ["channels 1 gen"]), ("mail me@home", []), ("no signs", []),
        ("@Mina P", ["people 1 Mina P"]), ("@a and @Mi", ["people 8 Mi", "people 1 a and @Mi"]),
        ("/dm @M", ["people 5 M"]), ("/join gen", ["channels 6 gen"]), ("/dm Mi", ["people 4 Mi"]),
        ("/join #gen", ["channels 7 gen"]), ("/join ", []), ("say /join gen", []),
        ("/join my @M", ["people 10 M", "channels 6 my @M"]),
    ])
    func `finds the beginning of a name`(_ row: (typed: String, starts: [String])) {
        #expect(starts(row.typed).map { "\($0.kind) \($0.place) \($0.typed)" } == row.starts)
    }

    @Test(arguments: [
        (typed: "mi", names: ["Mina", "Joon"], outcome: ChatCompletion.Outcome.replace("Mina ")),
        ("j", ["Mina"], .nothing), ("", ["Mina", "Joon"], .choose(["Joon", "Mina"])),
        ("M", ["Mina", "Mindy"], .replace("Min")),
        ("Min", ["Mina", "Mindy"], .choose(["Mina", "Mindy"])),
        ("e\u{301}", ["Éva"], .replace("Éva ")), ("mina", ["Mina", "Mina"], .replace("Mina ")),
        // Nobody could see what was put into their line.
        ("e", ["evil\u{1B}[2J"], .nothing), ("e", ["evil\u{202E}"], .nothing),
    ])
    func `completes it`(
        _ row: (typed: String, names: [String], outcome: ChatCompletion.Outcome)
    ) {
        #expect(ChatCompletion.complete(row.typed, among: row.names) == row.outcome)
    }
}

struct `What is known of a conversation` {
    private static func message(
        _ id: String, by name: String = "Mina", isOwn: Bool = false, isDeleted: Bool = false
    ) -> JSONValue {
        [
            "id": .string(id), "author": ["id": .string("u_" + name), "name": .string(name)],
            "text": .string("text of " + id), "self": .bool(isOwn), "holders": 1,
            "deleted": isDeleted ? ["at": 1] : .null, "state": "local",
        ]
    }

    private var room: ChatRoom {
        var room = ChatRoom(["id": "c_1", "name": "general", "kind": "channel"])
        room.note(Self.message("m_aaaaaaaa11"))
        room.note(Self.message("m_aaaaaaaa22", by: "Joon"))
        room.note(Self.message("m_bbbbbbbb33", by: "Ada", isOwn: true))
        room.note(Self.message("m_cccccccc44", by: "Ada", isOwn: true, isDeleted: true))
        return room
    }

    @Test(arguments: [
        (text: "last", id: "m_cccccccc44"), ("1", "m_cccccccc44"), ("4", "m_aaaaaaaa11"),
        ("@mina", "m_aaaaaaaa11"), ("@Joon", "m_aaaaaaaa22"), ("m_bbbbbbb", "m_bbbbbbbb33"),
    ])
    func `finds a message by how people name it`(_ row: (text: String, id: String)) throws {
        #expect(try room.message(row.text) == row.id)
    }

    @Test(arguments: ["0", "5", "@Nobody", "m_aaaaaaaa", "m_dddddddd", "x", "-1"])
    func `says when there is none`(text: String) {
        let error = #expect(throws: NodeError.self) { _ = try room.message(text) }
        #expect(error?.kind == .notFound)
    }

    @Test(arguments: [
        (count: 0, text: "no message is shown here"), (1, "only 1 message is shown here"),
        (2, "only 2 messages are shown here"),
    ])
    func `says how many there are`(_ row: (count: Int, text: String)) {
        var room = ChatRoom(["id": "c_1", "name": "general", "kind": "channel"])
        for number in 0..<row.count { room.note(Self.message("m_aaaaaaaa1\(number)")) }
        let error = #expect(throws: NodeError.self) { _ = try room.message("9") }
        #expect(error?.message == row.text)
    }

    @Test func `knows your last message, and who holds it`() {
        var room = room
        #expect(room.lastOwn?["id"] == "m_bbbbbbbb33")
        let own = Self.message("m_bbbbbbbb33", by: "Ada", isOwn: true)
        #expect(room.mark(own) == "")
        func row(_ person: String, _ verdict: String) -> JSONValue {
            ["member": ["id": .string("u_" + person)], "verdict": .string(verdict)]
        }
        room.tick = ChatTick(own)
        #expect(room.mark(own) == "")
        room.tick?.take([row("Ada", "held"), row("Mina", "held"), row("Joon", "waiting")])
        #expect(room.mark(own) == "  ✓1/2")
        #expect(room.mark(Self.message("m_aaaaaaaa11")) == "")
        // An older one says no number, but whether it is nowhere else.
        var older = Self.message("m_bbbbbbbb00", by: "Ada", isOwn: true).objectValue ?? [:]
        #expect(room.mark(.object(older)) == "  saved")
        older["state"] = "held_by_others"
        #expect(room.mark(.object(older)) == "")
    }

    @Test(arguments: [
        (kinds: "ooss", unread: Int64(0), start: 4, line: nil as String?),
        ("ooss", 1, 1, "── 1 new ──"), ("soso", 2, 1, "── 2 new ──"),
        ("odoo", 3, 0, "── 3 new ──"),
        ("oo", 7, 0, "── 7 new, the latest below; /older shows more ──"),
        ("", 0, 0, nil),
    ])
    func `knows where what is new begins`(
        _ row: (kinds: String, unread: Int64, start: Int, line: String?)
    ) {
        let items = row.kinds.enumerated().map { place, kind in
            Self.message("m_\(place)", isOwn: kind == "s", isDeleted: kind == "d")
        }
        let place = UnreadPlace(items, unread: row.unread)
        #expect(place.start == row.start)
        #expect(place.line == row.line)
    }
}
