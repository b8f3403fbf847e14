import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A19: using up the budget of somebody's operations does not delay anyone's revocation.
struct `A share that is used up (A19)` {
    private typealias Table = `A flood of authority operations (A14)`.Table

    /// F1: the thief uses up Ada's share at Bob's node, where the revocation has to arrive.
    @Test func `by a stolen device leaves room for its revocation`() throws {
        var theft = try StolenPhone()
        let bob = theft.pair.bob
        try theft.flood(bob, count: 1_200)
        let ada = try theft.pair.ada.workspace().member
        #expect(bob.host?.core.log.shares.authorityBudget.delayed[ada.bytes] != nil)
        // The rest stays where it is.
        #expect(bob.host?.core.log.waiting.operationCount == 0)
        try theft.pair.ada.ok(
            "device.revoke", ["device": .string(PublicID.device(theft.phone.id))])
        theft.pair.bench.advance(5_000)
        #expect(try bob.workspace().judged.evaluator.bestGrant(of: theft.phone.id) == nil)
        // And whatever else a person does about a theft.
        try theft.pair.ada.ok("member.role", ["member": "Bob", "role": "admin"])
        theft.pair.bench.advance(5_000)
        #expect(try bob.ok("workspace.get")["role"] == "admin")
        try theft.pair.expectPeace()
    }

    /// Her own node accepts no more of her phone than others do; otherwise the revocation of the
    /// phone would cite what nobody else can accept.
    @Test(arguments: [false, true])
    func `by a stolen device, at its owner's too, leaves room for its revocation`(
        isLarge: Bool
    ) throws {
        var theft = try StolenPhone()
        let (ada, bob) = (theft.pair.ada, theft.pair.bob)
        let before = try HostileRows(ada)
        try theft.flood(ada, count: isLarge ? 60 : 1_200, isLarge: isLarge)
        let taken = Int(try HostileRows(ada).operations - before.operations)
        #expect(taken > 0 && taken <= Self.share + 8)
        try ada.ok("device.revoke", ["device": .string(PublicID.device(theft.phone.id))])
        theft.pair.bench.advance(5_000)
        #expect(try bob.workspace().judged.evaluator.bestGrant(of: theft.phone.id) == nil)
        #expect(try bob.digest() == ada.digest())
        try theft.pair.expectPeace()
    }

    /// The phone's share has been used up elsewhere on other operations: then the stronger device,
    /// which needs the rest, pays for it.
    @Test func `by a stolen device is lent by a stronger one of the same person`() throws {
        var theft = try StolenPhone()
        let (ada, bob) = (theft.pair.ada, theft.pair.bob)
        var other = ForgedLog(
            theft.phone.signing, like: theft.log, under: theft.grant, incarnation: 90)
        let heads = try ForgedLog.heads(of: ada)
        let elsewhere = (0..<700).map {
            other.write(
                `A flood of authority operations (A14)`.Table.document(10_000 + $0),
                knowing: $0 == 0 ? heads : [])
        }
        try theft.pair.hand(elsewhere, to: bob, as: theft.phone)
        try theft.flood(ada, count: 1_200)
        try ada.ok("device.revoke", ["device": .string(PublicID.device(theft.phone.id))])
        theft.pair.bench.advance(40_000)
        #expect(try bob.workspace().judged.evaluator.bestGrant(of: theft.phone.id) == nil)
        theft.pair.bench.advance(60_000)
        try theft.pair.expectPeace()
    }

    /// F6: what outsiders cause is counted separately.
    @Test func `by people at the door leaves room for what the doorkeeper does`() throws {
        let pair = try HostilePair()
        pair.takeOver()
        let doors = AuthorityBudget.Share(.doors, of: try pair.ada.workspace().member.bytes)
        for node in pair.honest {
            try node.inTurn { core, _ in
                while core.log.shares.authorityBudget.pay(
                    1, from: [doors], now: core.turn.time.monotonic)
                    != nil
                {}
            }
        }
        // Others would not accept it, so it is not written.
        let link = try pair.ada.link()
        let late = try pair.bench.bareNode("Late")
        #expect(throws: (any Error).self) { try late.join(link) }
        let admitted = try pair.ada.workspace().invites.admissions.values.joined()
        try pair.removeMallory()
        #expect(try !pair.bob.memberNames().contains("Mallory"))
        #expect(try !pair.bob.memberNames().contains("Late"))
        pair.bench.advance(3_600_000)
        try late.join(link)
        pair.bench.advance(5_000)
        #expect(try pair.bob.memberNames().contains("Late"))
        let now = try pair.ada.workspace().invites.admissions.values.joined()
        #expect(now.count == admitted.count + 1)
        try pair.expectPeace()
    }

    /// F7: the largest operations, valid and of no use.
    @Test func `is one of bytes, too`() throws {
        let pair = try HostilePair(role: "guest")
        var log = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let before = try pair.honest.map { try HostileRows($0) }
        let cuts = (0..<2_000).map { number in
            CutEntry(
                log: LogName(
                    document: .zero, device: pair.keys.id, incarnation: UInt32(number)),
                sequence: 1, id: .zero)
        }
        let heads = try ForgedLog.heads(of: pair.ada)
        let made = (0..<64).map { log.write(.cutPart(cuts), knowing: $0 == 0 ? heads : []) }
        let size = try #require(made.first).payload.count
        try pair.hand(made, as: pair.keys)
        for (start, node) in zip(before, pair.honest) {
            let taken = Int(try HostileRows(node).operations - start.operations)
            #expect(taken > 0 && taken * AuthorityBudget.units(ofPayload: size) <= Self.share + 8)
            #expect(node.host?.core.log.waiting.byteCount == 0)
        }
        try pair.expectPeace()
    }

