/// The runs of a note in order, with counts of visible scalars.
///
/// Leaves of 64 runs are in groups of 128 leaves, and the groups in one list: a million runs make
/// some two hundred groups. All parts are in flat arrays and refer to each other by index, so
/// nothing recurses, and a copy costs nothing until it is changed.
struct SpanTree {
    static let leafCapacity = 64
    static let groupCapacity = 128

    /// 64 slots for runs.
    struct Leaf {
        /// Used slots.
        var count = 0
        /// Visible scalars.
        var visible = 0
        /// Its group, and its index there.
        var group = 0
        var slot = 0
        /// The run whose left origin comes first of all, `Span.nothing` if unknown.
        var outermost: Element = Span.nothing
    }

    /// 128 slots for leaves.
    struct Group {
        var count = 0
        /// Its index in the list of groups.
        var index = 0
        /// As for a leaf, over all of its leaves.
        var outermost: Element = Span.nothing
    }

    /// The location of a run.
    struct Place: Equatable {
        var leaf: Int
        var index: Int
    }

    var spans: [Span] = []
    var leaves: [Leaf] = []
    var groups: [Group] = []
    /// The leaves of each group in order, 128 slots per group.
    var members: [Int32] = []
    /// Visible scalars of each of them, at the same index: a position search reads these in
    /// sequence, and not the scattered leaves.
    var memberVisible: [Int32] = []
    /// The groups in order.
    var order: [Int] = []
    /// Visible scalars of each of them, in the same order.
    var orderVisible: [Int32] = []
    /// The leaf of each run.
    var map = ElementMap()
    /// The UTF-8 of all runs.
    var text: [UInt8] = []
    /// Visible scalars of the whole note.
    var visible = 0
    /// Their bytes.
    var visibleBytes = 0
    /// A cached run with the number of visible scalars before its leaf, and before it in the leaf;
    /// valid while nothing before it changes.
    var cursor = Cursor()
    /// The last written run, which is likely to be needed next.
    var recent = Place(leaf: 0, index: 0)
    /// The place of the last typing, until anything else changes: the run, and the number of
    /// visible scalars up to its end.
    var typed: (place: Place, end: Int)?

    struct Cursor {
        var leaf = 0
        var before = 0
        var index = 0
        var inside = 0
    }

    /// An empty note: the two sentinels.
    init() {
        appendLeaf()
        insert(Span(sentinel: Span.start), at: Place(leaf: 0, index: 0))
        insert(Span(sentinel: Span.end), at: Place(leaf: 0, index: 1))
    }

    /// The tree of runs in order, with the concatenated text of the visible ones.
    ///
    /// - Returns: `nil` unless the runs cover every number below `end` once, and the text's length.
    init?(runs: [Span], end: Element, text: [UInt8]) {
        guard runs.first?.first == Span.start, Self.areWhole(runs, end) else { return nil }
        self.text.reserveCapacity(text.count + text.count / 8 + 1_024)
        self.text += text
        fill(with: runs, end: end)
        guard visibleBytes == text.count else { return nil }
    }

    /// The tree of runs in order, which cover every number below `end` once.
    ///
    /// - Parameter text: the text that the runs refer to.
    init(ordered runs: [Span], end: Element, text: consuming [UInt8]) {
        self.text = text
        fill(with: runs, end: end)
    }

    private mutating func fill(with runs: [Span], end: Element) {
        map = ElementMap(reserving: end)
        // With spare slots in each leaf.
        let filled = Self.leafCapacity * 3 / 4
        let count = runs.count / filled + 1
        spans.reserveCapacity((count + count / 8 + 2) * Self.leafCapacity)
        for from in stride(from: 0, to: runs.count, by: filled) {
            let leaf = appendLeaf()
            let part = runs[from..<min(runs.count, from + filled)]
            var count = 0
            var place = leaf * Self.leafCapacity
            for run in part {
                spans[place] = run
                place += 1
                map.set(run.first, run.count, leaf: leaf)
                count += run.visible
                visibleBytes += run.visibleBytes
            }
            leaves[leaf].count = part.count
            leaves[leaf].visible = count
            addVisible(count, to: leaf)
            visible += count
        }
    }

    /// Whether runs cover every number below `end` once.
    private static func areWhole(_ runs: [Span], _ end: Element) -> Bool {
        var seen = [UInt64](repeating: 0, count: Int(end) / 64 + 1)
        var total: UInt64 = 0
        for run in runs {
            guard run.first < end, run.count <= end - run.first else { return false }
            total += UInt64(run.count)
            guard total <= UInt64(end) else { return false }
            var element = run.first
            while element < run.first + run.count {
                let stop = min(run.first + run.count, (element | 63) + 1)
                let bits = (UInt64.max >> UInt64(64 - (stop - element))) << UInt64(element & 63)
                guard seen[Int(element / 64)] & bits == 0 else { return false }
                seen[Int(element / 64)] |= bits
                element = stop
            }
        }
        return total == UInt64(end)
    }

    /// The run at `place`.
    subscript(_ place: Place) -> Span {
        get { spans[place.leaf * Self.leafCapacity + place.index] }
        set { spans[place.leaf * Self.leafCapacity + place.index] = newValue }
    }

    /// Appends text to the tree's UTF-8.
    ///
    /// - Returns: its range.
    mutating func keep(_ more: String) -> Range<Int> {
        let start = text.count
        var more = more
        more.withUTF8 { text.append(contentsOf: $0) }
        return start..<text.count
    }

    /// Bytes of the first `scalars` of a run.
    func byteCount(of span: Span, scalars: UInt32) -> UInt32 {
        text.byteCount(of: span, scalars: scalars)
    }
}

extension [UInt8] {
    /// Bytes of the first `scalars` of a run whose text is in this buffer.
    func byteCount(of span: Span, scalars: UInt32) -> UInt32 {
        // ASCII, or text left out of a snapshot.
        if span.bytes == span.count || span.text == Span.noText {
            return Swift.min(scalars, span.bytes)
        }
        var left = scalars
        var index = Int(span.text)
        while left > 0 {
            index += 1
            // Continuation bytes begin with the bits 10.
            while index < count, self[index] & 0xc0 == 0x80 { index += 1 }
            left -= 1
        }
        return UInt32(index - Int(span.text))
    }
}
