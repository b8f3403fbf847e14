import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A note that is made of its whole history` {
    /// What becomes of an operation.
    private enum Fate { case valid, invalid, erased }

    /// The same operations with the same fates, taken in one by one and as a history.
    private func both(
        _ operations: [(operation: NoteOperation, fate: Fate)]
    ) -> (note: Note, replayed: Note) {
        var note = Note()
        var replay = NoteReplay()
        for (operation, fate) in operations {
            if fate == .erased {
                #expect(replay.erase(operation.key) == note.erase(operation.key, isTold: false))
                continue
            }
            let isValid = fate == .valid
            #expect(
                replay.apply(operation, isValid: isValid)
                    == note.apply(operation, isValid: isValid, isTold: false))
        }
        return (note, replay.finished())
    }

    private func expectSame(_ note: Note, _ replayed: Note) {
        #expect(replayed.text == note.text)
        #expect(replayed.lines() == note.lines())
        #expect(replayed.scalarCount == note.scalarCount)
        #expect(replayed.byteCount == note.byteCount)
        #expect(replayed.authorship() == note.authorship())
        #expect(replayed.frontier == note.frontier)
        #expect(replayed.missing == note.missing)
        #expect(replayed.waitingKeys == note.waitingKeys)
        #expect(replayed.runCount <= note.runCount)
    }

    @Test(arguments: Seeds.explore(40))
    func `equals the same operations one by one, in any order of writers`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed)
        let isShuffled = history.random.oneIn(2)
        var operations = history.operations
        if isShuffled { operations.shuffle(using: &history.random) }
        let fates: [Fate] = [.valid, .valid, .valid, .valid, .invalid, .erased]
        let all = operations.map { ($0, fates[history.random.below(fates.count)]) }
        let (note, replayed) = both(all)
        expectSame(note, replayed)
        let naive = NaiveNote(
            all.map { operation, fate in
                switch fate {
                case .valid: (operation, .valid)
                case .invalid: (operation, .invalid)
                case .erased: (operation, .erased)
                }
            })
        #expect(replayed.text == naive.text)
    }

    @Test(arguments: Seeds.explore(40))
    func `goes on like it`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed)
        let cut = history.random.below(history.operations.count + 1)
        var (note, replayed) = both(history.operations[..<cut].map { ($0, .valid) })
        for operation in history.operations[cut...] {
            note.apply(operation)
            replayed.apply(operation)
            if let other = history.operations.randomElement(using: &history.random) {
                let isValid = history.random.oneIn(2)
                note.judge(other, isValid: isValid)
                replayed.judge(other, isValid: isValid)
            }
            #expect(replayed.text == note.text)
        }
        let at = history.random.below(note.scalarCount + 1)
        for _ in 0..<2 {
            let patch = NotePatch(at: at, deleted: note.scalarCount - at, inserted: "née\n")
            try note.edit(patch, as: history.writers[0].author)
            try replayed.edit(patch, as: history.writers[0].author)
        }
        #expect(replayed.draft?.edit == note.draft?.edit)
        expectSame(note, replayed)
    }

    @Test(arguments: Seeds.explore(40))
    func `of one writer is read without a tree to its end`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = NoteWriter(1)
        var operations: [NoteOperation] = []
        for _ in 0..<60 {
            for _ in 0..<1 + random.below(5) { try writer.scribble(using: &random) }
            if writer.note.draft != nil { operations.append(try writer.publish(using: &random)) }
        }
        let (note, replayed) = both(operations.map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == writer.note.text)
        let snapshot = try #require(replayed.snapshot(verdictChanges: 0))
        #expect(try Note(snapshot).text == writer.note.text)
    }

    @Test func `puts what two wrote at one place where it stands one by one`() throws {
        var random = SeededGenerator(seed: 5)
        var first = NoteWriter(1)
        let base = try first.write("ab", at: 0, using: &random)
        var operations = [base]
        for number in 2..<6 {
            var other = NoteWriter(number)
            other.note.apply(base)
            operations.append(try other.write("\(number)", at: 1, using: &random))
            operations.append(try other.write("é\(number)", at: 1, using: &random))
        }
        let (note, replayed) = both(operations.map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == NaiveNote(operations.map { ($0, .valid) }).text)
    }

    @Test func `cuts long runs at what was deleted and inserted, by bytes and by scalars`() throws {
        var random = SeededGenerator(seed: 6)
        var writer = NoteWriter(1)
        let long = String(repeating: "日é😀x", count: 200)
        var operations = [try writer.write(long, at: 0, using: &random)]
        for at in stride(from: 1, to: 780, by: 13) {
            operations.append(try writer.write("–", at: at, deleting: at % 3, using: &random))
        }
        let (note, replayed) = both(operations.map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == writer.note.text)
    }

    @Test func `counts who deletes a scalar, however many do`() throws {
        var random = SeededGenerator(seed: 7)
        var writer = NoteWriter(1)
        let base = try writer.write("abc", at: 0, using: &random)
        let deletion = NoteEdit(
            sources: [base.key], changes: [.delete(.init(source: 1, offset: 1), count: 1)])
        var operations = [base]
        for _ in 0..<300 { operations.append(writer.operation(deletion, using: &random)) }
        var (note, replayed) = both(operations.map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == "ac")
        for operation in operations.dropFirst() {
            #expect(replayed.text == "ac")
            note.judge(operation, isValid: false)
            replayed.judge(operation, isValid: false)
        }
        expectSame(note, replayed)
        #expect(replayed.text == "abc")
    }

    @Test(arguments: [true, false])
    func `deletes a scalar once for each operation, in whatever order that names it`(isRead: Bool)
        throws
    {
        var random = SeededGenerator(seed: 8)
        var writer = NoteWriter(1)
        let base = try writer.write("abcdefgh", at: 0, using: &random)
        func deletion(_ offsets: (offset: Int, count: Int)...) throws -> NoteEdit {
            let edit = NoteEdit(
                sources: [base.key],
                changes: offsets.map { .delete(.init(source: 1, offset: $0), count: $1) })
            return try isRead ? edit.coded : edit
        }
        // Backwards, forwards, what is deleted already, and a part that is apart.
        let edits = try [
            deletion((5, 1), (4, 1), (3, 1)), deletion((3, 1), (4, 1)),
            deletion((4, 2), (4, 1), (3, 2), (3, 2)), deletion((7, 1), (0, 1), (7, 1), (1, 1)),
        ]
        let deletions = edits.map { writer.operation($0, using: &random) }
        var (note, replayed) = both(([base] + deletions).map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == "cg")
        for (deletion, text) in zip(deletions, ["cg", "cg", "cdefg", "abcdefgh"]) {
            note.judge(deletion, isValid: false)
            replayed.judge(deletion, isValid: false)
            expectSame(note, replayed)
            #expect(replayed.text == text)
        }
    }

    @Test func `finds the run that a text was put before, among many short ones`() throws {
        var random = SeededGenerator(seed: 9)
        var writer = NoteWriter(1)
        var operations = [
            try writer.write(String(repeating: "x", count: 300), at: 0, using: &random)
        ]
        // Each before the one that was written last, at two places in turn, so that runs of one
        // scalar begin at numbers that follow each other.
        for number in 0..<200 {
            let at = number % 2 == 0 ? 100 : 300 + number / 2
            operations.append(try writer.write("\(number % 10)", at: at, using: &random))
        }
        let (note, replayed) = both(operations.map { ($0, .valid) })
        expectSame(note, replayed)
        #expect(replayed.text == writer.note.text)
        // What a third one puts there later stands where it does in the note that has them one by one.
        var (late, later) = (note, replayed)
        var other = NoteWriter(2)
        other.note.apply(operations[0])
        let between = try other.write("between", at: 100, using: &random)
        #expect(late.apply(between) == later.apply(between))
        expectSame(late, later)
    }

    @Test func `that is empty is an empty note`() {
        let note = NoteReplay().finished()
        #expect(note.text.isEmpty && note.isComplete && note.runCount == 0)
        #expect(note.operationCount == 0)
    }
}
