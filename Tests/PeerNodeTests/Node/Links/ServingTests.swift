import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Whatever an author does with forks and with signatures that nobody verifies: what one node has
/// accepted, all others accept from it. Otherwise a member could separate honest nodes, which would
/// end their links to each other.
struct `What a node has accepted` {
    private let world: BoardBench

    init() throws { world = try BoardBench() }

    /// What an author who means harm pushes, run by run.
    private struct Author {
        var branches: [ForgedDocumentLog]
        private let key: SymmetricKey
        private let random = SeededRandom(seed: 9)

        init(_ member: HostileMember, in board: PrivateDocument, at wall: UInt64) throws {
            key = try #require(board.newestKey)
            branches = [
                ForgedDocumentLog(member, document: board.id, incarnation: 77, at: wall)
            ]
        }

        /// Goes on from any place of any branch, and begins the run there or before it.
        func run(
            in document: DocumentID, _ chance: inout SeededGenerator
        ) -> (OperationRun, ForgedDocumentLog) {
            let old = branches[chance.below(branches.count)]
            let place = chance.oneIn(2) ? old.operations.count : chance.below(old.operations.count)
            var log = old.prefix(place)
            let size = [1, 600, 3_000][chance.below(3)]
            let text = String(repeating: "x", count: size)
            for number in 0..<1 + chance.below(260_000 / (size + 500)) {
                log.write("\(branches.count) \(number) \(text)", under: key, random)
            }
            let first = chance.oneIn(2) ? place : chance.below(place + 1)
            let operations = Array(log.operations[first...])
            var run = operations[0].run(in: document)
            run.entries = operations.flatMap { $0.run(in: document).entries }
            let isSigned = chance.oneIn(3)
            for index in run.entries.indices.dropLast() where !isSigned && !chance.oneIn(200) {
                run.entries[index].signature = run.entries[run.entries.endIndex - 1].signature
            }
            return (run, log)
        }
    }

    @Test(arguments: Seeds.explore(5))
    func `can be fetched by a node that has none or a part of it`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let (bench, ada, bob) = (world.bench, world.ada, world.bob)
        var author = try Author(try world.cleo.hostile(), in: world.board, at: bench.wall)
        for _ in 0..<10 {
            let (run, log) = author.run(in: world.board.id, &chance)
            guard try takes(ada, run) else { continue }
            author.branches.append(log)
            if chance.oneIn(4) { _ = try takes(bob, run) }
        }
        for node in [ada, bob] { try node.restart() }
        bench.heal(ada, bob)
        bench.advance(40_000)
        #expect(try bob.digest() == ada.digest(), "WSX_SEED=\(seed)")
        let newcomer = try bench.guest("Zed", of: ada)
        bench.advance(40_000)
        for node in [bob, newcomer] {
            #expect(try node.digest() == ada.digest(), "WSX_SEED=\(seed) \(node.name)")
        }
    }

    private func takes(_ node: BenchNode, _ run: OperationRun) throws -> Bool {
        try node.inTurn { core, workspace in
            let outcome = try core.acceptAtOnce(
                run, in: workspace, from: .peer(run.log.device, source: 1, isBackfill: false))
            if case .stored = outcome { return true }
            return false
        }
    }
}
