import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `An operation that waits` {
    var random = SeededGenerator(seed: 6)
    var writer = NoteWriter(1)
    var note = Note()

    /// Operations of which each but the first refers to the one before.
    mutating func chain(_ count: Int) throws -> [NoteOperation] {
        try (0..<count).map { try writer.write("\($0)", at: $0, using: &random) }
    }

    @Test mutating func `waits for all that it refers to, one after the other`() throws {
        let (one, other) = (try writer.write("ab", at: 0, using: &random), NoteWriter(2))
        var second = other
        let two = try second.write("cd", at: 0, using: &random)
        writer.note.apply(two)
        let both = try writer.write("", at: 1, deleting: 2, using: &random)
        #expect(both.edit.sources.count == 2)
        #expect(note.apply(both) == .waits)
        #expect(note.missing.count == 1)
        #expect(note.waitingKeys == [both.key])
        #expect(note.knows(both.key))
        #expect(!note.knows(one.key))
        let first = note.missing[0] == one.key ? one : two
        let last = note.missing[0] == one.key ? two : one
        guard case .applied(let changes) = note.apply(first) else {
            Issue.record("it refers to nothing")
            return
        }
        #expect(changes.map(\.key) == [first.key])
        #expect(note.missing == [last.key])
        #expect(!note.isComplete)
        note.apply(last)
        #expect(note.isComplete)
        #expect(note.missing == [])
        #expect(note.waitingKeys == [])
        #expect(note.text == writer.note.text)
    }

    /// Ids are hashes, so nobody can sign such a circle; nothing here rests on that.
    @Test mutating func `waits without end in a circle, and nobody else for it`() throws {
        func operation(_ number: UInt64, citing other: UInt64) -> NoteOperation {
            func time(_ number: UInt64) -> HybridTimestamp { HybridTimestamp(rawValue: number) }
            return NoteOperation(
                author: writer.author, sequence: number, timestamp: time(number),
                id: OperationID(words: (number, 0, 0, 0)),
                edit: NoteEdit(
                    sources: [MessageKey(timestamp: time(other), idPrefix: other)],
                    changes: [
                        .insert(left: .init(source: 1, offset: 0), right: nil, text: "x")
                    ]))
        }
        for (number, other) in [(1, 2), (2, 3), (3, 1), (4, 4)] as [(UInt64, UInt64)] {
            #expect(note.apply(operation(number, citing: other)) == .waits)
        }
        #expect(note.text.isEmpty && !note.isComplete && note.waitingKeys.count == 4)
        note.apply(try writer.write("text", at: 0, using: &random))
        #expect(note.text == "text")
    }

    @Test mutating func `is taken in as it was judged meanwhile`() throws {
        let operations = try chain(2)
        #expect(note.apply(operations[1], isValid: true) == .waits)
        #expect(note.judge(operations[1], isValid: false) == .waits)
        note.apply(operations[0])
        #expect(note.text == "0")
        note.judge(operations[1], isValid: true)
        #expect(note.text == "01")
    }

    @Test mutating func `is judged for the first time by being taken in`() throws {
        let operations = try chain(2)
        #expect(note.judge(operations[1], isValid: false) == .waits)
        guard case .applied = note.judge(operations[0], isValid: true) else {
            Issue.record("it refers to nothing")
            return
        }
        #expect(note.text == "0")
        #expect(note.isComplete)
    }

    @Test mutating func `can be erased, and then holds up nobody`() throws {
        let operations = try chain(3)
        #expect(note.apply(operations[1]) == .waits)
        #expect(note.apply(operations[2]) == .waits)
        guard case .applied(let changes) = note.erase(operations[1].key) else {
            Issue.record("an erased operation waits for nothing")
            return
        }
        #expect(changes.map(\.key) == [operations[2].key])
        #expect(note.text == "2")
        #expect(note.waitingKeys == [])
        #expect(note.missing == [])
        #expect(note.erase(operations[1].key) == .known)
        note.apply(operations[0])
        #expect(note.text == "02")
        #expect(note.apply(operations[1]) == .known)
    }

    @Test mutating func `gives way to one with its key and a smaller id`() throws {
        let operations = try chain(2)
        let late = operations[1]
        let words = late.id.words
        func twin(_ middle: UInt64, _ text: String) -> NoteOperation {
            NoteOperation(
                author: late.author, sequence: late.sequence, timestamp: late.timestamp,
                id: OperationID(words: (words.0, middle, 0, 0)),
                edit: NoteEdit(
                    sources: late.edit.sources,
                    changes: [
                        .insert(left: .init(source: 1, offset: 0), right: nil, text: text)
                    ]))
        }
        #expect(note.apply(twin(5, "five")) == .waits)
        #expect(note.apply(twin(6, "six")) == .known)
        #expect(note.apply(twin(4, "four")) == .waits)
        #expect(note.waitingKeys == [late.key])
        note.apply(operations[0])
        #expect(note.text == "0four")
        #expect(note.apply(twin(4, "four")) == .known)
        #expect(note.apply(twin(3, "three")) == .mustBeMadeAnew)
    }

    @Test mutating func `is kept as long as there is room, by its size`() throws {
        let absent = MessageKey(timestamp: HybridTimestamp(rawValue: 9), idPrefix: 9)
        let text = String(repeating: "x", count: 60_000)
        var kept = 0
        while kept < NoteLimits.waitingMax {
            let edit = NoteEdit(
                sources: [absent], changes: [.insert(left: nil, right: nil, text: text)])
            guard note.apply(writer.operation(edit, using: &random)) == .waits else { break }
            kept += 1
        }
        #expect(kept == NoteLimits.waitingBytesMax / (60_000 + 64 + 64 + 16))
        #expect(!note.isComplete)
        // What was there makes room when it goes.
        note.erase(absent)
        #expect(note.byteCount == kept * 60_000)
        let edit = NoteEdit(
            sources: [MessageKey(timestamp: HybridTimestamp(rawValue: 8), idPrefix: 9)],
            changes: [.insert(left: nil, right: nil, text: text)])
        #expect(note.apply(writer.operation(edit, using: &random)) == .waits)
    }

    @Test(arguments: Seeds.explore(20))
    mutating func `comes in one way or another, whatever comes when`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 20)
        let whole = NoteTextTests.note(of: history.operations)
        var left = history.operations.shuffled(using: &history.random)
        var applied: [MessageKey] = []
        while let operation = left.popLast() {
            if case .applied(let changes) = note.apply(operation) {
                applied += changes.map(\.key)
            }
            #expect(note.isComplete == note.waitingKeys.isEmpty)
            #expect(note.missing == note.missing.sorted())
            #expect(note.waitingKeys == note.waitingKeys.sorted())
            #expect(Set(note.waitingKeys).isDisjoint(with: applied))
            #expect(note.missing.allSatisfy { !note.knows($0) || note.waitingKeys.contains($0) })
        }
        #expect(Set(applied).count == applied.count)
        #expect(Set(applied) == Set(history.operations.map(\.key)))
        #expect(note.operationCount == applied.count)
        #expect(note.text == whole.text)
    }
}
