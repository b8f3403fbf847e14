import WorkspaceModel

// Decodes columns into a note.
extension SnapshotColumns {
    init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: Column.allCases.count)
        var decoded: [[UInt8]] = []
        for _ in Column.allCases {
            let start = decoder.position
            let range = try decoder.byteStringRange()
            guard let bytes = ByteCode.decoded(bytes, in: range, atMost: Self.columnBytesMax) else {
                throw Malformed(.inconsistent, at: start)
            }
            decoded.append(bytes)
        }
        try decoder.finish()
        columns = []
        self.decoded = decoded
    }

    /// Bytes of one column: one eight-byte number for each operation of a note with
    /// the largest history.
    private static let columnBytesMax = NoteLimits.historyBytesMax

    func reader(_ column: Column) -> ByteColumnReader {
        ByteColumnReader(decoded[column.rawValue])
    }

    /// The note of these columns, `nil` if they are inconsistent.
    func note(text: [UInt8]) -> Note? {
        var note = Note()
        note.isFromSnapshot = true
        guard readOperations(&note.table) else { return nil }
        var reader = SnapshotRunReader(self, end: note.table.nextElement)
        guard let runs = reader.all(),
            let tree = SpanTree(runs: runs, end: note.table.nextElement, text: text),
            readWords(&note)
        else { return nil }
        note.tree = tree
        return note
    }

    private func readOperations(_ table: inout OperationTable) -> Bool {
        var authors = reader(.authors)
        var names: [NoteOperation.Author] = []
        while !authors.isAtEnd {
            guard let a = authors.nextRaw(), let b = authors.nextRaw(), let c = authors.nextRaw(),
                let d = authors.nextRaw(), let incarnation = authors.next32()
            else { return false }
            names.append(.init(device: DeviceID(words: (a, b, c, d)), incarnation: incarnation))
        }
        guard Set(names).count == names.count else { return false }
        for name in names { _ = table.author(name) }
        var (ids, times) = (reader(.ids), reader(.times))
        table.reserve(decoded[Column.ids.rawValue].count / 8)
        var counters = RepeatColumnReader(reader(.counters))
        var sequences = RepeatColumnReader(reader(.sequences))
        var writers = RepeatColumnReader(reader(.writers))
        var states = RepeatColumnReader(reader(.states))
        var time: UInt64 = 0
        var last = [UInt64](repeating: 0, count: names.count)
        while !ids.isAtEnd {
            guard let id = ids.nextRaw(), let milliseconds = times.next(from: time),
                let counter = counters.next().flatMap({ UInt16(exactly: $0) }),
                milliseconds <= HybridTimestamp.millisecondsMax,
                let writer = writers.next().flatMap({ UInt32(exactly: $0) }),
                Int(writer) < names.count,
                let passed = sequences.next(),
                let state = states.next().flatMap({ UInt8(exactly: $0) })
                    .flatMap(OperationTable.State.init)
            else { return false }
            let sequence = last[Int(writer)] &+ passed
            let stamp = HybridTimestamp(milliseconds: milliseconds, counter: counter)
            let key = MessageKey(timestamp: stamp, idPrefix: id)
            guard table.index(of: key) == nil else { return false }
            _ = table.add(
                OperationTable.Entry(
                    key: key, idMiddle: 0, sequence: sequence, author: writer, state: state))
            time = milliseconds
            last[Int(writer)] = sequence
        }
        return readPieces(&table)
    }

    private func readPieces(_ table: inout OperationTable) -> Bool {
        var pieces = reader(.pieces)
        var inserted = [UInt32](repeating: 0, count: table.entries.count)
        var next: UInt32 = 0
        while !pieces.isAtEnd {
            guard let number = pieces.next(),
                let entry = number & 1 == 0 ? next : pieces.next32(from: next),
                Int(entry) < table.entries.count,
                let count = UInt32(exactly: number >> 1), count > 0,
                count <= UInt32(NoteLimits.offsetsMax),
                table.nextElement < .max - UInt32(NoteLimits.historyBytesMax)
            else { return false }
            let offset = inserted[Int(entry)]
            _ = table.number(count, of: Int(entry), offset: offset)
            inserted[Int(entry)] += count
            next = entry + 1
        }
        return true
    }

    private func readWords(_ note: inout Note) -> Bool {
        let end = note.table.nextElement
        var marks = reader(.marks)
        while !marks.isAtEnd {
            guard let entry = marks.next(), entry < UInt64(note.table.entries.count),
                let from = marks.next32(), from < end, let to = marks.next32(), to < end,
                let mark = Self.mark(&marks)
            else { return false }
            note.marks.append(Note.MarkEntry(entry: Int(entry), from: from, to: to, mark: mark))
        }
        var lines = reader(.lines)
        while !lines.isAtEnd {
            guard let entry = lines.next(), entry < UInt64(note.table.entries.count),
                let element = lines.next32(), element < end,
                let kind = lines.next().flatMap(NoteBlockKind.init)
            else { return false }
            note.lineWords.append(
                Note.LineEntry(entry: Int(entry), element: element, kind: kind))
        }
        return true
    }

    private static func mark(_ column: inout ByteColumnReader) -> NoteMark? {
        guard let number = column.next(), let kind = NoteMark.Kind(rawValue: number >> 1) else {
            return nil
        }
        let isOn = number & 1 == 1
        switch kind {
        case .bold: return .bold(isOn)
        case .italic: return .italic(isOn)
        case .underline: return .underline(isOn)
        case .code: return .code(isOn)
        case .link:
            guard isOn else { return .link(nil) }
            return column.text(bytesMax: NoteLimits.linkBytesMax).map { .link($0) }
        }
    }
}

extension SpanTree {
    /// All runs in order, including the sentinels.
    var inOrder: [Span] {
        var runs: [Span] = []
        for group in order {
            let base = group * Self.groupCapacity
            for member in members[base..<base + groups[group].count] {
                let start = Int(member) * Self.leafCapacity
                runs += spans[start..<start + leaves[Int(member)].count]
            }
        }
        return runs
    }
}
