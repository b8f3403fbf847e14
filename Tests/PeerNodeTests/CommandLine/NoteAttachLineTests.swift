import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// A pipe to an editor with a test's input, which records the output.
private final class EditorPipe: LiveInput {
    let size = (columns: 80, rows: 24)
    private(set) var lines: [JSONValue] = []
    var wakes: [LiveWake] = []
    /// Whether the editor still reads.
    var isRead = true
    /// What happens in the world while it is waited for so long, before anything else does.
    var passes: ((Int64) -> Void)?

    func write(_ text: String) -> Bool {
        lines.append((try? JSONValue(parsing: String(text.dropLast()))) ?? .null)
        return isRead
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        if wakes.isEmpty, let passes, let milliseconds {
            passes(milliseconds)
            return []
        }
        return wakes.isEmpty ? [.endAsked(15)] : [wakes.removeFirst()]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

/// `note attach` on the command line.
struct `Lines between a note and an editor` {
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

    @Test(arguments: ["hello", "{", "[1]", "\u{ff}", #"{"version": [0, 7], "patch": []}"#])
    func `that are none end it, and nothing is written`(line: String) {
        types(line)
        #expect(attach() == 2)
        #expect(edits.isEmpty && io.errors.contains("docs/EDITORS.md says what a line is"))
    }

    @Test func `that are not JSON are reported with the position of the error`() {
        types("hello")
        #expect(attach() == 2)
        #expect(io.errors.contains("the line is not JSON: byte 0"), "\(io.errors)")
    }

    @Test func `are written up to the one that is none`() {
        io.eventsAfter = { [self] method, _ in
            method == "note.edit" ? [event([[0, 0, "x"]])] : []
        }
        types(#"{"version": [1, 0], "patch": [[0, 0, "x"]]}"# + "\nhello\n" + last)
        #expect(attach() == 2)
        #expect(edits.count == 1 && io.errors.contains("not JSON") && io.files.isEmpty)
    }

    // MARK: A node that is away

    private let line = #"{"version": [1, 0], "patch": [[0, 0, "x"]]}"#
    /// It counts a line that was none.
    private let last = #"{"version": [1, 1], "patch": [[0, 0, "y"]]}"#
    private let kept = "/tmp/own/note.txt"

    /// Has the node go before the editor writes, and come back after so long, or never.
    private func isAway(for milliseconds: Int64?) {
        io.eventsAfter = { [io, self] method, _ in
            if method == "note.get", pipe.passes == nil {
                io.isBroken = true
                let back = milliseconds.map { io.now + $0 }
                pipe.passes = { passed in
                    io.now += passed
                    if let back, back <= io.now { io.isBroken = false }
                }
            }
            return method == "note.edit" ? [event([[0, 0, "x"]])] : []
        }
    }

    @Test func `that are left at the end wait for a node that is away`() {
        isAway(for: 5_000)
        types(line)
        pipe.wakes.append(.endOfInput)
        #expect(attach() == 0, "\(io.errors)")
        #expect(edits.count == 1 && io.files.isEmpty)
        #expect(io.errors.contains("the daemon does not answer"))
    }

    @Test func `that no node took stay in a file whose path is shown`() {
        isAway(for: nil)
        types(line)
        pipe.wakes.append(.endOfInput)
        let begun = io.now
        #expect(attach() == 3)
        #expect(io.now - begun >= NoteAttachment.patience && io.now - begun < 25_000)
        #expect(edits.isEmpty && io.files[kept] == Array("xmilk\nbread\n".utf8))
        #expect(io.errors.contains("your text is in \(kept)"), "\(io.errors)")
    }

    @Test func `are not lost where the time is over`() {
        isAway(for: nil)
        types(line)
        #expect(attach("--timeout", "3s") == 3)
        #expect(io.files[kept] == Array("xmilk\nbread\n".utf8))
        #expect(io.errors.contains("your text is in \(kept)"), "\(io.errors)")
    }

    @Test func `are in the file up to the one that is none`() {
        isAway(for: nil)
        types(line + "\nhello")
        #expect(attach() == 2)
        #expect(io.files[kept] == Array("xmilk\nbread\n".utf8))
        #expect(io.errors.contains("not JSON") && io.errors.contains("your text is in \(kept)"))
    }

    @Test func `are not lost where it is asked to end`() {
        isAway(for: nil)
        types(line)
        pipe.wakes.append(.endAsked(15))
        #expect(attach() == 3)
        #expect(io.files[kept] == Array("xmilk\nbread\n".utf8))
    }

    @Test func `leave no file where the node has taken all of them`() {
        // It does not tell of that any more.
        types(line)
        pipe.wakes.append(.endOfInput)
        #expect(attach() == 0, "\(io.errors)")
        #expect(edits.count == 1 && io.files.isEmpty)
    }

    // MARK: Other ends

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
        #expect(io.files["/tmp/own/note.txt"] == Array("xmilk\nbread\n".utf8))
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
