import WorkspaceModel

/// Abandoned dial attempts: another address answered, or the network has changed.
///
/// Their sockets are open until their end is reported, so they take places. Each takes one for a
/// limited time, even if the report never comes: without a free place nobody would be dialled
/// again.
struct AbandonedDials: Sendable {
    /// Until when each counts, in monotonic milliseconds.
    private var ends: [UInt64: UInt64] = [:]

    /// How many still count.
    var count: Int { ends.count }
    /// When the first of them stops counting.
    var nextOver: UInt64? { ends.values.min() }

    /// Adds abandoned attempts.
    mutating func insert(_ numbers: [UInt64], now: UInt64) {
        for number in numbers { ends[number] = now &+ Limits.abandonedDialMilliseconds }
    }

    /// One was reported.
    mutating func remove(_ number: UInt64) { ends[number] = nil }

    /// Forgets those whose time is over.
    mutating func forgetOld(at now: UInt64) { ends = ends.filter { $0.value > now } }
}
