import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A17: admissions without effect, meant to use up an invite. (`An invite in
/// use` tests valid ones.)
struct `An invite under admissions without effect (A17)` {
    private struct Table {
        let pair: HostilePair
        let eve: (keys: ForeignDevice, log: ForgedLog)
        let log: ForgedLog
        let held: HeldLink
        let heads: [OperationReference]
        let link: String
        /// The key that was in use when Mallory was in.
        private let key: KeyID

        init() throws {
            pair = try HostilePair()
            eve = try pair.accomplice()
            link = try pair.ada.link(["uses": 2])
            pair.bench.advance(2_000)
            held = try HeldLink(link, known: pair.ada)
            log = try ForgedLog(pair.mallory, incarnation: 80)
            heads = try ForgedLog.heads(of: pair.ada)
            key = try #require(try pair.ada.workspace().currentKey).id
            pair.takeOver()
        }

        /// An admission of a new member by Mallory.
        func admission(_ number: UInt64, isSigned: Bool = true) throws -> SignedOperation {
            let device = ForeignDevice(700 + number)
            let name = device.member(in: pair.workspace)
            let consent = held.consent(of: name, before: pair.keys.id)
            let listed = [ListedDevice.own(device)].signed(entering: consent).map {
                DeviceEntry(
                    device: $0.device, agreementKey: $0.agreementKey,
                    signature: isSigned ? $0.signature : .zero)
            }
            var log = ForgedLog(
                pair.keys.signing, like: log, under: try pair.hostileGrant(),
                incarnation: UInt32(1_000 + number))
            return log.write(
                .admit(held.joiner(name, listed), keyID: key, wraps: [], request: nil),
                knowing: heads)
        }

        /// Both uses are still there, at both nodes.
        func expectOpen() throws {
            for node in pair.honest {
                #expect(try node.workspace().invites.used[held.invite] ?? 0 == 0)
            }
            let id = PublicID.invite(held.invite)
            let row = try pair.ada.ok("invite.list").items.first { $0["id"] == .string(id) }
            #expect(row?["state"] == "open" && row?["used"] == 0)
        }

        /// Two are admitted by it, and no third.
        func expectTwo() throws {
            for name in ["Kim", "Lee"] {
                try pair.bench.bareNode(name).join(link)
                pair.bench.advance(2_000)
            }
            #expect(try pair.bench.bareNode("Late").ask(link) == "invite_used")
            try pair.expectPeace()
        }
    }

    @Test func `admits as many after those that nobody has signed`() throws {
        let table = try Table()
        for number in 0..<6 as Range<UInt64> {
            try table.pair.expectFault(
                try table.admission(number, isSigned: false), "a device that did not sign")
        }
        try table.expectOpen()
        try table.expectTwo()
    }

    @Test func `admits as many after those of somebody who was removed`() throws {
        let table = try Table()
        try table.pair.removeMallory()
        let before = try table.pair.honest.map { try HostileRows($0) }
        let voids = try (0..<6 as Range<UInt64>).map { try table.admission($0) }
        try table.pair.bring(voids, as: table.eve.keys)
        #expect(try table.pair.honest.map { try HostileRows($0) } == before)
        try table.expectOpen()
        try table.expectTwo()
    }

    /// Including those that were valid here and became void by the removal.
    @Test func `admits as many after those that a removal has taken back`() throws {
        let table = try Table()
        let admissions = try (0..<2 as Range<UInt64>).map { try table.admission($0) }
        try table.pair.bring(admissions, as: table.pair.keys)
        #expect(try table.pair.ada.workspace().invites.used[table.held.invite] == 2)
        #expect(try table.pair.bench.bareNode("Early").ask(table.link) == "invite_used")
        // The removal does not know these admissions: what it knew would stay (V-7).
        var removal = try ForgedLog(table.pair.ada, incarnation: 90)
        let end = removal.write(
            .remove(.init(of: table.pair.known.member)), knowing: table.heads)
        for node in table.pair.honest { try node.take([end.run(in: table.pair.workspace)]) }
        table.pair.bench.advance(5_000)
        try table.expectOpen()
    }

    /// A member cites them, so that they are stored, and in the past of what comes after.
    @Test func `is used up where a member has cited them, and others are not`() throws {
        let table = try Table()
        try table.pair.removeMallory()
        let voids = try (0..<6 as Range<UInt64>).map { try table.admission($0) }
        var above = table.eve.log
        let cited = above.write(
            .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
            knowing: try table.pair.heads(and: voids))
        try table.pair.hand([cited] + voids.inOrderOfCiting, as: table.eve.keys)
        let workspace = try table.pair.ada.workspace()
        #expect(voids.allSatisfy { workspace.authority[$0.id] != nil })
        try table.expectOpen()
        // A-13 counts what is in the past, valid or not, or nodes would judge an admission
        // differently. The newcomer is told so, and is admitted by another invite.
        let kim = try table.pair.bench.bareNode("Kim")
        #expect(kim.ask(table.link) == "invite_used")
        let other = try table.pair.ada.link()
        #expect(kim.ask(other) == "ok")
        try table.pair.expectPeace()
    }
}

extension HostilePair {
    /// The grant by which Mallory is, or was, in.
    func hostileGrant() throws -> OperationID {
        try #require(known.judged.evaluator.grants(of: keys.id).last)
    }
}
