import CRDTStore
import WorkspaceModel

/// When to checkpoint the write-ahead log into the database.
///
/// Only between turns, so that a commit never pays for it: a part whenever the log has grown by
/// `growthByteCount`, and all of it when the node has been idle for a while.
struct CheckpointSchedule {
    /// The log stays near this size under load.
    static let growthByteCount = 4 * 1024 * 1024
    /// How long nothing must have been written before the log is emptied.
    static let quietMilliseconds: UInt64 = 5_000

    /// When to empty the log because it holds what was erased.
    private(set) var erasureDeadline: UInt64?
    private var seenByteCount: Int?
    private var copiedByteCount = 0
    /// When to empty the log, in milliseconds of the monotonic clock.
    private(set) var quietDeadline: UInt64?

    /// Notes how long the log is after a turn.
    ///
    /// - Returns: whether to copy what can be copied now.
    mutating func didTurn(logByteCount: Int, now: UInt64) -> Bool {
        if logByteCount != seenByteCount {
            // A start is followed by a quiet time, too, even if it wrote nothing.
            let isFirst = seenByteCount == nil
            seenByteCount = logByteCount
            quietDeadline = logByteCount > 0 || isFirst ? now + Self.quietMilliseconds : nil
        }
        // After a complete checkpoint the log starts over with the next commit.
        if logByteCount < copiedByteCount { copiedByteCount = 0 }
        guard logByteCount - copiedByteCount >= Self.growthByteCount else { return false }
        copiedByteCount = logByteCount
        return true
    }

    /// Notes that the log holds something erased, or still does.
    mutating func mustEmpty(now: UInt64) {
        erasureDeadline = erasureDeadline ?? now + Limits.erasedLogMilliseconds
    }

    /// Whether it is time to empty the log of what was erased, which is told once.
    mutating func takeErasure(now: UInt64) -> Bool {
        guard let deadline = erasureDeadline, deadline <= now else { return false }
        erasureDeadline = nil
        return true
    }

    /// Whether the quiet time is over, which is told once.
    mutating func takeQuiet(now: UInt64) -> Bool {
        guard let deadline = quietDeadline, deadline <= now else { return false }
        quietDeadline = nil
        return true
    }
}
