import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// A keyboard without input, and the screen at the first wait.
private final class SilentKeyboard: LiveInput {
    let size = (columns: 80, rows: 24)
    private(set) var written = ""
    private(set) var writtenBeforeWaiting: String?

    func write(_ text: String) -> Bool {
        written += text
        return true
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        writtenBeforeWaiting = writtenBeforeWaiting ?? written
        return [.endAsked(15)]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

/// A keyboard that runs a test's action at each wait, and then reports the end of input.
private final class ScriptedKeyboard: LiveInput {
    let size = (columns: 80, rows: 24)
    private(set) var written = ""
    /// How long it was waited for at most, each time.
    private(set) var waits: [Int64?] = []
    /// What happens, one after the other.
    var steps: [() -> Void] = []

    func write(_ text: String) -> Bool {
        written += text
        return true
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        waits.append(milliseconds)
        guard !steps.isEmpty else { return [.endAsked(15)] }
        steps.removeFirst()()
        return [.answered]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

struct `The tick of your newest message` {
    private func row(
        _ device: String, of person: String, _ verdict: String?, joined: Int64 = 1
    ) -> HolderObject {
        var row = HolderObject(
            device: "d_" + device, member: PersonObject(id: "u_" + person, name: person),
            have: verdict == "held" ? 1 : 0, isComplete: verdict == "held", at: 1)
        row.verdict = verdict
        row.joinedAt = joined
        return row
    }

    private func event(_ message: MessageObject, _ io: MemoryIO) -> EventObject {
        EventObject(
            sequence: 9, cursor: "e1.9", at: io.now, type: "message.created", data: message.json)
    }

    /// A conversation in which the reader has just said "hello" and Joon "hi" below it, while nobody
    /// had "hello" yet.
    private func conversation() throws -> (MemoryIO, ScriptedKeyboard) {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = ScriptedKeyboard()
        io.live = keyboard
        var own = try #require(io.node?.message)
        (own.id, own.text, own.isSelf) = ("m_own00000", "hello", true)
        var other = own
        (other.id, other.text, other.isSelf) = ("m_other000", "hi", false)
        other.author = PersonObject(id: "u_joon", name: "Joon")
        io.node?.holderRows = [row("joon", of: "joon", "waiting")]
        io.eventsBefore = ["read.mark": event(own, io), "message.holders": event(other, io)]
        return (io, keyboard)
    }

    private func chat(_ io: MemoryIO) {
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        #expect(io.eventsBefore.isEmpty)
    }

    @Test func `is told once under what came later, and never again`() throws {
        let (io, keyboard) = try conversation()
        let later = Int64(1) << 50
        keyboard.steps = [
            {
                io.now += 1_000
                io.node?.holderRows = [self.row("joon", of: "joon", "held")]
            },
            {
                // A device more, somebody who came in since, and somebody who only carries it.
                io.now += 100_000
                io.node?.holderRows = [
                    self.row("joon", of: "joon", "held"), self.row("phone", of: "joon", "held"),
                    self.row("cleo", of: "cleo", "held", joined: later),
                    self.row("relay", of: "relay", nil),
                ]
            },
            { io.now += 100_000 },
        ]
        chat(io)
        #expect(keyboard.written.contains("hello  saved"), "\(keyboard.written)")
        #expect(keyboard.written.contains("✓1/1  hello"), "\(keyboard.written)")
        #expect(keyboard.written.split(separator: "✓").count == 2, "\(keyboard.written)")
        // Nobody is waited for any more.
        let asked = io.node?.asked.filter { $0 == "holders m_own00000" }
        #expect(asked?.count == 2)
    }

    /// Nothing that is due can be done then, and polling for it would not be waiting.
    @Test func `is not waited for while the daemon is away`() throws {
        let (io, keyboard) = try conversation()
        keyboard.steps = [
            {
                io.isBroken = true
                io.node = nil
                io.now += 1_000
            }
        ]
        keyboard.steps += Array(repeating: { io.now += 40_000 }, count: 4)
        chat(io)
        #expect(keyboard.written.contains("the daemon does not answer"), "\(keyboard.written)")
        #expect(keyboard.waits.count == 6)
        #expect(keyboard.waits.dropFirst().allSatisfy { $0.map { $0 > 0 } ?? false })
    }

    @Test func `is no more that of the message before it`() throws {
        let (io, keyboard) = try conversation()
        var next = try #require(io.node?.message)
        (next.id, next.text, next.isSelf) = ("m_next0000", "again", true)
        next.at += 1
        keyboard.steps = [
            {
                io.now += 1_000
                io.eventsBefore["message.holders"] = self.event(next, io)
            },
            {
                io.now += 100_000
                io.node?.holderRows = [self.row("joon", of: "joon", "held")]
            },
        ]
        chat(io)
        #expect(keyboard.written.contains("again  ✓1/1"), "\(keyboard.written)")
        #expect(!keyboard.written.contains("✓1/1  hello"), "\(keyboard.written)")
    }

    @Test func `counts people, and not their devices`() throws {
        let message: JSONValue = ["id": "m_1", "at": 10, "author": ["id": "u_mina", "name": "M"]]
        var tick = try #require(ChatTick(message))
        #expect(tick.text == "" && !tick.isSettled)
        var rows = [
            row("amber", of: "mina", "held"), row("joon", of: "joon", "held"),
            row("phone", of: "joon", "held"), row("cleo", of: "cleo", "waiting"),
            row("relay", of: "relay", nil), row("new", of: "new", "held", joined: 11),
        ]
        tick.take(rows.map(\.json))
        #expect(tick.text == "  ✓1/2" && !tick.isSettled)
        // Who was added to the conversation later is not waited for either.
        rows[3] = row("cleo", of: "cleo", "held")
        rows.append(row("dan", of: "dan", "waiting"))
        tick.take(rows.map(\.json))
        #expect(tick.text == "  ✓2/2" && tick.isSettled)
        tick.take([])
        #expect(tick.text == "  ✓2/2")
        var alone = try #require(ChatTick(message))
        alone.take([row("amber", of: "mina", "held")].map(\.json))
        #expect(alone.text == "" && alone.isSettled)
        var unheard = try #require(ChatTick(message))
        unheard.take([row("joon", of: "joon", "unknown")].map(\.json))
        #expect(unheard.text == "  saved" && !unheard.isSettled)
    }
}

struct `The loop of a conversation` {
    /// Events that have already arrived do not end a wait for the daemon.
    @Test(arguments: ["read.mark", "message.history", "channel.get"])
    func `shows what came beside an answer before it waits`(_ method: String) throws {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = SilentKeyboard()
        io.live = keyboard
        var message = try #require(io.node?.message)
        (message.id, message.text) = ("m_late0000", "just now")
        io.eventsBefore = [
            method: EventObject(
                sequence: 9, cursor: "e1.9", at: io.now, type: "message.created",
                data: message.json)
        ]
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        #expect(io.eventsBefore.isEmpty)
        #expect(keyboard.writtenBeforeWaiting?.contains("just now") == true)
    }

    private func happened(_ number: Int64, _ type: String, _ data: JSONValue) -> EventObject {
        EventObject(sequence: number, cursor: "e1.\(number)", at: 1, type: type, data: data)
    }

    @Test(arguments: ["", "1"])
    func `says that it is the reader who was taken out, with colours and without`(_ noColor: String)
    {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = SilentKeyboard()
        io.live = keyboard
        let mina = PersonObject(id: "u_mina0000", name: "Mina").json
        io.events = [
            happened(1, "channel.member_removed", ["channel": "c_general0", "member": mina])
        ]
        let environment = ["TERM": "xterm", "NO_COLOR": noColor]
        #expect(io.run("chat", "general", environment: environment) == 128 + 15)
        #expect(keyboard.written.contains("you are no longer in #"), "\(keyboard.written)")
    }

    @Test func `says what a new device is called, and no other name of a device`() {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = SilentKeyboard()
        io.live = keyboard
        let joon = PersonObject(id: "u_joon0000", name: "Joon").json
        io.events = [
            happened(1, "device.added", ["id": "d_phone000x7", "name": "d_phone000"]),
            happened(
                2, "member.key_changed",
                ["member": joon, "device": ["id": "d_tablet00x7", "name": "d_tablet00"]]),
            happened(3, "device.renamed", ["id": "d_phone000x7", "name": "pocket"]),
            happened(4, "device.renamed", ["id": "d_tablet00x7", "name": "couch"]),
            happened(5, "device.renamed", ["id": "d_phone000x7", "name": "again"]),
            happened(6, "device.renamed", ["id": "d_other000x7", "name": "other"]),
        ]
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        let written = keyboard.written
        #expect(written.contains("your new device is called pocket"), "\(written)")
        #expect(written.contains("Joon's new device is called couch"), "\(written)")
        #expect(!written.contains("again") && !written.contains("other"), "\(written)")
    }
}
