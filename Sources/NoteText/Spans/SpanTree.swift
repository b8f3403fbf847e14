/// The runs of a note in their order, with counts of what is visible.
///
/// Leaves of 64 runs lie in groups of 128 leaves, and the groups in one list: a million runs make
/// some two hundred groups. All parts lie in flat arrays and name each other by number, so nothing
/// recurses and a copy costs nothing until it is changed.
struct SpanTree {
    static let leafCapacity = 64
    static let groupCapacity = 128

    /// 64 places for runs.
    struct Leaf {
        /// Runs that are there.
        var count = 0
        /// Visible scalars.
        var visible = 0
        /// Its group, and its place there.
        var group = 0
        var slot = 0
        /// The run whose left origin comes first of all, `Span.nothing` where that is not known.
        var outermost: Element = Span.nothing
    }

    /// 128 places for leaves.
    struct Group {
        var count = 0
        /// Its place in the list of groups.
        var index = 0
        /// As that of a leaf, over all of its leaves.
        var outermost: Element = Span.nothing
    }

    /// Where a run is.
    struct Place: Equatable {
        var leaf: Int
        var index: Int
    }

    var spans: [Span] = []
    var leaves: [Leaf] = []
    var groups: [Group] = []
    /// The leaves of each group in order, 128 places a group.
    var members: [Int32] = []
    /// Visible scalars of each of them, at the same place: looking for a position reads these one
    /// after the other, and not the leaves, which lie anywhere.
    var memberVisible: [Int32] = []
    /// The groups in order.
    var order: [Int] = []
    /// Visible scalars of each of them, in the same order.
    var orderVisible: [Int32] = []
    /// In which leaf each run is.
    var map = ElementMap()
    /// The UTF-8 of all runs.
    var text: [UInt8] = []
    /// Visible scalars of the whole note.
    var visible = 0
    /// Their bytes.
    var visibleBytes = 0
    /// A run, how many visible scalars are before its leaf, and how many before it in that;
    /// nothing before it changes meanwhile.
    var cursor = Cursor()
    /// A run that is likely to be meant next, since it was written last.
    var recent = Place(leaf: 0, index: 0)
    /// Where scalars were typed last, until anything else changes: the run, and how many visible
    /// scalars there are up to its end.
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

    /// The tree of runs in their order, with the text that the visible ones have, one behind the
    /// other.
    ///
    /// - Returns: `nil` unless the runs have every number below `end` once, and the text's length.
    init?(runs: [Span], end: Element, text: [UInt8]) {
        guard runs.first?.first == Span.start, Self.areWhole(runs, end) else { return nil }
        self.text.reserveCapacity(text.count + text.count / 8 + 1_024)
        self.text += text
        fill(with: runs, end: end)
        guard visibleBytes == text.count else { return nil }
    }

    /// The tree of runs in their order, which have every number below `end` once.
    ///
    /// - Parameter text: the text of all of them, which they know their place in.
    init(ordered runs: [Span], end: Element, text: consuming [UInt8]) {
        self.text = text
        fill(with: runs, end: end)
    }

    private mutating func fill(with runs: [Span], end: Element) {
        map = ElementMap(reserving: end)
        // Room for some more in each.
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

    /// Whether runs have every number below `end` once.
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

    /// Keeps the UTF-8 of a text.
    ///
    /// - Returns: where it lies.
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
    /// Bytes of the first `scalars` of a run whose text lies here.
    func byteCount(of span: Span, scalars: UInt32) -> UInt32 {
        // ASCII, or text that was left out.
        if span.bytes == span.count || span.text == Span.noText {
            return Swift.min(scalars, span.bytes)
        }
        var left = scalars
        var index = Int(span.text)
        while left > 0 {
            index += 1
            // Bytes that go on a scalar begin with the bits 10.
            while index < count, self[index] & 0xc0 == 0x80 { index += 1 }
            left -= 1
        }
        return UInt32(index - Int(span.text))
    }
}
