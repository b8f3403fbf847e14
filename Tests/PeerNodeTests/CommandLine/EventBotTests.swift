import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `A bot of one command` {
    /// A world in which these things happened.
    private func world(_ count: Int64 = 3, backfill: Set<Int64> = []) -> MemoryIO {
        let io = MemoryIO()
        io.events = (1...count).map { number in
            var event = EventObject(
                sequence: number, cursor: "e1.\(number)", at: 1, type: "message.created",
                data: [
                    "id": .string("m_\(number)"), "channel": "c_general0",
                    "text": .string("text \(number)"),
                ])
            event.workspace = "w_acme0000"
            event.isBackfill = backfill.contains(number)
            return event
        }
        return io
    }

    private func acknowledged(_ io: MemoryIO) -> [String] {
        io.node?.asked.filter { $0.hasPrefix("ack ") } ?? []
    }

    @Test func `gets each event in order, on its input and in its environment`() throws {
        let io = world()
        var seen: [(command: String, input: String, environment: [String: String])] = []
        io.handler = { command, input, environment in
            seen.append((command, input, environment))
            return 0
        }
        #expect(
            io.run(
                "events", "--as", "bot", "--exec", "do it", "--count", "3", "--home", "home") == 0)
        #expect(seen.map(\.command) == ["do it", "do it", "do it"])
        #expect(seen.map { $0.environment["WSX_TEXT"] } == ["text 1", "text 2", "text 3"])
        let event = try JSONValue(parsing: seen[0].input.trimmed)
        #expect(event == io.events[0].json)
        #expect(seen[0].input.hasSuffix("}\n"))
        #expect(
            seen[1].environment == [
                "WSX_EVENT_TYPE": "message.created", "WSX_CURSOR": "e1.2",
                "WSX_CHANNEL": "c_general0", "WSX_MESSAGE": "m_2", "WSX_TEXT": "text 2",
                "WSX_NODE_SOCKET": "/here/home/control.sock", "WSX_NODE_HOME": "/here/home",
                "WSX_NODE_WORKSPACE": "w_acme0000", "WSX_BOT": "bot",
            ])
        #expect(acknowledged(io) == ["ack bot e1.1", "ack bot e1.2", "ack bot e1.3"])
        #expect(io.errors.isEmpty && io.output.isEmpty)
    }

    @Test func `finds controls made visible in variables, and the exact text on its input`() throws
    {
        let io = world(1)
        let text = "\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}\n\\033[2J $(id) -n"
        io.events[0].data = ["id": "m_\u{1B}[1", "channel": "c_\u{7}", "text": .string(text)]
        var seen: (input: String, environment: [String: String]) = ("", [:])
        io.handler = { _, input, environment in
            seen = (input, environment)
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(
            seen.environment["WSX_TEXT"]
                == #"\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}"# + "\n" + #"\033[2J $(id) -n"#)
        #expect(seen.environment["WSX_MESSAGE"] == #"m_\u{1b}[1"#)
        #expect(seen.environment["WSX_CHANNEL"] == #"c_\u{7}"#)
        #expect(try JSONValue(parsing: seen.input.trimmed)["data"]?["text"]?.stringValue == text)
    }

    @Test func `finds a whole message in a variable, whatever it is made of`() {
        let io = world(1)
        let text = String(repeating: "\u{1B}", count: Limits.messageTextBytesMax)
        io.events[0].data = ["id": "m_1", "text": .string(text)]
        var seen = ""
        io.handler = { _, _, environment in
            seen = environment["WSX_TEXT"] ?? ""
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(seen == String(repeating: #"\u{1b}"#, count: Limits.messageTextBytesMax))
        #expect(seen.utf8.count + 64 < 128 * 1024, "the kernel takes it")
    }

    @Test func `has all variables, also for what is no message`() {
        let io = world(1)
        io.events[0].data = ["channel": "c_general0", "message": "m_7", "emoji": "x"]
        io.events[0].type = "reaction.added"
        var seen: [String: String] = [:]
        io.handler = { _, _, environment in
            seen = environment
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(seen["WSX_CHANNEL"] == "c_general0" && seen["WSX_MESSAGE"] == "m_7")
        #expect(seen["WSX_TEXT"] == "" && seen["WSX_EVENT_TYPE"] == "reaction.added")
        io.node?.asked = []
        io.events[0].data = ["id": "c_plans000", "name": "plans"]
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(seen["WSX_CHANNEL"] == "c_plans000" && seen["WSX_MESSAGE"] == "")
    }

    @Test func `is given an event again as long as it asks for that, ever less often`() {
        let io = world(1)
        var runs = 0
        io.handler = { _, _, _ in
            runs += 1
            return runs < 10 ? 75 : 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(runs == 10)
        #expect(io.pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
        #expect(acknowledged(io) == ["ack bot e1.1"])
        #expect(io.errors.isEmpty)
    }

    @Test(arguments: [1, 127, 137, nil] as [Int32?])
    func `that fails is tried five times, and then warned of`(_ status: Int32?) {
        let io = world(2)
        var runs: [String: Int] = [:]
        io.handler = { _, _, environment in
            runs[environment["WSX_MESSAGE"] ?? "", default: 0] += 1
            return environment["WSX_MESSAGE"] == "m_1" ? status : 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "2") == 0)
        #expect(runs == ["m_1": 5, "m_2": 1])
        #expect(io.pauses == [1_000, 2_000, 4_000, 8_000])
        let how = status.map { "exited with \($0)" } ?? "could not be run"
        let warning = "the command \(how) 5 times at e1.1 message.created; skipped it"
        // The node is told why, so that everybody who listens is.
        #expect(acknowledged(io) == ["ack bot e1.1 \(warning)", "ack bot e1.2"])
        #expect(io.errors == "wsx-node: \(warning)\n")
    }

    @Test(arguments: [true, false])
    func `does not give up what fails while the node is away or locked`(_ isLocked: Bool) {
        let io = world(2)
        let node = io.node
        var runs = 0
        io.handler = { _, _, environment in
            if environment["WSX_MESSAGE"] == "m_2" { return 0 }
            runs += 1
            if runs == 1 {
                // What the command would say into goes away, for longer than five tries take.
                if isLocked {
                    node?.failure = NodeError(.locked, "no")
                } else {
                    io.node = nil
                }
            }
            return runs > 12 ? 0 : 3
        }
        io.happensInPause = {
            guard runs == 9 else { return }
            io.node = node
            node?.failure = nil
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "2") == 0)
        // Nine that do not count, three that do.
        #expect(runs == 13)
        #expect(acknowledged(io) == ["ack bot e1.1", "ack bot e1.2"])
        #expect(io.errors.isEmpty)
    }

    @Test(arguments: [75, 3] as [Int32])
    func `leaves an event to the next run when its time is over`(_ status: Int32) {
        let io = world(1)
        io.handler = { _, _, _ in status }
        io.happensInPause = { io.now += io.pauses.last ?? 0 }
        #expect(io.run("--timeout", "4s", "events", "--as", "bot", "--exec", "x") == 0)
        #expect(io.pauses == [1_000, 2_000, 1_000])
        #expect(acknowledged(io) == [])
        #expect(io.errors.isEmpty)
    }

    @Test func `counts only what fails, and warns programs in JSON`() throws {
        let io = world(1)
        var answers: [Int32] = [75, 3, 75, 3, 3, 3, 3]
        io.handler = { _, _, _ in answers.removeFirst() }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1", "--json") == 0)
        #expect(answers.isEmpty)
        let warning = try JSONValue(parsing: io.errors.trimmed)
        #expect(warning["type"] == "node.warning")
        #expect(warning["data"]?["status"] == 3)
        #expect(warning["data"]?["cursor"] == "e1.1")
    }

    @Test func `hears nothing of what is old, unless it asks`() {
        let io = world(4, backfill: [1, 2, 3])
        var seen: [String] = []
        io.handler = { _, _, environment in
            seen.append(environment["WSX_MESSAGE"] ?? "")
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(seen == ["m_4"])
        #expect(acknowledged(io) == ["ack bot e1.4"], "what was passed over is done with it")
        io.node?.asked = []
        seen = []
        #expect(
            io.run("events", "--as", "bot", "--exec", "x", "--count", "4", "--backfill") == 0)
        #expect(seen == ["m_1", "m_2", "m_3", "m_4"])
    }

    @Test func `hears nothing of what programs write, unless it asks`() {
        let io = world(3)
        for place in [0, 2] {
            io.events[place].data = [
                "id": .string("m_\(place + 1)"), "channel": "c_general0", "text": "x",
                "bot": .bool(place == 0),
            ]
        }
        var seen: [String] = []
        io.handler = { _, _, environment in
            seen.append(environment["WSX_MESSAGE"] ?? "")
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "2") == 0)
        #expect(seen == ["m_2", "m_3"])
        io.node?.asked = []
        seen = []
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "3", "--bots") == 0)
        #expect(seen == ["m_1", "m_2", "m_3"])
    }

    @Test func `is not given its own warnings, which it would fail at again`() {
        let io = world(3)
        for (place, name) in [(0, "bot"), (1, "other")] {
            io.events[place].type = "node.warning"
            io.events[place].data = ["reason": "bot.failed", "name": .string(name)]
        }
        var seen: [String] = []
        io.handler = { _, _, environment in
            seen.append(environment["WSX_CURSOR"] ?? "")
            return 0
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "2") == 0)
        #expect(seen == ["e1.2", "e1.3"])
    }

    @Test func `marks what it sends itself, wherever that is sent from`() {
        let io = MemoryIO()
        #expect(io.run("send", "general", "x", environment: ["WSX_BOT": "echo"]) == 0)
        #expect(io.run("send", "general", "x", "--bot") == 0)
        #expect(io.run("send", "general", "x", environment: ["WSX_BOT": ""]) == 0)
        #expect(io.node?.sentByBot == [true, true, false])
        let loop = ["WSX_BOT": "notify", "WSX_AUTHOR_BOT": "1"]
        #expect(io.run("send", "general", "x", environment: loop) == 4)
        #expect(io.errors.contains("bots do not answer bots"))
        let person = ["WSX_BOT": "notify", "WSX_AUTHOR_BOT": ""]
        #expect(io.run("send", "general", "x", environment: person) == 0)
        #expect(io.node?.sentByBot == [true, true, false, true])
    }

    @Test func `tells of what was done before it asks for more, when the node went away`() {
        let io = world(3)
        var seen: [String] = []
        io.handler = { _, _, environment in
            seen.append(environment["WSX_MESSAGE"] ?? "")
            // Between the command's end and the word to the node.
            io.isBroken = seen.count == 2
            return 0
        }
        io.happensInPause = { if io.pauses.count == 3 { io.isBroken = false } }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "3") == 0)
        #expect(seen == ["m_1", "m_2", "m_3"], "none twice, none missed")
        #expect(io.pauses == [100, 200, 400])
        #expect(
            io.node?.asked == [
                "wait 100", "ack bot e1.1", "ack bot e1.2", "wait 100", "ack bot e1.3",
            ])
    }

    @Test func `ends at once where there is no node to begin with`() {
        let io = world()
        io.node = nil
        #expect(io.run("events", "--as", "bot", "--exec", "x") == 3)
        #expect(io.pauses.isEmpty)
        let locked = world()
        locked.node?.failure = NodeError(.locked, "no")
        #expect(locked.run("events", "--as", "bot", "--exec", "x") == 4)
    }

    @Test func `waits for a node that goes away before anything has happened`() {
        let io = MemoryIO()
        let node = io.node
        // The connection ends while the first event is waited for, and the node is gone.
        io.happensInPause = {
            io.node = io.pauses.count < 3 ? nil : node
            io.events = world(1).events
        }
        #expect(io.run("events", "--as", "bot", "--exec", "x", "--count", "1") == 0)
        #expect(io.pauses == [100, 200, 400])
        #expect(io.errors.isEmpty)
    }

    @Test func `starts over where it is told to, and only once`() {
        let io = world(2)
        #expect(
            io.run(
                "events", "--as", "bot", "--exec", "x", "--since", "all", "--count", "2",
                "--type", "message.*") == 0)
        #expect(
            io.node?.asked == [
                "subscribe []", "ack bot e1.0", "wait 100", "ack bot e1.1", "ack bot e1.2",
            ])
    }

    @Test(arguments: [
        ["--exec", "x"], ["--exec", "x", "--as", "bot", "--ephemeral"],
        ["--exec", "x", "--as", "bot", "--keepalive-s", "9"], ["--backfill"], ["--bots"],
        ["--exec", "", "--as", "bot"],
    ])
    func `is refused what does not go together`(_ flags: [String]) {
        let io = world()
        io.handler = { _, _, _ in
            Issue.record("ran")
            return 0
        }
        #expect(Program.run(arguments: ["events"] + flags, environment: [:], io: io) == 2)
        #expect(io.node?.asked.isEmpty == true)
        #expect(!io.errors.isEmpty)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == "\n" }.reversed().drop { $0 == "\n" }.reversed())
    }
}
