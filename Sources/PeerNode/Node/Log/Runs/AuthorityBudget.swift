import WorkspaceModel

/// How much work with authority operations an author can cause, and how many logs one can begin
/// (PROTOCOL.md, 4.0.4: S-4, S-5 and S-8 to S-10).
///
/// It delays and does not judge: what is not taken now is offered again by the next comparison.
struct AuthorityBudget {
    /// Units that are used up and refilled over time.
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

    /// What is counted separately.
    enum Kind: UInt8 {
        /// Operations of the authority document, by their author's member.
        case authority
        /// Requests and admissions among them, which people outside cause.
        case doors
        /// For when those are used up, by the author's device: one that a create or admit lists.
        case device
        /// The same for a device that was linked. Anybody may have many of these.
        case linkedDevice
        /// Operations of others in the authority document that own ones need, by the member who
        /// needs them.
        case vouched
        /// Operations on who is in a private document (kind 3), by their author's member.
        case privateAuthority
        /// The same of others that own ones need, by the member who needs them.
        case vouchedPrivate
        /// Operations of the profile document, by their author's member.
        case profile
        /// The same of others that own ones need, by the member who needs them.
        case vouchedProfile
        /// Logs that begin in a document, by their author's member.
        case logs
        /// The same by their author's device.
        case deviceLogs
        /// The same of others that own operations need, by the member who needs them.
        case vouchedLogs
        /// Authority operations with a fault, by who brings them.
        case faults

        fileprivate var most: Double {
            switch self {
            case .authority, .doors: Double(Limits.authorityBurstPerMember)
            case .privateAuthority: Double(Limits.privateBurstPerMember)
            case .profile: Double(Limits.profileBurstPerMember)
            case .vouched, .vouchedPrivate, .vouchedProfile: Double(Limits.authorityBurstForOthers)
            case .device: Double(Limits.authorityBurstPerDevice)
            case .linkedDevice: Double(Limits.authorityBurstPerLinkedDevice)
            case .logs: Double(Limits.logsBurstPerMember)
            case .deviceLogs: Double(Limits.logsBurstPerDevice)
            case .vouchedLogs: Double(Limits.logsBurstForOthers)
            case .faults: Double(Limits.faultBurst)
            }
        }
    }

    /// What pays for an operation.
    struct Share: Hashable {
        let kind: Kind
        /// A member's bytes, or those of a workspace and a device in it; for logs with a document's
        /// behind them.
        let payer: [UInt8]

        init(_ kind: Kind, of payer: [UInt8]) {
            self.kind = kind
            self.payer = payer
        }

        fileprivate var name: [UInt8] { [kind.rawValue] + payer }
    }

    /// The amount charged to a share.
    struct Payment {
        let share: Share
        fileprivate let units: Double
    }

    private var members: [Share: Allowance] = [:]
    /// Shares for logs are kept apart: there are as many as documents and members together, and
    /// they must not evict the other shares.
    private var logs: [Share: Allowance] = [:]
    /// Those for what has a fault are kept apart, too: there may be one for each host.
    private var faults: [Share: Allowance] = [:]
    private var outsiders: [String: (operations: Allowance, bytes: Allowance)] = [:]
    /// Whose operations had to wait, and when that last happened.
    private(set) var delayed: [[UInt8]: UInt64] = [:]
    /// Devices, by workspace, from which nothing more is requested: until when, and whose need for
    /// it has not helped.
    private var heldBack: [[UInt8]: (until: UInt64, futile: Set<[UInt8]>)] = [:]
    /// What was judged and passed over, and how many operations there were then.
    private var passedOver: [OperationID: Int] = [:]

    /// Takes what an operation costs out of the first share that has so much left (S-5).
    ///
    /// - Returns: `nil` where none has: the operation waits.
    mutating func pay(_ units: Int, from shares: [Share], now: UInt64) -> Payment? {
        for share in shares {
            var allowance = refilled(share, among: members, now: now)
            guard allowance.left >= Double(units) else { continue }
            allowance.left -= Double(units)
            members[share] = allowance
            Self.thin(&members, named: \.name) { $0.left }
            return Payment(share: share, units: Double(units))
        }
        return nil
    }

