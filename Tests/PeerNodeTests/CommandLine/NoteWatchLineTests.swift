import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// `note watch` on the command line.
struct `Changes of a note, as they are printed` {
    private let io = MemoryIO()

    private func event(_ patch: JSONValue) -> EventObject {
        EventObject(
            sequence: 1, cursor: "e1.1", at: 1_795_150_800_123, type: "note.patch",
            data: [
                "id": "n_01hx9t4c", "channel": "c_general0", "from": "v_1", "version": "v_2",
                "patch": patch, "by": ["id": "u_mina0000", "name": "Mina"], "self": false,
            ])
    }

    private func watch(_ flags: String..., patch: JSONValue) -> String {
        io.eventsAfter = { [self] method, _ in method == "note.watch" ? [event(patch)] : [] }
        // The stream ends with its daemon, which is a failure.
        #expect(
            Program.run(arguments: ["note", "watch", "List"] + flags, environment: [:], io: io)
                != 0)
        #expect(io.node?.asked.last == "note watch List nil")
        return io.output
    }

    @Test func `say who changed what, one a line`() {
        let shown = watch(patch: [[4, 0, "more"], [0, 2, ""]])
        #expect(shown == "Mina  at 4  +more\nMina  at 0  -2\n")
    }

    @Test func `say that the text has to be read again`() {
        #expect(watch(patch: .null) == "Mina  read the text again\n")
    }

    @Test func `are one object a line for programs`() throws {
        let line = try JSONValue(parsing: watch("--json", patch: [[4, 0, "more"]]))
        #expect(line["data"]?["patch"] == [[4, 0, "more"]] && line["type"] == "note.patch")
    }

    @Test func `do no harm to a terminal`() {
        #expect(!watch(patch: [[0, 0, "\u{1B}[2J"]]).contains("\u{1B}"))
    }
}
