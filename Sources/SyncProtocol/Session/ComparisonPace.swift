/// Limits how often a node compares roots with all of its peers together: whatever one comparison
/// missed, the next one finds with any peer, so many peers need not be compared at once
/// (PROTOCOL.md, 5.4, step 5).
public struct ComparisonPace: Sendable {
    /// Comparisons that may begin at once.
    static let burst: UInt64 = 3
    /// After how long another one may begin, in milliseconds.
    static let spacing = Comparison.intervalMin / burst

    /// When all reserved slots have passed.
    private var next: UInt64 = 0

    /// A pace without reserved slots.
    init() {}

    /// Reserves the next free slot and returns its time: `now`, if one is free.
    mutating func place(at now: UInt64) -> UInt64 {
        let start = max(next, now)
        next = start + Self.spacing
        let lead = Self.spacing * (Self.burst - 1)
        return start > now + lead ? start - lead : now
    }
}