    /// Charges the first share that has room for a new log (S-9).
    ///
    /// - Returns: whether any has: else it waits.
    mutating func beginLog(from shares: [Share], now: UInt64) -> Bool {
        for share in shares {
            var allowance = refilled(share, among: logs, now: now)
            guard allowance.left >= 1 else { continue }
            allowance.left -= 1
            logs[share] = allowance
            Self.thin(&logs, named: \.name) { $0.left }
            return true
        }
        return false
    }

    /// Charges the additional cost that judging an operation has shown, even if it exceeds what was
    /// left.
    ///
    /// - Parameter shares: each pays all of it. Of an operation these are the one that has paid for it and
    ///   that of its author's member, which may have paid nothing before.
    mutating func charge(_ units: Int, to shares: Set<Share>, now: UInt64) {
        for share in shares {
            var allowance = refilled(share, among: members, now: now)
            allowance.left = max(allowance.left - Double(units), -share.kind.most)
            members[share] = allowance
        }
        Self.thin(&members, named: \.name) { $0.left }
    }

    /// Puts back what was paid for an operation that turned out to have a fault.
    mutating func refund(_ payment: Payment) {
        members[payment.share]?.left += payment.units
    }

    /// Charges a share for an operation that turned out to have a fault (S-10), even if that exceeds
    /// what was left.
    ///
    /// - Parameter looks: how many others were examined to find the fault.
    mutating func chargeFault(_ looks: Int, to share: Share, now: UInt64) {
        var allowance = refilled(share, among: faults, now: now)
        let units = 1 + max(0, looks) / Limits.faultLooksPerUnit
        allowance.left = max(allowance.left - Double(units), -share.kind.most)
        faults[share] = allowance
        Self.thin(&faults, named: \.name) { $0.left }
    }

    /// Whether there is a share that faults have been charged to.
    var hasFaults: Bool { !faults.isEmpty }

    /// Whether faults have used up a share: nothing more is judged of whom it belongs to.
    func isUsedUpByFaults(_ share: Share, now: UInt64) -> Bool {
        refilled(share, among: faults, now: now).left < 1
    }

    /// Whether something is left of a share.
    func hasRoom(in share: Share, now: UInt64) -> Bool {
        refilled(share, among: members, now: now).left >= 1
    }

    private func refilled(
        _ share: Share, among known: [Share: Allowance], now: UInt64
    ) -> Allowance {
        let most = share.kind.most
        var allowance = known[share] ?? Allowance(left: most, at: now)
        // A share is refilled within two hours.
        allowance.refill(now: now, most: most, hourly: most / 2)
        return allowance
    }

    /// How many units of a share an operation costs.
    ///
    /// - Parameter isByAdmin: of admins and owners never more than the smallest share has: how long
    ///   the cuts of a removal are is up to whom it removes.
    static func units(ofPayload byteCount: Int, isByAdmin: Bool = false) -> Int {
        let units = 1 + byteCount / Limits.authorityBytesPerUnit
        return isByAdmin ? min(units, Limits.authorityBurstPerLinkedDevice) : units
    }

    /// How many units an operation of the authority document costs. The removed person decides of
    /// how many logs the parts of a removal speak: all parts of an admin's have to fit into a
    /// share.
    static func units(of payload: AuthorityPayload, byteCount: Int, isByAdmin: Bool) -> Int {
        let units = units(ofPayload: byteCount, isByAdmin: isByAdmin)
        guard isByAdmin, case .cutPart = payload else { return units }
        return min(units, Limits.authorityUnitsPerCutPart)
    }

