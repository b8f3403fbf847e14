import CRDTStore
import WorkspaceModel

/// How often devices of one person change a key by themselves (PROTOCOL.md, 4.2).
///
/// Whoever is in can end own devices without number, and each is a reason for a new key with a box
/// for every device that is left. So what others can have an admin write is bounded, or it would use
/// up the share (S-5) that others keep for what this admin has to say.
struct KeyChangePace {
    /// When all changes are earned back, in milliseconds of the wall clock.
    private var fullAt: UInt64 = 0

    /// Takes up a change that somebody's own devices have written.
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
        // A wall clock that was put back holds nothing up for longer than one that was not.
        return fullAt > free ? min(fullAt &- free, Limits.keyChangeMilliseconds) : 0
    }
}
