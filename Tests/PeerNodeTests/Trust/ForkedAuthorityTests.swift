import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// PROTOCOL.md, 2.1: branches of authority documents are unbounded, since each of their operations
/// may affect others.
struct `A log of the authority document that forks very often` {
    /// A dozen operations at one place, of which others have cited one, and then all lose their
    /// effect.
    @Test func `is the same after a start, and at a newcomer`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        let workspace = try mina.workspace().id
        var trunk = try ForgedLog(joon, incarnation: 90)
        let before = try ForgedLog.heads(of: mina)
        let first = trunk.write(Self.channel(0), knowing: before)
        let forks = (1...12).map { number in
            var branch = trunk
            return branch.write(Self.channel(number), knowing: [])
        }
        for operation in [first] + forks {
            try mina.take([operation.run(in: workspace)])
        }
        bench.advance(5_000)
        // It knows all of them; what Joon loses then was known to nobody else.
        try kim.ok("channel.create", ["name": "on top"])
        bench.advance(5_000)
        var forged = try ForgedLog(joon, incarnation: 91)
        let end = forged.write(.leave(cuts: []), knowing: before)
        try? mina.take([end.run(in: workspace)])
        bench.advance(5_000)
        let digest = try mina.digest()
        #expect(try kim.digest() == digest)
        for node in [mina, kim] { try node.restart() }
        bench.advance(20_000)
        for node in [mina, kim] {
            #expect(try node.digest() == digest, "\(node.name)")
            let known = try node.workspace()
            #expect(([first] + forks).allSatisfy { known.authority[$0.id] != nil })
            #expect(try node.ok("node.check")["problems"] == [], "\(node.name)")
        }
        let late = try bench.guest("Late", of: mina)
        bench.advance(20_000)
        #expect(try late.digest() == mina.digest())
    }

    private static func channel(_ number: Int) -> AuthorityPayload {
        .createDocument(
            type: 1, nonce: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
    }
}
