import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The cost of a member's ends of their own devices: they count again under each role that somebody
/// grants without knowing them (PROTOCOL.md, 4.0.3, V-10, and 4.0.4, S-5).
struct `The cost of ends that count again` {
    private let pair: HostilePair
    /// Signed with Mallory's own keys.
    private let first: ForgedLog

    init() throws {
        pair = try HostilePair()
        first = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
    }

    /// What remains of a member's share at a node.
    private func left(of member: MemberID, at node: BenchNode) throws -> Int {
        try left(of: member.bytes, at: node)
    }

    private func left(of payer: [UInt8], at node: BenchNode) throws -> Int {
        var left = 0
        try node.inTurn { core, _ in
            var budget = core.log.shares.authorityBudget
            let share = AuthorityBudget.Share(.authority, of: payer)
            while budget.pay(1, from: [share], now: core.turn.time.monotonic) != nil { left += 1 }
        }
        return left
    }

    /// Mallory links a phone, and revokes it by concurrent forks.
    private func ends(_ count: Int) throws -> (
        link: ForgedLog, phone: DeviceID, all: [SignedOperation]
    ) {
        let phone = ForeignDevice(300)
        let key = try #require(try pair.ada.workspace().currentKey).id
        let entry = [ListedDevice.own(phone)].signed(
            entering: .adding(
                to: pair.workspace, before: pair.keys.id, member: pair.known.member))
        var link = first
        link.write(
            .addDevices(entry, keyID: key, wraps: []), knowing: try ForgedLog.heads(of: pair.ada))
        let grant = link.operations[0].header.grant
        let all = (0..<count).map { number in
            var log = ForgedLog(
                pair.keys.signing, like: link, under: grant, incarnation: 100 + UInt32(number))
            return log.write(
                .removeDevice(phone.id, cuts: [], rekey: nil), knowing: [link.reference])
        }
        return (link, phone.id, all)
    }

    /// An admin whose keys the test has.
    private func admin() throws -> (keys: ForeignDevice, log: ForgedLog) {
        let node = try pair.bench.guest("Eve", of: pair.ada)
        try pair.ada.ok("member.role", ["member": "Eve", "role": "admin"])
        pair.bench.advance(5_000)
        let admin = (try ForeignDevice(of: node), try ForgedLog(node, incarnation: 90))
        node.kill()
        return admin
    }

    /// Ada removes that admin, and everybody hears of it.
    ///
    /// - Returns: the member whose share pays for what the admin writes as if before.
    private func remove(_ keys: ForeignDevice) throws -> [UInt8] {
        try pair.ada.ok("member.remove", ["member": "Eve"])
        pair.bench.advance(5_000)
        return try pair.bob.workspace().owner(of: keys.id)?.bytes ?? keys.id.bytes
    }

    /// A role for Mallory with a phone.
    private func role(with phone: DeviceID, _ role: Role = .admin) -> AuthorityPayload {
        .grant(
            AuthorityPayload.Grant(
                member: pair.known.member, devices: [pair.keys.id, phone], role: role,
                replaces: false, drops: nil, cuts: []))
    }

    @Test func `is paid by the author of a role that does not count`() throws {
        var eve = try admin()
        let (link, phone, all) = try ends(2 * Limits.authorityVerdictsPerUnit)
        let heads = try ForgedLog.heads(of: pair.ada) + [link.reference]
        try pair.hand(link.operations + all, to: pair.bob, as: pair.keys)
        let payer = try remove(eve.keys)
        let hers = try left(of: pair.known.member, at: pair.bob)
        let before = try left(of: payer, at: pair.bob)
        let given = eve.log.write(role(with: phone, .member), knowing: heads)
        try pair.hand([given], to: pair.bob, as: eve.keys)
        #expect(try !pair.bob.workspace().judged.evaluator.isValid(given.id))
        #expect(try left(of: pair.known.member, at: pair.bob) == hers)
        // One unit, and the cost of judging it.
        #expect(try left(of: payer, at: pair.bob) < before - 1)
    }

