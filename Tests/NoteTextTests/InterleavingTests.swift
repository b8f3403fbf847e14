import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `What two people write at one place` {
    /// Two who began from the same text, and what each did to it, one operation a keystroke.
    static func written(
        _ first: (inout NoteWriter, inout SeededGenerator) throws -> [NoteOperation],
        _ second: (inout NoteWriter, inout SeededGenerator) throws -> [NoteOperation]
    ) throws -> [String] {
        var random = SeededGenerator(seed: 11)
        var (one, other) = (NoteWriter(1), NoteWriter(2))
        let start = try one.write("()", at: 0, using: &random)
        other.note.apply(start)
        let mine = try first(&one, &random)
        let theirs = try second(&other, &random)
        for operation in theirs { one.note.apply(operation) }
        for operation in mine { other.note.apply(operation) }
        return [one.note.text, other.note.text]
    }

    static func forwards(
        _ text: String
    ) -> (inout NoteWriter, inout SeededGenerator) throws -> [NoteOperation] {
        { writer, random in
            try text.enumerated().map { index, letter in
                try writer.write(String(letter), at: 1 + index, using: &random)
            }
        }
    }

    static func backwards(
        _ text: String
    ) -> (inout NoteWriter, inout SeededGenerator) throws -> [NoteOperation] {
        { writer, random in
            try text.reversed().map { try writer.write(String($0), at: 1, using: &random) }
        }
    }

    @Test func `stays apart when both type forwards`() throws {
        let texts = try Self.written(Self.forwards("hello"), Self.forwards("world"))
        #expect(texts[0] == texts[1])
        #expect(["(helloworld)", "(worldhello)"].contains(texts[0]))
    }

    @Test func `stays apart when both type backwards`() throws {
        let texts = try Self.written(Self.backwards("hello"), Self.backwards("world"))
        #expect(texts[0] == texts[1])
        #expect(["(helloworld)", "(worldhello)"].contains(texts[0]))
    }

    @Test func `stays apart when one types backwards`() throws {
        let texts = try Self.written(Self.forwards("hello"), Self.backwards("world"))
        #expect(texts[0] == texts[1])
        #expect(["(helloworld)", "(worldhello)"].contains(texts[0]))
    }

    @Test func `stays apart when one writes, goes back, and writes before it`() throws {
        let texts = try Self.written(
            { writer, random in
                [
                    try writer.write("lo", at: 1, using: &random),
                    try writer.write("hel", at: 1, using: &random),
                ]
            }, Self.forwards("world"))
        #expect(texts[0] == texts[1])
        #expect(["(helloworld)", "(worldhello)"].contains(texts[0]))
    }

    @Test func `is there once when both delete the same`() throws {
        let delete: (inout NoteWriter, inout SeededGenerator) throws -> [NoteOperation] = {
            [try $0.write("", at: 0, deleting: 2, using: &$1)]
        }
        #expect(try Self.written(delete, delete) == ["", ""])
        let both = try Self.written(delete, Self.forwards("kept"))
        #expect(both == ["kept", "kept"])
    }
}
