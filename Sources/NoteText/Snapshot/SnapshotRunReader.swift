/// Reads the runs of a snapshot in order; `nil` if columns are inconsistent.
struct SnapshotRunReader {
    private typealias Flag = SnapshotColumns.Flag
    private typealias RunFlags = SnapshotColumns.RunFlags

    /// A right origin that is not known yet.
    private static let open: Element = .max - 1

    var flags: ByteColumnReader
    var firsts: ByteColumnReader
    var counts: ByteColumnReader
    var origins: ByteColumnReader
    var widths: ByteColumnReader
    var depths: ByteColumnReader
    /// An upper bound of all scalar numbers.
    let end: Element
    private var runs: [Span] = []
    private var state = RunState()
    /// Bytes of the text so far.
    private var text: UInt32 = 0

    init(_ columns: SnapshotColumns, end: Element) {
        flags = columns.reader(.flags)
        firsts = columns.reader(.firsts)
        counts = columns.reader(.counts)
        origins = columns.reader(.origins)
        widths = columns.reader(.widths)
        depths = columns.reader(.depths)
        self.end = end
        // Each run takes at least one byte in the column, and one scalar.
        let count = columns.decoded[SnapshotColumns.Column.counts.rawValue].count
        runs.reserveCapacity(min(count, Int(end)))
    }

    /// All runs in their order.
    mutating func all() -> [Span]? {
        while !flags.isAtEnd {
            guard let flag = flags.next(), flag < 4 * Flag.right,
                var run = flag & Flag.goesOn > 0 ? goingOn(flag & Flag.goesOn) : new(flag),
                fill(&run, flag)
            else { return nil }
            runs.append(run)
            state.pass(run)
        }
        settle(Span.nothing)
        let isKnown = runs.allSatisfy { run in
            (run.left < end || run.left == Span.nothing)
                && (run.right < end || run.right == Span.nothing)
        }
        return isKnown ? runs : nil
    }

    /// Sets the right origin of the previous run, if it is the run that follows.
    private mutating func settle(_ first: Element) {
        guard let last = runs.last, last.right == Self.open else { return }
        runs[runs.count - 1].right = first
    }

    private mutating func goingOn(_ kind: UInt64) -> Span? {
        guard let steps = kind < 3 ? kind - 1 : firsts.next(), let ended = state.take(steps),
            ended.right != Self.open
        else { return nil }
        var run = Span(sentinel: ended.last &+ 1)
        run.left = ended.last
        run.right = ended.right
        settle(run.first)
        return run
    }

    private mutating func new(_ flag: UInt64) -> Span? {
        guard let first = firsts.next32(from: state.previous &+ 1) else { return nil }
        var run = Span(sentinel: first)
        run.left = state.previous
        if flag & Flag.hasLeft != 0 {
            guard let left = origins.next32(from: state.previous) else { return nil }
            run.left = left
        }
        if state.previousRight == Self.open {
            settle(first)
            state.settle(first)
        }
        switch SnapshotColumns.Right(rawValue: flag / Flag.right) {
        case .next: run.right = Self.open
        case .ofPrevious: run.right = state.previousRight
        case .behindLeft: run.right = run.left &+ 1
        default:
            guard let right = origins.next32(from: state.previous) else { return nil }
            run.right = right
        }
        return run
    }

    /// Reads the length and state of a run.
    private mutating func fill(_ run: inout Span, _ flag: UInt64) -> Bool {
        let odd = flag & Flag.isOdd != 0 ? flags.next() : 0
        guard let odd, odd < 8, let count = counts.next32(), count > 0, run.first < end,
            count <= end - run.first
        else { return false }
        run.count = count
        run.deletes = flag & Flag.isDeleted == 0 ? 0 : 1
        run.isHidden = odd & RunFlags.isHidden != 0
        if odd & RunFlags.hasDepth != 0 {
            guard let depth = depths.next32(), depth <= end else { return false }
            run.setDepth(depth)
        }
        guard run.isVisible else { return true }
        let most = UInt32(NoteLimits.historyBytesMax)
        let width = odd & RunFlags.isWide == 0 ? count : widths.next32() ?? 0
        guard width >= count, UInt64(width) <= 4 * UInt64(count), text <= most, width <= most
        else { return false }
        run.text = text
        run.bytes = width
        text += width
        return true
    }
}
