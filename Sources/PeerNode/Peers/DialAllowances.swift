import SyncProtocol
import WorkspaceModel

/// How often addresses are dialled that others told: so many at once of each group, and one more each
/// time a while has passed. Anybody who is in may name any address, and as often as it likes; who
/// listens there has not asked to be dialled.
struct DialAllowances<Group: Hashable & Sendable>: Sendable {
    private var used: [Group: Allowance] = [:]

    /// When a dial of a group may be made, on the monotonic clock; 0 for at once.
    func next(of group: Group) -> UInt64 { used[group]?.next ?? 0 }

    /// Counts a dial, or says that there have been too many.
    mutating func take(_ group: Group, at now: UInt64) -> Bool {
        used[group, default: Self.full].take(at: now)
    }

    /// Forgets of whom there is nothing to remember.
    mutating func forgetFull(at now: UInt64) {
        for group in used.keys where used[group]?.isFull(at: now) == true { used[group] = nil }
    }

    private static var full: Allowance {
        Allowance(
            tokens: Limits.dialsOfOneMax, refillMilliseconds: Limits.dialOfOneMilliseconds)
    }
}
