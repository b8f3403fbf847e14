import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Devices that a member has linked concurrently, each in a separate log that knows no other: more
/// than one operation cites, and than one grant lists (S-7, A-19).
struct `Somebody with very many devices that do not know each other` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let ada: BenchNode
    private let joon: BenchNode
    private let devices: [ForeignDevice]

    init() throws {
        mina = try bench.node("Mina")
        ada = try bench.guest("Ada", of: mina)
        joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        devices = (0..<150).map { ForeignDevice(7_000 + UInt64($0)) }
        let runs = try Self.links(of: devices, by: joon)
        for node in [mina, ada, joon] { try node.take(runs) }
    }

    /// Those that do not fit into the grant are no longer in.
    @Test func `is given a weaker role on all of them`() throws {
        #expect(try mina.workspace().judged.evaluator.heads.count > 2 * Limits.authDependenciesMax)
        try mina.ok("member.role", ["member": "Joon", "role": "guest"])
        bench.advance(5_000)
        let member = try joon.workspace().member
        for node in [mina, ada] {
            let evaluator = try node.workspace().judged.evaluator
            #expect(try node.workspace().role(of: member) == .guest, "\(node.name)")
            let roles = devices.compactMap { device in
                evaluator.bestGrant(of: device.id, as: member).flatMap {
                    evaluator.role(ofGrant: $0, device: device.id)
                }
            }
            // The phrase and the first device are the strongest.
            #expect(roles.count == Limits.grantedDevicesMax - 2, "\(node.name)")
            #expect(roles.allSatisfy { $0 == .guest }, "\(node.name)")
        }
        #expect(try mina.digest() == ada.digest())
    }

    @Test func `is given a stronger role, and the workspace`() throws {
        try mina.ok("member.role", ["member": "Joon", "role": "admin"])
        bench.advance(5_000)
        let member = try joon.workspace().member
        for node in [mina, ada] {
            #expect(try node.workspace().role(of: member) == .admin, "\(node.name)")
        }
        try mina.ok("workspace.transfer", ["member": "Joon"])
        bench.advance(5_000)
        for node in [mina, ada] {
            let known = try node.workspace()
            #expect(known.role(of: member) == .owner, "\(node.name)")
            #expect(try known.role(of: mina.workspace().member) == .admin, "\(node.name)")
        }
        #expect(try mina.digest() == ada.digest())
    }

    /// As transfers need them, which name own devices and the heir's.
    @Test func `are gathered where one operation could not know all of them`() throws {
        let named = try mina.workspace().judged.evaluator.binding(ofEach: devices.map(\.id))
        #expect(named.count == devices.count)
        let missing = try mina.workspace().judged.evaluator.beyondCitations(naming: named)
        #expect(missing.count > Limits.authDependenciesMax)
        let before = try mina.workspace().authorityOrder.count
        try mina.inTurn { core, known in try core.membership.gatherEnds(of: named, in: known) }
        let known = try mina.workspace()
        #expect(known.judged.evaluator.beyondCitations(naming: named).isEmpty)
        #expect(known.authorityOrder.count - before == 2)
        bench.advance(5_000)
        #expect(try mina.digest() == ada.digest())
    }

    private static func links(
        of devices: [ForeignDevice], by node: BenchNode
    ) throws -> [OperationRun] {
        let linking = try ForeignDevice(of: node)
        let known = try node.workspace()
        let key = try #require(known.currentKey).id
        let heads = try ForgedLog.heads(of: node)
        return try devices.enumerated().map { number, device in
            let entry = [ListedDevice.own(device)].signed(
                entering: .adding(to: known.id, before: linking.id, member: known.member))
            var log = try ForgedLog(node, incarnation: 2_000 + UInt32(number))
            return log.write(.addDevices(entry, keyID: key, wraps: []), knowing: heads)
                .run(in: known.id)
        }
    }
}
