import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A command line` {
    struct Row: Sendable, CustomTestStringConvertible {
        let line: [String]
        let command: String
        let values: String
        var testDescription: String { line.joined(separator: " ") }

        init(_ line: [String], _ command: String, _ values: String) {
            self.line = line
            self.command = command
            self.values = values
        }
    }

    static let understood = [
        Row(["send", "general", "hi"], "message.send", #"{"channel":"general","text":"hi"}"#),
        Row(
            ["--json", "send", "general", "hi"], "message.send",
            #"{"channel":"general","text":"hi"}"#),
        Row(
            ["channel", "--json", "create", "x", "--private"], "channel.create",
            #"{"private":true,"name":"x"}"#),
        Row(
            ["send", "a", "--", "--not-a-flag"], "message.send",
            #"{"channel":"a","text":"--not-a-flag"}"#),
        Row(["send", "a", "-"], "message.send", #"{"channel":"a","text":"-"}"#),
        Row(
            ["send", "a", "b", "--key=k=1"], "message.send",
            #"{"key":"k=1","channel":"a","text":"b"}"#),
        Row(
            ["send", "a", "b", "--code"], "message.send",
            #"{"format":"code","channel":"a","text":"b"}"#),
        Row(["log", "a", "-n", "5"], "message.history", #"{"limit":5,"channel":"a"}"#),
        Row(["log", "a", "-n5"], "message.history", #"{"limit":5,"channel":"a"}"#),
        Row(["log", "a", "-n=5"], "message.history", #"{"limit":5,"channel":"a"}"#),
        Row(["send", "a", "-5"], "message.send", #"{"channel":"a","text":"-5"}"#),
        Row(
            ["send", "a", "--location", "-33.8,151.2"], "message.send",
            #"{"location":"-33.8,151.2","channel":"a"}"#),
        Row(
            ["invite", "create", "--expires", "7d", "--channel", "a", "--channel", "b"],
            "invite.create", #"{"expires_ms":604800000,"channels":["a","b"]}"#),
        Row(
            ["events", "--as", "bot", "--type", "message.*", "--count", "2"], "events.subscribe",
            #"{"name":"bot","types":["message.*"],"count":2}"#),
        Row(
            ["message", "show", "m_000001", "m_000002"], "message.get",
            #"{"ids":["m_000001","m_000002"]}"#),
        Row(["channel", "list", "--all"], "channel.list", #"{"scope":"all"}"#),
        Row(
            ["join", "wsx://join/x", "--timeout", "5s"], "workspace.join",
            #"{"timeout_ms":5000,"link":"wsx://join/x"}"#),
        Row(
            ["--timeout", "5s", "join", "wsx://join/x"], "workspace.join",
            #"{"link":"wsx://join/x","timeout_ms":5000}"#),
        Row(["help", "channel", "create"], "help", #"{"topic":["channel","create"]}"#),
    ]

    @Test(arguments: understood)
    func `is understood`(_ row: Row) throws {
        let scan = try ArgumentScanner.scan(row.line, against: Command.all)
        #expect(scan.command?.name == row.command)
        #expect(JSONValue.object(scan.values).text == row.values)
    }

    static let refused: [([String], String, String?)] = [
        (["sned", "a"], "unknown command 'sned'", "did you mean 'send'?"),
        (
            ["channel", "crate"], "unknown command 'channel crate'",
            "did you mean 'channel create'?"
        ),
        (["sen", "a"], "unknown command 'sen'", "did you mean 'send'?"),
        (["send", "a", "b", "--kye", "k"], "unknown flag '--kye'", "did you mean '--key'?"),
        (["send", "a", "b", "--jsn"], "unknown flag '--jsn'", "did you mean '--json'?"),
        (["--nope"], "unknown flag '--nope'", "wsx-node help"),
        (["send", "a", "b", "--key"], "'--key' needs a value", nil),
        (["send", "a", "b", "--key", "1", "--key", "2"], "'--key' is given twice", nil),
        (["channel", "create", "x", "--private=maybe"], "'--private' takes no value", nil),
        (["log", "a", "-n", "+5"], "'-n' cannot be '+5'", "it takes an integer, 1 to 100"),
        (["log", "a", "-nx"], "'-n' cannot be 'x'", "it takes an integer, 1 to 100"),
        (
            ["send", "general", "--dash", "it's"], "unknown flag '--dash'",
            "if it is text, put -- before it: wsx-node send general -- --dash 'it'\\''s'"
        ),
        (["log", "a", "-x1"], "unknown flag '-x1'", "wsx-node help log"),
        (
            ["channel", "mute", "a", "-5"], "the duration cannot be '-5'",
            "it takes a duration such as 250ms, 30s, 10m, 24h or 7d"
        ),
        (
            ["invite", "create", "--expires", "7"], "'--expires' cannot be '7'",
            "it takes a duration such as 250ms, 30s, 10m, 24h or 7d"
        ),
        (["--color", "pink", "status"], "'--color' takes auto, always or never", nil),
        (["--timeout", "soon", "status"], "'--timeout' takes a duration such as 30s", nil),
    ]

    @Test(arguments: refused)
    func `is refused with the nearest name`(_ row: (line: [String], message: String, hint: String?))
    {
        let error = #expect(throws: NodeError.self) {
            _ = try ArgumentScanner.scan(row.line, against: Command.all)
        }
        #expect(error?.message == row.message)
        #expect(error?.hint == row.hint)
        #expect(error?.exitStatus == 2)
    }

    @Test func `has one word too many, but in a text`() throws {
        let error = #expect(throws: NodeError.self) {
            _ = try ArgumentScanner.scan(["channel", "show", "b", "c"], against: Command.all)
        }
        #expect(error?.message == "unexpected word 'c'")
        let scan = try ArgumentScanner.scan(["send", "a", "b", "c"], against: Command.all)
        #expect(scan.values["text"] == "b c")
    }

    @Test func `reads every flag of every command from its own description`() throws {
        for command in Command.all {
            for parameter in command.flags where parameter.takesNoValue {
                let line = (command.line?.words ?? []) + ["--" + parameter.flag]
                guard command.line != nil else { continue }
                let scan = try ArgumentScanner.scan(line, against: Command.all)
                #expect(scan.values[parameter.name] == parameter.impliedValue)
            }
        }
    }

    @Test func `takes raw arguments by the type of the parameter`() throws {
        let invite = try Command.method("invite.create")
        var parameters = JSONObject()
        for word in ["uses=3", "expires_ms=60000", "channels=a", "channels=b", "role=guest"] {
            try RawArgument.add(word, to: &parameters, of: invite)
        }
        #expect(
            JSONValue.object(parameters).text
                == #"{"uses":3,"expires_ms":60000,"channels":["a","b"],"role":"guest"}"#)
        var free = JSONObject()
        for word in ["x=1", "y:={\"a\":[1]}", "z=a=b", "x=2"] {
            try RawArgument.add(word, to: &free, of: nil)
        }
        #expect(JSONValue.object(free).text == #"{"x":["1","2"],"y":{"a":[1]},"z":"a=b"}"#)
        #expect(throws: NodeError.self) { try RawArgument.add("x", to: &free, of: nil) }
        #expect(throws: NodeError.self) { try RawArgument.add("=x", to: &free, of: nil) }
        #expect(throws: NodeError.self) { try RawArgument.add("x:=[", to: &free, of: nil) }
    }
}

struct `A point in time` {
    private static let now: Int64 = 1_795_150_800_000  // 2026-11-20 05:00 UTC

    static let rows: [(String, Int64?)] = [
        ("2h", now - 7_200_000), ("1795150800123", 1_795_150_800_123),
        ("2026-11-20", 1_795_132_800_000 - 3_600_000),
        ("2026-11-20 06:00", now), ("2026-11-20T06:00", now),
        ("2026-02-30", nil), ("2026-13-01", nil), ("", nil),
        ("Yesterday", 1_795_046_400_000 - 3_600_000),
        ("today", 1_795_132_800_000 - 3_600_000), ("yesterday", 1_795_046_400_000 - 3_600_000),
        ("tomorrow", 1_795_219_200_000 - 3_600_000), ("2026-11-20T05:00:00Z", now),
        ("2026-11-20T05:00Z", now), ("2026-11-20T06:00:00", now),
        ("2026-11-20 05:00:01.5z", now + 1_500), ("2026-11-20T05:00:00.1239Z", now + 123),
        ("2026-11-20T14:00:00+09:00", now), ("2026-11-19T21:30:00-0730", now),
        ("2026-11-20T05:00:60Z", nil), ("2026-11-20T05:00:00.Z", nil),
        ("2026-11-20T05:00:00+9", nil), ("2026-11-20T05:00:00+24:00", nil),
        ("2026-11-20T05:00:0", nil), ("2026-11-20T05:00:00Zx", nil), ("2026-11-20T", nil),
        ("2026-11-20T05:00:00X", nil), ("1970-01-01T00:00:00+14:00", 0), ("2026-11-20x", nil),
        ("2026-11-20 24:00", nil), ("2026_11_20", nil), ("1969-01-01", nil),
        // It is a Friday, 6:00.
        ("now", now), ("1h30m", now - 5_400_000), ("1w", now - 604_800_000),
        ("1d12h", now - 129_600_000), ("30m1h", nil), ("1h1h", nil), ("h", nil), ("1w2", nil),
        ("6:00", now), ("05:30", now - 1_800_000), ("06:01", now + 60_000 - 86_400_000),
        ("today 14:00", now + 28_800_000), ("yesterday 6:00", now - 86_400_000),
        ("thursday 06:00", now - 86_400_000), ("Fri 06:00", now - 7 * 86_400_000),
        ("sat", 1_795_132_800_000 - 3_600_000 - 6 * 86_400_000),
        ("monday tuesday", nil), ("6:00 today", nil), ("25:00", nil), ("someday", nil), (" ", nil),
        ("30", nil), ("0", 0),
        ("5 minutes", now - 300_000), ("1 hour", now - 3_600_000), ("2 Weeks", now - 1_209_600_000),
        ("5 am", now - 3_600_000), ("6am", now), ("5:30AM", now - 1_800_000),
        ("12am", now - 6 * 3_600_000), ("12pm", now - 18 * 3_600_000),
        ("9:30pm", now - 8 * 3_600_000 - 1_800_000), ("yesterday at 6 am", now - 86_400_000),
        ("0am", nil), ("13pm", nil), ("9:60am", nil), ("am", nil), ("pm am", nil), ("at", nil),
        ("today at", nil), ("in 2h", nil), ("x minutes", nil), ("5 fortnights", nil), ("5 s", nil),
        ("an hour", nil), ("9 minutes ago", nil),
    ]

    @Test(arguments: rows)
    func `is read in local time`(_ row: (text: String, milliseconds: Int64?)) {
        #expect(TimeText.milliseconds(row.text, now: Self.now) { _ in 60 } == row.milliseconds)
    }

    @Test func `is one to come for what ends later`() {
        let zone: (Int64) -> Int64 = { _ in 0 }
        #expect(
            TimeText.milliseconds("2h", ahead: true, now: Self.now, zone: zone)
                == Self.now + 7_200_000)
        #expect(
            TimeText.milliseconds("2026-11-20", ahead: true, now: Self.now, zone: zone)
                == TimeText.milliseconds("2026-11-20", now: Self.now, zone: zone))
        for (text, milliseconds) in [
            ("5:00", 0), ("06:00", 3_600_000), ("04:59", 86_340_000), ("fri 5:00", 7 * 86_400_000),
            ("tomorrow 05:00", 86_400_000), ("1h30m", 5_400_000), ("mon 5:00", 3 * 86_400_000),
        ] as [(String, Int64)] {
            let time = TimeText.milliseconds(text, ahead: true, now: Self.now, zone: zone)
            #expect(time == Self.now + milliseconds, "\(text)")
        }
        for (text, milliseconds) in [
            ("in 5 minutes", 300_000), ("in 2h", 7_200_000), ("In an hour", 3_600_000),
            ("5 minutes", 300_000), ("9am", 14_400_000), ("at 9 am", 14_400_000),
            ("tomorrow at 9am", 100_800_000), ("in", nil), ("in tomorrow", nil),
            ("tomorrow at", nil), ("in a while", nil),
        ] as [(String, Int64?)] {
            let time = TimeText.milliseconds(text, ahead: true, now: Self.now, zone: zone)
            #expect(time == milliseconds.map { Self.now + $0 }, "\(text)")
        }
        let parameters = ["presence.set", "channel.mute"].map { name in
            Command.methods.first { $0.name == name }?.parameters.first { $0.name == "until" }
        }
        #expect(parameters.allSatisfy { $0?.isAhead == true })
    }

    /// Nobody wants to be reminded at midnight.
    @Test(
        arguments: [
            ("tomorrow", 28), ("sat", 28), ("2026-11-21", 28), ("tomorrow 05:00", 24),
            ("2026-11-21 05:00", 24), ("today", 4), ("2h", 2),
        ] as [(text: String, hours: Int64)])
    func `of a reminder is in the morning if only the day is given`(
        _ row: (text: String, hours: Int64)
    ) throws {
        let command = try #require(Command.methods.first { $0.name == "reminder.create" })
        let at = try #require(command.parameters.first { $0.name == "at" })
        let time = TimeText.milliseconds(
            row.text, ahead: at.isAhead, dayMinute: at.dayMinute, now: Self.now
        ) { _ in 0 }
        #expect(time == Self.now + row.hours * 3_600_000)
    }

    @Test func `is shown by day and clock`() {
        let (day, clock) = TimeText.local(Self.now) { _ in 60 }
        #expect(clock == "06:00")
        #expect(TimeText.dayLine(day, today: day) == "Today")
        #expect(TimeText.dayLine(day - 1, today: day) == "Yesterday")
        #expect(TimeText.dayLine(day, today: day + 5) == "Fri 20 Nov")
        #expect(TimeText.dayLine(day, today: day + 300) == "Fri 20 Nov 2026")
        #expect(TimeText.local(.max) { _ in 0 }.clock == "23:59")
        #expect(TimeText.local(.min) { _ in -60 }.clock == "23:00")
    }

    @Test func `counts days both ways`() {
        for day in stride(from: Int64(-1_000), to: 100_000, by: 17) {
            let date = TimeText.date(ofDay: day)
            #expect(TimeText.days(year: date.year, month: date.month, day: date.day) == day)
        }
    }
}
