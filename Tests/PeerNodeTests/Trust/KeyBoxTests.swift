import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A15: very many boxes with keys, and very many epochs. (`A home with very many keys` stores
/// 20,000 of them and restarts; `The arena of long-lived secrets` runs out of memory for them.)
struct `Very many boxes with keys (A15)` {
    /// Mallory with a phone that she may revoke as often as she likes, each time with a new key.
    private struct Table {
        let pair: HostilePair
        let eve: (keys: ForeignDevice, log: ForgedLog)
        let log: ForgedLog
        let grant: OperationID
        let phone: DeviceID
        let heads: [OperationReference]
        private let random = SeededRandom(seed: 15)

        init() throws {
            pair = try HostilePair()
            let node = try pair.bench.bareNode("Phone")
            try pair.mallory.link(node)
            phone = try ForeignDevice(of: node).id
            eve = try pair.accomplice()
            log = try ForgedLog(pair.mallory, incarnation: 80)
            grant = try pair.mallory.hostile().grant
            heads = try ForgedLog.heads(of: pair.ada)
            pair.takeOver()
            node.kill()
        }

        /// A new key in a box for Ada, after others for her that contain nothing.
        func rekey(behind junkCount: Int = 0) throws -> Rekey {
            let core = try #require(pair.ada.host?.core)
            let home = try #require(core.session.home)
            let discovery = try #require(try pair.ada.workspace().discovery.last)
            let key = SymmetricKey(using: random)
            let entry = DeviceEntry(
                device: home.device, agreementKey: home.box.publicKey.bytes, signature: .zero)
            let good = core.keys.wraps(key, discovery, for: [entry])
            let junk = good.map {
                WrappedKey(devicePrefix: $0.devicePrefix, box: $0.box.map { $0 ^ 1 })
            }
            let wraps = (0..<junkCount).flatMap { _ in junk } + good
            return Rekey(keyID: key.keyID, wraps: wraps, olderKeys: [])
        }

        /// That many operations with a box each, in logs of their own.
        func operations(
            _ count: Int, _ payload: (Rekey) -> AuthorityPayload
        ) throws -> [SignedOperation] {
            try (0..<count).map { number in
                var log = ForgedLog(
                    pair.keys.signing, like: log, under: grant,
                    incarnation: UInt32(1_000 + number))
                return log.write(payload(try rekey()), knowing: heads)
            }
        }

        func revocation(_ rekey: Rekey) -> AuthorityPayload {
            .removeDevice(phone, cuts: [], rekey: rekey)
        }

        var held: Int { get throws { try pair.ada.workspace().secrets.keys.count } }
    }

    @Test func `are opened of no operation with a fault`() throws {
        let table = try Table()
        let before = try table.held
        let payloads: [AuthorityPayload] = [
            .rekey(
                .init(
                    rekey: try table.rekey(), discoveryID: nil, olderDiscovery: nil, answers: nil)),
            .remove(
                .init(
                    member: try table.pair.bob.workspace().member, cuts: [],
                    rekey: try table.rekey(), revokedInvites: [], cutPartCount: 0,
                    cutPartHash: [])),
            .removeDevice(
                try #require(table.pair.bob.host?.core.session.home).device, cuts: [],
                rekey: try table.rekey()),
        ]
        for payload in payloads {
            var log = table.log
            let operation = log.write(payload, knowing: table.heads)
            try table.pair.expectFault(operation, "a member's rekey")
        }
        #expect(try table.held == before)
        try table.pair.expectPeace()
    }

    @Test func `are opened of no operation that is void`() throws {
        let table = try Table()
        try table.pair.removeMallory()
        let before = try table.held
        let operations = try table.operations(60, table.revocation)
        try table.pair.bring(operations, as: table.eve.keys)
        #expect(try table.held == before)
        // Not even if a member cites them, so that they are stored.
        var above = table.eve.log
        let cited = above.write(
            .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
            knowing: try table.pair.heads(and: operations))
        try table.pair.bring([cited] + operations.inOrderOfCiting, as: table.eve.keys)
        let workspace = try table.pair.ada.workspace()
        #expect(operations.allSatisfy { workspace.authority[$0.id] != nil })
        #expect(try table.held == before)
        try table.pair.expectPeace()
    }

    @Test func `of a valid member are bounded by a member's share, and the home starts`() throws {
        let table = try Table()
        let before = try table.held
        var log = table.log
        let operations = try (0..<700).map { _ in
            log.write(table.revocation(try table.rekey()), knowing: table.heads)
        }
        try table.pair.bring(operations, as: table.pair.keys)
        let most = try table.held
        let share =
            before + Limits.authorityBurstPerMember + Limits.authorityBurstPerDevice
        // What the share refills meanwhile, and a key that the owner makes herself.
        #expect((share...share + 5).contains(most))
        let core = try #require(table.pair.ada.host?.core)
        #expect(core.session.vault.count <= Limits.keysInMemoryMax)
        try table.pair.ada.restart()
        #expect((most...most + 1).contains(try table.held))
        let again = try #require(table.pair.ada.host?.core)
        #expect(again.session.vault.openings <= 4 * most + 100, "\(again.session.vault.openings)")
        table.pair.bench.advance(60_000)
        try table.pair.expectPeace()
    }

    /// Of the boxes for one device in an operation only the first two are tried.
    @Test func `for one device in one operation are tried twice`() throws {
        let table = try Table()
        let rekeys = try [0, 1, 2, 1_000].map { try table.rekey(behind: $0) }
        var log = table.log
        let operations = rekeys.map { log.write(table.revocation($0), knowing: table.heads) }
        try table.pair.bring(operations, as: table.pair.keys)
        let workspace = try table.pair.ada.workspace()
        #expect(operations.allSatisfy { workspace.judged.evaluator.isValid($0.id) })
        #expect(
            rekeys.map { workspace.secrets.keys.holds($0.keyID) } == [true, true, false, false])
        try table.pair.expectPeace()
    }
}
