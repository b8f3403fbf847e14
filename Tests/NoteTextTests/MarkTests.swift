import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Marks and lines` {
    var random = SeededGenerator(seed: 5)
    var writer = NoteWriter(1)

    func runs(_ note: Note) -> [NoteLine.Run] { note.lines().flatMap(\.runs) }

    @Test(arguments: [NoteMark.bold(true), .italic(true), .underline(true), .code(true)])
    mutating func `grow at their end, and not at their beginning`(mark: NoteMark) throws {
        _ = try writer.write("one two three", at: 0, using: &random)
        try writer.note.format(4..<7, mark, as: writer.author)
        _ = try writer.write("+", at: 7, using: &random)
        _ = try writer.write("-", at: 4, using: &random)
        #expect(runs(writer.note) == [.init("one -"), .init("two+", [mark]), .init(" three")])
    }

    @Test mutating func `of links do not grow`() throws {
        _ = try writer.write("see here now", at: 0, using: &random)
        try writer.note.format(4..<8, .link("https://a.b"), as: writer.author)
        _ = try writer.write("+", at: 8, using: &random)
        _ = try writer.write("-", at: 6, using: &random)
        #expect(
            runs(writer.note)
                == [.init("see "), .init("he-re", [.link("https://a.b")]), .init("+ now")])
    }

    @Test mutating func `grow to the end of a note`() throws {
        _ = try writer.write("all", at: 0, using: &random)
        try writer.note.format(0..<3, .bold(true), as: writer.author)
        _ = try writer.write(" of it", at: 3, using: &random)
        #expect(runs(writer.note) == [.init("all of it", [.bold(true)])])
    }

    @Test mutating func `lie over each other, and the latest of a kind counts`() throws {
        _ = try writer.write("abcdef", at: 0, using: &random)
        try writer.note.format(0..<4, .bold(true), as: writer.author)
        try writer.note.format(2..<6, .italic(true), as: writer.author)
        try writer.note.format(1..<3, .bold(false), as: writer.author)
        _ = try writer.publish(using: &random)
        #expect(
            runs(writer.note) == [
                .init("a", [.bold(true)]), .init("b"), .init("c", [.italic(true)]),
                .init("d", [.bold(true), .italic(true)]), .init("ef", [.italic(true)]),
            ])
    }

    @Test mutating func `of two people are one where they meet`() throws {
        let text = try writer.write("The fox jumped", at: 0, using: &random)
        var other = NoteWriter(2)
        other.note.apply(text)
        try writer.note.format(0..<7, .bold(true), as: writer.author)
        try other.note.format(4..<14, .bold(true), as: other.author)
        other.note.apply(try writer.publish(using: &random))
        #expect(runs(other.note) == [.init("The fox jumped", [.bold(true)])])
    }

    @Test mutating func `keep what a line is when others are split off or joined`() throws {
        _ = try writer.write("Title\ntext", at: 0, using: &random)
        try writer.note.setLine(at: 2, .heading1, as: writer.author)
        try writer.note.setLine(at: 10, .quote, as: writer.author)
        #expect(
            writer.note.lines()
                == [NoteLine(.heading1, text: "Title"), NoteLine(.quote, text: "text")])
        _ = try writer.write("\n", at: 3, using: &random)
        #expect(writer.note.lines().map(\.kind) == [.heading1, .paragraph, .quote])
        _ = try writer.write("", at: 6, deleting: 1, using: &random)
        #expect(
            writer.note.lines()
                == [NoteLine(.heading1, text: "Tit"), NoteLine(.paragraph, text: "letext")])
    }

    @Test mutating func `are refused where there is no text, and with a bad address`() throws {
        _ = try writer.write("abc", at: 0, using: &random)
        let author = writer.author
        var note = writer.note
        #expect(throws: NoteProblem.outOfRange) { try note.format(1..<4, .bold(true), as: author) }
        #expect(throws: NoteProblem.outOfRange) { try note.format(1..<1, .bold(true), as: author) }
        #expect(throws: NoteProblem.outOfRange) { try note.setLine(at: 4, .quote, as: author) }
        for address in ["", "a b", "a\u{1b}b", String(repeating: "x", count: 2_049)] {
            #expect(throws: NoteProblem.badText) {
                try note.format(0..<1, .link(address), as: author)
            }
        }
        #expect(note.draft == nil)
    }
}
