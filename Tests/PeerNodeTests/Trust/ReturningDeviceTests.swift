import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A12: a revoked device, and a removed person, return with a fresh link that a node answers
/// automatically. (`Somebody who left` tests the honest ways back.)
struct `Somebody who was in and comes with a fresh link (A12)` {
    /// Mallory with a phone that she has revoked.
    private struct Table {
        let pair: HostilePair
        let phone: ForeignDevice
        let member: MemberID

        init() throws {
            pair = try HostilePair()
            let node = try pair.bench.bareNode("Phone")
            try pair.mallory.link(node)
            pair.bench.advance(5_000)
            phone = try ForeignDevice(of: node)
            member = pair.known.member
            let id = try node.deviceID()
            try pair.mallory.ok("device.revoke", ["device": .string(id)])
            pair.bench.advance(5_000)
            node.kill()
            pair.takeOver()
        }

        /// Fresh links that honest nodes answer without asking anybody, and two that they do not.
        func links() throws -> [HeldLink] {
            let board = try pair.ada.ok("channel.create", ["name": "board", "private": true])
            let texts = [
                try pair.ada.link(["uses": 9]),
                try pair.ada.link(["role": "guest", "uses": 9, "channels": [board["id"] ?? .null]]),
                try pair.ada.link(["approve": true, "uses": 9]),
                try pair.ada.ok("policy.set", ["join": "open"]).text("address"),
            ]
            pair.bench.advance(2_000)
            return try texts.map { try HeldLink($0, known: pair.ada) }
        }

        /// Each honest node's answer to one list, signed as a newcomer's.
        func asks(
            _ list: [ListedDevice], as name: MemberID, by device: ForeignDevice,
            with held: HeldLink, answering: OperationID? = nil
        ) throws -> [JoinResult.Code?] {
            try pair.honest.map { node in
                try Visitor.asks(node, as: device, with: held, on: pair.bench) {
                    let consent = held.consent(of: name, before: $0)
                    return held.request(
                        name, list.signed(entering: consent), answering: answering)
                }
            }
        }

        /// A node's answer to a list that is signed as by a returning member.
        func returns(
            _ devices: [ForeignDevice], to node: BenchNode, after end: OperationID,
            with held: HeldLink, signedBefore other: DeviceID? = nil
        ) throws -> JoinResult.Code? {
            try Visitor.asks(node, as: pair.keys, with: held, on: pair.bench) {
                let consent = DeviceConsent.returning(
                    to: pair.workspace, after: end, before: other ?? $0, member: member)
                let list = devices.map(ListedDevice.own)
                return held.request(
                    member, list.signed(entering: consent, mayRecover: false), answering: end)
            }
        }

        func isIn(_ device: ForeignDevice) throws -> [Bool] {
            try pair.honest.map {
                try $0.workspace().judged.evaluator.bestGrant(of: device.id) != nil
            }
        }
    }

    @Test func `is admitted by no list with a revoked device`() throws {
        let table = try Table()
        let fresh = ForeignDevice(9)
        let copied = try table.pair.known.entries(of: table.member).map(ListedDevice.copied)
        let phone = ListedDevice.own(table.phone)
        let tries: [(MemberID, [ListedDevice])] = [
            (table.phone.member(in: table.pair.workspace), [phone]),
            (fresh.member(in: table.pair.workspace), [.own(fresh), phone]),
            (table.phone.member(in: table.pair.workspace), [phone, .own(fresh)]),
            (table.member, [phone]), (table.member, [copied[0], phone]),
            (table.member, copied + [phone]),
        ]
        let links = try table.links()
        let before = try table.pair.honest.map { try HostileRows($0) }
        for held in links {
            for (name, list) in tries {
                let said = try table.asks(list, as: name, by: table.phone, with: held)
                #expect(said == [.invalid, .invalid], "\(list.count) devices")
            }
        }
        #expect(try table.pair.honest.map { try HostileRows($0) } == before)
        #expect(try table.isIn(table.phone) == [false, false])
        #expect(try table.pair.ada.requests().isEmpty)
        try table.pair.expectPeace()
    }

    @Test func `is admitted under no identity that was removed`() throws {
        let table = try Table()
        let end = try table.pair.removeMallory()
        let fresh = ForeignDevice(9)
        let own = ListedDevice.own(table.pair.keys)
        let copied = try table.pair.known.entries(of: table.member).map(ListedDevice.copied)
        let tries: [(MemberID, [ListedDevice], OperationID?)] = [
            (table.member, [own], nil), (table.member, copied, nil),
            (table.member, [copied[1]], end), (table.member, [own], end),
            (table.member, [copied[0], own], end), (table.member, [own, .own(fresh)], nil),
            (fresh.member(in: table.pair.workspace), [.own(fresh), own], nil),
            (table.pair.keys.member(in: table.pair.workspace), [own], nil),
        ]
        let links = try table.links()
        let before = try table.pair.honest.map { try HostileRows($0) }
        for held in links {
            for (name, list, answering) in tries {
                let said = try table.asks(
                    list, as: name, by: table.pair.keys, with: held, answering: answering)
                #expect(said == [.invalid, .invalid], "\(list.count) devices")
            }
        }
        #expect(try table.pair.honest.map { try HostileRows($0) } == before)
        #expect(try table.isIn(table.pair.keys) == [false, false])
        try table.pair.expectPeace()
    }

