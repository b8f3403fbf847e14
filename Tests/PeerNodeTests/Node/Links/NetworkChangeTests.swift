import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The node's reaction when this machine has, or may have, changed its network.
struct `A change of the network` {
    private func links(_ node: BenchNode, to other: BenchNode) throws -> Int {
        let core = try #require(node.host?.core)
        let device = try #require(other.host?.core.session.ownDevice)
        return core.links.network.links(to: device).count
    }

    @Test func `ends the links that lead nowhere by now, and dials there at once`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        bench.silence(mina, ada)
        let dialled = mina.dialled.count
        bench.give(.networkChanged, to: mina)
        bench.give(.tick, to: mina)
        bench.settle()
        bench.advance(1_900)
        #expect(try links(mina, to: ada) == 1)
        bench.advance(200)
        #expect(try links(mina, to: ada) == 0)
        #expect(mina.dialled[dialled...].contains(ada.address))
        // Who answers keeps the link.
        #expect(try links(mina, to: wim) == 1)
        #expect(!mina.dialled[dialled...].contains(wim.address))
    }

    @Test func `dials those at once whom it could not reach before`() throws {
        let world = try RemovalBench()
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        bench.cut(mina, ada)
        // By now it tries every few minutes.
        bench.advance(1_800_000)
        let dialled = mina.dialled.count
        bench.give(.networkChanged, to: mina)
        bench.give(.tick, to: mina)
        bench.settle()
        #expect(mina.dialled[dialled...].contains(ada.address))
    }
}
