import WorkspaceModel

// From columns back to a note.
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

    /// Bytes of one column: eight of one number for each operation of a note of the largest history.
    private static let columnBytesMax = NoteLimits.historyBytesMax

    private func reader(_ column: Column) -> ByteColumnReader {
        ByteColumnReader(decoded[column.rawValue])
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

    private func runs(end: Element) -> [Span]? {
        var (flags, firsts, counts) = (reader(.flags), reader(.firsts), reader(.counts))
        var (origins, widths, depths) = (reader(.origins), reader(.widths), reader(.depths))
        var runs: [Span] = []
        runs.reserveCapacity(decoded[Column.counts.rawValue].count)
        var state = RunState()
        var text: UInt32 = 0
        while !flags.isAtEnd {
            guard let flag = flags.next(), flag < 4 * Flag.right else { return nil }
            var run = Span(sentinel: 0)
            let steps = flag & Flag.goesOn
            if steps > 0 {
                guard let steps = steps < 3 ? steps - 1 : firsts.next(),
                    let ended = state.take(steps), ended.right != Self.open
                else { return nil }
                run.first = ended.last &+ 1
                run.left = ended.last
                run.right = ended.right
            } else {
                guard let first = firsts.next32(from: state.previous &+ 1) else { return nil }
                run.first = first
                run.left = state.previous
                if flag & Flag.hasLeft != 0 {
                    guard let left = origins.next32(from: state.previous) else { return nil }
                    run.left = left
                }
            }
            // A right origin that is the next run is filled in by that one.
            if let last = runs.last, last.right == Self.open {
                runs[runs.count - 1].right = run.first
                if steps == 0 { state.settle(run.first) }
            }
            if steps == 0 {
                switch Right(rawValue: flag / Flag.right) {
                case .next: run.right = Self.open
                case .ofPrevious: run.right = state.previousRight
                case .behindLeft: run.right = run.left &+ 1
                default:
                    guard let right = origins.next32(from: state.previous) else { return nil }
                    run.right = right
                }
            }
            let odd = flag & Flag.isOdd != 0 ? flags.next() : 0
            guard let odd, odd < 8, let count = counts.next32(), count > 0, run.first < end,
                count <= end - run.first
            else { return nil }
            run.count = count
            run.deletes = flag & Flag.isDeleted == 0 ? 0 : 1
            run.isHidden = odd & Oddity.isHidden != 0
            if odd & Oddity.hasDepth != 0 {
                guard let depth = depths.next32(), depth <= end else { return nil }
                run.setDepth(depth)
            }
            if run.isVisible {
                let width = odd & Oddity.isWide == 0 ? count : widths.next32() ?? 0
                guard width >= count, UInt64(width) <= 4 * UInt64(count),
                    text <= UInt32(NoteLimits.historyBytesMax)
                else { return nil }
                run.text = text
                run.bytes = width
                text += width
            }
            runs.append(run)
            state.pass(run)
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
