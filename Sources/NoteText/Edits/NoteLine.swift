/// One line of a note with its formatting.
public struct NoteLine: Hashable, Sendable {
    /// The kind of line.
    public let kind: NoteBlockKind
    /// Its text in parts of equal formatting; empty for an empty line.
    public let runs: [Run]

    /// A part of a line with equal formatting.
    public struct Run: Hashable, Sendable {
        /// Its text, not empty, without line breaks.
        public let text: String
        /// The active marks, at most one of each kind, ordered by kind.
        public let marks: [NoteMark]

        /// A part of a line.
        public init(_ text: String, _ marks: [NoteMark] = []) {
            self.text = text
            self.marks = marks
        }
    }

    /// A line made of parts.
    public init(_ kind: NoteBlockKind, _ runs: [Run]) {
        self.kind = kind
        self.runs = runs
    }

    /// A line of text without marks.
    public init(_ kind: NoteBlockKind, text: String) {
        self.init(kind, text.isEmpty ? [] : [Run(text)])
    }

    /// The text without marks.
    public var text: String { runs.reduce(into: "") { $0 += $1.text } }
}

/// The effective marks of a note: of several marks of one kind over a scalar, the latest wins.
struct MarkSweep {
    /// The beginning or end of a mark in the text.
    private struct Border {
        let position: Int
        let mark: Int
        let isStart: Bool
    }

    private let marks: [NoteMark]
    private var borders: [Border] = []
    private var next = 0
    /// The open marks of each kind, the latest last; ended ones are removed lazily.
    private var active: [[Int]] = NoteMark.Kind.allCases.map { _ in [] }
    private var ended: Set<Int> = []

    /// - Parameter marks: ascending by time, each with the range of scalars it covers.
    init(_ marks: [(mark: NoteMark, range: Range<Int>)]) {
        self.marks = marks.map(\.mark)
        for (index, entry) in marks.enumerated() where !entry.range.isEmpty {
            borders.append(
                Border(position: entry.range.lowerBound, mark: index, isStart: true))
            borders.append(
                Border(position: entry.range.upperBound, mark: index, isStart: false))
        }
        borders.sort { ($0.position, $0.mark) < ($1.position, $1.mark) }
    }

    /// The position of the next beginning or end of a mark, `nil` after the last.
    var nextBorder: Int? { next < borders.count ? borders[next].position : nil }

    /// Passes all borders up to `position`.
    mutating func move(to position: Int) {
        while next < borders.count, borders[next].position <= position {
            let border = borders[next]
            next += 1
            if border.isStart {
                let kind = Int(marks[border.mark].kind.rawValue)
                active[kind].insertHeap(border.mark)
            } else {
                ended.insert(border.mark)
            }
        }
        for kind in active.indices {
            while let top = active[kind].first, ended.contains(top) { active[kind].removeTop() }
        }
    }

    /// The active marks, ordered by kind.
    var current: [NoteMark] {
        active.compactMap { $0.first.map { marks[$0] } }.filter(\.isOn)
    }
}

extension [Int] {
    /// Adds a number to a max-heap.
    fileprivate mutating func insertHeap(_ value: Int) {
        append(value)
        var index = count - 1
        while index > 0, self[(index - 1) / 2] < self[index] {
            swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the largest number of a max-heap.
    fileprivate mutating func removeTop() {
        swapAt(0, count - 1)
        removeLast()
        var index = 0
        while true {
            var largest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < count && self[child] > self[largest] {
                largest = child
            }
            guard largest != index else { return }
            swapAt(index, largest)
            index = largest
        }
    }
}
