import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `What is being written here` {
    var random = SeededGenerator(seed: 9)
    var writer = NoteWriter(1)

    @Test mutating func `is in the text at once, and typing makes one change`() throws {
        for (index, letter) in "hello".enumerated() {
            try writer.note.edit(
                NotePatch(at: index, deleted: 0, inserted: String(letter)), as: writer.author)
        }
        #expect(writer.note.text == "hello")
        let draft = try #require(writer.note.draft)
        #expect(draft.edit.changes == [.insert(left: nil, right: nil, text: "hello")])
        #expect(!draft.isLarge)
        for index in (2..<5).reversed() {
            try writer.note.edit(
                NotePatch(at: index, deleted: 1, inserted: ""), as: writer.author)
        }
        #expect(writer.note.text == "he")
        // What nobody has seen yet need not be told of.
        #expect(
            writer.note.draft?.edit.changes == [.insert(left: nil, right: nil, text: "he")])
        #expect(writer.note.authorship().map(\.key) == [nil])
    }

    @Test(arguments: Seeds.explore(40))
    func `comes back after a crash as it was`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 12)
        var writer = NoteWriter(77)
        for operation in history.operations { writer.note.apply(operation) }
        let before = writer.note
        for _ in 0..<8 { try writer.scribble(using: &history.random) }
        guard let draft = writer.note.draft else { return }
        var restored = before
        #expect(try restored.restoreDraft(draft.edit.coded, as: writer.author))
        #expect(restored.text == writer.note.text)
        #expect(restored.lines() == writer.note.lines())
        #expect(try restored.draft?.edit.coded == draft.edit)
        // And goes on as one draft.
        try restored.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        try writer.note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        #expect(restored.text == writer.note.text)
        let operation = try writer.publish(using: &history.random)
        var others = before
        others.apply(operation)
        #expect(others.text == writer.note.text)
        #expect(others.lines() == writer.note.lines())
    }

    @Test mutating func `is not restored without what it refers to`() throws {
        _ = try writer.write("one", at: 0, using: &random)
        try writer.note.edit(NotePatch(at: 3, deleted: 0, inserted: "two"), as: writer.author)
        let edit = try #require(writer.note.draft).edit
        var empty = Note()
        #expect(try !empty.restoreDraft(edit, as: writer.author))
        #expect(empty.draft == nil)
    }

    @Test mutating func `takes long pastes and deletions in parts`() throws {
        let text = String(repeating: "日本 and more\n", count: 20_000)
        var operations: [NoteOperation] = []
        func put(_ patch: NotePatch) throws {
            var rest: NotePatch? = patch
            while let patch = rest {
                rest = try writer.note.edit(patch, as: writer.author)
                if writer.note.draft != nil {
                    operations.append(try writer.publish(using: &random))
                }
            }
        }
        try put(NotePatch(at: 0, deleted: 0, inserted: text))
        #expect(operations.count > 4)
        #expect(writer.note.text == text)
        // Many small operations, each of which the deletion has to name.
        for index in 0..<3_000 {
            try put(NotePatch(at: index * 7, deleted: 0, inserted: "x"))
        }
        let written = operations.count
        let count = writer.note.scalarCount
        try put(NotePatch(at: 1, deleted: count - 2, inserted: "–"))
        #expect(writer.note.scalarCount == 3)
        #expect(operations.count > written + 1)
        #expect(note(of: operations).text == writer.note.text)
    }

    @Test mutating func `is refused where it does not fit`() throws {
        let author = writer.author
        var note = writer.note
        for patch in [
            NotePatch(at: 1, deleted: 0, inserted: "x"), NotePatch(at: 0, deleted: 1, inserted: ""),
            NotePatch(at: -1, deleted: 0, inserted: "x"),
            NotePatch(at: 0, deleted: -1, inserted: "x"),
            NotePatch(at: 0, deleted: .max, inserted: "x"),
        ] {
            #expect(throws: NoteProblem.outOfRange) { try note.edit(patch, as: author) }
        }
        for text in ["\u{7}", "\r\n", "\u{9b}", "\u{0}", "\u{fffe}", "\u{7f}"] {
            #expect(throws: NoteProblem.badText) {
                try note.edit(NotePatch(at: 0, deleted: 0, inserted: text), as: author)
            }
        }
        let large = String(repeating: "x", count: NoteLimits.textBytesMax + 1)
        #expect(throws: NoteProblem.tooLong) {
            try note.edit(NotePatch(at: 0, deleted: 0, inserted: large), as: author)
        }
        try note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: author)
        #expect(throws: NoteProblem.otherAuthor) {
            try note.edit(NotePatch(at: 0, deleted: 0, inserted: "y"), as: NoteWriter(2).author)
        }
        #expect(note.text == "x")
    }

    @Test mutating func `says so where a copy of this home wrote more`() throws {
        var copy = writer
        _ = try copy.write("one", at: 0, using: &random)
        let second = try copy.write("two", at: 3, using: &random)
        try writer.note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        writer.note.apply(second)
        for operation in [second] { #expect(writer.note.apply(operation) != .mustBeMadeAnew) }
        #expect(!writer.note.isComplete)
    }
}

