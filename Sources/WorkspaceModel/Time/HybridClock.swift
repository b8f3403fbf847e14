/// This device's hybrid logical clock: the moments it hands out and those it has heard of.
///
/// It reads no clock. Its owner says what the wall clock shows, and stores `last` with the
/// operations that carry it.
public struct HybridClock: Hashable, Sendable {
    /// The latest moment handed out or taken over from others.
    public private(set) var last: HybridTimestamp

    /// A clock that goes on after `last`.
    public init(last: HybridTimestamp = .zero) { self.last = last }

    /// The moment for an operation of ours: after all before, and not behind the wall clock.
    public mutating func next(wallMilliseconds: UInt64) -> HybridTimestamp {
        last = last.successor(wallClock: wallMilliseconds)
        return last
    }

    /// Hears of a moment of another device, so that what we write next sorts after it.
    ///
    /// A moment that lies further ahead of the wall clock than `Limits.clockLeadMillisecondsMax`
    /// is not followed at all: one peer with a clock ten years ahead must not move everybody's,
    /// not even by the five minutes. An answer to it cites it instead.
    public mutating func observe(_ remote: HybridTimestamp, wallMilliseconds: UInt64) {
        let wall = min(wallMilliseconds, HybridTimestamp.millisecondsMax)
        guard remote.milliseconds <= wall + Limits.clockLeadMillisecondsMax else { return }
        last = max(last, remote)
    }

    /// How far this clock is ahead of the wall clock, in milliseconds; 0 if it is behind.
    ///
    /// More than `Limits.clockLeadMillisecondsMax` means that the wall clock stepped back, after
    /// which a device begins a new incarnation (PROTOCOL.md, 2.2).
    public func lead(overWallMilliseconds wall: UInt64) -> UInt64 {
        last.milliseconds > wall ? last.milliseconds - wall : 0
    }
}
