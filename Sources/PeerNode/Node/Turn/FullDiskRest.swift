/// For how long nobody is dialled and nobody let in, because the disk is full.
///
/// A link brings something as soon as it stands, if only that it does. That cannot be kept, so the
/// turn fails, all links end, and who dials at once does so again: a hundred times a second, and
/// with each a core is made from the store. So it rests after each such turn, twice as long as
/// before, until something could be kept.
struct FullDiskRest {
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
