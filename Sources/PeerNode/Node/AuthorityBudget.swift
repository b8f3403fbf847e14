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

    /// What is counted by itself.
    enum Kind: Hashable {
        /// Operations of the authority document.
        case authority
        /// Operations of others in the authority document that own ones need.
        case vouched
    }

    private struct Share: Hashable {
        let kind: Kind
        /// A member's or a device's bytes.
        let payer: [UInt8]
    }

    private var members: [Share: Allowance] = [:]
    private var outsiders: [String: (operations: Allowance, bytes: Allowance)] = [:]
    /// Whose operations had to wait, and when that was last.
    private(set) var delayed: [[UInt8]: UInt64] = [:]
    /// What was judged and passed over, and how many operations there were then.
    private var passedOver: [OperationID: Int] = [:]

    /// Whether one more operation that counts in somebody's share may be taken in (S-5).
    ///
    /// - Parameter payer: a member's or a device's bytes.
    mutating func takes(
        of kind: Kind = .authority, from payer: [UInt8], now: UInt64
    ) -> Bool {
        let most = Double(Limits.authorityBurstPerMember)
        let share = Share(kind: kind, payer: payer)
        var allowance = members[share] ?? Allowance(left: most, at: now)
        allowance.refill(now: now, most: most, hourly: Double(Limits.authorityHourlyPerMember))
        let isTaken = allowance.left >= 1
        if isTaken { allowance.left -= 1 }
        // Who needs what others wrote is not to blame for its number.
        if !isTaken, kind == .authority { noteDelayed(payer, now) }
        members[share] = allowance
        Self.thin(&members) { $0.left }
        return isTaken
    }

    /// Whose operations had to wait within the last hour, or what is said of them would stand for
    /// ever.
    func isDelaying(_ payer: [UInt8], now: UInt64) -> Bool {
        delayed[payer].map { now < $0 || now - $0 < 3_600_000 } ?? false
    }

    private mutating func noteDelayed(_ payer: [UInt8], _ now: UInt64) {
        delayed[payer] = now
        Self.thin(&delayed) { Double(now >= $0 ? now - $0 : 0) }
    }

    /// Notes that an operation was passed over, having no effect.
    ///
    /// - Parameter count: how many operations there were.
    mutating func notePassedOver(_ id: OperationID, among count: Int) {
        passedOver[id] = count
        Self.thin(&passedOver) { -Double($0) }
    }

    /// Called when a document is judged anew: as many operations are other ones then.
    mutating func forgetPassedOver() { passedOver = [:] }

    /// Among how many operations this one was passed over; `nil` for one that never was. Whoever
    /// brings the same again uses up nobody's share: its author has not written it again.
    func passedOver(_ id: OperationID) -> Int? { passedOver[id] }

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
        var known =
            outsiders[host]
            ?? (Allowance(left: count, at: now), Allowance(left: size, at: now))
        known.operations.refill(now: now, most: count, hourly: count)
        known.bytes.refill(now: now, most: size, hourly: size)
        outsiders[host] = known
        Self.thin(&outsiders) { min($0.operations.left, $0.bytes.left) }
        return known
    }

    /// Forgets the half of too many that has most left: who comes under very many names to have
    /// the rest forgotten goes first.
    private static func thin<Key, Value>(
        _ known: inout [Key: Value], by left: (Value) -> Double
    ) {
        guard known.count > Limits.authorityBudgetsMax else { return }
        let order = known.sorted { left($0.value) < left($1.value) }
        known = Dictionary(
            uniqueKeysWithValues: order.prefix(Limits.authorityBudgetsMax / 2).map { $0 })
    }
}
