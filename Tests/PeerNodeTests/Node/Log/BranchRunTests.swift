import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Runs that continue one of very many branches at one place. They name their branch, so the
/// others cost nothing.
struct `A run behind many branches` {
    /// A log that parts into many at once, all of which somebody cites, so that all are stored.
    private struct Crowd {
        let world: ForkingWorld
        let first: SignedOperation
        /// In their order: of those that come first none is one too many.
        let forks: [SignedOperation]

        init(_ count: Int) throws {
            let made = try ForkingWorld()
            let first = try made.sign(by: made.nodes[2])
            let signed = try (0..<count).map { _ in try made.sign(by: made.nodes[2], behind: first)
            }
            try made.bring(first, to: made.nodes[0])
            var cited = signed[...]
            while !cited.isEmpty {
                let some = Array(cited.prefix(Limits.dependenciesMax))
                try made.bring(try made.sign(by: made.nodes[1], citing: some), to: made.nodes[0])
                cited = cited.dropFirst(some.count)
            }
            for fork in signed { try made.bring(fork, to: made.nodes[0]) }
            world = made
            self.first = first
            forks = signed.sorted { $0.id < $1.id }
        }

        func run(_ count: Int, behind fork: SignedOperation) throws -> [SignedOperation] {
            var operations: [SignedOperation] = []
            while operations.count < count {
                operations.append(
                    try world.sign(by: world.nodes[2], behind: operations.last ?? fork))
            }
            return operations
        }

        func isStored(_ operation: SignedOperation) throws -> Bool {
            let core = try #require(world.nodes[0].host?.core)
            return try core.turn.store.operations.find(
                operation.reference, in: world.channel,
                of: try world.nodes[0].workspace().number) != nil
        }
    }

    /// With one hash behind each branch these were 10,000.
    @Test func `is hashed behind one of them, whether it is signed or not`() throws {
        let crowd = try Crowd(100)
        let core = try #require(crowd.world.nodes[0].host?.core)
        let log = try crowd.world.log(by: crowd.world.nodes[2])
        #expect(try crowd.world.branchCount(at: crowd.world.nodes[0], of: log) >= 100)
        let made = try crowd.run(100, behind: crowd.forks[0])
        let before = core.turn.tally.hashedEntries
        #expect(try crowd.world.bring(made, to: crowd.world.nodes[0]) == .stored(100))
        #expect(core.turn.tally.hashedEntries - before <= 2 * made.count)
        #expect(try made.allSatisfy { try crowd.isStored($0) })

        var run = made[0].run(in: crowd.world.channel)
        for next in made.dropFirst() { run.entries += next.run(in: crowd.world.channel).entries }
        run = OperationRun(
            log: run.log, firstSequence: run.firstSequence, previous: crowd.forks[1].id,
            entries: run.entries)
        let again = core.turn.tally.hashedEntries
        try core.turn.store.begin()
        let outcome = try core.acceptAtOnce(
            run, in: try crowd.world.nodes[0].workspace(),
            from: .peer(log.device, source: 1, isBackfill: false))
        try core.turn.store.commit()
        #expect(outcome == .rejected(.badSignature))
        #expect(core.turn.tally.hashedEntries - again <= 2 * made.count)
    }

    /// What it goes on from may come later, though others of its place are here.
    @Test func `waits for the one that it goes on from`() throws {
        let world = try ForkingWorld()
        let node = world.nodes[0]
        let core = try #require(node.host?.core)
        let first = try world.sign(by: world.nodes[2])
        let (one, other) = (
            try world.sign(by: world.nodes[2], behind: first),
            try world.sign(by: world.nodes[2], behind: first)
        )
        let next = try world.sign(by: world.nodes[2], behind: other)
        #expect(try world.bring([first, one], to: node) == .stored(2))
        let before = core.turn.tally.hashedEntries
        #expect(try world.bring(next, to: node) == .waiting)
        #expect(core.turn.tally.hashedEntries == before)
        #expect(try world.bring(other, to: node) == .stored(1))
        let log = try world.log(by: world.nodes[2])
        let branches = core.turn.store.operations.branches(of: log, in: try node.workspace().number)
        #expect(branches.map(\.tipSequence).sorted() == [1, 2])
        #expect(core.log.waiting.operationCount == 0)
    }
}
