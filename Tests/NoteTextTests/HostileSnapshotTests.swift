import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import NoteText

struct `A snapshot that contradicts itself` {
    /// A note of two who wrote into each other's text, in columns.
    static func note() throws -> Note {
        var random = SeededGenerator(seed: 8)
        var (one, other) = (NoteWriter(1), NoteWriter(2))
        other.note.apply(try one.write("hello wörld", at: 0, using: &random))
        one.note.apply(try other.write("XYZ", at: 5, using: &random))
        _ = try one.write("!", at: 6, deleting: 1, using: &random)
        try one.note.format(0..<4, .link("https://example.org"), as: one.author)
        try one.note.setLine(at: 0, .quote, as: one.author)
        _ = try one.publish(using: &random)
        return one.note
    }

    static func read(_ columns: SnapshotColumns, _ text: String) throws -> Note? {
        try SnapshotColumns(decoding: columns.encoded).note(text: [UInt8](text.utf8))
    }

    @Test func `is read where nothing is changed`() throws {
        let note = try Self.note()
        let columns = SnapshotColumns(of: note)
        let read = try #require(try Self.read(columns, note.text))
        #expect(read.text == note.text)
        #expect(read.lines() == note.lines())
        #expect(read.runCount == note.runCount)
        #expect(read.table.entries.map(\.key) == note.table.entries.map(\.key))
    }

    /// Numbers that are put in place of a column, and its name.
    static let lies: [(column: SnapshotColumns.Column, numbers: [UInt64])] = [
        (.authors, []),  // nobody wrote anything
        (.ids, [1]),  // a part of an id
        (.times, []),
        (.times, [1 << 62, 0, 0]),  // a time that no clock shows
        (.counters, [1 << 20, 3]),
        (.counters, [0, 2]),  // one operation without
        (.sequences, []),
        (.writers, [7, 3]),  // an author that is none
        (.states, [3, 3]),  // a state that is none
        (.pieces, []),  // nobody inserted anything
        (.pieces, [0]),  // a piece of nothing
        (.pieces, [11 << 1, 3 << 1, 1 << 1, 1 << 1]),  // of an operation that is none
        (.pieces, [70_000 << 1]),  // more than one operation inserts
        (.pieces, [12 << 1, 3 << 1, 1 << 1]),  // more than there are runs for
        (.flags, []),  // no run, and no sentinel
        (.flags, [1]),  // goes on from none
        (.flags, [3, 0]),
        (.flags, [128]),  // flags that are none
        (.flags, [12, 8]),  // an oddity that is none
        (.firsts, []),
        (.firsts, [2]),  // not the sentinel first
        (.counts, []),
        (.counts, [0]),  // an empty run
        (.counts, [1, 1 << 40]),
        (.widths, []),  // a text with no width
        (.widths, [1]),  // fewer bytes than scalars
        (.widths, [1_000]),  // more than four a scalar
        (.widths, [UInt64(UInt32.max)]),  // more than a note has
        (.marks, [9, 0, 1, 0]),  // of an operation that is none
        (.marks, [0, 99, 1, 0]),  // at a scalar that is none
        (.marks, [0, 0, 99, 0]),
        (.marks, [0, 0, 1, 10]),  // a sixth mark
        (.marks, [0, 0, 1, 9, 3_000]),  // an address that is too long
        (.marks, [0, 0, 1, 9, 1, 255]),  // no text
        (.marks, [0, 0, 1]),  // a part
        (.lines, [9, 0, 0]),
        (.lines, [0, 99, 0]),
        (.lines, [0, 0, 6]),  // a seventh kind
        (.lines, [0, 0]),
    ]

    @Test(arguments: lies.indices)
    func `is refused`(index: Int) throws {
        let note = try Self.note()
        var columns = SnapshotColumns(of: note)
        var column = ByteColumn()
        for number in Self.lies[index].numbers { column.append(number) }
        columns[Self.lies[index].column] = column
        #expect(try Self.read(columns, note.text) == nil)
    }

    @Test func `is refused where an operation or an author is there twice`() throws {
        let note = try Self.note()
        var columns = SnapshotColumns(of: note)
        let ids = columns[.ids]
        columns[.ids] = ByteColumn()
        columns[.times] = ByteColumn()
        columns[.counters] = ByteColumn()
        columns[.counters].append(UInt64(0))
        columns[.counters].append(UInt64(note.table.entries.count))
        for _ in note.table.entries {
            columns[.ids].append(raw: 5)
            columns[.times].append(UInt64(0))
        }
        #expect(ids.bytes.count == columns[.ids].bytes.count)
        #expect(try Self.read(columns, note.text) == nil)
        columns = SnapshotColumns(of: note)
        columns[.authors] = ByteColumn()
        for _ in note.table.authors {
            for _ in 0..<4 { columns[.authors].append(raw: 5) }
            columns[.authors].append(UInt64(1))
        }
        #expect(try Self.read(columns, note.text) == nil)
    }

