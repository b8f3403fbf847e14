import WorkspaceModel

/// How many bytes from a peer the kernel collects before it wakes the node.
///
/// A turn costs the same whether a link delivers one frame or four. So after a link has delivered
/// much, the kernel collects that much again, but only for a moment; a smaller amount is read then.
struct LinkGathering {
    /// How much is missing of the current frame.
    private var gauge: FrameGauge
    /// How many bytes the kernel has to wait for. It is told only of changes, so the first byte is
    /// reported.
    private(set) var wanted: Int
    /// When to read whatever has arrived, on the monotonic clock; `nil` where only a frame is
    /// awaited.
    private(set) var until: UInt64?

    /// - Parameter isAccepted: whether the other end dialled, and begins with its hint.
    init(isAccepted: Bool) {
        gauge = FrameGauge(isAccepted: isAccepted)
        wanted = gauge.wanted
    }

    /// Counts the arrived bytes.
    ///
    /// - Returns: whether `wanted` is another one now.
    mutating func take(_ bytes: [UInt8], now: UInt64) -> Bool {
        gauge.take(bytes)
        guard bytes.count >= Limits.bulkBytesMin else { return set(gauge.wanted, until: nil) }
        return set(
            max(gauge.wanted, Limits.gatheredBulkBytes),
            until: now + Limits.gatheredBulkMilliseconds)
    }

    /// - Returns: whether to read the link now, however little has arrived.
    mutating func passTime(now: UInt64) -> Bool {
        guard let end = until, end <= now else { return false }
        _ = set(gauge.wanted, until: nil)
        return true
    }

    private mutating func set(_ byteCount: Int, until end: UInt64?) -> Bool {
        until = end
        guard byteCount != wanted else { return false }
        wanted = byteCount
        return true
    }
}
