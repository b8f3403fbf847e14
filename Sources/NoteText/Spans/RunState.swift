/// What the columns of a snapshot say of a run in few bits, from those that stand before it: where
/// others wrote into a run, it goes on behind what they wrote.
struct RunState {
    /// How far back an end is looked for.
    static let depthMax = 64

    /// The last scalar of the run before.
    private(set) var previous: Element = 0
    /// The right origin of the run before.
    private(set) var previousRight = Span.nothing
    /// The ends of runs that may go on, with their right origins, the last one last.
    private var ended: [(last: Element, right: Element)] = []

    /// How many ends are behind the one that a run goes on from, `nil` if it does from none.
    func steps(to run: Span) -> Int? {
        guard run.left == run.first &- 1 else { return nil }
        for steps in 0..<min(ended.count, Self.depthMax) {
            let end = ended[ended.count - 1 - steps]
            if end.last == run.left { return end.right == run.right ? steps : nil }
        }
        return nil
    }

    /// The end that a run goes on from, which is gone then with all behind it.
    mutating func take(_ steps: UInt64) -> (last: Element, right: Element)? {
        guard steps < UInt64(ended.count) else { return nil }
        ended.removeLast(Int(steps))
        return ended.removeLast()
    }

    /// A run follows.
    mutating func pass(_ run: Span) {
        previous = run.last
        previousRight = run.right
        ended.append((run.last, run.right))
    }

    /// What the right origin of the run before is, where that was not known yet.
    mutating func settle(_ right: Element) {
        previousRight = right
        guard let last = ended.popLast() else { return }
        ended.append((last.last, right))
    }
}
