import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A log for people` {
    private static let now: Int64 = 1_795_150_800_000  // 2026-11-20 06:00 in that world

    private static func message(
        _ id: String, _ text: String, _ fields: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        var object: JSONObject = [
            "id": .string(id), "author": ["id": "u_2", "name": "Joon"], "at": .integer(now),
            "text": .string(text), "channel": "c_1", "format": "text", "thread": .null,
            "deleted": .null, "mentions": [],
        ]
        for (key, value) in fields { object[key] = value }
        return .object(object)
    }

    private func rendering(columns: Int? = nil, hasColour: Bool = false) -> Rendering {
        var globals = GlobalFlags()
        globals.color = hasColour ? "always" : "never"
        var rendering = Rendering(globals: globals, environment: [:], io: MemoryIO())
        rendering.columns = columns
        return rendering
    }

    private func lines(_ items: [JSONValue], _ rendering: Rendering) -> [String] {
        rendering.text(["items": .array(items)], of: "message.history")
            .split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast()
            .map(String.init)
    }

    @Test func `sets code apart, as it was written`() {
        let code = Self.message("m_1", "if a:\n    b  c\n\nend\n\n", ["format": "code"])
        #expect(
            lines([code], rendering()) == [
                "06:00  Joon", "       │ if a:", "       │     b  c", "       │", "       │ end",
            ])
        let narrow = lines([code], rendering(columns: 24))
        #expect(narrow.allSatisfy { columnWidth($0) <= 24 }, "\(narrow)")
        let long = Self.message("m_1", String(repeating: "x", count: 50), ["format": "code"])
        let pieces = lines([long], rendering(columns: 40)).dropFirst()
        #expect(pieces.map { $0.prefix(9) } == ["       │ ", "       ┆ "])
        #expect(pieces.map { $0.filter { $0 == "x" }.count } == [31, 19])
        let changed = Self.message("m_1", "x", ["format": "code", "edited_at": 5])
        #expect(lines([changed], rendering()).first == "06:00  Joon  (edited)")
    }

    @Test func `has no blanks in empty lines, and no empty line at an end`() {
        let text = lines([Self.message("m_1", "a\n\nb\n")], rendering())
        #expect(text == ["06:00  Joon  a", "", "             b"])
    }

    @Test func `names once what answers are answers to`() {
        var shown = rendering()
        shown.threadRoots = [
            "m_0": Self.message("m_0", "shall we\nmeet?"),
            "m_9": Self.message("m_9", "x", ["deleted": ["at": 1]]),
        ]
        let reply: (String, JSONValue) -> JSONValue = { Self.message($0, $0, ["thread": $1]) }
        #expect(
            lines([reply("m_1", "m_0"), reply("m_2", "m_0"), reply("m_3", "m_9")], shown) == [
                "       ↳ in reply to Joon: shall we", "06:00  Joon  ↳ m_1",
                "06:00  Joon  ↳ m_2", "       ↳ in reply to Joon: (deleted)",
                "06:00  Joon  ↳ m_3",
            ])
    }

    @Test func `names in a stream what an answer answers that does not stand above it`() {
        var view = LiveView(rendering: rendering(), names: nil)
        func shown(_ id: String, to thread: String? = nil) -> [String] {
            let fields: KeyValuePairs<String, JSONValue> = ["thread": JSONValue(orNull: thread)]
            let message = Self.message(id, "text of \(id)", fields)
            if let root = view.rootWanted(by: message) {
                #expect(root == "m_0")
                view.note(Self.message("m_0", "long ago"))
            }
            return view.text(of: message).split(separator: "\n")
                .filter { !$0.hasPrefix("-- ") }.map(String.init)
        }
        let context = "       ↳ in reply to Joon: "
        #expect(shown("m_1").count == 1)
        #expect(shown("m_2", to: "m_1") == ["06:00  Joon  ↳ text of m_2"], "it stands above")
        #expect(shown("m_3", to: "m_1").count == 1, "so does another answer")
        #expect(shown("m_4", to: "m_0").first == context + "long ago")
        #expect(shown("m_5", to: "m_1").first == context + "text of m_1")
        #expect(shown("m_6").count == 1)
        #expect(shown("m_7", to: "m_0").first == context + "long ago")
        var globals = GlobalFlags()
        globals.json = true
        view = LiveView(
            rendering: Rendering(globals: globals, environment: [:], io: MemoryIO()), names: nil)
        #expect(view.rootWanted(by: Self.message("m_8", "x", ["thread": "m_0"])) == nil)
    }

    @Test func `shows the beginning of a long text where there are few rows`() {
        var short = rendering(columns: 40)
        short.rowsMax = 3
        let rest = "             … the rest: wsx-node message"
        let many = lines([Self.message("m_1", "a\nb\nc\nd")], short)
        #expect(many.prefix(3) == ["06:00  Joon  a", "             b", "             c"])
        let last = many.dropFirst(3).joined().split(separator: " ").joined(separator: " ")
        #expect(last == "… the rest: wsx-node message show m_1")
        #expect(lines([Self.message("m_1", "a\nb\nc")], short).count == 3)
        let long = lines([Self.message("m_1", String(repeating: "word ", count: 50))], short)
        #expect(long[3].hasPrefix(rest.prefix(24)), "\(long)")
        #expect(long.allSatisfy { columnWidth($0) <= 40 })
        short.rowsMax = nil
        #expect(lines([Self.message("m_1", "a\nb\nc\nd")], short).count == 4)
    }

    @Test func `sets mentions of the reader apart on a terminal with colour`() {
        var shown = rendering(hasColour: true)
        shown.ownNames = ["u_1": "Mina"]
        let mark = "\u{1B}[1;33m"
        func text(_ text: String, _ fields: KeyValuePairs<String, JSONValue>) -> String {
            lines([Self.message("m_1", text, fields)], shown).first ?? ""
        }
        #expect(text("hi @mina!", ["mentions": ["u_1"]]).contains("hi \(mark)@mina\u{1B}[0m!"))
        #expect(!text("hi @mina", [:]).contains(mark), "somebody else is called so")
        #expect(!text("a@mina @Minaret", ["mentions": ["u_1"]]).contains(mark))
        #expect(text("@channel x", [:]).contains("\(mark)@channel\u{1B}[0m x"))
        #expect(!text("@channel", ["format": "code"]).contains(mark))
        let hostile = text("@mina\u{1B}[2J", ["mentions": ["u_1"]])
        #expect(hostile.contains("\(mark)@mina\u{1B}[0m\\u{1b}[2J"))
        #expect(!rendering().highlighted("@channel", of: Self.message("m_1", "")).contains(mark))
    }

    /// A sign is one at the edge of a word, and only in a pair.
    @Test(
        arguments: [
            ("_waves_", "<i>waves</i>"), ("**b** and _i_.", "<b>b</b> and <i>i</i>."),
            ("**_both_** _**too**_", "<b><i>both</i></b> <i><b>too</b></i>"),
            ("(_a b_)", "(<i>a b</i>)"),
            ("_uses snake_case_", "<i>uses snake_case</i>"),
            ("**build 42** failed!", "<b>build 42</b> failed!"),
            ("snake_case_name", nil), ("__init__", nil), ("2 ** 3 ** 4", nil), ("_open", nil),
            ("f(_a, _b)", nil), ("**", nil), ("____", nil), ("_ a _", nil), ("*a*", nil),
            ("https://x.org/_a_/b", nil), ("a_ _b", nil), ("_", nil), ("***a***", nil),
            ("한국 **굵게**, _e\u{301}_", "한국 <b>굵게</b>, <i>e\u{301}</i>"),
        ] as [(String, String?)])
    func `shows emphasis on a terminal with colour`(_ row: (text: String, shown: String?)) {
        let message = Self.message("m_1", row.text)
        let shown = rendering(hasColour: true).emphasised(row.text, of: message)
        let words = [("[1m", "<b>"), ("[22m", "</b>"), ("[3m", "<i>"), ("[23m", "</i>")]
        let marked = words.reduce(shown) { text, word in
            text.replacing("\u{1B}" + word.0) { _, _ in word.1 }
        }
        #expect(marked == row.shown ?? row.text)
        #expect(rendering().emphasised(row.text, of: message) == row.text)
        let code = Self.message("m_1", row.text, ["format": "code"])
        #expect(rendering(hasColour: true).emphasised(row.text, of: code) == row.text)
    }

    @Test func `shows emphasis around mentions, and none in names of files`() {
        var shown = rendering(hasColour: true)
        shown.ownNames = ["u_1": "Mina"]
        let line = lines([Self.message("m_1", "_@Mina waves_", ["mentions": ["u_1"]])], shown)
        #expect(line.first?.contains("\u{1B}[3m\u{1B}[1;33m@Mina") == true, "\(line)")
        let file: JSONValue = ["blob": "b_1", "name": "_a_.txt", "size": 1, "type": .null]
        let files = lines([Self.message("m_1", "", ["attachments": [file]])], shown)
        #expect(files.contains { $0.contains("_a_.txt") }, "\(files)")
    }

    /// Each place is looked at a few times, however many signs are open.
    @Test func `looks for emphasis in time that grows with the text`() {
        let text = String(repeating: "_a **b ", count: 2_000)
        #expect(Emphasis.shown(text) == text)
        let pairs = String(repeating: "_a_ **b** ", count: 1_000)
        #expect(Emphasis.shown(pairs).contains("\u{1B}[1mb\u{1B}[22m "))
    }

    @Test func `gives programs a place where there is no text, and marks what was refused`() {
        let place: JSONValue = [
            "lat": .decimal("37.5665"), "lon": 126, "accuracy": 10, "label": .null,
        ]
        var globals = GlobalFlags()
        globals.plain = true
        let plain = Rendering(globals: globals, environment: [:], io: MemoryIO())
        let text = plain.text(
            [
                "items": [
                    Self.message("m_1", "", ["location": place]),
                    Self.message("m_2", "here", ["location": place]),
                    Self.message("m_3", "late", ["state": "refused"]),
                ]
            ], of: "message.history")
        let rows = text.split(separator: "\n").map {
            $0.split(separator: "\t").dropFirst(4).map(String.init)
        }
        #expect(rows == [["geo:37.5665,126;u=10"], ["here"], ["late", "refused"]])
    }

    @Test func `tells what became of a channel and of its members`() {
        let base: JSONObject = [
            "id": "c_1", "name": "general", "kind": "channel", "topic": .null, "description": .null,
        ]
        var view = LiveView(rendering: rendering(), names: ["c_1": "#general"])
        view.note(channels: [.object(base)])
        func told(_ type: String, _ data: JSONValue, isOld: Bool = false) -> String? {
            view.happening([
                "type": .string(type), "data": data, "at": .integer(Self.now),
                "backfill": .bool(isOld),
            ])
        }
        let member: JSONValue = ["channel": "c_1", "member": ["id": "u_2", "name": "Jo\u{1B}on"]]
        #expect(
            told("channel.member_added", member)
                == "06:00  #general  ── Jo\\u{1b}on is now in the channel\n")
        #expect(
            told("channel.member_removed", member)?.hasSuffix("no longer in the channel\n") == true)
        #expect(told("channel.member_added", member, isOld: true) == nil)
        var changed = base
        changed["topic"] = "pl\nans"
        #expect(told("channel.edited", .object(changed)) == "06:00  #general  ── topic: pl ans\n")
        #expect(told("channel.edited", .object(changed)) == nil, "nothing of it is new")
        changed["name"] = "hall"
        #expect(
            told("channel.edited", .object(changed))
                == "06:00  #hall  ── #general is now #hall\n")
        #expect(told("channel.archived", .object(changed))?.contains("#hall was archived") == true)
        #expect(told("channel.edited", .null) == nil)
        #expect(
            told("member.joined", ["id": "u_3", "name": "Cho"])
                == "06:00  ── Cho joined the workspace\n")
    }

    @Test(arguments: [
        ("channel", 3, "#Joon"), ("dm", 2, "@Joon"), ("dm", 1, "@me"), ("self", 1, "@me"),
    ])
    func `names conversations by their people`(_ row: (kind: String, people: Int, name: String)) {
        let people = Array(repeating: JSONValue.string("x"), count: row.people)
        let channel: JSONValue = [
            "name": "Joon", "kind": .string(row.kind), "people": .array(people),
        ]
        #expect(ChannelNames.shown(channel) == row.name)
        let list = rendering().text(["items": [channel]], of: "dm.list")
        #expect(list.contains(row.name == "@me" ? "  me  " : "  Joon  "))
    }

    @Test func `says one thing of each person who is to have a message, on whatever devices`() {
        func row(_ label: String, _ isHeld: Bool, _ verdict: JSONValue) -> JSONValue {
            let have: JSONValue = verdict == "unknown" ? "unknown" : 0
            return [
                "device": "d_1", "member": ["id": "u_1", "name": "Joon"],
                "label": .string(label), "have": have,
                "complete": .bool(isHeld), "at": .null, "verdict": verdict, "joined_at": 1,
            ]
        }
        let list: JSONValue = [
            "items": [
                row("Joon (amber)", true, "held"), row("Joon (phone)", false, "held"),
                row("Sora", false, "waiting"), row("Cho", false, "unknown"),
                row("Eve", true, .null),
            ]
        ]
        let lines = rendering().text(list, of: "message.holders").split(separator: "\n")
        let ends = [
            "PERSON", "yes      has it", "no       has it", "no       not yet",
            "unknown  unknown", "yes      only carries it",
        ]
        #expect(lines.count == ends.count)
        for (line, end) in zip(lines, ends) { #expect(line.contains(end), "\(line)") }
    }

    @Test func `shows points in time, and a sign of who is there`() {
        let there: JSONValue = [
            "id": "u_1", "name": "Mina", "state": "busy", "text": "in a\nmeeting", "emoji": "🍜",
            "until": .integer(Self.now + 3_600_000),
        ]
        let list: JSONValue = ["items": [there]]
        let text = rendering().text(list, of: "presence.list")
        #expect(text.contains("Mina  busy   🍜     in a meeting  Today 07:00"), "\(text)")
        var globals = GlobalFlags()
        globals.plain = true
        let plain = Rendering(globals: globals, environment: [:], io: MemoryIO())
        #expect(plain.text(list, of: "presence.list").hasSuffix("\t\(Self.now + 3_600_000)\t🍜\n"))
        let muted: JSONValue = [
            "id": "c_1", "name": "x", "muted": true, "muted_until": .integer(Self.now),
            "notify": "all",
        ]
        #expect(rendering().text(muted, of: "channel.mute").contains("yes    Today 06:00"))
    }
}
