import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `What is typed and taken back before it is published` {
    var random = SeededGenerator(seed: 21)
    var writer = NoteWriter(1)

    mutating func type(_ text: String, at: Int) throws {
        for (index, letter) in text.enumerated() {
            try writer.note.edit(
                NotePatch(at: at + index, deleted: 0, inserted: String(letter)),
                as: writer.author)
        }
    }

    mutating func delete(_ count: Int, at: Int) throws {
        try writer.note.edit(
            NotePatch(at: at, deleted: count, inserted: ""), as: writer.author)
    }

    @Test mutating func `is no draft, if there is nothing else`() throws {
        try type("hé", at: 0)
        try delete(2, at: 0)
        #expect(writer.note.draft == nil)
        #expect(writer.note.text == "")
        // As if nothing had happened: a snapshot is made of notes without a draft.
        #expect(writer.note.snapshot(verdictChanges: 0) != nil)
        #expect(writer.note.runCount == 0)
        // And somebody else may write.
        let other = NoteWriter(2).author
        try writer.note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: other)
        #expect(writer.note.text == "x")
    }

    @Test mutating func `leaves the text in one piece`() throws {
        _ = try writer.write("hello", at: 0, using: &random)
        try type("日本x", at: 3)
        try delete(1, at: 5)
        #expect(writer.note.text == "hel日本lo")
        #expect(writer.note.byteCount == 11)
        try delete(2, at: 3)
        #expect(writer.note.text == "hello")
        #expect(writer.note.runCount == 1)
        #expect(writer.note.draft == nil)
    }

    @Test mutating func `goes with what stood before it in one deletion`() throws {
        _ = try writer.write("hello", at: 0, using: &random)
        try type("abc", at: 5)
        try delete(5, at: 3)
        #expect(writer.note.text == "hel")
        #expect(
            writer.note.draft?.edit.changes == [.delete(.init(source: 1, offset: 3), count: 2)])
        let operation = try writer.publish(using: &random)
        #expect(operation.edit.insertedCount == 0)
    }

    @Test mutating func `is typed again as a part of the same change`() throws {
        try type("helo", at: 0)
        try delete(1, at: 3)
        try type("lo", at: 3)
        #expect(
            writer.note.draft?.edit.changes == [.insert(left: nil, right: nil, text: "hello")])
        #expect(writer.note.runCount == 1)
    }

    @Test mutating func `stays where a mark or a line refers to it`() throws {
        try type("abc", at: 0)
        try writer.note.format(1..<3, .bold(true), as: writer.author)
        try delete(2, at: 1)
        let changes = try #require(writer.note.draft).edit.changes
        #expect(changes.first == .insert(left: nil, right: nil, text: "abc"))
        #expect(changes.last == .delete(.init(source: 0, offset: 1), count: 2))
        #expect(writer.note.text == "a")
    }

    @Test mutating func `stays where somebody else's text came in meanwhile`() throws {
        var other = NoteWriter(2)
        let remote = try other.write("xyz", at: 0, using: &random)
        try type("ab", at: 0)
        writer.note.apply(remote)
        let at = writer.note.text.hasPrefix("ab") ? 0 : 3
        try delete(2, at: at)
        #expect(writer.note.text == "xyz")
        // Its scalars have their numbers already, so it says that they are deleted.
        let operation = try writer.publish(using: &random)
        #expect(operation.edit.insertedCount == 2)
        other.note.apply(operation)
        #expect(other.note.text == "xyz")
        #expect(other.note.frontier == writer.note.frontier)
    }

    @Test mutating func `stays a draft where it is not the last in the table`() throws {
        var other = NoteWriter(2)
        let mark = other.operation(
            NoteEdit(sources: [], changes: [.block(nil, .quote)]), using: &random)
        try type("ab", at: 0)
        writer.note.apply(mark)
        try delete(2, at: 0)
        #expect(writer.note.text == "")
        let operation = try writer.publish(using: &random)
        other.note.apply(operation)
        other.note.apply(mark)
        #expect(other.note.lines() == writer.note.lines())
        #expect(other.note.frontier == writer.note.frontier)
    }

    @Test mutating func `is not what was published before it`() throws {
        try type("abc", at: 0)
        _ = try writer.publish(using: &random)
        // One run, of two operations.
        try type("de", at: 3)
        #expect(writer.note.runCount == 1)
        try delete(4, at: 1)
        #expect(writer.note.text == "a")
        #expect(
            writer.note.draft?.edit.changes == [.delete(.init(source: 1, offset: 1), count: 2)])
    }

    @Test mutating func `joins deletions that it had stood between`() throws {
        _ = try writer.write("abc", at: 0, using: &random)
        try delete(1, at: 0)
        try delete(1, at: 1)
        try delete(1, at: 0)
        #expect(
            writer.note.draft?.edit.changes == [.delete(.init(source: 1, offset: 0), count: 3)])
    }

    @Test(arguments: Seeds.explore(60))
    func `is as if it had never been, for every reader`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = NoteWriter(1)
        var reader = Note()
        var text: [Character] = []
        var typed = 0
        for _ in 0..<120 {
            switch random.below(8) {
            case 0...3:
                // Typing somewhere, some of it taken back, as one does.
                let at = random.below(text.count + 1)
                let letters = Array("wörld\n日").prefix(1 + random.below(7))
                for (index, letter) in letters.enumerated() {
                    try writer.note.edit(
                        NotePatch(at: at + index, deleted: 0, inserted: String(letter)),
                        as: writer.author)
                }
                text.insert(contentsOf: letters, at: at)
                typed += letters.count
                let back = random.below(letters.count + 2)
                let first = max(0, at + letters.count - back)
                let inserted = random.oneIn(3) ? "r" : ""
                try writer.note.edit(
                    NotePatch(
                        at: first, deleted: at + letters.count - first, inserted: inserted),
                    as: writer.author)
                text.replaceSubrange(first..<at + letters.count, with: Array(inserted))
                typed += inserted.count
            case 4 where !text.isEmpty:
                let at = random.below(text.count)
                let count = 1 + random.below(min(text.count - at, 9))
                try writer.note.edit(
                    NotePatch(at: at, deleted: count, inserted: ""), as: writer.author)
                text.removeSubrange(at..<at + count)
            case 5:
                let at = random.below(text.count + 1)
                try writer.note.setLine(at: at, .quote, as: writer.author)
            default:
                guard writer.note.draft != nil else { continue }
                reader.apply(try writer.publish(using: &random))
                #expect(reader.text == String(text))
            }
            #expect(writer.note.text == String(text))
            #expect(writer.note.scalarCount == text.count)
        }
        if writer.note.draft != nil { reader.apply(try writer.publish(using: &random)) }
        #expect(reader.text == String(text))
        #expect(reader.lines() == writer.note.lines())
        #expect(reader.authorship() == writer.note.authorship())
        let known = try #require(reader.snapshot(verdictChanges: 0))
        #expect(try Note(known).text == String(text))
    }
}
