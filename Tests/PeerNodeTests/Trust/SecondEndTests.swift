import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who has left still has the device's key, and signs a second end as if before everything
/// that the first one knew: people they had removed would be in again, and people they had admitted
/// out (PROTOCOL.md, 4.0.3).
struct `A second end of the same membership` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let kim: BenchNode
    private let ann: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        kim = try bench.guest("Kim", of: mina, role: "admin")
        ann = try bench.guest("Ann", of: mina)
        bench.advance(5_000)
    }

    @Test(arguments: [false, true])
    func `takes nothing back once an admin's device has answered the first`(
        isRevocation: Bool
    ) throws {
        let eve = try bench.guest("Eve", of: mina)
        bench.advance(2_000)
        var forged = try ForgedLog(kim, incarnation: 70)
        let before = try ForgedLog.heads(of: kim)
        let device = try #require(kim.host?.core.session.home).device
        try kim.ok("member.remove", ["member": "Eve", "force": true])
        let zoe = try bench.guest("Zoe", of: kim)
        bench.advance(2_000)
        try zoe.send("of Zoe")
        try kim.ok("workspace.leave")
        bench.advance(2 * Limits.confirmingMilliseconds)
        let end = forged.write(
            isRevocation ? .removeDevice(device, cuts: [], rekey: nil) : .leave(cuts: []),
            knowing: before
        ).run(in: try mina.workspace().id)
        // Operations without effect on which nothing rests are dropped.
        for node in [mina, ann, zoe] { try? node.take([end]) }
        bench.advance(60_000)
        for node in [mina, ann, zoe] {
            #expect(try node.memberNames() == ["Ann", "Mina", "Zoe"], "\(node.name)")
            #expect(try node.log() == ["of Zoe"], "\(node.name)")
            #expect(try node.digest() == mina.digest(), "\(node.name)")
        }
        withExtendedLifetime(eve) {}
    }

    /// The first end of a member who may act is an ordinary operation, and is confirmed once.
    @Test func `is looked for only once per first end`() throws {
        let phone = try bench.bareNode("Phone")
        try ann.link(phone)
        bench.advance(10_000)
        let count = try mina.workspace().authorityOrder.count
        try phone.ok("workspace.leave")
        bench.advance(30 * Limits.confirmingMilliseconds)
        let added = try mina.workspace().authorityOrder.dropFirst(count)
        let confirmed = try added.count { id in
            guard case .confirm(let named)? = try mina.workspace().authority[id]?.payload else {
                return false
            }
            return named.count == 1
        }
        #expect(confirmed == 1)
    }

    /// Private channels have no confirmations: the leader with a stronger seat introduces a key.
    @Test func `of an admin of a private channel is answered by its owner's device`() throws {
        let zoe = try bench.guest("Zoe", of: mina)
        try mina.ok("channel.create", ["name": "vault", "private": true])
        try mina.ok("channel.add", ["channel": "vault", "members": ["@Kim", "@Ann"]])
        try mina.ok("channel.role", ["channel": "vault", "member": "@Kim", "role": "admin"])
        bench.advance(5_000)
        // Signed by Kim's device, which does not know yet what it does next, and held back.
        let early = try leaving(kim)
        try kim.ok("channel.remove", ["channel": "vault", "members": ["@Ann"]])
        try kim.ok("channel.add", ["channel": "vault", "members": ["@Zoe"]])
        bench.advance(2_000)
        try kim.ok("channel.leave", ["channel": "vault"])
        bench.advance(2 * Limits.confirmingMilliseconds)
        try mina.take([early])
        bench.advance(30_000)
        for node in [mina, zoe] {
            let people = try node.ok("channel.members", ["channel": "vault"]).texts("name")
            #expect(people.sorted() == ["Mina", "Zoe"], "\(node.name)")
        }
    }

    /// A leave from the private channel in a separate log, which knows what the node knows now.
    private func leaving(_ node: BenchNode) throws -> OperationRun {
        let workspace = try node.workspace()
        let document = try #require(
            workspace.sealed.documents.values.first { $0.root?.subtype == .channel })
        let seat = try #require(document.authority.standing(of: workspace.member)).seat
        let heads = document.authority.heads.compactMap { id in
            document.records[id].map {
                OperationReference(
                    device: $0.log.device, incarnation: $0.log.incarnation,
                    sequence: $0.sequence, id: id)
            }
        }
        var log = ForgedDocumentLog(
            try node.hostile(), document: document.id, incarnation: 95, at: bench.wall)
        log.write(
            PrivateChange(.leave(cuts: []), seat: seat), knowing: heads,
            under: try #require(document.newestKey), SeededRandom(seed: 7))
        return try #require(log.operations.first).run(in: document.id)
    }
}
