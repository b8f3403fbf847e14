import NoteText
import WorkspaceModel
import WorkspaceTestKit

/// A writer of a note in a test: a copy of the note, and a log.
struct NoteWriter {
    var note = Note()
    let author: NoteOperation.Author
    private(set) var sequence: UInt64 = 0
    private var clock: UInt64

    /// The writer of that number.
    init(_ number: Int, incarnation: UInt32 = 1) {
        // Not in the order of the numbers, so that no test passes by it.
        let word = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        author = NoteOperation.Author(
            device: DeviceID(words: (word, UInt64(number), 0, 0)), incarnation: incarnation)
        clock = 1_000 + UInt64(number)
    }

    /// Replaces `deleted` scalars at `at` by a text, as one operation.
    mutating func write(
        _ text: String, at: Int, deleting deleted: Int = 0, using random: inout SeededGenerator
    ) throws -> NoteOperation {
        try note.edit(NotePatch(at: at, deleted: deleted, inserted: text), as: author)
        return try publish(using: &random)
    }

    /// Makes the draft an operation.
    mutating func publish(using random: inout SeededGenerator) throws -> NoteOperation {
        guard let draft = note.draft else { throw NothingWritten() }
        let operation = operation(try draft.edit.coded, using: &random)
        let isLast = note.publishDraft(
            as: operation.id, timestamp: operation.timestamp, sequence: operation.sequence)
        guard isLast else { throw NothingWritten() }
        return operation
    }

    /// An operation with the given edit, which is not in this writer's copy.
    mutating func operation(_ edit: NoteEdit, using random: inout SeededGenerator) -> NoteOperation
    {
        sequence += 1 + UInt64(random.below(3))
        clock += UInt64(random.below(100_000))
        let id = OperationID(
            words: (random.next(), random.next(), random.next(), random.next()))
        return NoteOperation(
            author: author, sequence: sequence, timestamp: HybridTimestamp(rawValue: clock),
            id: id, edit: edit)
    }

    /// Changes something at random: types, deletes, pastes, marks, says what a line is.
    mutating func scribble(using random: inout SeededGenerator) throws {
        let count = note.scalarCount
        let at = random.below(count + 1)
        switch random.below(10) {
        case 0...4:
            let words = ["a", "b", "lorem ", "\n", "é", "日本", "😀!", "x y z\n"]
            try note.edit(
                NotePatch(at: at, deleted: 0, inserted: words[random.below(words.count)]),
                as: author)
        case 5...6 where count > 0:
            let deleted = min(count - at, 1 + random.below(6))
            try note.edit(NotePatch(at: at, deleted: deleted, inserted: ""), as: author)
        case 7 where count > 0:
            let from = random.below(count)
            let to = from + 1 + random.below(count - from)
            let marks: [NoteMark] = [
                .bold(true), .bold(false), .italic(true), .underline(true), .code(true),
                .link("https://example.org/\(at)"), .link(nil),
            ]
            try note.format(from..<to, marks[random.below(marks.count)], as: author)
        case 8:
            let kinds = NoteBlockKind.allCases
            try note.setLine(at: at, kinds[random.below(kinds.count)], as: author)
        default:
            // Typing: one character after the other at one place, then backwards.
            for (index, letter) in "type".enumerated() {
                try note.edit(
                    NotePatch(at: at + index, deleted: 0, inserted: String(letter)), as: author)
            }
            try note.edit(NotePatch(at: at + 3, deleted: 1, inserted: ""), as: author)
        }
    }

    struct NothingWritten: Error {}
}

extension NoteEdit {
    /// The edit as it comes out of its bytes.
    var coded: NoteEdit {
        get throws { try NoteEdit(decoding: encoded) }
    }
}

/// The note after operations in this order of arrival.
func note(of operations: [NoteOperation]) -> Note {
    var note = Note()
    for operation in operations { note.apply(operation) }
    return note
}
