import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// Stars and reminders on the command line and in a conversation.
struct `Stars and reminders for people` {
    private let io = MemoryIO()

    /// 20 November 2026, 19:40 where the tests are.
    private static let now: Int64 = 1_795_200_000_000
    private static let hour: Int64 = 3_600_000

    private static func reminder(
        _ id: String, _ text: JSONValue, at: Int64, state: String = "waiting",
        preview: JSONValue = .null
    ) -> JSONValue {
        [
            "id": .string(id), "workspace": "w_acme0000", "channel": "c_general0",
            "channel_name": "general", "message": preview.isNull ? .null : "m_01hx9t4c",
            "preview": preview, "text": text, "at": .integer(at), "state": .string(state),
            "created_at": 1,
        ]
    }

    private static let reminders: [JSONValue] = [
        reminder(
            "y_7k3qm2xadw0f9c1bqzr6t8n4h5", .null, at: now - hour, state: "due",
            preview: [
                "id": "m_01hx9t4c", "author": ["id": "u_1", "name": "Joon Kim"], "at": 1,
                "text": "could you look at the bakery plans\nbefore Friday?",
            ]),
        reminder("y_8m4rn3ybex1g0d2crzs7v9p5j6", "weekly notes", at: now + 24 * hour),
    ]

    private func rendering(columns: Int? = nil, isPlain: Bool = false) -> Rendering {
        var globals = GlobalFlags()
        globals.plain = isPlain
        globals.color = "never"
        var rendering = Rendering(globals: globals, environment: [:], io: MemoryIO())
        rendering.columns = columns
        return rendering
    }

    // MARK: What is shown

    @Test(arguments: [40, 60, 80, 200])
    func `stand in columns that fit`(_ columns: Int) {
        let text = rendering(columns: columns).text(
            ["items": .array(Self.reminders)], of: "reminder.list")
        for line in text.split(separator: "\n") {
            #expect(columnWidth(String(line)) <= columns, "\(line)")
        }
        #expect(text.contains("Today 18:40") && text.contains("Sat 21 Nov 19:40"), "\(text)")
        #expect(text.contains("weekly notes") && text.contains("t8n4h5"), "\(text)")
        #expect(text.contains("could you"), "\(text)")
    }

