import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What has a fault is paid for by the device that brings it, for no node passes such on
/// (PROTOCOL.md, 4.0.4, S-10).
struct `An operation with a fault` {
    private let pair: HostilePair
    /// A member who brings what Mallory writes.
    private let eve: (keys: ForeignDevice, log: ForgedLog)
    /// Signed with Mallory's own keys, under this grant.
    private let log: ForgedLog
    private let grant: OperationID

    init() throws {
        pair = try HostilePair()
        eve = try pair.accomplice()
        log = try ForgedLog(pair.mallory, incarnation: 80)
        grant = try pair.mallory.hostile().grant
        pair.takeOver()
    }

    /// Revocations of a device that is nobody's, each in a log of its own.
    private func faults(
        _ count: Int, by key: SigningKey, under grant: OperationID, from incarnation: UInt32 = 200
    ) throws -> [SignedOperation] {
        let heads = try ForgedLog.heads(of: pair.ada)
        return (0..<count).map { number in
            var made = ForgedLog(
                key, like: log, under: grant, incarnation: incarnation + UInt32(number))
            return made.write(
                .removeDevice(ForeignDevice(9).id, cuts: [], rekey: nil), knowing: heads)
        }
    }

    private func faults(_ count: Int, from incarnation: UInt32 = 200) throws -> [SignedOperation] {
        try faults(count, by: pair.keys.signing, under: grant, from: incarnation)
    }

    /// How many a node has judged.
    private func judged(at node: BenchNode) -> Int {
        node.log.count { $0.hasPrefix("auth.fault") }
    }

    /// What remains of a member's share of what has no fault.
    private func left(of member: MemberID, at node: BenchNode) throws -> Int {
        try node.inTurn { core, _ in
            var budget = core.log.shares.authorityBudget
            let share = AuthorityBudget.Share(.authority, of: member.bytes)
            var left = 0
            while budget.pay(1, from: [share], now: core.turn.time.monotonic) != nil { left += 1 }
            return left
        }
    }

    @Test func `is judged no more once the share of its bringer is used up`() throws {
        let bob = pair.bob
        try pair.hand(try faults(Limits.faultBurst + 10), to: bob, as: eve.keys)
        #expect(judged(at: bob) == Limits.faultBurst)
        // What has none is not judged either, if Eve brings it.
        var log = eve.log
        let document = `A flood of authority operations (A14)`.Table.document(1)
        let valid = log.write(document, knowing: try ForgedLog.heads(of: pair.ada))
        let visitor = try pair.visit(bob, as: eve.keys)
        #expect(visitor.isOpen)
        visitor.offer(pair.runs(of: [valid]))
        #expect(!visitor.isOpen && bob.endings.last == "auth.budget")
        #expect(try !bob.workspace().judged.evaluator.contains(valid.id))
        // Others are heard, also with what she has written.
        try pair.hand([valid], to: bob, as: pair.keys)
        #expect(try bob.workspace().judged.evaluator.isValid(valid.id))
        pair.bench.advance(3_600_000)
        try pair.hand(try faults(Limits.faultBurst, from: 400), to: bob, as: eve.keys)
        let hourly = Limits.faultBurst / 2
        #expect((hourly...hourly + 1).contains(judged(at: bob) - Limits.faultBurst))
        try pair.expectPeace()
    }

    /// What follows a refused one in its log would wait for it, and its bringer would be heard on.
    @Test func `is not followed by what waits for it once that share is used up`() throws {
        let bob = pair.bob
        try pair.hand(try faults(Limits.faultBurst), to: bob, as: eve.keys)
        var log = eve.log
        let heads = try ForgedLog.heads(of: pair.ada)
        for number in 1...3 {
            log.write(
                `A flood of authority operations (A14)`.Table.document(number), knowing: heads)
        }
        let visitor = try pair.visit(bob, as: eve.keys)
        visitor.offer(pair.runs(of: log.operations))
        #expect(!visitor.isOpen && bob.endings.last == "auth.budget")
        try pair.hand(Array(log.operations.dropFirst()), to: bob, as: eve.keys)
        #expect(bob.host?.core.log.waiting.operationCount == 0)
        // From others it waits, and is judged.
        try pair.hand(Array(log.operations.dropFirst()), to: bob, as: pair.keys)
        #expect(bob.host?.core.log.waiting.operationCount == 2)
        try pair.hand(Array(log.operations.prefix(1)), to: bob, as: pair.keys)
        let last = try #require(log.operations.last)
        #expect(try bob.workspace().judged.evaluator.isValid(last.id))
        try pair.expectPeace()
    }

