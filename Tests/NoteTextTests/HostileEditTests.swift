import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Edits of somebody who means harm` {
    /// Operations whose references are drawn at random: of all that was inserted, most often of a few
    /// scalars, in any order, beyond the end, and of things that never were.
    static func invented(seed: UInt64, count: Int, targets: Int) -> [NoteOperation] {
        var random = SeededGenerator(seed: seed)
        var writers = (0..<4).map { NoteWriter($0) }
        var operations: [NoteOperation] = []
        var sizes: [MessageKey: Int] = [:]
        for _ in 0..<count {
            let sources = Set(
                (0..<1 + random.below(3)).compactMap { _ in
                    operations.isEmpty
                        ? nil : operations[random.below(min(targets, operations.count))].key
                }
            ).union(random.oneIn(4) ? operations.last.map { [$0.key] } ?? [] : [])
                .sorted()
            var inserted = 0
            func reference() -> NoteEdit.Reference? {
                let source = random.below(sources.count + 1)
                let size = source == 0 ? inserted : sizes[sources[source - 1]] ?? 0
                guard !random.oneIn(5), source > 0 || inserted > 0 else { return nil }
                let beyond = source > 0 && random.oneIn(20) ? 3 : 0
                return NoteEdit.Reference(source: source, offset: random.below(size) + beyond)
            }
            var changes: [NoteEdit.Change] = []
            for _ in 0..<1 + random.below(4) {
                switch random.below(8) {
                case 0:
                    guard let one = reference() else { continue }
                    let most = one.source == 0 ? inserted - one.offset : 4
                    changes.append(.delete(one, count: 1 + random.below(most)))
                case 1:
                    let marks: [NoteMark] = [.bold(true), .bold(false), .link("x:"), .link(nil)]
                    changes.append(
                        .mark(
                            from: reference(), to: reference(), marks[random.below(marks.count)]))
                default:
                    let text = ["a", "bc", "日", "\n"][random.below(4)]
                    changes.append(.insert(left: reference(), right: reference(), text: text))
                    inserted += text.unicodeScalars.count
                }
            }
            guard !changes.isEmpty else { continue }
            let index = random.below(writers.count)
            let operation = writers[index].operation(
                NoteEdit(sources: sources, changes: changes), using: &random)
            sizes[operation.key] = inserted
            operations.append(operation)
        }
        return operations
    }

    @Test(arguments: Seeds.explore(20))
    func `end in one text for everybody, whatever they refer to`(seed: UInt64) throws {
        var random = SeededGenerator(seed: ~seed)
        let operations = Self.invented(seed: seed, count: 120, targets: 1 + random.below(12))
        for operation in operations { #expect(try operation.edit.coded == operation.edit) }
        let naive = NaiveNote(operations.map { ($0, .valid) })
        for _ in 0..<3 {
            let note = note(of: operations.shuffled(using: &random))
            #expect(note.isComplete)
            #expect(note.text == naive.text)
            #expect(note.lines() == naive.lines)
        }
    }

    @Test(arguments: Seeds.explore(4))
    func `end in one text where hundreds stand at one place`(seed: UInt64) throws {
        var random = SeededGenerator(seed: ~seed)
        let operations = Self.invented(seed: seed, count: 400, targets: 1 + random.below(3))
        let naive = NaiveNote(operations.map { ($0, .valid) })
        let note = note(of: operations.shuffled(using: &random))
        #expect(note.text == naive.text)
    }

    /// One operation of many inserts of one character, all between the same two.
    static func crowd(_ count: Int, by writer: inout NoteWriter, _ random: inout SeededGenerator)
        -> NoteOperation
    {
        let one = NoteEdit.Change.insert(left: nil, right: nil, text: "a")
        let edit = NoteEdit(sources: [], changes: Array(repeating: one, count: count))
        return writer.operation(edit, using: &random)
    }

    @Test func `cost no more each when a hundred thousand stand at one place`() {
        // Looking at all of them for each would take hours, not the seconds that a suite has.
        var random = SeededGenerator(seed: 4)
        var writers = (0..<40).map { NoteWriter($0) }
        var note = Note()
        for round in 0..<50 {
            note.apply(
                Self.crowd(2_000, by: &writers[round * 7 % 40], &random), isTold: false)
        }
        #expect(note.scalarCount == 100_000)
        #expect(note.text.utf8.allSatisfy { $0 == UInt8(ascii: "a") })
    }

    @Test func `have no effect where they delete what is not there, again and again`() {
        var random = SeededGenerator(seed: 4)
        var writer = NoteWriter(1)
        var note = Note()
        let text = writer.operation(
            NoteEdit(
                sources: [], changes: [.insert(left: nil, right: nil, text: "abc")]),
            using: &random)
        note.apply(text)
        let far = NoteEdit.Reference(source: 1, offset: 2)
        let delete = writer.operation(
            NoteEdit(
                sources: [text.key],
                changes: Array(repeating: .delete(far, count: 60_000), count: 2_000)),
            using: &random)
        note.apply(delete)
        #expect(note.text == "ab")
        note.judge(delete, isValid: false)
        #expect(note.text == "abc")
    }

    @Test func `mark everything, and are shown in time`() {
        var random = SeededGenerator(seed: 4)
        var writer = NoteWriter(1)
        var note = Note()
        note.apply(
            writer.operation(
                NoteEdit(sources: [], changes: [.insert(left: nil, right: nil, text: "abc")]),
                using: &random))
        for round in 0..<20 {
            let marks = (0..<4_000).map { number in
                NoteEdit.Change.mark(from: nil, to: nil, .bold((number + round) % 2 == 0))
            }
            note.apply(writer.operation(NoteEdit(sources: [], changes: marks), using: &random))
        }
        #expect(note.lines().count == 1)
        #expect(note.lines()[0].runs.count == 1)
    }
}
