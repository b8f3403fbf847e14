import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// A keyboard on which nobody types, and what was on the screen when it was first waited for.
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

@Suite struct `The loop of a conversation` {
    /// Whoever waits for the daemon hears nothing of what has come already.
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
}
