import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `What nobody may see any more` {
    private static let month: UInt64 = 30 * 24 * 3_600 * 1_000

    /// Time passes while nobody is on the network, so that a month is few turns.
    private func rest(_ world: RemovalBench, for milliseconds: UInt64) throws {
        let nodes = [world.mina, world.ada, world.wim, world.joon]
        for node in nodes { try node.ok("net.suspend") }
        world.bench.advance(milliseconds)
        for node in nodes { try node.ok("net.resume") }
        world.bench.advance(5_000)
    }

    private func contentCount(_ node: BenchNode) throws -> Int64 {
        try node.rowCount("operation WHERE kind <> 2")
    }

    @Test func `of a deleted workspace is erased after 30 days, but for its authority`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        try wim.send("one")
        try mina.send("two")
        bench.advance(5_000)
        bench.cut(mina, wim)
        for other in [ada, world.joon] { bench.cut(wim, other) }
        try mina.ok("workspace.delete", ["name": "acme"])
        try wim.send("after the end")
        bench.advance(60_000)
        let digest = try ada.digest()
        #expect(try digest == mina.digest())
        #expect(try contentCount(ada) > 0)
        try rest(world, for: Self.month - 3_600_000)
        #expect(try contentCount(ada) > 0)
        try rest(world, for: 2 * 3_600_000)
        for node in [mina, ada] {
            #expect(try contentCount(node) == 0, "\(node.name)")
            #expect(try node.rowCount("message") == 0)
            #expect(try node.rowCount("operation") > 0)
            #expect(try node.digest() == digest)
            #expect(try node.ok("workspace.list").items.map { $0["state"] } == ["deleted"])
        }
        // Wim hears of it now, and counts from now on; nothing comes back.
        bench.heal(wim, mina)
        bench.advance(60_000)
        #expect(try wim.digest() == digest)
        #expect(try contentCount(mina) == 0 && contentCount(wim) > 0)
        try ada.restart()
        bench.advance(60_000)
        #expect(try ada.digest() == digest)
        try rest(world, for: Self.month + 3_600_000)
        #expect(try contentCount(wim) == 0)
    }

    @Test func `beyond a cut is erased after 30 days, and no digest notices`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try joon.send("known")
        bench.advance(5_000)
        for other in [mina, ada] {
            bench.cut(joon, other)
            bench.cut(wim, other)
        }
        try mina.ok("member.remove", ["member": "Joon"])
        for number in 0..<5 { try joon.send("late \(number)") }
        bench.advance(5_000)
        bench.heal(wim, mina)
        bench.advance(60_000)
        try world.expectEqual("before", [mina, wim])
        let (digest, before) = (try wim.digest(), try contentCount(wim))
        try rest(world, for: Self.month - 2 * 86_400_000)
        #expect(try contentCount(wim) == before)
        try rest(world, for: 4 * 86_400_000)
        #expect(try contentCount(wim) == before - 5)
        #expect(try wim.rowCount("message") == 1)
        #expect(try wim.digest() == digest && mina.digest() == digest)
        #expect(wim.log.contains { $0.hasPrefix("void.erased") })
        // Its author keeps it, and operations on top of it bring it back to all.
        #expect(try joon.states().count == 6)
        bench.heal(joon, mina)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        try joon.send("back")
        bench.advance(60_000)
        for node in [mina, wim] { #expect(try node.log() == ["known", "back"]) }
        try world.expectEqual("after coming back", [mina, wim])
        #expect(try joon.digest() == mina.digest())
        try wim.restart()
        bench.advance(60_000)
        #expect(try wim.digest() == mina.digest())
    }
}
