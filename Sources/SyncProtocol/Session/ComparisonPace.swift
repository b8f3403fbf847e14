/// How often a node compares roots with all of its peers together: what one comparison has missed the
/// next one finds, whoever it is with, so many peers need not be compared with all at once
/// (PROTOCOL.md, 5.4, step 5).
public struct ComparisonPace: Sendable {
    /// Comparisons that may begin at once.
    static let burst: UInt64 = 3
    /// After how long a further one may, in milliseconds.
    static let spacing = Comparison.intervalMin / burst

    /// When all places that were given away are over.
    private var next: UInt64 = 0

    /// A pace at which none has begun.
    init() {}

    /// The time of the next free place, which is given away: `now`, where one is free.
    mutating func place(at now: UInt64) -> UInt64 {
        let start = max(next, now)
        next = start + Self.spacing
        let lead = Self.spacing * (Self.burst - 1)
        return start > now + lead ? start - lead : now
    }
}