    /// Mallory's computer has revoked her phone very often, and links it again.
    @Test func `is paid for by its bringer, with all lookups, and not by its author`() throws {
        let bob = pair.bob
        let phone = ForeignDevice(300)
        let key = try #require(try pair.ada.workspace().currentKey).id
        let entry = [ListedDevice.own(phone)].signed(
            entering: .adding(
                to: pair.workspace, before: pair.keys.id, member: pair.known.member))
        let link = AuthorityPayload.addDevices(entry, keyID: key, wraps: [])
        var revoking = log
        revoking.write(link, knowing: try ForgedLog.heads(of: pair.ada))
        // Each is looked at twice.
        for _ in 0..<Limits.faultLooksPerUnit / 2 {
            revoking.write(.removeDevice(phone.id, cuts: [], rekey: nil), knowing: [])
        }
        try bob.take(pair.runs(of: revoking.operations).map(\.run), isBackfill: true)
        let again = (0..<Limits.faultBurst).map { number in
            var made = ForgedLog(
                pair.keys.signing, like: log, under: grant, incarnation: 300 + UInt32(number))
            return made.write(link, knowing: [revoking.reference])
        }
        let before = try left(of: pair.known.member, at: bob)
        let looks = try bob.workspace().judged.looks
        try pair.hand([again[0]], to: bob, as: eve.keys)
        let cost = try bob.workspace().judged.looks - looks
        #expect((Limits.faultLooksPerUnit..<2 * Limits.faultLooksPerUnit).contains(cost))
        try pair.hand(Array(again.dropFirst()), to: bob, as: eve.keys)
        #expect(judged(at: bob) == Limits.faultBurst / 2)
        #expect(try left(of: pair.known.member, at: bob) == before)
    }

    /// A thief brings such things with a phone that nobody has revoked yet.
    @Test func `uses up no share of its bringer's other devices`() throws {
        let theft = try StolenPhone()
        let (ada, bob) = (theft.pair.ada, theft.pair.bob)
        let heads = try ForgedLog.heads(of: ada)
        let made = (0..<Limits.faultBurst + 1).map { number in
            var forged = ForgedLog(
                theft.phone.signing, like: theft.log, under: theft.grant,
                incarnation: 200 + UInt32(number))
            return forged.write(
                .removeDevice(ForeignDevice(9).id, cuts: [], rekey: nil), knowing: heads)
        }
        try theft.pair.hand(made, to: bob, as: theft.phone)
        #expect(judged(at: bob) == Limits.faultBurst)
        try ada.ok("device.revoke", ["device": .string(PublicID.device(theft.phone.id))])
        theft.pair.bench.advance(5_000)
        #expect(try bob.workspace().judged.evaluator.bestGrant(of: theft.phone.id) == nil)
        try theft.pair.expectPeace()
    }

    /// A new key for each link costs nothing.
    @Test func `is paid for together by all devices of a host that nobody knows`() throws {
        let bob = pair.bob
        let first = ForeignDevice(5)
        let visitor = try pair.visit(bob, as: first)
        let number = try #require(
            bob.host?.core.links.network.ordered.first { $0.peer?.device == first.id }
        ).id.number
        try bob.inTurn { core, known in
            core.log.shares.chargeFault(
                (Limits.faultBurst - 1) * Limits.faultLooksPerUnit,
                to: .peer(first.id, source: number, isBackfill: false), in: known)
        }
        visitor.close()
        let made = try faults(2)
        let next = try pair.visit(bob, as: ForeignDevice(6))
        next.offer(pair.runs(of: [made[0]]))
        #expect(!next.isOpen && bob.endings.last == "auth.budget")
        let elsewhere = try pair.visit(bob, as: ForeignDevice(7), from: "10.0.1.2")
        elsewhere.offer(pair.runs(of: [made[1]]))
        #expect(!elsewhere.isOpen && bob.endings.last == "auth.fault")
        try pair.expectPeace()
    }

    @Test func `leaves alone what is known of the members`() throws {
        let workspace = try pair.bob.workspace()
        for operation in try faults(20) {
            _ = workspace.memberEnds
            try pair.hand([operation], to: pair.bob, as: eve.keys)
            #expect(workspace.judged.derived.memberEnds != nil)
        }
        #expect(judged(at: pair.bob) == 20)
    }
}
