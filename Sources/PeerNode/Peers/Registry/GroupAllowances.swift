import SyncProtocol

/// A token bucket for each group of peers: some at once, and one more after each refill time. Only
/// groups that have used some are stored.
struct GroupAllowances<Group: Hashable & Sendable>: Sendable {
    private let full: Allowance
    private var used: [Group: Allowance] = [:]

    /// - Parameters:
    ///   - tokens: how many at once.
    ///   - refillMilliseconds: after how long there is one more, not 0.
    init(tokens: UInt64, refillMilliseconds: UInt64) {
        full = Allowance(tokens: tokens, refillMilliseconds: refillMilliseconds)
    }

    /// When a group may have the next one, on the monotonic clock; 0 for at once.
    func next(of group: Group) -> UInt64 { used[group]?.next ?? 0 }

    /// Counts one, or says that there have been too many.
    mutating func take(_ group: Group, at now: UInt64) -> Bool {
        used[group, default: full].take(at: now)
    }

    /// Drops groups with a full allowance: once before many are used.
    mutating func forgetFull(at now: UInt64) {
        for group in used.keys where used[group]?.isFull(at: now) == true { used[group] = nil }
    }

    /// Forgets all that was used.
    mutating func refill() { used = [:] }
}
