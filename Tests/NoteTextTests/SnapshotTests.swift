import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A snapshot of a note` {
    @Test(arguments: Seeds.explore(30))
    func `and what came after it make the same note as everything`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed)
        var operations = history.operations.shuffled(using: &history.random)
        // A snapshot has no room for what waits: what it needs comes before it.
        operations.sort { $0.timestamp < $1.timestamp }
        let cut = history.random.below(operations.count + 1)
        var first = Note()
        let invalid = Set(operations.filter { _ in history.random.oneIn(8) }.map(\.key))
        func isValid(_ operation: NoteOperation) -> Bool { !invalid.contains(operation.key) }
        for operation in operations[..<cut] {
            first.apply(operation, isValid: isValid(operation))
        }
        let snapshot = try #require(first.snapshot(verdictChanges: 7))
        let page = try NotePage(decoding: snapshot.page)
        #expect(page.text == first.text)
        #expect(page.lines == first.lines())
        #expect(page.frontier == first.frontier)
        #expect(page.verdictChanges == 7)

        var second = try Note(snapshot)
        #expect(second.text == first.text)
        #expect(second.lines() == first.lines())
        #expect(second.frontier == first.frontier)
        #expect(second.snapshot(verdictChanges: 7) == snapshot)
        #expect(second.waitingKeys == [])
        for key in first.waitingKeys {
            let operation = try #require(operations.first { $0.key == key })
            second.apply(operation, isValid: isValid(operation))
        }
        for operation in operations[cut...].shuffled(using: &history.random) {
            first.apply(operation, isValid: isValid(operation))
            second.apply(operation, isValid: isValid(operation))
            second.apply(operation)
        }
        #expect(second.text == first.text)
        #expect(second.lines() == first.lines())
        #expect(second.authorship() == first.authorship())
        let naive = NaiveNote(operations.map { ($0, isValid($0) ? .valid : .invalid) })
        #expect(second.text == naive.text)
    }

    @Test func `takes local edits like the note itself`() throws {
        var random = SeededGenerator(seed: 3)
        var writer = NoteWriter(1)
        _ = try writer.write("Hello wörld\nand 日本", at: 0, using: &random)
        _ = try writer.write("", at: 3, deleting: 4, using: &random)
        writer.note = try Note(try #require(writer.note.snapshot(verdictChanges: 0)))
        let operation = try writer.write("X", at: 5, deleting: 2, using: &random)
        #expect(writer.note.text == "HelörX\nand 日本")
        #expect(operation.edit.sources.count == 1)
    }

    @Test func `is not made of a note with a draft`() throws {
        var writer = NoteWriter(1)
        try writer.note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        #expect(writer.note.snapshot(verdictChanges: 0) == nil)
    }

    @Test func `asks to be rebuilt when a verdict changes`() throws {
        var random = SeededGenerator(seed: 3)
        var writer = NoteWriter(1)
        let first = try writer.write("one", at: 0, using: &random)
        var note = try Note(try #require(writer.note.snapshot(verdictChanges: 0)))
        #expect(note.judge(first, isValid: true) == .known)
        #expect(note.judge(first, isValid: false) == .mustBeMadeAnew)
        #expect(note.erase(first.key) == .mustBeMadeAnew)
        #expect(note.text == "one")
    }

    @Test(arguments: Seeds.explore(20))
    func `is refused, and never a trap, with any byte changed`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 10)
        let snapshot = try #require(note(of: history.operations).snapshot(verdictChanges: 1))
        for _ in 0..<200 {
            var (page, runs) = (snapshot.page, snapshot.runs)
            let index = history.random.below(page.count + runs.count)
            let flip = UInt8(1 + history.random.below(255))
            if index < page.count { page[index] ^= flip } else { runs[index - page.count] ^= flip }
            _ = try? NotePage(decoding: page)
            guard let note = try? Note(NoteSnapshot(page: page, runs: runs)) else { continue }
            #expect(note.text.utf8.count == note.byteCount)
            _ = note.lines()
            _ = note.authorship()
        }
        for count in 0..<snapshot.runs.count {
            let part = NoteSnapshot(page: snapshot.page, runs: [UInt8](snapshot.runs[..<count]))
            #expect(throws: Malformed.self) { try Note(part) }
        }
    }
}
