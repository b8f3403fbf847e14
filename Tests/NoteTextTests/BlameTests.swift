import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Who wrote what` {
    @Test func `is told in parts, each of one operation`() throws {
        var random = SeededGenerator(seed: 1)
        var (one, other) = (NoteWriter(1), NoteWriter(2))
        #expect(one.note.authorship() == [])
        let first = try one.write("abcd", at: 0, using: &random)
        other.note.apply(first)
        let second = try other.write("XY", at: 2, using: &random)
        one.note.apply(second)
        let third = try one.write("", at: 1, deleting: 1, using: &random)
        let fourth = try one.write("e日", at: 5, using: &random)
        #expect(one.note.text == "aXYcde日")
        let parts = one.note.authorship()
        #expect(parts.map(\.range) == [0..<1, 1..<3, 3..<5, 5..<7])
        #expect(parts.map(\.key) == [first.key, second.key, first.key, fourth.key])
        #expect(parts.map(\.author) == [one, other, one, one].map(\.author))
        #expect(!parts.map(\.key).contains(third.key))
    }

    @Test func `has no key while it is being written`() throws {
        var random = SeededGenerator(seed: 1)
        var writer = NoteWriter(1)
        let first = try writer.write("ab", at: 0, using: &random)
        try writer.note.edit(NotePatch(at: 2, deleted: 0, inserted: "c"), as: writer.author)
        // One run, and two parts.
        #expect(writer.note.runCount == 1)
        #expect(writer.note.authorship().map(\.key) == [first.key, nil])
        let second = try writer.publish(using: &random)
        #expect(writer.note.authorship().map(\.key) == [first.key, second.key])
    }

    @Test(arguments: Seeds.explore(20))
    func `covers the text once, whatever the order`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed)
        let note = note(of: history.operations)
        let parts = note.authorship()
        var place = 0
        for part in parts {
            #expect(part.range.lowerBound == place)
            #expect(!part.range.isEmpty)
            place = part.range.upperBound
            let operation = history.operations.first { $0.key == part.key }
            #expect(operation?.author == part.author)
        }
        #expect(place == note.scalarCount)
        for (part, next) in zip(parts, parts.dropFirst()) { #expect(part.key != next.key) }
        let shuffled = history.operations.shuffled(using: &history.random)
        #expect(NoteTextTests.note(of: shuffled).authorship() == parts)
    }
}

struct `The frontier of a note` {
    @Test func `has the bytes that the protocol says`() throws {
        func operation(_ device: UInt64, _ sequence: UInt64, _ time: UInt64, _ id: UInt64)
            -> NoteOperation
        {
            NoteOperation(
                author: .init(device: DeviceID(words: (device, 0, 0, 0)), incarnation: 5),
                sequence: sequence, timestamp: HybridTimestamp(rawValue: time),
                id: OperationID(words: (id, 1, 0, 0)),
                edit: NoteEdit(sources: [], changes: [.block(nil, .quote)]))
        }
        var note = Note()
        #expect(note.frontier == [0x80])
        note.apply(operation(2, 1, 3, 7))
        note.apply(operation(1, 1, 10, .max))
        note.apply(operation(1, 2, 11, 4))
        let zeros = String(repeating: "00", count: 24)
        let golden =
            "82" + "85" + "5820" + "0000000000000001" + zeros + "05" + "02" + "15" + "03" + "85"
            + "5820" + "0000000000000002" + zeros + "05" + "01" + "03" + "07"
        #expect(note.frontier == Vectors.bytes(hex: golden))
    }

    @Test(arguments: Seeds.explore(20))
    func `names what was taken in, and nothing else`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 15)
        let whole = note(of: history.operations)
        let shuffled = history.operations.shuffled(using: &history.random)
        #expect(note(of: shuffled).frontier == whole.frontier)
        var judged = whole
        let one = shuffled[0]
        judged.judge(one, isValid: false)
        #expect(judged.frontier == whole.frontier)
        // What waits, or is erased, was not taken in.
        var part = Note()
        part.erase(one.key)
        for operation in shuffled.dropFirst() { part.apply(operation) }
        #expect(part.frontier != whole.frontier)
        #expect(
            part.frontier == note(of: shuffled.dropFirst() + []).frontier || !isAlone(one, shuffled)
        )
        var writer = NoteWriter(99)
        writer.note = whole
        try writer.note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        #expect(writer.note.frontier == whole.frontier)
        _ = try writer.publish(using: &history.random)
        #expect(writer.note.frontier != whole.frontier)
    }

    /// Whether nobody refers to an operation.
    private func isAlone(_ one: NoteOperation, _ operations: [NoteOperation]) -> Bool {
        !operations.contains { $0.edit.sources.contains(one.key) }
    }
}
