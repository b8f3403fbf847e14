import Testing
import WorkspaceModel

@testable import PeerNode

/// A budget for use inside expectations.
private final class Till {
    private var budget = AuthorityBudget()
    private var last: AuthorityBudget.Payment?

    func takes(
        _ units: Int = 1, of kinds: [AuthorityBudget.Kind] = [.authority], from payer: [UInt8],
        at now: UInt64
    ) -> Bool {
        let shares = kinds.map { AuthorityBudget.Share($0, of: payer) }
        let payment = budget.pay(units, from: shares, now: now)
        if payment == nil { budget.noteDelayed(payer, now) }
        last = payment ?? last
        return payment != nil
    }

    /// How many are taken until one has to wait.
    func taken(
        _ kinds: AuthorityBudget.Kind..., from payer: [UInt8], at now: UInt64
    ) -> Int {
        var taken = 0
        while takes(of: kinds.isEmpty ? [.authority] : kinds, from: payer, at: now) { taken += 1 }
        return taken
    }

    func holdBack(neededBy vouchers: [[UInt8]], at now: UInt64) {
        budget.holdBack([9], neededBy: vouchers, now: now)
    }

    func isHeldBack(neededBy vouchers: [[UInt8]], at now: UInt64) -> Bool {
        budget.isHeldBack([9], neededBy: vouchers, now: now)
    }

    func chargeLast(_ units: Int, and author: [UInt8], at now: UInt64) {
        last.map {
            budget.charge(units, to: [$0.share, .init(.authority, of: author)], now: now)
        }
    }

    func refundLast() { last.map { budget.refund($0) } }

    func isDelaying(_ payer: [UInt8], at now: UInt64) -> Bool {
        budget.isDelaying(payer, now: now)
    }

    func spend(_ byteCount: Int, from host: String, at now: UInt64) -> Bool {
        budget.spend(byteCount: byteCount, from: host, now: now)
    }
}

/// PROTOCOL.md, 4.0.4: S-4 and S-5.
struct `The budget of authority operations` {
    private static let hour: UInt64 = 3_600_000
    private static let burst = Limits.authorityBurstPerMember
    private static let hourly = burst / 2
    private let ada: [UInt8] = [1]
    private let bob: [UInt8] = [2]

    @Test func `is used up, and comes back with time`() {
        let budget = Till()
        #expect(budget.taken(from: ada, at: 0) == Self.burst)
        #expect(budget.taken(from: ada, at: Self.hour) == Self.hourly)
        #expect(budget.taken(from: ada, at: 2 * Self.hour) == Self.hourly)
        #expect(budget.taken(from: ada, at: 1_000 * Self.hour) == Self.burst)
    }

