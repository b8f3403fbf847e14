/// How long the node neither dials nor accepts links because the disk is full.
///
/// A new link at once brings something to write, if only that it exists. The write fails, the turn
/// fails and all links end; without a pause, peers would redial a hundred times a second, and each
/// time the core would be rebuilt from the store. So the node pauses after each such turn, twice as
/// long as before, until a write succeeds.
struct FullDiskBackoff {
    private static let longestMilliseconds: UInt64 = 30_000

    /// Until when, on the monotonic clock; 0 where it does not rest.
    private(set) var until: UInt64 = 0
    private var length: UInt64 = 0

    func isOn(at now: UInt64) -> Bool { now < until }

    /// A turn has failed for want of room.
    mutating func lengthen(at now: UInt64) {
        length = length == 0 ? 1_000 : min(2 * length, Self.longestMilliseconds)
        until = now &+ length
    }

    /// Something could be kept.
    mutating func end() { self = Self() }
}
