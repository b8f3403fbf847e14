import CRDTStore
import WorkspaceModel

/// How often the devices of one person may cause key changes (PROTOCOL.md, 4.2).
///
/// A member can end any number of their own devices, and each end requires a new key with a box for
/// every remaining device. So what others can make an admin write is bounded; otherwise it would
/// use up the share (S-5) that others reserve for this admin.
struct KeyChangePace {
    /// When all changes are earned back, in milliseconds of the wall clock.
    private var fullAt: UInt64 = 0

    /// Counts a change that a person's own devices have caused.
    ///
    /// - Parameters:
    ///   - written: when, as it says itself; one that lies ahead counts as written now.
    ///   - now: milliseconds of the wall clock.
    mutating func note(written: UInt64, now: UInt64) {
        fullAt = max(fullAt, min(written, now)) &+ Limits.keyChangeMilliseconds
    }

    /// How long the next one has to wait, in milliseconds.
    func wait(now: UInt64) -> UInt64 {
        let free = now &+ Limits.keyChangeMilliseconds &* (Limits.keyChangesAtOnce &- 1)
        // A wall clock that was set back must not delay a change for longer than usual.
        return fullAt > free ? min(fullAt &- free, Limits.keyChangeMilliseconds) : 0
    }
}