    /// How many units more it costs where it turns over the verdicts of others.
    ///
    /// - Parameters:
    ///   - further: how many more times an end is judged, each under a further grant: as much as so
    ///     many verdicts, but never more than the smallest share has. How many grants there are is up
    ///     to others than who ends a device.
    ///   - isCapped: whether all of it costs no more than that either.
    static func units(ofVerdicts count: Int, further: Int = 0, isCapped: Bool) -> Int {
        let most = Limits.authorityBurstPerLinkedDevice
        let units =
            count / Limits.authorityVerdictsPerUnit
            + min(further / Limits.authorityVerdictsPerUnit, most)
        return isCapped ? min(units, most) : units
    }

    /// Whose operations had to wait within the last hour; without a limit the warning would stay
    /// permanently.
    func isDelaying(_ payer: [UInt8], now: UInt64) -> Bool {
        delayed[payer].map { now < $0 || now - $0 < 3_600_000 } ?? false
    }

    /// Notes that something of a member's has to wait.
    mutating func noteDelayed(_ payer: [UInt8], _ now: UInt64) {
        delayed[payer] = now
        Self.thin(&delayed, named: \.self) { Double(now >= $0 ? now - $0 : 0) }
    }

    /// Notes that no share could pay for something that a device wrote: to ask for the same at once
    /// would only move bytes.
    ///
    /// - Parameters:
    ///   - device: a workspace's bytes and a device's.
    ///   - vouchers: members who need it, and had no share left for it either.
    mutating func holdBack(_ device: [UInt8], neededBy vouchers: [[UInt8]], now: UInt64) {
        heldBack[device] = (now &+ Limits.authorityRetryMilliseconds, Set(vouchers))
        Self.thin(&heldBack, named: \.self) { Double($0.until) }
    }

    /// Whether there is a device from which nothing more is requested.
    var holdsAnythingBack: Bool { !heldBack.isEmpty }

    /// Whether more of what a device wrote is not asked for.
    ///
    /// - Parameters:
    ///   - device: a workspace's bytes and a device's.
    ///   - vouchers: members who need it now.
    func isHeldBack(_ device: [UInt8], neededBy vouchers: [[UInt8]], now: UInt64) -> Bool {
        guard let held = heldBack[device], now < held.until else { return false }
        return vouchers.allSatisfy(held.futile.contains)
    }

    /// Notes that an operation was passed over, having no effect.
    ///
    /// - Parameter count: how many operations there were.
    mutating func notePassedOver(_ id: OperationID, among count: Int) {
        passedOver[id] = count
        Self.thin(&passedOver, named: \.bytes) { -Double($0) }
    }

    /// Called when a document is judged again: the numbers of operations are different then.
    mutating func forgetPassedOver() { passedOver = [:] }

    /// The number of operations at which this one was passed over; `nil` if it never was. Sending
    /// the same one again uses no share: its author has not written it again.
    func passedOver(_ id: OperationID) -> Int? { passedOver[id] }

    /// Notes an operation without effect that an outsider brought (S-4).
    ///
    /// - Returns: whether that host has used up the allowance for outsiders: the link closes, and
    ///   so does each later one at its first such operation. A member may be behind the same
    ///   address.
    mutating func spend(byteCount: Int, from host: String, now: UInt64) -> Bool {
        var (operations, bytes) = outsider(host, now: now)
        operations.left -= 1
        bytes.left -= Double(byteCount)
        outsiders[host] = (operations, bytes)
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
        Self.thin(&outsiders, named: { Array($0.utf8) }) { min($0.operations.left, $0.bytes.left) }
        return known
    }

    /// Drops the half with the most left when there are too many: an attacker with very many names,
    /// who wants the rest to be dropped, goes first. Among equals the first by name stay, so that
    /// the order of a table does not decide.
    private static func thin<Key, Value>(
        _ known: inout [Key: Value], named name: (Key) -> [UInt8], by left: (Value) -> Double
    ) {
        guard known.count > Limits.authorityBudgetsMax else { return }
        let order = known.sorted { one, other in
            let (own, theirs) = (left(one.value), left(other.value))
            guard own == theirs else { return own < theirs }
            return name(one.key).lexicographicallyPrecedes(name(other.key))
        }
        known = Dictionary(
            uniqueKeysWithValues: order.prefix(Limits.authorityBudgetsMax / 2).map { $0 })
    }
}
