import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A16: operations that would poison the tables of devices, owners, invites, roles, keys and
/// receipts. The tables are built only from operations that count.
struct `The tables of a workspace (A16)` {
    /// What a node reports about the authority document.
    private struct Tables: Equatable {
        let members: [JSONValue]
        let invites: [JSONValue]
        let requests: [JSONValue]
        let policy: JSONValue
        let owners: [DeviceID: MemberID]
        let boxes: [AgreementPublicKey]
        let keys: Int
        let sealing: KeyID?

        init(_ node: BenchNode) throws {
            func list(_ method: String) throws -> [JSONValue] {
                // Presence and the time last seen are not part of authority.
                try node.ok(method).items.map { item in
                    var kept = JSONObject()
                    for key in ["id", "name", "role", "state", "used", "uses", "revoked"] {
                        item[key].map { kept.append(key, $0) }
                    }
                    return .object(kept)
                }
            }
            let workspace = try node.workspace()
            members = try list("member.list")
            invites = try list("invite.list")
            requests = try list("join.requests")
            policy = try node.ok("policy.get")
            var owners: [DeviceID: MemberID] = [:]
            for standing in workspace.members {
                for device in workspace.judged.evaluator.boundDevices {
                    if workspace.owner(of: device) == standing.member {
                        owners[device] = standing.member
                    }
                }
            }
            self.owners = owners
            boxes = workspace.boxKeys(of: Set(workspace.members.map(\.member))).map(\.agreementKey)
            keys = workspace.secrets.keys.count
            sealing = workspace.sealingKey?.id
        }
    }

    /// Mallory, an admin, and what she wants everybody to believe.
    private struct Table {
        let pair: HostilePair
        let eve: (keys: ForeignDevice, log: ForgedLog)
        let log: ForgedLog
        let heads: [OperationReference]
        let held: HeldLink
        let own = ForeignDevice(77)

        init(role: String) throws {
            pair = try HostilePair(role: role)
            held = try HeldLink(
                try pair.ada.link(["uses": 3]), known: pair.ada)
            eve = try pair.accomplice()
            log = try ForgedLog(pair.mallory, incarnation: 80)
            heads = try ForgedLog.heads(of: pair.ada)
            pair.takeOver()
        }

        func entry(of device: ForeignDevice, for member: MemberID) -> [DeviceEntry] {
            [ListedDevice.own(device)].signed(
                entering: .adding(to: pair.workspace, before: pair.keys.id, member: member))
        }

        func admission(_ member: MemberID, _ devices: [DeviceEntry]) throws -> AuthorityPayload {
            let key = try #require(try pair.ada.workspace().currentKey).id
            return .admit(held.joiner(member, devices), keyID: key, wraps: [], request: nil)
        }

        func grant(to node: BenchNode, _ role: Role, replaces: Bool = true) throws
            -> AuthorityPayload
        {
            let device = try #require(node.host?.core.session.home).device
            return .grant(
                .init(
                    member: try node.workspace().member, devices: [device], role: role,
                    replaces: replaces, drops: nil, cuts: []))
        }

        func invite(_ role: Role) -> AuthorityPayload {
            .invite(
                .init(
                    role: role, maximum: 9, expires: 1 << 44, publicKey: own.id.bytes,
                    approve: false, documents: [], psk: log.field, policy: nil))
        }

        func rekey(_ seed: UInt64) throws -> Rekey {
            let core = try #require(pair.ada.host?.core)
            let key = SymmetricKey(using: SeededRandom(seed: seed))
            let discovery = try #require(try pair.ada.workspace().discovery.last)
            let entries = try pair.honest.flatMap {
                try pair.known.entries(of: try $0.workspace().member)
            }
            return Rekey(
                keyID: key.keyID, wraps: core.keys.wraps(key, discovery, for: entries),
                olderKeys: [])
        }

        func tables() throws -> [Tables] { try pair.honest.map { try Tables($0) } }
    }

