import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Notes of several writers` {
    /// What 2 to 8 people wrote, who heard of each other late, twice, and in any order.
    struct History {
        var operations: [NoteOperation] = []
        var writers: [NoteWriter]
        var random: SeededGenerator

        init(seed: UInt64, rounds: Int = 30) throws {
            random = SeededGenerator(seed: seed)
            writers = (0..<2 + random.below(7)).map { NoteWriter($0) }
            // Some homes were copied: their devices write on under one name, apart.
            if random.oneIn(3) { writers.append(writers[0]) }
            for _ in 0..<rounds {
                let index = random.below(writers.count)
                for _ in 0..<1 + random.below(4) {
                    try writers[index].scribble(using: &random)
                    if random.oneIn(6), let other = operations.randomElement(using: &random) {
                        // Somebody else's operation arrives in the middle of a draft.
                        writers[index].note.apply(other)
                    }
                }
                if writers[index].note.draft != nil {
                    do {
                        operations.append(try writers[index].publish(using: &random))
                    } catch is NoteWriter.NothingWritten {
                        // A copied home heard of its other half: it makes its note anew.
                        writers[index].note = NoteTextTests.note(of: operations)
                    }
                }
                let other = random.below(writers.count)
                for operation in operations.shuffled(using: &random) where random.oneIn(2) {
                    writers[other].note.apply(operation)
                }
            }
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `end in one text, whatever the order, and by definition`(seed: UInt64) throws {
        var history = try History(seed: seed)
        let naive = NaiveNote(history.operations.map { ($0, .valid) })
        for _ in 0..<4 {
            var note = Note()
            for operation in history.operations.shuffled(using: &history.random) {
                note.apply(operation)
                if history.random.oneIn(4) { note.apply(operation) }
            }
            #expect(note.isComplete)
            #expect(note.text == naive.text)
            #expect(note.lines() == naive.lines)
            #expect(note.scalarCount == naive.text.unicodeScalars.count)
            #expect(note.byteCount == naive.text.utf8.count)
        }
        for writer in history.writers where writer.note.draft == nil {
            var note = writer.note
            for operation in history.operations { note.apply(operation) }
            #expect(note.text == naive.text)
            #expect(note.lines() == naive.lines)
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `tell an editor enough to follow`(seed: UInt64) throws {
        var history = try History(seed: seed)
        var note = Note()
        var shown = ""
        for operation in history.operations.shuffled(using: &history.random) {
            guard case .applied(let changes) = note.apply(operation) else { continue }
            for change in changes {
                shown = try #require(NotePatch.apply(change.patches, to: shown))
            }
            #expect(shown == note.text)
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `forget and remember what does not count for a while`(seed: UInt64) throws {
        var history = try History(seed: seed)
        var note = Note()
        var states: [MessageKey: Bool] = [:]
        var shown = ""
        func follow(_ outcome: NoteOutcome) throws {
            guard case .applied(let changes) = outcome else { return }
            for change in changes {
                shown = try #require(NotePatch.apply(change.patches, to: shown))
            }
        }
        for operation in history.operations.shuffled(using: &history.random) {
            let isValid = !history.random.oneIn(3)
            states[operation.key] = isValid
            try follow(note.apply(operation, isValid: isValid))
            if let other = history.operations.randomElement(using: &history.random),
                states[other.key] != nil
            {
                let isValid = history.random.oneIn(2)
                states[other.key] = isValid
                try follow(note.judge(other, isValid: isValid))
            }
            #expect(shown == note.text)
        }
        let naive = NaiveNote(
            history.operations.map { ($0, states[$0.key] == true ? .valid : .invalid) })
        #expect(note.text == naive.text)
        #expect(note.lines() == naive.lines)
        for operation in history.operations { note.judge(operation, isValid: true) }
        #expect(note.text == NoteTextTests.note(of: history.operations).text)
    }

    @Test(arguments: Seeds.explore(40))
    func `put what refers to something erased at the end`(seed: UInt64) throws {
        var history = try History(seed: seed)
        let erased = Set(
            history.operations.filter { _ in history.random.oneIn(5) }.map(\.key))
        let naive = NaiveNote(
            history.operations.map { ($0, erased.contains($0.key) ? .erased : .valid) })
        for _ in 0..<3 {
            var note = Note()
            for operation in history.operations.shuffled(using: &history.random) {
                if erased.contains(operation.key) {
                    note.erase(operation.key)
                } else {
                    note.apply(operation)
                }
            }
            #expect(note.isComplete)
            #expect(note.text == naive.text)
            #expect(note.lines() == naive.lines)
        }
    }
}