    @Test func `are columns without titles for programs`() {
        let text = rendering(isPlain: true).text(
            ["items": [Self.reminders[1]]], of: "reminder.list")
        #expect(
            text == "y_8m4rn3ybex1g0d2crzs7v9p5j6\t\(Self.now + 24 * Self.hour)\twaiting\t"
                + "c_general0\t-\tweekly notes\n")
        #expect(rendering(isPlain: true).text(["items": []], of: "reminder.list").isEmpty)
    }

    @Test func `are one line when they are made or cancelled`() {
        let made = Self.reminders[1]
        #expect(
            rendering().text(made, of: "reminder.create")
                == "reminder set for Sat 21 Nov 19:40: "
                + "y_8m4rn3ybex1g0d2crzs7v9p5j6  weekly notes\n")
        let cancelled = Self.reminder("y_1", .null, at: Self.now, state: "cancelled")
        #expect(
            rendering().text(cancelled, of: "reminder.cancel")
                == "reminder cancelled: y_1  general\n")
    }

    @Test func `are shown with their channel, and on the message`() {
        #expect(io.run("message", "list", "--starred") == 0)
        #expect(io.output.contains("06:00  #general  Mina  hello\n"), "\(io.output)")
        #expect(io.run("message", "star", "m_01hx9t4c") == 0)
        #expect(io.output.hasSuffix("Mina  hello (starred)\n"), "\(io.output)")
        let other = MemoryIO()
        #expect(other.run("message", "list") == 0, "\(other.errors)")
        #expect(other.node?.asked.contains("starred 100") == true)
        other.output = ""
        other.isOutputTerminal = true
        other.node?.findsNothing = true
        #expect(other.run("message", "list", "--starred", "--color", "never") == 0)
        #expect(other.output == "nothing starred\n")
    }

    // MARK: What is typed

    @Test(arguments: [
        (words: "2h", time: "2h", text: ""), ("2h call back", "2h", "call back"),
        ("tomorrow 9:00", "tomorrow 9:00", ""), ("tomorrow", "tomorrow", ""),
        ("tomorrow 9:00  two  words", "tomorrow 9:00", "two  words"),
        ("9:00 stand up", "9:00", "stand up"), ("monday notes", "monday", "notes"),
        ("2026-12-24 18:00 presents", "2026-12-24 18:00", "presents"),
        ("someday soon", "someday", "soon"), ("in 5 minutes", "in 5 minutes", ""),
        ("in 5 minutes stand  up", "in 5 minutes", "stand  up"), ("9am notes", "9am", "notes"),
        ("tomorrow at 9 am call", "tomorrow at 9 am", "call"),
        ("tomorrow at the desk", "tomorrow", "at the desk"),
        ("in a while or so", "in", "a while or so"),
    ])
    func `begin with a time of one word or more`(
        _ row: (words: String, time: String, text: String)
    ) {
        let parted = Reminding.parted(row.words) {
            TimeText.milliseconds($0, ahead: true, now: Self.now) { _ in 60 } != nil
        }
        #expect(parted.time == row.time && parted.text == row.text)
    }

    @Test(arguments: [
        (
            line: ["general", "tomorrow", "9:00", "weekly", "notes"],
            asked: #"remind channel name("general") 1795248000000 weekly notes"#
        ),
        (
            ["general", "tomorrow 9:00", "weekly notes"],
            #"remind channel name("general") 1795248000000 weekly notes"#
        ),
        (["m_01hx9t4c", "2h"], "remind message m_01hx9t4c 1795207200000 -"),
        (["last", "2h", "--in", "general"], "remind message m_01hx9t4c 1795207200000 -"),
        (
            ["--channel", "general", "--at", "2h", "--text", "notes"],
            #"remind channel name("general") 1795207200000 notes"#
        ),
        (
            ["general", "in", "5", "minutes", "stand", "up"],
            #"remind channel name("general") 1795200300000 stand up"#
        ),
        (["m_01hx9t4c", "tomorrow"], "remind message m_01hx9t4c 1795248000000 -"),
        (["m_01hx9t4c", "--at", "tomorrow"], "remind message m_01hx9t4c 1795248000000 -"),
    ])
    func `are made in as many words as it takes`(_ row: (line: [String], asked: String)) {
        let status = Program.run(arguments: ["remind"] + row.line, environment: [:], io: io)
        #expect(status == 0, "\(io.errors)")
        #expect(io.node?.asked.last == row.asked)
        #expect(io.output.hasPrefix("reminder set for today 19:40: y_7k3qm2xa  "), "\(io.output)")
    }

    @Test(
        arguments: [
            (["general", "someday"], "'someday' does not begin with a time\nhint: such as"),
            ([], "wsx-node: of what, and when?\nhint: such as wsx-node remind general 2h"),
            (["general"], "wsx-node: when?\nhint: such as wsx-node remind general 2h"),
            (["general", "a while ago"], "'a while ago' does not begin with a time"),
            (["general", "--at", "someday"], "'--at' cannot be 'someday'"),
        ] as [(line: [String], says: String)])
    func `need a time`(_ row: (line: [String], says: String)) {
        #expect(Program.run(arguments: ["remind"] + row.line, environment: [:], io: io) == 2)
        #expect(io.errors.contains(row.says), "\(io.errors)")
        #expect(io.errors.contains("--at") == row.line.contains("--at"), "\(io.errors)")
        #expect(io.node?.asked.contains { $0.hasPrefix("remind ") } == false)
    }

    @Test(arguments: [
        (line: ["10m", "last"], meant: "last 10m"),
        (["10m", "last", "--in", "general"], "last 10m --in general"),
        (["2h", "m_01hx9t4c", "call", "back"], "m_01hx9t4c 2h 'call back'"),
        (["tomorrow", "general"], "general tomorrow"),
    ])
    func `say what to type where the time stands first`(_ row: (line: [String], meant: String)) {
        #expect(Program.run(arguments: ["remind"] + row.line, environment: [:], io: io) == 2)
        #expect(io.errors.hasSuffix("hint: wsx-node remind \(row.meant)\n"), "\(io.errors)")
        #expect(io.node?.asked.contains { $0.hasPrefix("remind ") } == false)
    }

    /// A channel may be called like a day. Only where there is none was the day meant.
    @Test(
        arguments: [
            (["tomorrow", "9:00", "last"], "last tomorrow 9:00"), (["tomorrow", "9:00"], nil),
            (["monday", "2h", "notes"], nil),
        ] as [(line: [String], meant: String?)])
    func `take a day for a channel first`(_ row: (line: [String], meant: String?)) {
        #expect(Program.run(arguments: ["remind"] + row.line, environment: [:], io: io) == 0)
        let other = MemoryIO()
        other.node?.failure = .notFound("channel", row.line[0], field: "channel")
        let status = Program.run(arguments: ["remind"] + row.line, environment: [:], io: other)
        #expect(status == (row.meant == nil ? 5 : 2), "\(other.errors)")
        let isHinted = row.meant.map { other.errors.hasSuffix("hint: wsx-node remind \($0)\n") }
        #expect(isHinted != false, "\(other.errors)")
    }

    @Test(arguments: ["y_7k3qm2xa", "3qm2xa"])
    func `are cancelled by their id or its end`(_ id: String) {
        io.node?.reminderRows = [TableNode.reminder]
        #expect(io.run("remind", "cancel", id) == 0)
        #expect(io.node?.asked.last == "cancelReminder y_7k3qm2xa")
        #expect(io.output.hasPrefix("reminder cancelled: y_7k3qm2xa"), "\(io.output)")
    }

    @Test func `that are due are counted on the home screen`() {
        (io.isInputTerminal, io.isOutputTerminal) = (true, true)
        var due = TableNode.reminder
        due.state = .due
        io.node?.reminderRows = [due, TableNode.reminder]
        #expect(io.run() == 0)
        #expect(io.output.contains("note  1 reminder is due: wsx-node remind list\n"))
    }

    // MARK: In a conversation

    private func chat(_ steps: [(String) -> String]) -> MemoryIO {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = TypingKeyboard()
        keyboard.steps = steps
        io.live = keyboard
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        #expect(keyboard.steps.isEmpty)
        return io
    }

    @Test func `are set, shown and dismissed by words`() {
        let lines = [
            "/star last", "/unstar last", "/remind last 2h call back", "/remind here tomorrow 9:00",
        ]
        let io = chat(lines.map { line -> (String) -> String in { _ in line + "\r" } })
        let asked = io.node?.asked ?? []
        for expected in [
            "star m_01hx9t4c true", "star m_01hx9t4c false",
            "remind message m_01hx9t4c 1795207200000 call back",
            #"remind channel id("c_general0") 1795248000000 -"#,
        ] { #expect(asked.contains(expected), "\(expected): \(asked)") }
        var due = TableNode.reminder
        due.state = .due
        let other = MemoryIO()
        other.node?.reminderRows = [due, TableNode.reminder]
        (other.isInputTerminal, other.isOutputTerminal, other.isSilent) = (true, true, true)
        let keyboard = TypingKeyboard()
        keyboard.steps = [{ _ in "/dismiss\r" }]
        other.live = keyboard
        #expect(other.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        let cancelled = other.node?.asked.filter { $0.hasPrefix("cancelReminder") }
        #expect(cancelled == ["cancelReminder y_7k3qm2xa"])
    }

    @Test func `are told in a line when their time has come`() throws {
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = TypingKeyboard()
        io.live = keyboard
        var due = TableNode.reminder
        due.state = .due
        due.channelName = "general"
        due.text = "weekly notes"
        var drawn: [String] = []
        keyboard.steps = [
            { _ in
                io.eventsBefore["typing.send"] = EventObject(
                    sequence: 9, cursor: "e1.9", at: 1, type: "reminder.due", data: due.json)
                return "x"
            },
            { shown in
                drawn.append(shown)
                return ""
            },
        ]
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        let shown = try #require(drawn.first)
        #expect(shown.contains("reminder: weekly notes"), "\(shown)")
        #expect(shown.contains("/dismiss when done"), "\(shown)")
    }
}
