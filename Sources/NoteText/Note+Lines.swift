import WorkspaceModel

// The formatted lines of a note.
extension Note {
    /// The lines of the note, at least one. A line break ends one and begins the next.
    ///
    /// The cost is linear in the text, plus sorting all marks ever set.
    public func lines() -> [NoteLine] {
        var copy = self
        var sweep = MarkSweep(copy.countingMarks())
        let kinds = countingLines()
        var lines: [NoteLine] = []
        var line = LineBuilder()
        var kind = kinds[Span.start] ?? .paragraph
        var place = 0
        forEachVisible { span in
            // The run, divided at line breaks and at the ends of marks.
            var offset: UInt32 = 0
            var byte = Int(span.text)
            let end = byte + Int(span.bytes)
            while byte < end {
                sweep.move(to: place)
                var stop = byte
                var count: UInt32 = 0
                let most = sweep.nextBorder.map { $0 - place } ?? .max
                while stop < end, tree.text[stop] != 0x0a, Int(count) < most {
                    stop += 1
                    while stop < end, tree.text[stop] & 0xc0 == 0x80 { stop += 1 }
                    count += 1
                }
                if stop > byte {
                    line.append(tree.text[byte..<stop], sweep.current)
                } else {
                    lines.append(NoteLine(kind, line.take()))
                    kind = kinds[span.first + offset] ?? .paragraph
                    stop += 1
                    count = 1
                }
                byte = stop
                offset += count
                place += Int(count)
            }
        }
        lines.append(NoteLine(kind, line.take()))
        return lines
    }

    /// The marks of valid operations, the latest last, with the range of scalars they cover.
    private mutating func countingMarks() -> [(mark: NoteMark, range: Range<Int>)] {
        var result: [(mark: NoteMark, range: Range<Int>)] = []
        let order = marks.indices.sorted { one, other in
            isEarlier((marks[one].entry, one), (marks[other].entry, other))
        }
        for index in order
        where table.entries[marks[index].entry].state == .valid {
            let entry = marks[index]
            // An end that does not grow is the last scalar, otherwise the first one behind.
            let from = tree.position(of: entry.from)
            var to = tree.position(of: entry.to)
            if !entry.mark.grows, isVisible(entry.to) { to += 1 }
            if from < to { result.append((entry.mark, from..<to)) }
        }
        return result
    }

    private func isVisible(_ element: Element) -> Bool { tree[tree.place(of: element)].isVisible }

    /// The kinds of lines, by the line break before each.
    private func countingLines() -> [Element: NoteBlockKind] {
        var latest: [Element: Int] = [:]
        for (index, line) in lineWords.enumerated()
        where table.entries[line.entry].state == .valid {
            if let other = latest[line.element],
                isEarlier((line.entry, index), (lineWords[other].entry, other))
            {
                continue
            }
            latest[line.element] = index
        }
        return latest.mapValues { lineWords[$0].kind }
    }

    /// Whether one change is older than another: by hlc, then id, then position in the operation.
    private func isEarlier(
        _ one: (entry: Int, index: Int), _ other: (entry: Int, index: Int)
    ) -> Bool {
        if one.entry == other.entry { return one.index < other.index }
        return table.entries[one.entry].key < table.entries[other.entry].key
    }
}

/// Collects the parts of one line.
private struct LineBuilder {
    private var runs: [NoteLine.Run] = []
    private var bytes: [UInt8] = []
    private var marks: [NoteMark] = []

    /// Adds a part, merged with the last one if the formatting is equal.
    mutating func append(_ more: ArraySlice<UInt8>, _ marks: [NoteMark]) {
        if marks != self.marks { flush() }
        self.marks = marks
        bytes += more
    }

    /// Returns the parts, and starts an empty line.
    mutating func take() -> [NoteLine.Run] {
        flush()
        defer { runs = [] }
        return runs
    }

    private mutating func flush() {
        guard !bytes.isEmpty else { return }
        runs.append(NoteLine.Run(String(decoding: bytes, as: UTF8.self), marks))
        bytes = []
    }
}
