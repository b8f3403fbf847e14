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
        /// Visible scalars, and bytes of them.
        var visible = 0
        var bytes = 0
        /// Its group, and its place there.
        var group = 0
        var slot = 0
        /// The run whose left origin comes first of all, `Span.nothing` where that is not known.
        var outermost: Element = Span.nothing
    }

    /// 128 places for leaves.
    struct Group {
        var count = 0
        var visible = 0
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
    /// In which leaf each run is.
    var map = ElementMap()
    /// The UTF-8 of all runs.
    var text: [UInt8] = []
    /// Visible scalars of the whole note.
    private(set) var visible = 0
    /// Their bytes.
    private(set) var visibleBytes = 0
    /// A leaf, and how many visible scalars are before it; nothing before it changes meanwhile.
    var cursor = (leaf: 0, before: 0)

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
        self.text = text
        var starts: [(start: Element, leaf: Int)] = []
        starts.reserveCapacity(runs.count)
        // Room for some more in each.
        let filled = Self.leafCapacity * 3 / 4
        for from in stride(from: 0, to: runs.count, by: filled) {
            let leaf = appendLeaf()
            let part = runs[from..<min(runs.count, from + filled)]
            for (index, run) in part.enumerated() {
                spans[leaf * Self.leafCapacity + index] = run
                starts.append((run.first, leaf))
                leaves[leaf].visible += run.visible
                leaves[leaf].bytes += run.visibleBytes
            }
            leaves[leaf].count = part.count
            addVisible(leaves[leaf].visible, to: leaf)
            visible += leaves[leaf].visible
            visibleBytes += leaves[leaf].bytes
        }
        guard visibleBytes == text.count, runs.first?.first == Span.start else { return nil }
        starts.sort { $0.start < $1.start }
        var next = Span.start
        for run in runs.sorted(by: { $0.first < $1.first }) {
            guard run.first == next, run.count <= end - next else { return nil }
            next += run.count
        }
        guard next == end else { return nil }
        map = ElementMap(ascending: starts)
    }

    /// The run at `place`.
    subscript(_ place: Place) -> Span {
        get { spans[place.leaf * Self.leafCapacity + place.index] }
        set { spans[place.leaf * Self.leafCapacity + place.index] = newValue }
    }

    // MARK: Changing

    /// Puts `span` where `place` says, before what is there.
    ///
    /// - Returns: where it is, which is in another leaf if that one was full.
    @discardableResult
    mutating func insert(_ span: Span, at wanted: Place) -> Place {
        var place = wanted
        if leaves[place.leaf].count == Self.leafCapacity { place = makeRoom(at: place) }
        let base = place.leaf * Self.leafCapacity
        let count = leaves[place.leaf].count
        spans.openPlace(at: base + place.index, before: base + count)
        spans[base + place.index] = span
        leaves[place.leaf].count = count + 1
        map.insert(span.first, leaf: place.leaf)
        addCounts(span.visible, span.visibleBytes, in: place.leaf)
        noteOutermost(span, in: place.leaf)
        return place
    }

    /// Cuts the run at `place` before its scalar `offset`.
    ///
    /// - Returns: where the second part is.
    /// - Precondition: `offset` lies inside the run.
    @discardableResult
    mutating func cut(_ place: Place, before offset: UInt32) -> Place {
        let span = self[place]
        let bytes = byteCount(of: span, scalars: offset)
        let tail = span.tail(from: offset, byteOffset: bytes)
        var head = span
        head.count = offset
        head.bytes = bytes
        self[place] = head
        addCounts(-tail.visible, -tail.visibleBytes, in: place.leaf)
        return insert(tail, at: Place(leaf: place.leaf, index: place.index + 1))
    }

    /// Makes one of the run at `place` and the one behind it in its leaf, if they are one.
    ///
    /// - Returns: whether it did.
    @discardableResult
    mutating func join(_ place: Place) -> Bool {
        guard place.index >= 0, place.index + 1 < leaves[place.leaf].count else { return false }
        let base = place.leaf * Self.leafCapacity + place.index
        let next = spans[base + 1]
        guard spans[base].goesOn(in: next) else { return false }
        spans[base].count += next.count
        spans[base].bytes += next.bytes
        map.remove(next.first)
        let end = place.leaf * Self.leafCapacity + leaves[place.leaf].count
        for index in base + 1..<end - 1 { spans[index] = spans[index + 1] }
        leaves[place.leaf].count -= 1
        forgetOutermost(of: place.leaf)
        return true
    }

    /// Lets the run at `place` go on by new scalars, whose text was just appended.
    mutating func extend(_ place: Place, by count: UInt32, bytes: UInt32) {
        let index = place.leaf * Self.leafCapacity + place.index
        spans[index].count += count
        spans[index].bytes += bytes
        if spans[index].isVisible { addCounts(Int(count), Int(bytes), in: place.leaf) }
    }

    /// Changes how many operations delete the run at `place`, and whether its own counts.
    mutating func setState(_ place: Place, deletes: UInt32, isHidden: Bool) {
        let index = place.leaf * Self.leafCapacity + place.index
        let old = spans[index]
        spans[index].deletes = deletes
        spans[index].isHidden = isHidden
        let new = spans[index]
        if old.isVisible != new.isVisible {
            addCounts(
                new.visible - old.visible, new.visibleBytes - old.visibleBytes, in: place.leaf)
        }
    }

    /// Adds to the counts of a leaf and of everything above it.
    private mutating func addCounts(_ scalars: Int, _ bytes: Int, in leaf: Int) {
        guard scalars != 0 || bytes != 0 else { return }
        leaves[leaf].visible += scalars
        leaves[leaf].bytes += bytes
        addVisible(scalars, to: leaf)
        visible += scalars
        visibleBytes += bytes
        // Leaf 0 is always the first.
        if leaf != cursor.leaf { cursor = (0, 0) }
    }

    /// Adds to the count of a leaf that its group keeps, and to that of the group.
    mutating func addVisible(_ scalars: Int, to leaf: Int) {
        let group = leaves[leaf].group
        groups[group].visible += scalars
        memberVisible[group * Self.groupCapacity + leaves[leaf].slot] += Int32(
            truncatingIfNeeded: scalars)
    }

    /// What came first in a leaf, and in its group, has to be looked for again.
    mutating func forgetOutermost(of leaf: Int) {
        leaves[leaf].outermost = Span.nothing
        groups[leaves[leaf].group].outermost = Span.nothing
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
        // ASCII, or text that was left out.
        if span.bytes == span.count || span.text == Span.noText { return min(scalars, span.bytes) }
        var left = scalars
        var index = Int(span.text)
        while left > 0 {
            index += 1
            // Bytes that go on a scalar begin with the bits 10.
            while index < text.count, text[index] & 0xc0 == 0x80 { index += 1 }
            left -= 1
        }
        return UInt32(index - Int(span.text))
    }
}