    /// A return is put to a person, and no answer brings the revoked device back.
    @Test func `waits for a person's word, and comes back without the revoked device`() throws {
        let table = try Table()
        let end = try table.pair.removeMallory()
        let (ada, bob, keys) = (table.pair.ada, table.pair.bob, table.pair.keys)
        let held = try table.links()[0]
        for devices in [[keys, table.phone], [table.phone, keys], [table.phone]] {
            let said = try table.returns(devices, to: bob, after: end, with: held)
            #expect(said == .invalid, "\(devices.count) devices")
        }
        let adas = try #require(ada.host?.core.session.home).device
        let elsewhere = try table.returns(
            [keys], to: bob, after: end, with: held, signedBefore: adas)
        #expect(elsewhere == .invalid, "signed before somebody else")
        #expect(try ada.requests().isEmpty)
        // Twice, and at both: one question.
        for node in [bob, bob, ada] {
            #expect(try table.returns([keys], to: node, after: end, with: held) == .pending)
            table.pair.bench.advance(2_000)
        }
        #expect(try ada.requests().compactMap { $0["state"] } == ["pending"])
        #expect(try table.isIn(keys) == [false, false])
        try ada.decide("join.approve")
        table.pair.bench.advance(5_000)
        #expect(try table.isIn(keys) == [true, true])
        #expect(try table.isIn(table.phone) == [false, false])
        #expect(try bob.memberNames() == ["Ada", "Bob", "Mallory"])
    }

    /// A rejection is a removal, which a changed program could answer as if it were an end.
    @Test func `is not asked about again after an admin has said no`() throws {
        let table = try Table()
        let end = try table.pair.removeMallory()
        let (ada, bob, keys) = (table.pair.ada, table.pair.bob, table.pair.keys)
        let held = try table.links()[0]
        #expect(try table.returns([keys], to: bob, after: end, with: held) == .pending)
        table.pair.bench.advance(2_000)
        try ada.decide("join.reject")
        table.pair.bench.advance(5_000)
        let former = FormerMembership(of: table.member, in: try ada.workspace())
        #expect(former.ends == [end])
        let rejection = try #require(former.rejections.first)
        for node in [ada, bob] {
            for named in [end, rejection] {
                let said = try table.returns([keys], to: node, after: named, with: held)
                #expect(said == .invalid, "\(node.name)")
            }
        }
        #expect(try ada.requests().compactMap { $0["state"] } == ["rejected"])
    }

    /// What a member, an admin, and a returned member could write for the revoked device.
    @Test func `has no accomplice who could bring the revoked device`() throws {
        let table = try Table()
        let pair = table.pair
        let held = try table.links()[0]
        let start = try ForgedLog(pair.bob, incarnation: 80)
        let adas = try ForgedLog(pair.ada, incarnation: 80)
        let heads = try ForgedLog.heads(of: pair.ada)
        let phone = ListedDevice.own(table.phone)
        let key = try #require(try pair.ada.workspace().currentKey).id
        let bob = try ForeignDevice(of: pair.bob)
        let name = table.phone.member(in: pair.workspace)
        let entered = [phone].signed(entering: held.consent(of: name, before: bob.id))
        let bobs = try pair.bob.workspace().member
        let linked = [phone].signed(
            entering: .adding(to: pair.workspace, before: bob.id, member: bobs))
        let granted = AuthorityPayload.grant(
            .init(
                member: table.member, devices: [table.phone.id], role: .member, replaces: false,
                drops: nil, cuts: []))
        let tries: [(String, ForgedLog, AuthorityPayload)] = [
            (
                "an admission", start,
                .admit(held.joiner(name, entered), keyID: key, wraps: [], request: nil)
            ),
            ("another person's device", start, .addDevices(linked, keyID: key, wraps: [])),
            ("a member's grant", start, granted), ("an owner's grant", adas, granted),
        ]
        for (what, begun, payload) in tries {
            var log = begun
            let operation = log.write(payload, knowing: heads)
            try pair.expectFault(operation, Comment(rawValue: what))
        }
        #expect(try table.isIn(table.phone) == [false, false])
    }
}
