import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A branch above the limit that is kept as long as a waiting operation cites it.
struct `A branch that is awaited` {
    private let world: ForkingWorld
    private let mina: BenchNode
    private let wim: BenchNode
    private let author: BenchNode
    private let log: LogName

    init() throws {
        world = try ForkingWorld()
        (mina, wim, author) = (world.nodes[0], world.nodes[1], world.nodes[2])
        log = try world.log(by: author)
    }

    /// Brings Mina as many branches as count, something that cites one more and what nobody brings,
    /// and that one more; and Wim the branches alone.
    private func bringAwaited() throws -> SignedOperation {
        let first = try world.sign(by: author)
        var forks: [SignedOperation] = []
        for _ in 0...Limits.branchesMax {
            forks.append(try world.sign(by: author, behind: first))
        }
        forks.sort { $0.id < $1.id }
        let surplus = forks.removeLast()
        let missing = try world.sign(by: author, behind: forks[0])
        let waiting = try world.sign(by: wim, behind: nil, citing: [surplus, missing])
        for node in [mina, wim] {
            try world.bring(first, to: node)
            for fork in forks { try world.bring(fork, to: node) }
        }
        try world.bring(waiting, to: mina)
        try world.bring(surplus, to: mina)
        try world.bring(surplus, to: wim)
        world.bench.give(.tick, to: mina)
        world.bench.give(.tick, to: wim)
        world.bench.settle()
        return surplus
    }

    private func holds(_ operation: SignedOperation, _ node: BenchNode) throws -> Bool {
        let core = try #require(node.host?.core)
        return try core.turn.store.operations.find(
            operation.reference, in: world.channel, of: node.workspace().number) != nil
    }

    @Test func `is dropped with the peer that brought what cites it`() throws {
        let surplus = try bringAwaited()
        #expect(try holds(surplus, mina))
        #expect(try !holds(surplus, wim))
        try mina.inTurn { core, _ in core.log.waiting.forget(source: 9) }
        #expect(try !holds(surplus, mina))
        #expect(try mina.shownTexts(in: "general") == wim.shownTexts(in: "general"))
        #expect(try world.kept(at: mina, of: log) == world.kept(at: wim, of: log))
    }

    @Test func `is gone after a start, when nothing waits`() throws {
        let surplus = try bringAwaited()
        try mina.restart()
        world.bench.give(.tick, to: mina)
        world.bench.settle()
        #expect(try !holds(surplus, mina))
        #expect(try mina.shownTexts(in: "general") == wim.shownTexts(in: "general"))
    }
}
