/// A moment on the workspace's hybrid logical clock.
///
/// Devices whose wall clocks disagree still agree on the order of these values: the upper bits
/// follow the wall clock and the lower ones break ties, so a reply sorts after what it answers.
///
///     let posted = HybridTimestamp(milliseconds: 1_000, counter: 0)
///     let reply = posted.successor(wallClock: 990)  // the wall clock went back
///     assert(posted < reply)
///
/// - Unit: milliseconds since 1970-01-01T00:00:00Z, leap seconds ignored.
/// - Wire form: one number, 48 bits of milliseconds above 16 bits of counter.
/// - Source: Kulkarni et al., "Logical Physical Clocks", OPODIS 2014.
public struct HybridTimestamp: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number on the wire. Every `UInt64` is a moment, so none from outside can be refused.
    public let rawValue: UInt64

    /// The largest time that the upper bits can hold: a moment in the year 10889.
    public static let millisecondsMax: UInt64 = 1 << 48 - 1

    /// Before everything.
    public static let zero = HybridTimestamp(rawValue: 0)

    /// The moment that a number on the wire means.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A time of more than 48 bits becomes the largest one: a broken clock must not stop a node.
    public init(milliseconds: UInt64, counter: UInt16) {
        rawValue = min(milliseconds, Self.millisecondsMax) << 16 | UInt64(counter)
    }

    /// Milliseconds since the Unix epoch, always below 2^48.
    public var milliseconds: UInt64 { rawValue >> 16 }

    /// Whether no clock that was read at `moment`, milliseconds since the epoch, can have given this:
    /// it lies further ahead than `Limits.credibleLeadMillisecondsMax`.
    public func isIncredible(at moment: UInt64) -> Bool {
        milliseconds > moment && milliseconds - moment > Limits.credibleLeadMillisecondsMax
    }

    /// The time itself, or `moment` (milliseconds since 1970) where it is incredible then.
    public func credible(at moment: UInt64) -> Self {
        isIncredible(at: moment) ? Self(milliseconds: moment, counter: 0) : self
    }

    /// Orders the moments that share a millisecond.
    public var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// The smallest timestamp that comes after this one and is not behind `wallClock`.
    ///
    /// A full counter moves on to the next millisecond. Nothing comes after the last moment of
    /// all, which is its own successor; `HybridClock` follows no peer anywhere near it.
    ///
    /// - Parameter wallClock: this device's clock, in milliseconds since the epoch.
    public func successor(wallClock: UInt64) -> HybridTimestamp {
        let wall = min(wallClock, Self.millisecondsMax)
        if wall > milliseconds { return HybridTimestamp(milliseconds: wall, counter: 0) }
        return HybridTimestamp(rawValue: rawValue == .max ? rawValue : rawValue + 1)
    }

    /// Earlier time first; within one millisecond, lower counter first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