    @Test func `is everybody's own, and each kind's`() {
        let budget = Till()
        #expect(budget.taken(from: ada, at: 0) == Self.burst)
        #expect(budget.taken(.vouched, from: ada, at: 0) == Limits.authorityBurstForOthers)
        #expect(budget.taken(.doors, from: ada, at: 0) == Self.burst)
        #expect(budget.taken(.device, from: ada, at: 0) == Limits.authorityBurstPerDevice)
        #expect(
            budget.taken(.linkedDevice, from: ada, at: 0) == Limits.authorityBurstPerLinkedDevice)
        #expect(budget.taken(from: bob, at: 0) == Self.burst)
    }

    @Test func `takes from the next share what the first has no room for`() {
        let budget = Till()
        let both = Self.burst + Limits.authorityBurstPerDevice
        #expect(budget.taken(.authority, .device, from: ada, at: 0) == both)
        #expect(
            budget.taken(.authority, .device, from: ada, at: Self.hour) == both / 2)
    }

    @Test func `holds back for a while what nobody can pay for, and not what somebody else needs`()
    {
        let budget = Till()
        let end = 7 + Limits.authorityRetryMilliseconds
        #expect(!budget.isHeldBack(neededBy: [], at: 7))
        budget.holdBack(neededBy: [ada], at: 7)
        #expect(budget.isHeldBack(neededBy: [], at: end - 1))
        #expect(budget.isHeldBack(neededBy: [ada], at: end - 1))
        #expect(!budget.isHeldBack(neededBy: [ada, bob], at: end - 1))
        #expect(!budget.isHeldBack(neededBy: [], at: end))
    }

    @Test func `counts bytes, and nothing that has a fault`() {
        let budget = Till()
        let unit = Limits.authorityBytesPerUnit
        #expect(AuthorityBudget.units(ofPayload: 0) == 1)
        #expect(AuthorityBudget.units(ofPayload: unit - 1) == 1)
        #expect(AuthorityBudget.units(ofPayload: unit) == 2)
        #expect(AuthorityBudget.units(ofPayload: 1 << 20) == 257)
        let most = AuthorityBudget.units(ofPayload: 1 << 20, isByAdmin: true)
        #expect(most == Limits.authorityBurstPerLinkedDevice)
        let part = { AuthorityBudget.units(of: .cutPart([]), byteCount: 1 << 20, isByAdmin: $0) }
        #expect(part(true) == Limits.authorityUnitsPerCutPart && part(false) == 257)
        #expect(Limits.cutPartsMax * part(true) + most <= Self.burst)
        #expect(budget.takes(Self.burst - 5, from: ada, at: 0))
        #expect(!budget.takes(6, from: ada, at: 0) && budget.takes(5, from: ada, at: 0))
        #expect(!budget.takes(from: ada, at: 0))
        budget.refundLast()
        #expect(budget.takes(5, from: ada, at: 0) && !budget.takes(from: ada, at: 0))
    }

    @Test func `is charged afterwards for verdicts, down to as much below nothing`() {
        let budget = Till()
        let unit = Limits.authorityVerdictsPerUnit
        #expect(AuthorityBudget.units(ofVerdicts: unit - 1, isCapped: false) == 0)
        #expect(AuthorityBudget.units(ofVerdicts: 1_000 * unit, isCapped: false) == 1_000)
        let most = AuthorityBudget.units(ofVerdicts: 1_000 * unit, isCapped: true)
        #expect(most == Limits.authorityBurstPerLinkedDevice)
        // An end that counts under very many grants costs no more than the smallest share has.
        let again = { AuthorityBudget.units(ofVerdicts: unit, further: $0, isCapped: $1) }
        #expect(again(unit - 1, false) == 1 && again(3 * unit, false) == 4)
        #expect(again(1_000 * unit, false) == 1 + most && again(1_000 * unit, true) == most)
        #expect(budget.takes(from: ada, at: 0))
        budget.chargeLast(10_000, and: ada, at: 0)
        #expect(!budget.takes(from: ada, at: 2 * Self.hour - 1))
        #expect(budget.taken(from: ada, at: 3 * Self.hour) == Self.hourly)
        // The lender of the unit pays, and so does the author.
        #expect(budget.takes(of: [.vouched], from: bob, at: 0))
        budget.chargeLast(10_000, and: ada, at: 3 * Self.hour)
        #expect(!budget.takes(of: [.vouched], from: bob, at: 3 * Self.hour))
        #expect(!budget.takes(from: ada, at: 3 * Self.hour))
        #expect(budget.taken(from: bob, at: 3 * Self.hour) == Self.burst)
    }

    @Test func `of faults is used up by lookups, and comes back with time`() {
        var budget = AuthorityBudget()
        let share = AuthorityBudget.Share(.faults, of: ada)
        #expect(!budget.hasFaults && !budget.isUsedUpByFaults(share, now: 0))
        for _ in 1..<Limits.faultBurst {
            budget.chargeFault(Limits.faultLooksPerUnit - 1, to: share, now: 0)
        }
        #expect(budget.hasFaults && !budget.isUsedUpByFaults(share, now: 0))
        budget.chargeFault(0, to: share, now: 0)
        #expect(budget.isUsedUpByFaults(share, now: 0))
        #expect(!budget.isUsedUpByFaults(.init(.faults, of: bob), now: 0))
        #expect(!budget.isUsedUpByFaults(share, now: Self.hour))
        // As much below nothing, at most.
        budget.chargeFault(1_000 * Limits.faultLooksPerUnit, to: share, now: 0)
        #expect(budget.isUsedUpByFaults(share, now: 2 * Self.hour))
        #expect(!budget.isUsedUpByFaults(share, now: 3 * Self.hour))
        // One that costs as much as all is left.
        let other = AuthorityBudget.Share(.faults, of: bob)
        let all = (Limits.faultBurst - 1) * Limits.faultLooksPerUnit
        budget.chargeFault(all - 1, to: other, now: 0)
        #expect(!budget.isUsedUpByFaults(other, now: 0))
        budget.chargeFault(0, to: other, now: 0)
        #expect(budget.isUsedUpByFaults(other, now: 0))
    }

    @Test func `knows for an hour who had to wait`() {
        let budget = Till()
        #expect(budget.takes(from: bob, at: 0))
        #expect(!budget.isDelaying(bob, at: 0) && !budget.isDelaying(ada, at: 0))
        _ = budget.taken(from: ada, at: 7)
        #expect(budget.isDelaying(ada, at: 7 + Self.hour - 1))
        #expect(!budget.isDelaying(ada, at: 7 + Self.hour))
    }

    @Test func `is not forgotten because very many others come`() {
        let budget = Till()
        _ = budget.taken(from: ada, at: 0)
        for _ in 0...Limits.outsiderOperationsHourly {
            _ = budget.spend(1, from: "host", at: 0)
        }
        #expect(budget.spend(1, from: "host", at: 0))
        for number in 0..<2 * Limits.authorityBudgetsMax {
            _ = budget.takes(from: Array("\(number)".utf8), at: 0)
            _ = budget.spend(1, from: "\(number)", at: 0)
        }
        #expect(!budget.takes(from: ada, at: 0))
        #expect(budget.spend(1, from: "host", at: 0))
    }

    @Test func `forgets by name where all have as much left`() {
        let payers = (0...Limits.authorityBudgetsMax).map { Array("\($0)".utf8) }
        var budget = AuthorityBudget()
        for payer in payers { budget.noteDelayed(payer, 7) }
        let first = payers.sorted { $0.lexicographicallyPrecedes($1) }
            .prefix(Limits.authorityBudgetsMax / 2)
        #expect(Set(budget.delayed.keys) == Set(first))
    }

    @Test func `has an end for a host after so many operations, and after so many bytes`() {
        let budget = Till()
        let operations = (0...Limits.outsiderOperationsHourly).map { _ in
            budget.spend(1, from: "many", at: 0)
        }
        #expect(operations.firstIndex(of: true) == Limits.outsiderOperationsHourly)
        #expect(!budget.spend(Limits.outsiderBytesHourly, from: "large", at: 0))
        #expect(budget.spend(1, from: "large", at: 0))
        #expect(!budget.spend(1, from: "large", at: Self.hour))
        #expect(!budget.spend(1, from: "other", at: 0))
    }
}
