import Testing
import WorkspaceModel

@testable import PeerNode

struct `Two links to one device` {
    let small = DeviceID([UInt8](repeating: 1, count: 32))
    let large = DeviceID([UInt8](repeating: 2, count: 32))

    func link(_ number: UInt64, _ opener: DeviceID, _ established: UInt64) -> LinkRule.Link {
        LinkRule.Link(number: number, opener: opener, established: established)
    }

    @Test func `made in one moment: the smaller key's stays, whichever came first`() {
        for apart in [0, 5_000] as [UInt64] {
            let first = LinkRule.judge(
                older: link(1, small, 1_000), newer: link(2, large, 1_000 + apart))
            #expect(first == .close(link: 2))
            let second = LinkRule.judge(
                older: link(1, large, 1_000), newer: link(2, small, 1_000 + apart))
            #expect(second == .close(link: 1))
        }
    }

    @Test(arguments: [5_001, 1_000_000] as [UInt64])
    func `made further apart: the older must answer within two seconds`(apart: UInt64) throws {
        let verdict = LinkRule.judge(
            older: link(1, large, 1_000), newer: link(2, small, 1_000 + apart))
        guard case .ask(let contest) = verdict else {
            Issue.record("judged at once")
            return
        }
        let start = 1_000 + apart
        #expect(contest.deadline == start + 2_000)
        #expect(contest.loser(answered: false, now: start + 1_999) == nil)
        #expect(contest.loser(answered: false, now: start + 2_000) == 1)
        #expect(contest.loser(answered: true, now: start) == 2)
    }

    @Test func `opened by one side twice: the older must answer`() {
        let verdict = LinkRule.judge(older: link(1, small, 1_000), newer: link(2, small, 1_001))
        guard case .ask = verdict else {
            Issue.record("judged at once")
            return
        }
    }

    @Test func `to two stores: both stay where the older one lives`() {
        let stores = [1, 2].map { StoreID([UInt8](repeating: $0, count: 16)) }
        let older = LinkRule.Link(number: 1, opener: small, established: 1_000, store: stores[0])
        let newer = LinkRule.Link(number: 2, opener: large, established: 1_000, store: stores[1])
        guard case .ask(let contest) = LinkRule.judge(older: older, newer: newer) else {
            Issue.record("judged at once")
            return
        }
        #expect(contest.loser(answered: true, now: 1_000) == nil)
        #expect(contest.loser(answered: false, now: 3_000) == 1)
    }
}

struct `The budget of handshakes` {
    @Test func `fills 200 agreements a second and never more (N15)`() {
        var budget = HandshakeBudget(now: 1_000)
        #expect(budget.spend(agreements: 200, now: 1_000) == true)
        #expect(budget.spend(agreements: 1, now: 1_000) == false)
        #expect(budget.spend(agreements: 1, now: 1_004) == false)
        #expect(budget.nextAgreement(count: 1, now: 1_004) == 1_005)
        #expect(budget.spend(agreements: 1, now: 1_005) == true)
        #expect(budget.nextAgreement(count: 3, now: 1_005) == 1_020)
        #expect(budget.spend(agreements: 201, now: 100_000) == false)
        #expect(budget.spend(agreements: 200, now: 100_000) == true)
        // What was not spent is not saved up.
        var rested = HandshakeBudget(now: 0)
        #expect(rested.spend(agreements: 201, now: 60_000) == false)
        // A clock that stands still or runs back fills nothing.
        #expect(budget.spend(agreements: 1, now: 1) == false)
    }

    @Test func `checks a limited number of invites a millisecond for strangers`() {
        var budget = HandshakeBudget(now: 0)
        var looked = 0
        for millisecond in 0..<1_000 as Range<UInt64> {
            for _ in 0..<5 where budget.look(among: 630, now: millisecond) { looked += 630 }
        }
        let most = Limits.invitesLookedAtOnceMax + 1_000 * Limits.invitesLookedPerMillisecond
        #expect(looked <= most && looked > most - 2 * 630)
        // Where there are more than that, one is let in now and then.
        #expect(budget.look(among: 1_000_000, now: 5_000) == true)
        #expect(budget.look(among: 1, now: 5_000) == false)
        #expect(budget.look(among: 0, now: 5_000) == true)
    }

    @Test func `takes the budget of one rank from that rank only`() {
        var budget = HandshakeBudget(now: 0)
        for rank in SecretRank.allCases {
            var count: UInt64 = 0
            let share = SecretShare(rank)
            while budget.spend(agreements: 3, of: share, now: 0) { count += 3 }
            #expect(count <= rank.agreementsPerSecond && count + 3 > rank.agreementsPerSecond)
            #expect(budget.nextAgreement(count: 3, of: share, now: 0) > 0)
            #expect(rank.agreementsPerSecond >= 3)
        }
    }

    @Test(arguments: [1, 2, 8, 100])
    func `takes the budget of one workspace from that one only`(count: Int) {
        var budget = HandshakeBudget(now: 0)
        budget.divide(among: count)
        var spent: [Int] = []
        for number in 0..<count {
            let share = SecretShare(.newest, in: WorkspaceID.testing(number))
            var ofThis = 0
            while budget.spend(agreements: 2, of: share, now: 0) { ofThis += 2 }
            spent.append(ofThis)
            #expect(budget.nextAgreement(count: 2, of: share, now: 0) > 0)
        }
        // The first takes what all have together, too, and nothing of what others have.
        let part = 200 / min(count, 8)
        #expect(spent[0] >= 200 && spent[0] <= (count == 1 ? 200 : 200 + part))
        #expect(spent.dropFirst().allSatisfy { $0 > part - 2 && $0 <= part })
        for rank in SecretRank.allCases {
            let share = SecretShare(rank, in: WorkspaceID.testing(0))
            #expect(budget.spend(agreements: 4, of: share, now: 5_000) == true)
        }
        budget.divide(among: 1)
        #expect(budget.spend(agreements: 200, of: SecretShare(.newest), now: 9_000) == true)
    }

    @Test func `holds against 5 000 first messages a second (N15)`() {
        var budget = HandshakeBudget(now: 0)
        var answered = 0
        for millisecond in 0..<10_000 as Range<UInt64> {
            for _ in 0..<5 where budget.spend(agreements: 3, now: millisecond) { answered += 1 }
        }
        #expect(answered * 3 <= 200 + 200 * 10)
        #expect(answered * 3 >= 200 * 10)
    }
}

extension DocumentID {
    fileprivate static func testing(_ number: Int) -> Self {
        Self([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32))
    }
}
