import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// `note edit --editor`: no text is lost, whatever the editor and others do meanwhile.
struct `A note in an editor` {
    private let io = MemoryIO()
    private let file = "/tmp/own/note.txt"

    init() {
        io.isInputTerminal = true
        io.isOutputTerminal = true
    }

    /// Has the editor write a text, or leave the file as it is.
    private func edits(to text: String?, status: Int32? = 0) {
        io.editor = { [io] path, _ in
            if let text { io.files[path] = Array(text.utf8) }
            return status
        }
    }

    private func text(_ path: String) -> String? {
        io.files[path].map { String(decoding: $0, as: UTF8.self) }
    }

    private var edit: String? { io.node?.asked.last { $0.hasPrefix("note edit") } }

    @Test func `is written as the version that was shown, and its file goes`() {
        var seen: (text: String?, command: String)?
        io.editor = { [io, file] path, command in
            seen = (io.files[path].map { String(decoding: $0, as: UTF8.self) }, command)
            #expect(path == file)
            io.files[path] = Array("milk\nbread\nbutter\n".utf8)
            return 0
        }
        let status = io.run(
            "note", "edit", "List", "--editor",
            environment: ["VISUAL": "emacs -nw", "EDITOR": "ed"])
        #expect(status == 0, "\(io.errors)")
        #expect(seen?.text == "milk\nbread\n" && seen?.command == "emacs -nw")
        #expect(edit == "note edit n_01hx9t4c nil milk\nbread\nbutter nil v_1 false")
        #expect(io.files.isEmpty && io.output.contains("n_01hx9t4c"))
    }

