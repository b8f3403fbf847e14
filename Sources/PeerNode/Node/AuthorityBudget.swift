import WorkspaceModel

/// How much work with authority operations somebody can cause (PROTOCOL.md, 4.0.4: S-4 and S-5).
///
/// A delay and no verdict: what is not taken now is offered again by the next comparison.
struct AuthorityBudget {
    /// Units that run out and come back with time.
    private struct Allowance {
        var left: Double
        var at: UInt64

        /// - Parameters:
        ///   - now: milliseconds on the monotonic clock.
        ///   - hourly: how many units come back in an hour.
        mutating func refill(now: UInt64, most: Double, hourly: Double) {
            let elapsed = Double(now >= at ? now - at : 0)
            left = min(most, left + elapsed * hourly / 3_600_000)
            at = now
        }
    }

    private var members: [[UInt8]: Allowance] = [:]
    private var outsiders: [String: (operations: Allowance, bytes: Allowance)] = [:]
    /// Whose operations had to wait, and when that was last.
    private(set) var delayed: [[UInt8]: UInt64] = [:]

    /// Whether one more operation that counts in somebody's share may be taken in (S-5).
    ///
    /// - Parameter payer: a member's or a device's bytes.
    mutating func takes(from payer: [UInt8], now: UInt64) -> Bool {
        let most = Double(Limits.authorityBurstPerMember)
        if members.count >= Limits.authorityBudgetsMax { members = [:] }
        var allowance = members[payer] ?? Allowance(left: most, at: now)
        allowance.refill(now: now, most: most, hourly: Double(Limits.authorityHourlyPerMember))
        let isTaken = allowance.left >= 1
        if isTaken { allowance.left -= 1 } else { delayed[payer] = now }
        members[payer] = allowance
        return isTaken
    }

    /// Notes an operation without effect that an outsider brought (S-4).
    ///
    /// - Returns: whether that host has to wait now.
    mutating func spend(byteCount: Int, from host: String, now: UInt64) -> Bool {
        var (operations, bytes) = outsider(host, now: now)
        operations.left -= 1
        bytes.left -= Double(byteCount)
        outsiders[host] = (operations, bytes)
        return operations.left < 0 || bytes.left < 0
    }

    /// Whether a host has used up what outsiders may cost.
    mutating func mustWait(_ host: String, now: UInt64) -> Bool {
        let (operations, bytes) = outsider(host, now: now)
        return operations.left < 0 || bytes.left < 0
    }

    private mutating func outsider(
        _ host: String, now: UInt64
    ) -> (operations: Allowance, bytes: Allowance) {
        let count = Double(Limits.outsiderOperationsHourly)
        let size = Double(Limits.outsiderBytesHourly)
        if outsiders.count >= Limits.authorityBudgetsMax { outsiders = [:] }
        var known =
            outsiders[host]
            ?? (Allowance(left: count, at: now), Allowance(left: size, at: now))
        known.operations.refill(now: now, most: count, hourly: count)
        known.bytes.refill(now: now, most: size, hourly: size)
        outsiders[host] = known
        return known
    }
}
