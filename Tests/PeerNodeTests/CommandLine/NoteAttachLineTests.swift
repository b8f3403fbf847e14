import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// A pipe to an editor that says what a test put into it, and keeps what is written.
private final class EditorPipe: LiveInput {
    let size = (columns: 80, rows: 24)
    private(set) var lines: [JSONValue] = []
    var wakes: [LiveWake] = []
    /// Whether the editor still reads.
    var isRead = true

    func write(_ text: String) -> Bool {
        lines.append((try? JSONValue(parsing: String(text.dropLast()))) ?? .null)
        return isRead
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        wakes.isEmpty ? [.endAsked(15)] : [wakes.removeFirst()]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

/// `note attach` on the command line.
@Suite struct `Lines between a note and an editor` {
    private let io = MemoryIO()
    private let pipe = EditorPipe()
    private let first: JSONValue = [
        "version": [0, 0], "patch": [[0, 0, "milk\nbread"]], "by": .null,
    ]

    init() {
        io.live = pipe
        io.isSilent = true
    }

    private func event(_ patch: JSONValue, from: String = "v_1", to: String = "v_2") -> EventObject
    {
        EventObject(
            sequence: 1, cursor: "e1.1", at: 1, type: "note.patch",
            data: [
                "id": "n_01hx9t4c", "from": .string(from), "version": .string(to), "patch": patch,
                "by": ["id": "u_mina0000", "name": "Mina"],
            ])
    }

    private func types(_ lines: String...) {
        pipe.wakes += lines.map { .typed(Array(($0 + "\n").utf8)) }
    }

    private func attach(_ flags: String...) -> Int32 {
        Program.run(arguments: ["note", "attach", "List"] + flags, environment: [:], io: io)
    }

    private var edits: [String] {
        io.node?.asked.filter { $0.hasPrefix("note step") } ?? []
    }

    @Test func `begin with the whole note, and carry what the editor writes`() {
        io.eventsAfter = { [self] method, _ in
            method == "note.edit" ? [event([[4, 1, ""], [4, 0, ", "]])] : []
        }
        types(#"{"version": [1, 0], "patch": [[4, 1, ", "]]}"#)
        pipe.wakes.append(.endOfInput)
        #expect(attach() == 0, "\(io.errors)")
        #expect(pipe.lines == [first])
        #expect(
            edits == [
                #"note step n_01hx9t4c nil [{"delete":{"at":4,"length":1}},"#
                    + #"{"insert":{"at":4,"text":", "}}] v_1"#
            ])
        #expect(io.node?.asked.first == "note watch List nil")
    }

    @Test func `carry what others write, and who that was`() {
        io.eventsAfter = { [self] method, _ in
            method == "note.watch" ? [event([[0, 0, "two "]])] : []
        }
        pipe.wakes = [.endOfInput]
        #expect(attach() == 0, "\(io.errors)")
        #expect(
            pipe.lines == [
                first,
                [
                    "version": [1, 0], "patch": [[0, 0, "two "]],
                    "by": ["id": "u_mina0000", "name": "Mina"],
                ],
            ])
    }

    @Test func `say who is there already`() {
        let mina: JSONValue = ["id": "u_mina0000", "name": "Mina"]
        io.node?.changesNote = {
            $0.content?.participants = [
                [
                    "id": "n_01hx9t4c", "by": mina, "device": "d_1", "self": false, "there": true,
                    "version": "v_1", "at": 3, "length": 0, "patch": [],
                ]
            ]
        }
        pipe.wakes = [.endOfInput]
        #expect(attach() == 0, "\(io.errors)")
        #expect(
            pipe.lines == [
                first,
                [
                    "version": [1, 0],
                    "cursors": [
                        ["by": mina, "device": "d_1", "at": 3, "length": 0, "patch": []]
                    ],
                ],
            ])
    }

    @Test func `come in pieces, and the last needs no end`() {
        io.eventsAfter = { [self] method, _ in
            method == "note.edit" ? [event([[0, 0, "x"]])] : []
        }
        let line = Array(#"{"version": [1, 0], "patch": [[0, 0, "x"]]}"#.utf8)
        pipe.wakes = [.typed(Array(line[..<10])), .typed(Array(line[10...])), .endOfInput]
        #expect(attach() == 0, "\(io.errors)")
        #expect(edits.count == 1)
    }

    @Test(arguments: ["hello", "{", "[1]", #"{"version": [0, 7], "patch": []}"#])
    func `that are none end it, and nothing is written`(line: String) {
        types(line)
        #expect(attach() != 0)
        #expect(edits.isEmpty && !io.errors.isEmpty)
    }

    @Test func `are written up to the one that is none`() {
        io.eventsAfter = { [self] method, _ in
            method == "note.edit" ? [event([[0, 0, "x"]])] : []
        }
        types(#"{"version": [1, 0], "patch": [[0, 0, "x"]]}"# + "\nhello")
        #expect(attach() != 0)
        #expect(edits.count == 1 && !io.errors.isEmpty)
    }

    @Test func `end with a reader that went away`() {
        pipe.isRead = false
        #expect(attach() == 141)
    }

    @Test func `are not for a terminal`() {
        io.isInputTerminal = true
        #expect(attach() == 2)
        #expect(io.errors.contains("not to a terminal") && io.node?.asked.isEmpty == true)
    }

    @Test func `end where one may not write, with what the editor wrote still in it`() {
        types(#"{"version": [1, 0], "patch": [[0, 0, "x"]]}"#)
        io.eventsAfter = { [io] method, _ in
            if method == "note.get" {
                io.node?.failure = NodeError(.forbidden, "you may not write there", hint: nil)
            }
            return []
        }
        #expect(attach() == 4)
        #expect(pipe.lines == [first] && io.errors.contains("you may not write there"))
    }

    @Test func `are taken back where no note holds them`() throws {
        types(#"{"version": [1, 0], "patch": [[0, 0, "x"]]}"#)
        io.eventsAfter = { [io] method, _ in
            if method == "note.get" {
                io.node?.failure = NodeError(.tooLarge, "too much", hint: nil)
            }
            return []
        }
        pipe.wakes.append(.endOfInput)
        #expect(attach() == 0, "\(io.errors)")
        #expect(pipe.lines.count == 2)
        #expect(pipe.lines.last?["version"] == [1, 1])
        #expect(pipe.lines.last?["patch"] == [[0, 1, ""]])
        #expect(pipe.lines.last?["error"]?["data"]?["kind"] == "too_large")
    }
}
