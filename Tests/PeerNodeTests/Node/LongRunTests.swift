import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a member has pushed in one run, of which one signature was looked at, goes on to others in one
/// piece only: it is more than a peer is asked for who has shown nothing yet.
@Suite struct `A run that is signed at its end` {
    private let bench = CoreBench()
    private let ada: BenchNode
    private let bob: BenchNode
    private let cleo: BenchNode

    init() throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        cleo = try bench.guest("Cleo", of: ada)
        bench.advance(5_000)
        try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try bob.ok("channel.add", ["channel": "board", "members": ["Ada", "Cleo"]])
        bench.advance(5_000)
        for (node, other) in [(ada, bob), (bob, cleo), (ada, cleo)] { bench.cut(node, other) }
    }

    /// What Cleo says, in one run.
    private func said(_ texts: [String]) throws -> OperationRun {
        let board = try ada.document("board")
        var log = ForgedDocumentLog(
            try cleo.hostile(), document: board.id, incarnation: 77, at: bench.wall)
        let key = try #require(board.newestKey)
        let random = SeededRandom(seed: 3)
        for text in texts { log.write(text, under: key, random) }
        var run = log.operations[0].run(in: board.id)
        run.entries = log.operations.flatMap { $0.run(in: board.id).entries }
        return run
    }

    /// Between nodes that have just started, so that neither knows of what the other is capable.
    @Test(arguments: [(400, 200), (1_000, 200), (20, 10_000)])
    func `goes on to whoever knows nothing of us yet`(count: Int, size: Int) throws {
        let text = String(repeating: "x", count: size)
        try ada.take([try said((0..<count).map { "\($0) \(text)" })])
        for node in [ada, bob] { try node.restart() }
        bench.heal(ada, bob)
        bench.advance(10_000)
        let stored = try [ada, bob].map { node in
            try #require(node.host?.core).store.operations.count
        }
        #expect(stored[0] > count && stored[1] == stored[0])
        #expect(try bob.digest() == ada.digest())
        #expect(try bob.log(of: "board").last == "\(count - 1) \(text)")
    }
}
