import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// A pipe with a test's input, which records the output.
private final class Pipe: LiveInput {
    let size = (columns: 80, rows: 24)
    private(set) var written = ""
    var wakes: [LiveWake] = []

    func write(_ text: String) -> Bool {
        written += text
        return true
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        wakes.isEmpty ? [.endAsked(15)] : [wakes.removeFirst()]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

struct `Lines between two pipes` {
    private func event(_ message: JSONValue) -> EventObject {
        EventObject(sequence: 9, cursor: "e1.9", at: 1, type: "message.created", data: message)
    }

    /// Each event comes two answers behind its own.
    @Test(arguments: [[], ["--json"]])
    func `give back nothing that was sent, however much it is`(_ flags: [String]) throws {
        let io = MemoryIO()
        io.isSilent = true
        io.node?.numbersMessages = true
        let pipe = Pipe()
        io.live = pipe
        let count = 2 * RecentMessages.countMax + 500
        let lines = (1...count).map { "line \($0)\n" }.joined()
        pipe.wakes = [.typed(Array(lines.utf8)), .answered, .endOfInput]
        var other = try #require(io.node?.message)
        (other.id, other.text, other.isSelf) = ("m_phone", "from my phone", true)
        var waiting: [EventObject] = []
        io.eventsAfter = { method, answer in
            guard method == "message.send" else { return [] }
            waiting.append(self.event(answer))
            if answer["id"] == "m_sent1500" { waiting.append(self.event(other.json)) }
            guard waiting.count > 2 else { return [] }
            return [waiting.removeFirst()]
        }
        let arguments = ["chat", "general"] + flags
        #expect(Program.run(arguments: arguments, environment: [:], io: io) == 0)
        #expect(io.node?.sentByBot.count == count)
        #expect(pipe.written.contains("from my phone"), "\(pipe.written)")
        #expect(!pipe.written.contains("line "), "\(pipe.written.prefix(200))")
    }

    @Test func `wait for the stream in the order of the answers`() {
        var awaited = AwaitedEvents()
        for id in ["a", "b", "c"] { awaited.note(id) }
        // What comes behind something is not waited for any more.
        let taken = ["x", "b", "a", "b", "c", "c"].map { awaited.take($0) }
        #expect(taken == [false, true, false, false, true, false])
        for number in 0...AwaitedEvents.countMax { awaited.note("\(number)") }
        let edge = ["0", "1"].map { awaited.take($0) }
        #expect(edge == [false, true])
    }
}
