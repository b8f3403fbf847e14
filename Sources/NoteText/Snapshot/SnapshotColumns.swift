import WorkspaceModel

/// Runs and operations of a note as columns: the second part of a snapshot.
struct SnapshotColumns {
    /// The order of columns in the encoded array.
    enum Column: Int, CaseIterable {
        case authors, ids, times, counters, sequences, writers, states, pieces, flags, firsts
        case counts, origins, widths, depths, marks, lines
    }

    /// Bits of a run's flags.
    enum Flag {
        /// How it continues an earlier run that ended (`RunState`): 0 not at all, 1 the last one, 2
        /// the one before that, 3 a number of steps back. Its left origin is then that run's last
        /// scalar, and its right origin the same; otherwise there are more flags.
        static let goesOn: UInt64 = 3
        static let isDeleted: UInt64 = 4
        /// It is invalid, takes more bytes than scalars, or has a depth: the
        /// next number tells which.
        static let isOdd: UInt64 = 8
        /// The left origin is not the scalar before it.
        static let hasLeft: UInt64 = 16
        /// The right origin, multiplied by this.
        static let right: UInt64 = 32
    }

    /// Properties of an unusual run, as bits.
    enum RunFlags {
        static let isHidden: UInt64 = 1
        static let isWide: UInt64 = 2
        static let hasDepth: UInt64 = 4
    }

    /// The right origin of a run that does not continue another.
    enum Right: UInt64 {
        case other
        /// The first scalar of the next run.
        case next
        /// That of the previous run.
        case ofPrevious
        /// The scalar that was written behind the left origin.
        case behindLeft
    }

    var columns: [ByteColumn]
    /// The columns that were read; empty while writing.
    let decoded: [[UInt8]]

    // MARK: Writing

    init(of note: Note) {
        columns = Column.allCases.map { _ in ByteColumn() }
        decoded = []
        writeOperations(note)
        writeRuns(note)
        writeWords(note)
    }

    /// `Enc` array of byte strings, each a block.
    var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: columns.reduce(64) { $0 + $1.bytes.count })
        encoder.array(count: columns.count)
        for column in columns { encoder.byteString(ByteCode.encoded(column.bytes)) }
        return encoder.bytes
    }

    subscript(column: Column) -> ByteColumn {
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
        var (counters, sequences) = (RepeatColumn(), RepeatColumn())
        var last = [UInt64](repeating: 0, count: note.table.authors.count)
        for entry in note.table.entries {
            self[.ids].append(raw: entry.key.idPrefix)
            self[.times].append(entry.key.timestamp.milliseconds, from: time)
            counters.append(UInt64(entry.key.timestamp.counter))
            time = entry.key.timestamp.milliseconds
            sequences.append(entry.sequence &- last[Int(entry.author)])
            last[Int(entry.author)] = entry.sequence
            writers.append(UInt64(entry.author))
            states.append(UInt64(entry.state.rawValue))
        }
        self[.counters] = counters.finished()
        self[.sequences] = sequences.finished()
        self[.writers] = writers.finished()
        self[.states] = states.finished()
        var next: UInt32 = 0
        for (index, piece) in note.table.pieces.enumerated() {
            let isNext = piece.entry == next
            let count = UInt64(note.table.count(ofPiece: index))
            self[.pieces].append(count << 1 | (isNext ? 0 : 1))
            if !isNext { self[.pieces].append(piece.entry, from: next) }
            next = piece.entry + 1
        }
    }

    private mutating func writeRuns(_ note: Note) {
        let runs = note.tree.inOrder
        var state = RunState()
        for (index, run) in runs.enumerated() {
            let next = index + 1 < runs.count ? runs[index + 1].first : Span.nothing
            var flags = run.deletes > 0 ? Flag.isDeleted : 0
            var odd: UInt64 = 0
            if run.isHidden { odd |= RunFlags.isHidden }
            if run.isVisible, run.bytes != run.count { odd |= RunFlags.isWide }
            if run.depth > 0 { odd |= RunFlags.hasDepth }
            if odd != 0 { flags |= Flag.isOdd }
            if let steps = state.steps(to: run) {
                self[.flags].append(flags | UInt64(min(steps, 2) + 1))
                if steps >= 2 { self[.firsts].append(UInt64(steps)) }
                _ = state.take(UInt64(steps))
            } else {
                let right = Self.right(of: run, next: next, state)
                if run.left != state.previous { flags |= Flag.hasLeft }
                self[.flags].append(flags | right.rawValue * Flag.right)
                self[.firsts].append(run.first, from: state.previous &+ 1)
                if flags & Flag.hasLeft != 0 {
                    self[.origins].append(run.left, from: state.previous)
                }
                if right == .other { self[.origins].append(run.right, from: state.previous) }
            }
            if odd != 0 { self[.flags].append(odd) }
            self[.counts].append(run.count)
            if odd & RunFlags.isWide != 0 { self[.widths].append(run.bytes) }
            if odd & RunFlags.hasDepth != 0 { self[.depths].append(run.depth) }
            state.pass(run)
        }
    }

    private static func right(of run: Span, next: Element, _ state: RunState) -> Right {
        switch run.right {
        case next: .next
        case state.previousRight: .ofPrevious
        case run.left &+ 1: .behindLeft
        default: .other
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
}
