import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// PROTOCOL.md, 4.0.5: how a node acts after a feature that it does not know.
struct `A feature that this version does not know` {
    private static func isStored(_ id: OperationID, at node: BenchNode) throws -> Bool {
        try node.workspace().authority[id] != nil
    }

    /// What a later version may write after the feature: settings, which this version knows, and a
    /// type that it does not.
    private static func later(_ log: inout ForgedLog, knowing heads: [OperationReference])
        -> [SignedOperation]
    {
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.whoMayInvite = InviteRight.members.rawValue
        return [
            log.write(.setWorkspace(settings), knowing: heads),
            log.write(bytes: [0x82, 21, 0xa0], knowing: heads),
        ]
    }

    @Test func `has what stands behind it stored and passed on, and nothing counts`() throws {
        let pair = try HostilePair(role: "admin")
        var log = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let feature = try pair.ada.author(.feature(99))
        pair.bench.advance(2_000)
        let policy = try pair.ada.ok("policy.get")
        let behind = Self.later(&log, knowing: try ForgedLog.heads(of: pair.ada))
        // Only Ada hears of it, from its author.
        try pair.hand(behind, to: pair.ada, as: pair.keys)
        pair.bench.advance(5_000)
        for node in pair.honest {
            for id in behind.map(\.id) + [feature] {
                #expect(try Self.isStored(id, at: node))
                #expect(try node.workspace().judged.kept.contains(id))
            }
        }
        #expect(try pair.ada.digest() == pair.bob.digest())
        #expect(try pair.ada.ok("policy.get") == policy)

        let digest = try pair.ada.digest()
        try pair.ada.restart()
        pair.bench.advance(5_000)
        #expect(try pair.ada.digest() == digest)
        #expect(try Self.isStored(behind[1].id, at: pair.ada))
    }

    /// A thief with a phone of the owner's would lock out everybody who has this version.
    @Test func `is taken back with the stolen device that turned it on, by who says so`() throws {
        var theft = try StolenPhone()
        let ada = theft.pair.ada
        let feature = theft.log.write(.feature(99), knowing: try ForgedLog.heads(of: ada))
        let behind = theft.log.write(bytes: [0x82, 21, 0xa0], knowing: [])
        try theft.pair.hand([feature, behind], as: theft.phone)
        theft.pair.bench.advance(2_000)
        for node in theft.pair.honest {
            let answer = node.outcome("message.send", ["channel": "general", "text": "after"])
            #expect(answer == "version_mismatch")
        }
        let device: JSONValue = .string(PublicID.device(theft.phone.id))
        let rows = try ada.rowCount("operation")
        #expect(ada.outcome("device.revoke", ["device": device]) == "version_mismatch")
        #expect(try ada.rowCount("operation") == rows)
        try ada.ok("device.revoke", ["device": device, "force": true])
        theft.pair.bench.advance(5_000)
        for node in theft.pair.honest {
            #expect(try !node.workspace().judged.awaitsLaterVersion)
            #expect(try node.workspace().judged.evaluator.bestGrant(of: theft.phone.id) == nil)
        }
        try theft.pair.expectPeace()
    }

    /// A thief who has linked another device activates one with each.
    @Test func `is taken back one by one where several were turned on`() throws {
        var theft = try StolenPhone()
        let (pair, ada) = (theft.pair, theft.pair.ada)
        let helper = ForeignDevice(77)
        let member = try ada.workspace().member
        let entry = [ListedDevice.own(helper)].signed(
            entering: .adding(to: pair.workspace, before: theft.phone.id, member: member))
        let key = try #require(try ada.workspace().currentKey).id
        let added = theft.log.write(
            .addDevices(entry, keyID: key, wraps: []), knowing: try ForgedLog.heads(of: ada))
        var other = ForgedLog(helper.signing, like: theft.log, under: added.id, incarnation: 1)
        let second = other.write(.feature(98), knowing: [theft.log.reference])
        let first = theft.log.write(.feature(99), knowing: [])
        try pair.hand([added, first, second], as: theft.phone)
        pair.bench.advance(2_000)
        for device in [theft.phone.id, helper.id] {
            let answer = ada.outcome("message.send", ["channel": "general", "text": "after"])
            #expect(answer == "version_mismatch")
            try ada.ok(
                "device.revoke", ["device": .string(PublicID.device(device)), "force": true])
        }
        pair.bench.advance(5_000)
        try pair.expectPeace()
    }

    /// If somebody stronger activated it, that is no theft that this person could end.
    @Test func `is not taken back by revoking another device`() throws {
        let theft = try StolenPhone()
        let ada = theft.pair.ada
        try ada.author(.feature(99))
        let rows = try ada.rowCount("operation")
        let outcome = ada.outcome(
            "device.revoke",
            ["device": .string(PublicID.device(theft.phone.id)), "force": true])
        #expect(outcome == "version_mismatch")
        #expect(
            ada.outcome("member.remove", ["member": "Bob", "force": true]) == "version_mismatch")
        #expect(try ada.rowCount("operation") == rows)
    }

    @Test func `leaves everything to be read, and nothing to be written`() throws {
        let pair = try HostilePair()
        pair.takeOver()
        try pair.ada.send("before")
        let secret = try pair.ada.ok("channel.create", ["name": "vault", "private": true])
        pair.bench.advance(2_000)
        try pair.ada.author(.feature(99))
        pair.bench.advance(2_000)
        let rows = try pair.honest.map { try $0.rowCount("operation") }
        let writes: [(String, JSONObject)] = [
            ("message.send", ["channel": "general", "text": "after"]),
            ("message.send", ["channel": secret["id"] ?? .null, "text": "after"]),
            ("channel.create", ["name": "new"]),
            ("channel.create", ["name": "own", "private": true]),
            ("invite.create", [:]), ("policy.set", ["who_may_invite": "members"]),
            ("member.remove", ["member": "Mallory"]), ("workspace.edit", ["name": "other"]),
            ("workspace.rekey", [:]),
        ]
        for (method, parameters) in writes {
            #expect(
                pair.ada.outcome(method, .object(parameters)) == "version_mismatch", "\(method)")
        }
        let texts = try pair.ada.log()
        #expect(texts == ["before"])
        let findings = try pair.ada.ok("node.doctor").items
        #expect(findings.contains { $0["id"] == "version" && $0["state"] == "warn" })
        // Nor does the node write automatically, however long it waits.
        pair.bench.advance(3_600_000)
        #expect(try pair.honest.map { try $0.rowCount("operation") } == rows)
    }
}
