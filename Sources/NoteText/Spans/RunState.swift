/// Context for encoding a snapshot's run compactly, from the runs before it: a run that others'
/// text has split continues after that text.
struct RunState {
    /// How many ends are searched.
    static let depthMax = 64

    /// The last scalar of the previous run.
    private(set) var previous: Element = 0
    /// The right origin of the previous run.
    private(set) var previousRight = Span.nothing
    /// The ends of runs that may continue, with their right origins, the latest last.
    private var ended: [(last: Element, right: Element)] = []

    /// How many ends are after the one that a run continues, `nil` if it continues none.
    func steps(to run: Span) -> Int? {
        guard run.left == run.first &- 1 else { return nil }
        for steps in 0..<min(ended.count, Self.depthMax) {
            let end = ended[ended.count - 1 - steps]
            if end.last == run.left { return end.right == run.right ? steps : nil }
        }
        return nil
    }

    /// Removes and returns the end that a run continues, with all after it.
    mutating func take(_ steps: UInt64) -> (last: Element, right: Element)? {
        guard steps < UInt64(ended.count) else { return nil }
        ended.removeLast(Int(steps))
        return ended.removeLast()
    }

    /// Advances past a run.
    mutating func pass(_ run: Span) {
        previous = run.last
        previousRight = run.right
        ended.append((run.last, run.right))
    }

    /// Sets the right origin of the previous run, if it was not known yet.
    mutating func settle(_ right: Element) {
        previousRight = right
        guard let last = ended.popLast() else { return }
        ended.append((last.last, right))
    }
}
