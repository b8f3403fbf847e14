import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Bob's private channel with Ada and Cleo. No node is connected.
struct BoardBench {
    let bench = CoreBench()
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode
    let board: PrivateDocument

    init() throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        cleo = try bench.guest("Cleo", of: ada)
        bench.advance(5_000)
        try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try bob.ok("channel.add", ["channel": "board", "members": ["Ada", "Cleo"]])
        bench.advance(5_000)
        board = try ada.document("board")
        for (node, other) in [(ada, bob), (bob, cleo), (ada, cleo)] { bench.cut(node, other) }
    }

    /// What Cleo says in a log of her own.
    func said(_ texts: [String]) throws -> [SignedOperation] {
        var log = ForgedDocumentLog(
            try cleo.hostile(), document: board.id, incarnation: 77, at: bench.wall)
        let key = try #require(board.newestKey)
        let random = SeededRandom(seed: 9)
        for text in texts { log.write(text, under: key, random) }
        return log.operations
    }
}