    /// An outsider invents operations of Ada's, so that Mallory's operations would be accepted.
    @Test func `is paid by nobody else if the need for it is made up`() throws {
        let table = try Table()
        let pair = table.pair
        let made = `A flood of authority operations (A14)`.Shape.oneLog.operations(1_500, of: table)
        let last = try #require(made.last)
        let cited = OperationReference(
            device: pair.keys.id, incarnation: 80, sequence: last.header.sequence, id: last.id)
        var invented = try ForgedLog(pair.ada, incarnation: 81)
        let heads = try ForgedLog.heads(of: pair.ada) + [cited]
        let entries = invented.write(Table.document(1), knowing: heads)
            .run(in: pair.workspace).entries
        // What Ada has signed for one log, placed in another one: of no use.
        let log = LogName(
            document: pair.workspace, device: try ForeignDevice(of: pair.ada).id, incarnation: 82)
        let unsigned = OperationRun(log: log, firstSequence: 0, previous: nil, entries: entries)
        let before = try table.rows()
        for node in pair.honest { try pair.hand([unsigned], to: node, as: table.eve.keys) }
        try pair.hand(made.reversed(), as: table.eve.keys)
        for (start, after) in zip(before, try table.rows()) {
            #expect(after.judged - start.judged <= Self.share + 8)
        }
        try table.expectService()
    }

    /// Mallory revokes a device with an operation that does not know what it has made: all of that
    /// is void.
    @Test func `is charged for the verdicts that a word turns over`() throws {
        let table = try Table()
        let pair = table.pair
        let phone = ForeignDevice(300)
        let key = try #require(try pair.ada.workspace().currentKey).id
        let entry = [ListedDevice.own(phone)].signed(
            entering: .adding(to: pair.workspace, before: pair.keys.id, member: pair.known.member))
        var log = table.log
        let added = log.write(.addDevices(entry, keyID: key, wraps: []), knowing: table.before)
        let linked = OperationReference(
            device: pair.keys.id, incarnation: added.header.incarnation, sequence: 0, id: added.id)
        var made = ForgedLog(phone.signing, like: log, under: added.id, incarnation: 1)
        let count = 6 * Limits.authorityVerdictsPerUnit
        for number in 0..<count {
            made.write(Table.document(number), knowing: number == 0 ? [linked] : [])
        }
        var ending = ForgedLog(
            pair.keys.signing, like: log, under: table.grant, incarnation: 81)
        let ended = ending.write(.removeDevice(phone.id, cuts: [], rekey: nil), knowing: [linked])
        var rest = ForgedLog(pair.keys.signing, like: log, under: table.grant, incarnation: 82)
        for number in 0..<Self.share {
            rest.write(Table.document(1_000 + number), knowing: number == 0 ? table.before : [])
        }
        let before = try table.rows()
        try pair.hand([added] + made.operations + [ended], as: pair.keys)
        try pair.hand(rest.operations, as: pair.keys)
        for (start, after) in zip(before, try table.rows()) {
            // Besides hers there is the key that Ada changes because of the revoked device.
            #expect(after.judged - start.judged == Self.share - 6 + 1)
        }
    }

    /// Each node has accepted other operations of them, and Ada's operation cites those of her
    /// node.
    @Test func `by several members, other operations at each node, keeps no removal waiting`()
        throws
    {
        let pair = try HostilePair()
        pair.takeOver()
        let (ada, bob, bench) = (pair.ada, pair.bob, pair.bench)
        for name in ["Eve", "Kim", "Lou"] {
            let node = try bench.guest(name, of: ada)
            bench.advance(5_000)
            let heads = try ForgedLog.heads(of: ada)
            let keys = try ForeignDevice(of: node)
            var logs = [try ForgedLog(node, incarnation: 80), try ForgedLog(node, incarnation: 81)]
            node.kill()
            for (place, honest) in [ada, bob].enumerated() {
                let made = (0..<(Self.share + 10)).map { number in
                    logs[place].write(
                        `A flood of authority operations (A14)`.Table.document(number),
                        knowing: number == 0 ? heads : [])
                }
                try pair.hand(made, to: honest, as: keys)
            }
        }
        try ada.ok("member.remove", ["member": "Eve"])
        try ada.send("without her")
        bench.advance(20_000)
        #expect(try bob.log() == ["without her"])
        #expect(try bob.workspace().members.count == ada.workspace().members.count)
    }

    private static let share = Limits.authorityBurstPerMember + Limits.authorityBurstPerDevice
}

extension StolenPhone {
    /// Operations of the phone that one honest node receives.
    fileprivate mutating func flood(
        _ node: BenchNode, count: Int, isLarge: Bool = false
    ) throws {
        let before = try ForgedLog.heads(of: pair.ada)
        let made = (0..<count).map { number in
            let cuts = (0..<2_000).map {
                CutEntry(
                    log: LogName(document: .zero, device: phone.id, incarnation: UInt32($0)),
                    sequence: 1, id: .zero)
            }
            return log.write(
                isLarge
                    ? .cutPart(cuts)
                    : `A flood of authority operations (A14)`.Table.document(number),
                knowing: number == 0 ? before : [])
        }
        try pair.hand(made, to: node, as: phone)
    }
}