    @Test func `is refused where the text is another`() throws {
        let note = try Self.note()
        let columns = SnapshotColumns(of: note)
        #expect(try Self.read(columns, note.text + "x") == nil)
        #expect(try Self.read(columns, String(note.text.dropLast())) == nil)
    }

    @Test func `is refused by its frame`() throws {
        let snapshot = try #require(try Self.note().snapshot(verdictChanges: 3))
        for runs in [[], [0x80], snapshot.runs + [0], snapshot.page] {
            #expect(throws: Malformed.self) {
                try Note(NoteSnapshot(page: snapshot.page, runs: runs))
            }
        }
        func paged(
            _ block: [UInt8], _ column: [UInt8] = [], version: UInt64 = NotePage.version
        ) -> [UInt8] {
            var page = CBOREncoder(reservingBytes: 0)
            page.array(count: 5)
            page.uint(version)
            page.byteString([0x80])
            page.uint(0)
            page.byteString(block)
            page.byteString(column)
            return page.bytes
        }
        for version in [NotePage.version - 1, NotePage.version + 1] {
            let page = paged([0, 0x61], version: version)
            #expect(throws: Malformed(.unsupported, at: 1)) { try NotePage(decoding: page) }
            #expect(throws: Malformed(.unsupported, at: 1)) {
                try Note(NoteSnapshot(page: page, runs: snapshot.runs))
            }
        }
        let plain = try NotePage(decoding: paged([0, 0x61, 0x0a]))
        #expect(plain.text == "a\n")
        #expect(plain.lines == [NoteLine(.paragraph, text: "a"), NoteLine(.paragraph, text: "")])
        for block in [[], [3], [0, 0xff], [1, 8]] as [[UInt8]] {
            #expect(throws: Malformed.self) { try NotePage(decoding: paged(block)) }
        }
        // [lines passed, kind, runs, for each: bytes, marks, for each: number]
        #expect(try NotePage(decoding: paged([0, 0x61], [0, 3, 1, 1, 1, 0])).lines.count == 1)
        for column in [
            [0x80], [1, 3, 0], [0, 9, 1, 1, 0], [0, 3, 2, 1, 0], [0, 3, 1, 2, 0], [0, 3, 1, 1, 6],
            [0, 3, 1, 1, 1, 5], [0, 3, 1, 1, 1, 4, 9], [0, 3], [0, 3, 1, 1, 0, 0],
        ] as [[UInt8]] {
            #expect(throws: Malformed.self) { try NotePage(decoding: paged([0, 0x61], column)) }
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `never traps, whatever its columns say`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let note = try Self.note()
        for _ in 0..<60 {
            var columns = SnapshotColumns(of: note)
            for _ in 0..<1 + random.below(2) {
                let index = random.below(SnapshotColumns.Column.allCases.count)
                let name = SnapshotColumns.Column.allCases[index]
                var column = ByteColumn()
                for byte in columns[name].bytes {
                    column.append(UInt64(random.oneIn(6) ? UInt8(random.below(40)) : byte & 0x7f))
                }
                columns[name] = column
            }
            guard var read = try Self.read(columns, note.text) else { continue }
            #expect(read.text == note.text)
            _ = read.lines()
            _ = read.authorship()
            var writer = NoteWriter(3)
            for at in 0...note.scalarCount {
                try read.edit(NotePatch(at: at, deleted: 0, inserted: "x"), as: writer.author)
            }
            writer.note = read
            _ = try writer.publish(using: &random)
        }
    }
}

struct `Bodies that are read in place` {
    @Test(arguments: Seeds.explore(200))
    func `are those that the other reader takes, and mean the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let operations = `Edits of somebody who means harm`.invented(
            seed: seed, count: 4, targets: 3)
        for operation in operations {
            let bytes = operation.edit.encoded
            for _ in 0..<40 {
                var changed = bytes
                for _ in 0..<random.below(3) {
                    let index = random.below(changed.count)
                    switch random.below(3) {
                    case 0: changed[index] ^= UInt8(1 << random.below(8))
                    case 1: changed.insert(UInt8(random.below(256)), at: index)
                    default: changed.remove(at: index)
                    }
                    if changed.isEmpty { break }
                }
                let judged = Result { try NoteEdit(judging: changed) }
                let read = Result { try NoteEdit(decoding: changed) }
                switch (judged, read) {
                case (.success(let one), .success(let other)):
                    #expect(one == other)
                    #expect(one.hashValue == other.hashValue)
                    #expect(one.insertedCount == other.insertedCount)
                    #expect(other.encoded == changed)
                case (.failure(let one), .failure(let other)):
                    #expect(one as? Malformed == other as? Malformed)
                default: Issue.record("one reader takes what the other refuses: \(changed)")
                }
            }
        }
    }
}