    @Test func `may be as long as notes are, in an editor and from a file`() {
        // As JSON, each line break takes two bytes.
        let long = String(repeating: "y\n", count: 1_000_000)
        edits(to: long + "z\n")
        #expect(io.run("note", "edit", "List", "--editor") == 0, "\(io.errors)")
        #expect(edit == "note edit n_01hx9t4c nil \(long)z nil v_1 false")
        io.files = ["/here/long.txt": Array(long.utf8)]
        #expect(io.run("note", "edit", "List", "--from", "long.txt") == 0, "\(io.errors)")
        #expect(edit == "note edit List nil \(long) nil nil false")
        #expect(io.run("note", "create", "general", "--from", "long.txt") == 0, "\(io.errors)")
        #expect(
            io.node?.asked.last == "note create name(\"general\") Untitled \(long) false")
        let asked = io.node?.asked.count
        io.files["/here/long.txt"] = [UInt8](repeating: 0x79, count: 16 * 1024 * 1024 + 2)
        for words in [["create", "general"], ["edit", "List"]] {
            io.errors = ""
            let line = ["note"] + words + ["--from", "long.txt"]
            #expect(Program.run(arguments: line, environment: [:], io: io) == 1)
            #expect(io.errors.contains("a note holds at most 16 MiB of text"), "\(io.errors)")
        }
        #expect(io.node?.asked.count == asked)
    }

    @Test func `keeps an empty last line, in an editor and from standard input`() {
        // The node takes off one final line break, and nobody before it another one.
        edits(to: "eggs\nmilk\n\n")
        #expect(io.run("note", "edit", "List", "--editor") == 0, "\(io.errors)")
        #expect(edit == "note edit n_01hx9t4c nil eggs\nmilk\n\n nil v_1 false")
        io.isInputTerminal = false
        for input in ["eggs\nmilk\n\n", "eggs\r\nmilk\r\n\r\n"] {
            io.input = Array(input.utf8)
            #expect(io.run("note", "edit", "List", "--from", "-") == 0, "\(io.errors)")
            #expect(edit == "note edit List nil eggs\nmilk\n\n nil nil false")
        }
    }

    @Test(arguments: ["milk\nbread", "milk\n", "\n", "", "a\u{200f}b\u{e0061}"])
    func `is shown as a file has it, and comes back from there as it was`(text: String) {
        io.node?.changesNote = { $0.content?.text = text }
        io.isOutputTerminal = false
        #expect(io.run("note", "show", "List") == 0, "\(io.errors)")
        let shown = text.isEmpty ? "" : text + "\n"
        #expect(io.output == shown)
        io.isInputTerminal = false
        io.input = Array(io.output.utf8)
        #expect(io.run("note", "edit", "List", "--from", "-") == 0, "\(io.errors)")
        #expect(edit == "note edit List nil \(shown) nil nil false")
        // A terminal shows what could turn a line around or hides.
        io.isOutputTerminal = true
        #expect(io.run("note", "show", "List") == 0, "\(io.errors)")
        #expect(io.paged.last?.text == TerminalText.escaped(shown, for: .body))
    }

    @Test func `as Markdown is a file of its kind`() {
        io.editor = { [io] path, command in
            #expect(path == "/var/own/note.md" && command == "vi")
            io.files[path] = Array("# milk".utf8)
            return 0
        }
        let status = io.run(
            "note", "edit", "List", "--editor", "--format", "markdown",
            environment: ["TMPDIR": "/var"])
        #expect(status == 0, "\(io.errors)")
        #expect(io.node?.asked.contains("note get List nil true false false nil") == true)
        #expect(edit == "note edit n_01hx9t4c nil # milk nil v_1 true")
    }

    @Test func `that was not changed is not written`() {
        edits(to: nil)
        #expect(io.run("note", "edit", "List", "--editor") == 0)
        #expect(edit == nil && io.files.isEmpty && io.errors == "nothing changed\n")
    }

    @Test(arguments: [1, 130, nil] as [Int32?])
    func `stays where it was typed when the editor fails`(status: Int32?) {
        edits(to: "typed", status: status)
        #expect(io.run("note", "edit", "List", "--editor") == 2)
        #expect(edit == nil && text(file) == "typed")
        #expect(io.errors.contains("your text is in /tmp/own/note.txt"))
    }

    @Test func `leaves nothing behind when the editor fails before anything was typed`() {
        edits(to: nil, status: 127)
        let status = io.run(
            "note", "edit", "List", "--editor", environment: ["EDITOR": "nonesuch"])
        #expect(status == 2)
        #expect(io.files.isEmpty && io.errors.contains("'nonesuch' could not be run"))
    }

    @Test func `stays where it was typed when the note is deleted meanwhile`() {
        io.editor = { [io] path, _ in
            io.files[path] = Array("typed".utf8)
            io.node?.changesNote = { $0.isDeleted = true }
            return 0
        }
        #expect(io.run("note", "edit", "List", "--editor") == 6)
        #expect(edit == nil && text(file) == "typed")
        #expect(io.errors.contains("that note was deleted"))
        #expect(io.errors.contains("your text is in /tmp/own/note.txt"))
    }

    @Test func `stays where it was typed when it is no text, or the node refuses it`() {
        io.editor = { [io] path, _ in
            io.files[path] = [0xff]
            return 0
        }
        #expect(io.run("note", "edit", "List", "--editor") == 2)
        #expect(io.files[file] == [0xff] && io.errors.contains("not UTF-8"))
        io.editor = { [io] path, _ in
            io.files[path] = Array("typed".utf8)
            io.node?.failure = NodeError(.tooLarge, "too much", hint: nil)
            return 0
        }
        #expect(io.run("note", "edit", "List", "--editor") != 0)
        #expect(text(file) == "typed")
    }

    @Test func `shows what others changed meanwhile`() {
        io.editor = { [io] path, _ in
            io.files[path] = Array("milk\nbread\nbutter\n".utf8)
            io.node?.changesNote = { $0.content?.text = "milk, two\nbread" }
            return 0
        }
        #expect(io.run("note", "edit", "List", "--editor") == 0, "\(io.errors)")
        #expect(
            io.errors == "changed by others meanwhile, last by Mina:\n  - milk\n  + milk, two\n")
    }

    @Test func `needs a terminal, and no other text`() {
        edits(to: "typed")
        for flags in [["--from", "x"], ["--text", "x"], ["--base", "v_1"], ["--no-input"]] {
            let arguments = ["note", "edit", "List", "--editor"] + flags
            #expect(Program.run(arguments: arguments, environment: [:], io: io) == 2, "\(flags)")
        }
        #expect(io.errors.contains("cannot be used with --no-input"), "\(io.errors)")
        io.isInputTerminal = false
        #expect(io.run("note", "edit", "List", "--editor") == 2)
        #expect(io.errors.contains("needs a terminal"), "\(io.errors)")
        #expect(edit == nil && io.node?.asked.contains { $0.hasPrefix("note get") } == false)
    }

    @Test func `has its lines compared one by one`() {
        #expect(LineChanges.lines(from: "a\nb\nc", to: "a\nB\nc\nd") == ["- b", "+ B", "+ d"])
        #expect(LineChanges.lines(from: "", to: "a\n") == ["+ a", "+ "])
        #expect(LineChanges.lines(from: "same", to: "same").isEmpty)
        let long = (0..<3_000).map(String.init).joined(separator: "\n")
        #expect(LineChanges.lines(from: "x", to: long) == ["1 lines became 3000"])
        let some = (0..<100).map(String.init).joined(separator: "\n")
        #expect(LineChanges.lines(from: "x", to: some).count == 41)
    }
}
