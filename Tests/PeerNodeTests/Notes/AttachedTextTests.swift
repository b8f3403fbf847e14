import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A note that node and editor both change without waiting for each other.
struct `A note in an attached editor` {
    // MARK: The two ends

    /// What the node does with `note.edit` and tells of it, in few lines.
    private struct Host {
        var text = ""
        var version = 0
        /// What made each version out of the one before.
        var steps: [[NotePatch]] = []
        var told: [JSONValue] = []

        func name(_ version: Int) -> String { "v_\(version)" }

        mutating func change(_ patches: [NotePatch], by name: String) throws {
            guard !patches.isEmpty else { return }
            text = try #require(NotePatch.apply(patches, to: text))
            steps.append(patches)
            version += 1
            told.append([
                "from": .string(self.name(version - 1)), "version": .string(self.name(version)),
                "patch": .array(
                    patches.map {
                        [.integer(Int64($0.at)), .integer(Int64($0.deleted)), .string($0.inserted)]
                    }), "by": ["name": .string(name)],
            ])
        }

        mutating func edit(_ given: JSONObject) throws -> (from: String, to: String) {
            let base = try #require(
                given["base"]?.stringValue.flatMap { Int($0.dropFirst(2)) })
            var others = steps[base...].flatMap { $0 }
            var made: [NotePatch] = []
            for step in try NoteChanges.steps(given["ops"] ?? .null) {
                for case .patch(let patch) in try #require(step.carried(past: &others)) {
                    made.append(patch)
                }
            }
            let from = version
            try change(made, by: "self")
            return (name(from), name(version))
        }
    }

    /// An editor that does what docs/EDITORS.md says, and no more.
    private struct Editor {
        var text: [Unicode.Scalar] = []
        var taken = 0
        var written = 0
        var inbox: [JSONValue] = []
        var outbox: [JSONValue] = []
        var errors: [String] = []

        mutating func take() throws {
            guard !inbox.isEmpty else { return }
            let line = inbox.removeFirst()
            guard line["version"] == [.integer(Int64(taken)), .integer(Int64(written))] else {
                return
            }
            if let error = line["error"]?["message"]?.stringValue { errors.append(error) }
            for patch in line["patch"]?.arrayValue ?? [] {
                let at = Int(try #require(patch[0]?.integerValue))
                let count = Int(try #require(patch[1]?.integerValue))
                try #require(at >= 0 && count >= 0 && at + count <= text.count)
                text.replaceSubrange(
                    at..<at + count, with: try #require(patch[2]?.stringValue).unicodeScalars)
            }
            taken += 1
        }

        mutating func write(_ patches: (at: Int, deleted: Int, inserted: String)...) {
            let version: JSONValue = [.integer(Int64(taken)), .integer(Int64(written))]
            for patch in patches {
                text.replaceSubrange(
                    patch.at..<patch.at + patch.deleted, with: patch.inserted.unicodeScalars)
            }
            outbox.append([
                "version": version,
                "patch": .array(
                    patches.map {
                        [.integer(Int64($0.at)), .integer(Int64($0.deleted)), .string($0.inserted)]
                    }),
            ])
            written += 1
        }

        var string: String { String(String.UnicodeScalarView(text)) }
    }

    /// Both ends and what is between them.
    private struct Pair {
        var host = Host()
        var editor = Editor()
        var attached: AttachedText

        init(_ text: String) {
            host.text = text
            attached = AttachedText(text: text, version: "v_0")
            carry()
        }

        mutating func carry() { editor.inbox += attached.takeLines() }

        mutating func readLine() throws {
            guard !editor.outbox.isEmpty else { return }
            try attached.take(editor.outbox.removeFirst())
        }

        mutating func ask() throws {
            guard let edit = attached.takeEdit() else { return }
            let answer = try host.edit(edit)
            try attached.written(from: answer.from, to: answer.to)
        }

        mutating func hear() throws {
            guard !host.told.isEmpty else { return }
            #expect(try attached.hear(host.told.removeFirst()))
        }

        /// The node was away: what it told is lost, and perhaps what it answered.
        mutating func interrupt(asks: Bool) throws {
            if asks, let edit = attached.takeEdit() { _ = try host.edit(edit) }
            host.told = []
            try attached.reread(text: host.text, version: host.name(host.version))
        }

        mutating func settle() throws {
            for _ in 0..<10_000 {
                carry()
                guard
                    !editor.inbox.isEmpty || !editor.outbox.isEmpty || !host.told.isEmpty
                        || !attached.isSettled
                else { return }
                try readLine()
                try ask()
                while !host.told.isEmpty { try hear() }
                carry()
                while !editor.inbox.isEmpty { try editor.take() }
            }
            Issue.record("it never comes to rest")
        }
    }

    // MARK: Any order

    @Test(arguments: Seeds.explore(40), [false, true])
    func `has one text on both sides in the end, no matter who wrote when`(
        seed: UInt64, isInterrupted: Bool
    ) throws {
        var random = SeededGenerator(seed: seed)
        var pair = Pair("abcdefghijkl")
        var next = UInt32(0x4e00)
        var mine: Set<Unicode.Scalar> = []
        var gone: Set<Unicode.Scalar> = []
        func letters(_ count: Int) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<count {
                text.append(Unicode.Scalar(next) ?? "x")
                next += 1
            }
            return String(text)
        }
        func change(_ count: Int) -> (at: Int, deleted: Int, inserted: String) {
            let at = random.below(count + 1)
            let deleted = random.oneIn(3) ? random.below(min(4, count - at) + 1) : 0
            return (at, deleted, deleted > 0 && random.oneIn(2) ? "" : letters(random.below(3) + 1))
        }
        for _ in 0..<400 {
            switch random.below(isInterrupted ? 13 : 12) {
            case 0, 1:
                let patch = change(pair.host.text.unicodeScalars.count)
                gone.formUnion(
                    Array(pair.host.text.unicodeScalars)[patch.at..<patch.at + patch.deleted])
                try pair.host.change(
                    [NotePatch(at: patch.at, deleted: patch.deleted, inserted: patch.inserted)],
                    by: "other")
            case 2, 3, 4:
                guard !random.oneIn(8) else {
                    pair.editor.write()
                    break
                }
                let patch = change(pair.editor.text.count)
                gone.formUnion(pair.editor.text[patch.at..<patch.at + patch.deleted])
                mine.formUnion(patch.inserted.unicodeScalars)
                pair.editor.write(patch)
            case 5, 6: try pair.editor.take()
            case 7, 8: try pair.readLine()
            case 9: try pair.ask()
            case 10, 11: try pair.hear()
            default: try pair.interrupt(asks: random.oneIn(2))
            }
            pair.carry()
        }
        try pair.settle()
        #expect(pair.editor.string == pair.host.text, "WSX_SEED=\(seed)")
        let now = pair.host.text.unicodeScalars
        // What was written is there, once, unless somebody deleted it.
        #expect(Set(now).count == now.count, "WSX_SEED=\(seed)")
        for letter in mine.subtracting(gone) {
            #expect(now.filter { $0 == letter }.count == 1, "WSX_SEED=\(seed)")
        }
        #expect(pair.editor.errors.isEmpty)
    }

    // MARK: One by one

    @Test func `takes what was written before the editor's own line came a second time`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        #expect(pair.editor.string == "text")
        try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "my ")], by: "other")
        try pair.hear()
        pair.carry()
        // It was on its way when the editor wrote.
        pair.editor.write((4, 0, "!"))
        try pair.editor.take()
        #expect(pair.editor.string == "text!" && pair.editor.taken == 1)
        try pair.settle()
        #expect(pair.editor.string == "my text!" && pair.host.text == "my text!")
        #expect(pair.editor.taken == 2)
    }

    @Test func `says who changed it, where that was one`() throws {
        var pair = Pair("")
        #expect(pair.editor.inbox == [["version": [0, 0], "patch": [], "by": .null]])
        try pair.editor.take()
        pair.editor.write((0, 0, "a"))
        try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "b")], by: "Mina")
        try pair.host.change([NotePatch(at: 1, deleted: 0, inserted: "c")], by: "Mina")
        try pair.readLine()
        try pair.ask()
        while !pair.host.told.isEmpty { try pair.hear() }
        pair.carry()
        #expect(pair.editor.inbox.count == 1)
        #expect(pair.editor.inbox.first?["by"]?["name"] == "Mina")
        #expect(pair.editor.inbox.first?["version"] == [1, 1])
    }

    @Test func `is asked of the node in parts where it is much`() throws {
        var pair = Pair("")
        try pair.editor.take()
        let long = String(repeating: "long ", count: 100_000)
        pair.editor.write((0, 0, long))
        try pair.readLine()
        var calls = 0
        while let edit = pair.attached.takeEdit() {
            #expect(JSONValue.object(edit).bytes.count < Limits.controlLineBytesMax / 2)
            let answer = try pair.host.edit(edit)
            try pair.attached.written(from: answer.from, to: answer.to)
            // Others write meanwhile.
            try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "x")], by: "other")
            while !pair.host.told.isEmpty { try pair.hear() }
            calls += 1
        }
        #expect(calls > 5)
        try pair.settle()
        #expect(pair.editor.string == pair.host.text)
        #expect(pair.host.text.filter { $0 != "x" } == long)
    }

    @Test func `is taken back where no note holds it, and the rest stays`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        pair.editor.write((2, 1, "\u{1}"))
        try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "my ")], by: "other")
        try pair.readLine()
        _ = pair.attached.takeEdit()
        try pair.hear()
        pair.attached.refused(.noteBadText)
        try pair.settle()
        #expect(pair.editor.string == "my text" && pair.host.text == "my text")
        #expect(pair.editor.errors == [NodeError.noteBadText.message])
        pair.editor.write((7, 0, "!"))
        try pair.settle()
        #expect(pair.host.text == "my text!")
    }

    @Test func `needs no memory for an editor that only reads`() throws {
        var pair = Pair("text")
        for number in 0..<3 * Limits.noteVersionsMax {
            try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "\(number) ")], by: "x")
            try pair.hear()
        }
        #expect(pair.attached.unseen.count <= Limits.noteVersionsMax)
        try pair.settle()
        #expect(pair.editor.string == pair.host.text)
        pair.editor.write((0, 0, "here "))
        try pair.settle()
        #expect(pair.editor.string == pair.host.text && pair.host.text.hasPrefix("here "))
    }

    @Test(arguments: [[], [[0, 0, ""]]] as [JSONValue])
    func `counts a line whose changes are none`(_ changes: JSONValue) throws {
        var pair = Pair("text")
        try pair.editor.take()
        // This was on its way when the editor wrote, which passes it over.
        try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "my ")], by: "other")
        try pair.hear()
        pair.carry()
        try pair.attached.take(["version": [1, 0], "patch": changes])
        pair.editor.written += 1
        #expect(pair.attached.takeEdit() == nil && pair.attached.isSettled)
        pair.carry()
        while !pair.editor.inbox.isEmpty { try pair.editor.take() }
        #expect(pair.editor.string == "my text")
        pair.editor.write((7, 0, "!"))
        try pair.settle()
        #expect(pair.host.text == "my text!" && pair.editor.string == "my text!")
    }

    @Test func `is the editor's own until the node has taken it`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        pair.editor.write((4, 0, "!"))
        try pair.readLine()
        #expect(!pair.attached.isAtNode && pair.attached.editorText == "text!")
        let edit = pair.attached.takeEdit()
        #expect(!pair.attached.isAtNode)
        let answer = try pair.host.edit(try #require(edit))
        try pair.attached.written(from: answer.from, to: answer.to)
        #expect(pair.attached.isAtNode && !pair.attached.isSettled)
        try pair.settle()
        #expect(pair.attached.isAtNode && pair.attached.editorText == "text!")
    }

    // MARK: Cursors

    private func cursor(_ version: String, there: Bool = true, at: Int64 = 2) -> JSONValue {
        [
            "id": "n_1", "by": ["name": "Mina"], "device": "d_1", "self": false,
            "there": .bool(there), "version": .string(version), "at": .integer(at), "length": 0,
            "patch": [[1, 0, "x"]],
        ]
    }

    @Test func `says where others are in the text that the editor has`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        pair.attached.hearCursor(cursor("v_0"))
        let lines = pair.attached.takeLines()
        #expect(lines.count == 1 && lines.first?["version"] == [1, 0])
        #expect(
            lines.first?["cursors"] == [
                [
                    "by": ["name": "Mina"], "device": "d_1", "at": 2, "length": 0,
                    "patch": [[1, 0, "x"]],
                ]
            ])
        #expect(lines.first?["patch"] == nil && pair.attached.takeLines().isEmpty)
        // While something is on its way the places would be those of no text that the editor has.
        pair.editor.write((0, 0, "a"))
        try pair.readLine()
        pair.attached.hearCursor(cursor("v_0"))
        #expect(pair.attached.takeLines().isEmpty)
        try pair.ask()
        try pair.hear()
        pair.attached.hearCursor(cursor("v_1", at: 3))
        let later = pair.attached.takeLines()
        #expect(later.first?["cursors"]?[0]?["at"] == 3 && later.first?["version"] == [1, 1])
        pair.attached.hearCursor(cursor("v_1", there: false))
        #expect(pair.attached.takeLines().first?["cursors"] == [])
    }

    @Test func `says who is there where the note was read again`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        pair.attached.hearParticipants([])
        #expect(pair.attached.takeLines().isEmpty)
        pair.attached.hearParticipants([cursor("v_0")])
        #expect(pair.attached.takeLines().first?["cursors"]?[0]?["at"] == 2)
        pair.attached.hearParticipants([cursor("v_0")])
        #expect(pair.attached.takeLines().isEmpty)
        // People who left while the node was away are no longer listed.
        try pair.attached.reread(text: "text", version: "v_5")
        pair.attached.hearParticipants([])
        #expect(pair.attached.takeLines().first?["cursors"] == [])
    }

    @Test func `says where so many others are`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        for number in 0...Limits.notesGuestsToldMax {
            var other = try #require(cursor("v_0").objectValue)
            other["device"] = .string("d_\(number)")
            pair.attached.hearCursor(.object(other))
        }
        let told = pair.attached.takeLines().first?["cursors"]?.arrayValue
        #expect(told?.count == Limits.notesGuestsToldMax)
    }

    @Test func `says where the editor is in the text of the node`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        try pair.attached.take(["version": [1, 0], "cursor": [4, 0]])
        #expect(pair.attached.takeCursor() == ["base": "v_0", "at": 4, "length": 0])
        #expect(pair.attached.takeCursor() == nil)
        try pair.host.change([NotePatch(at: 0, deleted: 0, inserted: "my ")], by: "other")
        try pair.hear()
        try pair.attached.take(["version": [1, 0], "cursor": [1, 2]])
        #expect(pair.attached.takeCursor() == ["base": "v_1", "at": 4, "length": 2])
        for bad: JSONValue in [[5, 0], [0, 5], [-1, 0], [0], 4] {
            #expect(throws: NodeError.self) {
                try pair.attached.take(["version": [1, 0], "cursor": bad])
            }
        }
    }

    // MARK: Bad input

    @Test(
        arguments: [
            #"{}"#, #"[]"#, #"{"version": 1, "patch": []}"#, #"{"version": [1]}"#,
            #"{"version": [1, "0"], "patch": []}"#, #"{"version": [1, -1], "patch": []}"#,
            #"{"version": [1, 1], "patch": [[0, 0, "x"]]}"#,
            #"{"version": [2, 0], "patch": [[0, 0, "x"]]}"#,
            #"{"version": [9223372036854775807, 0], "patch": [[0, 0, "x"]]}"#,
            #"{"version": [1, 0], "patch": {}}"#, #"{"version": [1, 0], "patch": [[0, 0]]}"#,
            #"{"version": [1, 0], "patch": [[0, 0, 7]]}"#,
            #"{"version": [1, 0], "patch": [[5, 0, "x"]]}"#,
            #"{"version": [1, 0], "patch": [[0, 5, ""]]}"#,
            #"{"version": [1, 0], "patch": [[-1, 0, "x"]]}"#,
            #"{"version": [1, 0], "patch": [[0, -1, "x"]]}"#,
            #"{"version": [1, 0], "patch": [[4, 4294967295, "x"]]}"#,
            #"{"version": [1, 0], "patch": [[1.5, 0, "x"]]}"#,
        ])
    func `refuses a line that is none, and changes nothing`(line: String) throws {
        var pair = Pair("text")
        try pair.editor.take()
        let value = try JSONValue(parsing: line)
        let error = #expect(throws: NodeError.self) { try pair.attached.take(value) }
        #expect(error?.kind == .badRequest && error?.reason == "note.line")
        #expect(pair.attached.isSettled && pair.attached.takeEdit() == nil)
        pair.editor.write((4, 0, "!"))
        try pair.settle()
        #expect(pair.host.text == "text!")
    }

    @Test func `passes over a line without changes`() throws {
        var pair = Pair("text")
        try pair.editor.take()
        try pair.attached.take(["version": [1, 0], "more": true])
        #expect(pair.attached.isSettled)
        pair.editor.write((4, 0, "!"))
        try pair.settle()
        #expect(pair.host.text == "text!")
    }
}
