import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A run pushed by a member, with one verified signature, can only be sent on as a whole: that
/// exceeds what an unproven peer is asked for.
struct `A run that is signed at its end` {
    private let world: BoardBench

    init() throws { world = try BoardBench() }

    /// Between nodes that have just started, so that neither knows of what the other is capable.
    @Test(arguments: [(400, 200), (1_000, 200), (20, 10_000)])
    func `is passed on to a peer that does not know us yet`(count: Int, size: Int) throws {
        let (bench, ada, bob, board) = (world.bench, world.ada, world.bob, world.board.id)
        let text = String(repeating: "x", count: size)
        let said = try world.said((0..<count).map { "\($0) \(text)" })
        var run = said[0].run(in: board)
        run.entries = said.flatMap { $0.run(in: board).entries }
        try ada.take([run])
        for node in [ada, bob] { try node.restart() }
        bench.heal(ada, bob)
        bench.advance(10_000)
        let stored = try [ada, bob].map { node in
            try #require(node.host?.core).turn.store.operations.count
        }
        #expect(stored[0] > count && stored[1] == stored[0])
        #expect(try bob.digest() == ada.digest())
        #expect(try bob.log(of: "board").last == "\(count - 1) \(text)")
    }

    /// What is left of a payload that was deleted takes more room in a message than an empty one, and
    /// a message that is too large for that would be sent by nobody.
    @Test func `goes on in few messages where all of it is deleted`() throws {
        let (bench, ada, bob, board) = (world.bench, world.ada, world.bob, world.board.id)
        let said = try world.said((0..<6_000).map { "\($0)" })
        for start in stride(from: 0, to: said.count, by: 1_000) {
            var run = said[start].run(in: board)
            run.entries = said[start..<start + 1_000].flatMap { $0.run(in: board).entries }
            try ada.take([run])
        }
        try ada.inTurn { core, workspace in
            let row = try #require(core.turn.store.operations.document(board, in: workspace.number))
            try core.turn.write()
            for branch in core.turn.store.operations.branches(in: board, of: workspace.number) {
                let arrivals = try core.turn.store.connection.statement(
                    "SELECT arr FROM operation WHERE lid = ? AND kind = 1"
                ).rows(.integer(branch.number)) { $0.integer(0) }
                #expect(row.number == branch.document)
                for arrival in arrivals {
                    try core.turn.store.operations.erasePayload(of: arrival)
                }
            }
        }
        for node in [ada, bob] { try node.restart() }
        bench.heal(ada, bob)
        bench.advance(10_000)
        let stored = try [ada, bob].map { node in
            try #require(node.host?.core).turn.store.operations.count
        }
        #expect(stored[0] > 6_000 && stored[1] == stored[0])
    }

    /// Two histories that part in the middle of what one signature vouches for: together with what
    /// comes before, the second is more than one signature vouches for.
    @Test(arguments: ["who knows nothing", "who has the first", "who has just joined"])
    func `goes on with a second history, to`(whom: String) throws {
        let (bench, ada, bob, board) = (world.bench, world.ada, world.bob, world.board.id)
        let key = try #require(world.board.newestKey)
        let random = SeededRandom(seed: 9)
        var first = ForgedDocumentLog(
            try world.cleo.hostile(), document: board, incarnation: 77, at: bench.wall)
        let heavy = String(repeating: "x", count: 600)
        for number in 0..<340 { first.write("\(number) \(heavy)", under: key, random) }
        var second = first
        for number in 0..<350 { first.write("\(number)", under: key, random) }
        for number in 0..<350 { second.write("other \(number) \(heavy)", under: key, random) }
        let histories = [first.operations, Array(second.operations[340...])].map { operations in
            var run = operations[0].run(in: board)
            run.entries = operations.flatMap { $0.run(in: board).entries }
            // Inside of a run nobody looks at them.
            for place in run.entries.indices.dropLast() {
                run.entries[place].signature = run.entries[run.entries.endIndex - 1].signature
            }
            return run
        }
        let stored = try #require(ada.host?.core).turn.store.operations.count
        for history in histories { try ada.take([history]) }
        #expect(try #require(ada.host?.core).turn.store.operations.count == stored + 1_040)
        if whom == "who has the first" { try bob.take([histories[0]]) }
        for node in [ada, bob] { try node.restart() }
        bench.heal(ada, bob)
        bench.advance(20_000)
        var nodes = [bob]
        if whom == "who has just joined" {
            nodes.append(try bench.guest("Zed", of: ada))
            bench.advance(20_000)
        }
        for node in nodes {
            #expect(try node.digest() == ada.digest(), "\(node.name)")
            #expect(try #require(node.host).core.turn.store.operations.count >= stored + 1_040)
        }
    }
}