    @Test func `is paid by the author of a role if its member's share is used up`() throws {
        let count = 2 * Limits.authorityVerdictsPerUnit
        let (link, phone, all) = try ends(count)
        let heads = try ForgedLog.heads(of: pair.ada) + [link.reference]
        try pair.hand(link.operations + all, to: pair.bob, as: pair.keys)
        let mallory = AuthorityBudget.Share(.authority, of: pair.known.member.bytes)
        try pair.bob.inTurn { core, _ in
            core.log.shares.authorityBudget.charge(
                10_000, to: [mallory], now: core.turn.time.monotonic)
        }
        let ada = try pair.ada.workspace().member
        let before = try left(of: ada, at: pair.bob)
        var log = try ForgedLog(pair.ada, incarnation: 81)
        let given = log.write(role(with: phone), knowing: heads)
        try pair.hand([given], to: pair.bob, as: try ForeignDevice(of: pair.ada))
        #expect(try pair.bob.workspace().judged.evaluator.isValid(given.id))
        let paid = before - (try left(of: ada, at: pair.bob))
        #expect(paid > count / Limits.authorityVerdictsPerUnit && paid <= 33)
    }

    @Test func `is paid for again when a role that does not count comes again`() throws {
        var eve = try admin()
        let (link, phone, all) = try ends(2 * Limits.authorityVerdictsPerUnit)
        let heads = try ForgedLog.heads(of: pair.ada) + [link.reference]
        try pair.hand(link.operations + all, to: pair.bob, as: pair.keys)
        let payer = try remove(eve.keys)
        let given = eve.log.write(role(with: phone, .member), knowing: heads)
        try pair.hand([given], to: pair.bob, as: eve.keys)
        let before = try left(of: payer, at: pair.bob)
        // In another set of operations it may have another verdict, so it is judged again.
        try pair.ada.ok("invite.create")
        pair.bench.advance(5_000)
        try pair.hand([given], to: pair.bob, as: eve.keys)
        #expect(try left(of: payer, at: pair.bob) < before)
    }

    @Test func `is paid by their author, and not by the author of a role`() throws {
        let count = 2 * Limits.authorityVerdictsPerUnit
        let (link, phone, all) = try ends(count)
        // Ada's node has not heard of the ends.
        let heads = try ForgedLog.heads(of: pair.ada) + [link.reference]
        try pair.hand(link.operations + all, to: pair.bob, as: pair.keys)
        let ada = try pair.ada.workspace().member
        let (before, hers) = (
            try left(of: ada, at: pair.bob), try left(of: pair.known.member, at: pair.bob)
        )
        #expect(hers > 0)
        let roles = 4
        for number in 0..<roles {
            var log = try ForgedLog(pair.ada, incarnation: 81 + UInt32(number))
            let given = log.write(role(with: phone), knowing: heads)
            try pair.hand([given], to: pair.bob, as: try ForeignDevice(of: pair.ada))
            #expect(try pair.bob.workspace().judged.evaluator.isValid(given.id))
        }
        #expect(try left(of: ada, at: pair.bob) == before - roles)
        // Each role causes the ends to be judged once more, and reports that they count under it.
        let paid = hers - (try left(of: pair.known.member, at: pair.bob))
        #expect(paid >= roles * (count / Limits.authorityVerdictsPerUnit))
        #expect(paid <= 2 * roles * (count / Limits.authorityVerdictsPerUnit))
        #expect(try pair.bob.workspace().judged.evaluator.bestGrant(of: phone) == nil)
    }
    /// The members of the devices are looked up among all their ends, and 64 looks count as one
    /// more end.
    @Test func `includes the cost of finding whose devices a role lists`() throws {
        let unit = Limits.authorityVerdictsPerUnit
        let (link, phone, all) = try ends(2 * unit - 2)
        let heads = try ForgedLog.heads(of: pair.ada) + [link.reference]
        try pair.hand(link.operations + all, to: pair.bob, as: pair.keys)
        let before = try left(of: pair.known.member, at: pair.bob)
        let roles = 4
        for number in 0..<roles {
            var log = try ForgedLog(pair.ada, incarnation: 81 + UInt32(number))
            let given = log.write(role(with: phone), knowing: heads)
            try pair.hand([given], to: pair.bob, as: try ForeignDevice(of: pair.ada))
            #expect(try pair.bob.workspace().judged.evaluator.isValid(given.id))
        }
        // One unit for the verdicts, and two for the ends, of which the last two are such looks.
        // The share has refilled by less than two meanwhile.
        let paid = before - (try left(of: pair.known.member, at: pair.bob))
        #expect(paid > 3 * roles - 2 && paid <= 3 * roles)
    }
}
