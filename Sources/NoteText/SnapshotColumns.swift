import WorkspaceModel

/// Runs and operations of a note in columns: the second part of a snapshot.
struct SnapshotColumns {
    /// What stands where in the encoded array.
    private enum Column: Int, CaseIterable {
        case authors, ids, times, sequences, writers, states, pieces, flags, firsts, counts, origins
        case widths, depths, marks, lines
    }

    /// Bits of a run's flags.
    private enum Flag {
        /// The left origin is the scalar before it.
        static let leftIsPrevious: UInt64 = 1
        /// The right origin is the scalar behind it.
        static let rightIsNext: UInt64 = 2
        static let isDeleted: UInt64 = 4
        static let isHidden: UInt64 = 8
        /// It takes more bytes than scalars.
        static let isWide: UInt64 = 16
        static let hasDepth: UInt64 = 32
    }

    private var columns: [ByteColumn]
    private var ranges: [Range<Int>] = []
    private var bytes: [UInt8] = []

    // MARK: Writing

    init(of note: Note) {
        columns = Column.allCases.map { _ in ByteColumn() }
        writeOperations(note)
        writeRuns(note)
        writeWords(note)
    }

    /// `Enc` array of byte strings.
    var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: columns.reduce(64) { $0 + $1.bytes.count })
        encoder.array(count: columns.count)
        for column in columns { encoder.byteString(column.bytes) }
        return encoder.bytes
    }

    private subscript(column: Column) -> ByteColumn {
        get { columns[column.rawValue] }
        set { columns[column.rawValue] = newValue }
        _modify { yield &columns[column.rawValue] }
    }

    private mutating func writeOperations(_ note: Note) {
        for author in note.table.authors {
            let words = author.device.words
            for word in [words.0, words.1, words.2, words.3] { self[.authors].append(raw: word) }
            self[.authors].append(author.incarnation)
        }
        var time: UInt64 = 0
        var (writers, states) = (RepeatColumn(), RepeatColumn())
        var last = [UInt64](repeating: 0, count: note.table.authors.count)
        for entry in note.table.entries {
            self[.ids].append(raw: entry.key.idPrefix)
            self[.times].append(entry.key.timestamp.milliseconds, from: time)
            self[.times].append(UInt64(entry.key.timestamp.counter))
            time = entry.key.timestamp.milliseconds
            self[.sequences].append(entry.sequence, from: last[Int(entry.author)])
            last[Int(entry.author)] = entry.sequence
            writers.append(UInt64(entry.author))
            states.append(UInt64(entry.state.rawValue))
        }
        self[.writers] = writers.finished()
        self[.states] = states.finished()
        var next: UInt32 = 0
        for (index, piece) in note.table.pieces.enumerated() {
            self[.pieces].append(piece.entry, from: next)
            self[.pieces].append(note.table.count(ofPiece: index))
            next = piece.entry + 1
        }
    }

    private mutating func writeRuns(_ note: Note) {
        let runs = note.tree.inOrder
        var previous: Element = 0
        for (index, run) in runs.enumerated() {
            let next = index + 1 < runs.count ? runs[index + 1].first : Span.nothing
            var flags: UInt64 = 0
            if run.left == previous { flags |= Flag.leftIsPrevious }
            if run.right == next { flags |= Flag.rightIsNext }
            if run.deletes > 0 { flags |= Flag.isDeleted }
            if run.isHidden { flags |= Flag.isHidden }
            if run.isVisible, run.bytes != run.count { flags |= Flag.isWide }
            if run.depth > 0 { flags |= Flag.hasDepth }
            self[.flags].append(flags)
            self[.firsts].append(run.first, from: previous &+ 1)
            self[.counts].append(run.count)
            if flags & Flag.leftIsPrevious == 0 { self[.origins].append(run.left, from: previous) }
            if flags & Flag.rightIsNext == 0 { self[.origins].append(run.right, from: previous) }
            if flags & Flag.isWide != 0 { self[.widths].append(run.bytes) }
            if flags & Flag.hasDepth != 0 { self[.depths].append(run.depth) }
            previous = run.last
        }
    }

    private mutating func writeWords(_ note: Note) {
        for mark in note.marks where note.table.entries[mark.entry].state == .valid {
            self[.marks].append(UInt64(mark.entry))
            self[.marks].append(mark.from)
            self[.marks].append(mark.to)
            self[.marks].append(mark.mark.kind.rawValue << 1 | (mark.mark.isOn ? 1 : 0))
            guard case .link(let address?) = mark.mark else { continue }
            self[.marks].append(UInt64(address.utf8.count))
            for byte in address.utf8 { self[.marks].append(UInt64(byte)) }
        }
        for line in note.lineWords where note.table.entries[line.entry].state == .valid {
            self[.lines].append(UInt64(line.entry))
            self[.lines].append(line.element)
            self[.lines].append(line.kind.rawValue)
        }
    }

    // MARK: Reading

    init(decoding bytes: [UInt8]) throws(Malformed) {
        columns = []
        self.bytes = bytes
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: Column.allCases.count)
        for _ in Column.allCases { ranges.append(try decoder.byteStringRange()) }
        try decoder.finish()
    }

    private func reader(_ column: Column) -> ByteColumnReader {
        ByteColumnReader(bytes, in: ranges[column.rawValue])
    }

    /// The note of these columns, `nil` where they contradict each other.
    func note(text: [UInt8]) -> Note? {
        var note = Note()
        note.isFromSnapshot = true
        guard readOperations(&note.table), let runs = runs(end: note.table.nextElement),
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
        var (ids, times, sequences) = (reader(.ids), reader(.times), reader(.sequences))
        var writers = RepeatColumnReader(reader(.writers))
        var states = RepeatColumnReader(reader(.states))
        var time: UInt64 = 0
        var last = [UInt64](repeating: 0, count: names.count)
        while !ids.isAtEnd {
            guard let id = ids.nextRaw(), let milliseconds = times.next(from: time),
                let counter = times.next().flatMap({ UInt16(exactly: $0) }),
                milliseconds <= HybridTimestamp.millisecondsMax,
                let writer = writers.next().flatMap({ UInt32(exactly: $0) }),
                Int(writer) < names.count,
                let sequence = sequences.next(from: last[Int(writer)]),
                let state = states.next().flatMap({ UInt8(exactly: $0) })
                    .flatMap(OperationTable.State.init)
            else { return false }
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
            guard let entry = pieces.next32(from: next), Int(entry) < table.entries.count,
                let count = pieces.next32(), count > 0, count <= UInt32(NoteLimits.offsetsMax),
                table.nextElement < .max - UInt32(NoteLimits.historyBytesMax)
            else { return false }
            let offset = inserted[Int(entry)]
            _ = table.number(count, of: Int(entry), offset: offset)
            inserted[Int(entry)] += count
            next = entry + 1
        }
        return true
    }

    private func runs(end: Element) -> [Span]? {
        var (flags, firsts, counts) = (reader(.flags), reader(.firsts), reader(.counts))
        var (origins, widths, depths) = (reader(.origins), reader(.widths), reader(.depths))
        var runs: [Span] = []
        var previous: Element = 0
        var text: UInt32 = 0
        while !flags.isAtEnd {
            guard let flag = flags.next(), let first = firsts.next32(from: previous &+ 1),
                let count = counts.next32(), count > 0, first < end, count <= end - first
            else { return nil }
            var run = Span(
                first: first, count: count, left: previous, right: Span.nothing,
                text: Span.noText, bytes: 0, deletes: flag & Flag.isDeleted == 0 ? 0 : 1, depth: 0,
                isHidden: flag & Flag.isHidden != 0)
            if flag & Flag.leftIsPrevious == 0 {
                guard let left = origins.next32(from: previous) else { return nil }
                run.left = left
            }
            // The right origin that is the next run is filled in by that one.
            if let last = runs.last, last.right == Self.open { runs[runs.count - 1].right = first }
            run.right = Self.open
            if flag & Flag.rightIsNext == 0 {
                guard let right = origins.next32(from: previous) else { return nil }
                run.right = right
            }
            if flag & Flag.hasDepth != 0 {
                guard let depth = depths.next32(), depth <= end else { return nil }
                run.state |= depth << 1
            }
            if run.isVisible {
                let width = flag & Flag.isWide == 0 ? count : widths.next32() ?? 0
                guard width >= count, UInt64(width) <= 4 * UInt64(count) else { return nil }
                run.text = text
                run.bytes = width
                guard text <= UInt32(NoteLimits.historyBytesMax) else { return nil }
                text += width
            }
            runs.append(run)
            previous = run.last
        }
        if let last = runs.last, last.right == Self.open {
            runs[runs.count - 1].right = Span.nothing
        }
        let isKnown = runs.allSatisfy { run in
            (run.left < end || run.left == Span.nothing)
                && (run.right < end || run.right == Span.nothing)
        }
        return isKnown ? runs : nil
    }

    /// A right origin that is not read yet.
    private static let open: Element = .max - 1

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
            guard let count = column.next(), count <= UInt64(NoteLimits.linkBytesMax) else {
                return nil
            }
            var bytes: [UInt8] = []
            for _ in 0..<count {
                guard let byte = column.next().flatMap({ UInt8(exactly: $0) }) else { return nil }
                bytes.append(byte)
            }
            return String(validating: bytes, as: UTF8.self).map { .link($0) }
        }
    }
}

extension SpanTree {
    /// All runs in their order, the sentinels with them.
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