struct `Operations that come too early` {
    @Test func `wait, and arrive in a chain of any length`() throws {
        var random = SeededGenerator(seed: 2)
        var writer = NoteWriter(1)
        let operations = try (0..<3_000).map { try writer.write("a", at: $0, using: &random) }
        var note = Note()
        for operation in operations.dropFirst().reversed() {
            #expect(note.apply(operation) == .waits)
        }
        #expect(note.text == "")
        #expect(note.missing.count == 2_999)
        #expect(!note.isComplete)
        guard case .applied(let changes) = note.apply(operations[0]) else {
            Issue.record("the first operation waits for nothing")
            return
        }
        #expect(changes.map(\.key) == operations.map(\.key))
        #expect(note.isComplete)
        #expect(note.text == writer.note.text)
    }

    @Test func `are not kept without bound`() throws {
        var random = SeededGenerator(seed: 2)
        var writer = NoteWriter(1)
        let absent = NoteEditTests.absent
        let edit = NoteEdit(
            sources: [absent], changes: [.insert(left: nil, right: nil, text: "a")])
        var note = Note()
        for _ in 0..<NoteLimits.waitingMax {
            #expect(note.apply(writer.operation(edit, using: &random)) == .waits)
        }
        #expect(note.apply(writer.operation(edit, using: &random)) == .full)
        #expect(!note.isComplete)
        note.erase(absent)
        #expect(note.text.utf8.count == NoteLimits.waitingMax)
        // One was not kept: only who makes the note anew has all of it.
        #expect(!note.isComplete)
    }

    @Test func `count by the smaller id of two with one key`() throws {
        var random = SeededGenerator(seed: 2)
        var writer = NoteWriter(1)
        let edit = NoteEdit(sources: [], changes: [.insert(left: nil, right: nil, text: "a")])
        let first = writer.operation(edit, using: &random)
        let words = first.id.words
        let other = NoteOperation(
            author: first.author, sequence: first.sequence, timestamp: first.timestamp,
            id: OperationID(words: (words.0, words.1 &+ 1, 0, 0)),
            edit: NoteEdit(sources: [], changes: [.insert(left: nil, right: nil, text: "b")]))
        try #require(first.id < other.id)
        var note = Note()
        note.apply(first)
        #expect(note.apply(other) == .known)
        #expect(note.text == "a")
        note = Note()
        note.apply(other)
        #expect(note.apply(first) == .mustBeMadeAnew)
    }
}

enum NoteEditTests {
    /// An operation that never was.
    static let absent = MessageKey(timestamp: HybridTimestamp(rawValue: 1), idPrefix: 2)
}
