import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who writes each operation into a log of its own, knowing none of the others: there are
/// more ends then than an operation cites, and all of them stronger than what others write (S-7).
@Suite struct `A document with more ends than one operation cites` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let late: BenchNode
    private let phone: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        late = try bench.guest("Late", of: mina)
        phone = try bench.bareNode("Phone")
        bench.advance(5_000)
        let before = try ForgedLog.heads(of: joon)
        let workspace = try mina.workspace().id
        let runs = try (0..<150).map { number in
            var log = try ForgedLog(joon, incarnation: 1_000 + UInt32(number))
            let nonce = [UInt8](repeating: UInt8(number), count: 16)
            return log.write(.createDocument(type: 1, nonce: nonce), knowing: before)
                .run(in: workspace)
        }
        for node in [mina, joon, late] { try node.take(runs) }
        try late.link(phone)
        bench.advance(5_000)
    }

    @Test func `keeps nobody from revoking a device that was linked behind them`() throws {
        let id = JSONValue.string(try phone.deviceID())
        #expect(try mina.workspace().evaluator.heads.count > Limits.authDependenciesMax)
        #expect(try mina.ok("device.revoke", ["device": id])["revoked"] == true)
        bench.advance(5_000)
        let device = try #require(phone.host?.core.home).device
        for node in [mina, late] {
            let workspace = try node.workspace()
            let grant = try workspace.evaluator.bestGrant(of: device, as: late.workspace().member)
            #expect(grant == nil, "\(node.name)")
        }
        #expect(try mina.digest() == late.digest())
    }

    @Test func `keeps nobody from giving a role to somebody with such a device`() throws {
        try mina.ok("member.role", ["member": "Late", "role": "admin"])
        bench.advance(5_000)
        for node in [mina, late] {
            #expect(try node.workspace().role(of: late.workspace().member) == .admin)
        }
    }

    @Test func `keeps no owner from handing the workspace to somebody with such a device`() throws {
        try mina.ok("workspace.transfer", ["member": "Late"])
        bench.advance(5_000)
        for node in [mina, late] {
            #expect(try node.workspace().role(of: late.workspace().member) == .owner)
        }
    }
}