    /// Operations with a fault, by a plain member.
    private static func faults(_ table: Table) throws -> [(String, AuthorityPayload)] {
        let pair = table.pair
        let ada = try pair.ada.workspace()
        let copied = try ada.entries(of: ada.member)
        let key = try #require(ada.currentKey).id
        let foreign = DeviceEntry(
            device: copied[1].device, agreementKey: table.own.box.publicKey.bytes,
            signature: copied[1].signature)
        let mine = table.entry(of: table.own, for: pair.known.member)
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.whoMayInvite = InviteRight.members.rawValue
        let unsigned = mine.map {
            DeviceEntry(device: $0.device, agreementKey: $0.agreementKey, signature: .zero)
        }
        return [
            ("the owner's devices", .addDevices([copied[1]], keyID: key, wraps: [])),
            ("the owner's device with another box", .addDevices([foreign], keyID: key, wraps: [])),
            ("a device that did not sign", .addDevices(unsigned, keyID: key, wraps: [])),
            ("a key that nobody knows", .addDevices(mine, keyID: .zero, wraps: [])),
            ("an admission of those who are in", try table.admission(ada.member, copied)),
            ("an admission without consent", try table.admission(pair.known.member, mine)),
            ("an rmdev of nobody's", .removeDevice(table.own.id, cuts: [], rekey: nil)),
            ("an rmdev of the owner's", .removeDevice(copied[1].device, cuts: [], rekey: nil)),
            ("a removal of the owner", .remove(.init(of: ada.member))),
            ("a role", try table.grant(to: pair.bob, .guest)),
            ("the end of an invite", .revokeInvite(table.held.invite)),
            ("an invite", table.invite(.admin)), ("a policy", .setWorkspace(settings)),
            ("a feature", .feature(7)), ("the end of all", .deleteWorkspace),
            ("a recut of nothing", .recut(revocation: table.held.invite, cuts: [])),
        ]
    }

    @Test func `are not changed by what has a fault`() throws {
        let table = try Table(role: "member")
        let before = try table.tables()
        for (what, payload) in try Self.faults(table) {
            var log = table.log
            let operation = log.write(payload, knowing: table.heads)
            try table.pair.expectFault(operation, Comment(rawValue: what))
        }
        #expect(try table.tables() == before)
        try table.pair.expectPeace()
    }

    /// What an admin might have written, and she did write after her removal.
    private static func voids(_ table: Table) throws -> [AuthorityPayload] {
        let pair = table.pair
        let key = try #require(try pair.ada.workspace().currentKey).id
        let stranger = ForeignDevice(78)
        let name = stranger.member(in: pair.workspace)
        let entered = [ListedDevice.own(stranger)].signed(
            entering: table.held.consent(of: name, before: pair.keys.id))
        let bobs = try #require(pair.bob.host?.core.session.home).device
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.whoMayInvite = InviteRight.members.rawValue
        settings.join = 2
        settings.successor = pair.known.member.bytes
        return [
            .addDevices(
                table.entry(of: table.own, for: pair.known.member), keyID: key, wraps: []),
            try table.admission(name, entered), try table.grant(to: pair.bob, .guest),
            table.invite(.member),
            .removeDevice(bobs, cuts: [], rekey: try table.rekey(1)),
            .remove(.init(of: try pair.bob.workspace().member)),
            .setWorkspace(settings),
            .rekey(
                .init(
                    rekey: try table.rekey(2), discoveryID: nil, olderDiscovery: nil, answers: nil)),
        ]
    }

    /// They are stored, because a member has cited them, and change nothing, not even after a
    /// restart.
    @Test func `are not changed by what is void, though it is stored`() throws {
        let table = try Table(role: "admin")
        let pair = table.pair
        let payloads = try Self.voids(table)
        try pair.removeMallory()
        let before = try table.tables()
        let grant = try #require(pair.known.judged.evaluator.bestGrant(of: pair.keys.id))
        let voids = payloads.enumerated().map { number, payload in
            var log = ForgedLog(
                pair.keys.signing, like: table.log, under: grant,
                incarnation: UInt32(1_000 + number))
            return log.write(payload, knowing: table.heads)
        }
        var above = table.eve.log
        let cited = above.write(
            .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
            knowing: try pair.heads(and: voids))
        try pair.hand([cited] + voids.inOrderOfCiting, as: table.eve.keys)
        for node in pair.honest {
            let workspace = try node.workspace()
            #expect(voids.allSatisfy { workspace.authority[$0.id] != nil })
            #expect(voids.allSatisfy { !workspace.judged.evaluator.isValid($0.id) })
        }
        #expect(try table.tables() == before)
        for node in pair.honest { try node.restart() }
        pair.bench.advance(60_000)
        #expect(try table.tables() == before)
        // The void operations came before what cites them, in one piece.
        let (late, link) = (try pair.bench.bareNode("Late"), try pair.ada.link())
        #expect(late.ask(link) == "ok")
        try pair.expectPeace()
    }

    /// The same operations have effect while she is in, or the test would prove nothing.
    @Test func `are changed by the same operations of who is in`() throws {
        let table = try Table(role: "admin")
        let before = try table.tables()
        for (number, payload) in try Self.voids(table).enumerated() {
            var log = ForgedLog(
                table.pair.keys.signing, like: table.log,
                under: try #require(
                    table.pair.known.judged.evaluator.bestGrant(of: table.pair.keys.id)),
                incarnation: UInt32(1_000 + number))
            let operation = log.write(payload, knowing: table.heads)
            try table.pair.bring([operation], as: table.pair.keys)
            let workspace = try table.pair.ada.workspace()
            #expect(workspace.judged.evaluator.isValid(operation.id), "\(number)")
        }
        for (old, new) in zip(before, try table.tables()) { #expect(old != new) }
    }
}
