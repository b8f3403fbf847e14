/// When to dial a peer again: soon at first, then less and less often, with jitter.
///
/// - Source: "Exponential Backoff And Jitter": half of each delay is fixed, half is chance.
public struct RetrySchedule: Hashable, Sendable {
    /// The longest first delay, in milliseconds.
    public static let firstMilliseconds: UInt64 = 1_000
    /// The longest delay, in milliseconds.
    public static let lastMilliseconds: UInt64 = 5 * 60 * 1_000

    /// Consecutive failures; above 9 the delay no longer changes.
    private var failures: UInt64 = 0

    /// The schedule of a peer that was not dialled yet.
    public init() {}

    /// The delay after one more failure, in milliseconds: from half of the step to the whole.
    ///
    /// - Parameter random: any number; equal numbers give equal delays.
    public mutating func delayAfterFailure(random: UInt64) -> UInt64 {
        let step = min(Self.firstMilliseconds << failures, Self.lastMilliseconds)
        if failures < 9 { failures += 1 }
        return step / 2 + random % (step / 2 + 1)
    }

    /// The peer refused us: the next delays are the longest.
    public mutating func refused() { failures = 9 }

    /// A link was established and lasted: the next failure counts as the first.
    public mutating func succeeded() { failures = 0 }

    /// The network changed, so an unreachable peer may be reachable: dial at once.
    ///
    /// - Returns: the delay until then: 0.
    public mutating func networkChanged() -> UInt64 {
        failures = 0
        return 0
    }
}
