import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Removals from a private channel by its owner, with the maximum number of cuts.
struct `Removals that list very much` {
    /// The channel, and who takes Cleo out of it.
    private struct Table {
        private let world: BoardBench
        var bench: CoreBench { world.bench }
        var ada: BenchNode { world.ada }
        var bob: BenchNode { world.bob }
        var cleo: BenchNode { world.cleo }
        var board: PrivateDocument { world.board }
        private let random = SeededRandom(seed: 10)

        init() throws { world = try BoardBench() }

        /// What Cleo says in a log of her own.
        func said(_ count: Int) throws -> [SignedOperation] {
            try world.said((0..<count).map { "\($0)" })
        }

        /// Takes Cleo out, each time without knowing of the others, and keeps of her log what leads
        /// to some places. All else that is listed is made up.
        func removals(
            _ count: Int, keeping lasts: [SignedOperation], listing listed: Int
        ) throws -> [OperationRun] {
            let author = try bob.hostile()
            let key = try #require(board.newestKey)
            let last = try #require(lasts.last)
            let log = last.run(in: board.id).log
            let member = try cleo.workspace().member
            let root = try #require(board.records[board.rootID])
            let heads = board.order.suffix(1).compactMap { id in
                board.records[id].map {
                    OperationReference(
                        device: $0.log.device, incarnation: $0.log.incarnation,
                        sequence: $0.sequence, id: id)
                }
            }
            #expect(root.change != nil)
            return (0..<count).map { number in
                let madeUp = (lasts.count..<listed).map { place in
                    CutEntry(
                        log: log, sequence: last.header.sequence,
                        id: Identifier16(
                            prefixOf: OperationID(words: (UInt64(number), UInt64(place), 0, 0))))
                }
                let kept = lasts.map {
                    CutEntry(
                        log: log, sequence: $0.header.sequence, id: Identifier16(prefixOf: $0.id))
                }
                var forged = ForgedDocumentLog(
                    author, document: board.id, incarnation: 1_000 + UInt32(number),
                    at: bench.wall + 1_000)
                forged.write(
                    PrivateChange(
                        .remove(
                            member, cuts: madeUp + kept, epoch: PrivateEpoch(keyID: key.keyID)),
                        seat: board.rootID),
                    knowing: heads, under: key, random)
                return forged.operations[0].run(in: board.id)
            }
        }
    }

    /// Each operation of the log was compared with all that any removal lists.
    @Test func `are gone through once, and not for each operation of the log that they name`()
        throws
    {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let said = try table.said(60)
        try table.ada.take(said.prefix(20).map { $0.run(in: table.board.id) })
        try table.ada.take(try table.removals(10, keeping: [said[9]], listing: 500))
        let shown = (0..<10).map { "\($0)" }
        #expect(try table.ada.log(of: "board") == shown)
        let looks = table.board.rights.cuts.looks
        #expect((10...5_000).contains(looks))
        for operation in said.dropFirst(20) {
            try table.ada.take([operation.run(in: table.board.id)])
        }
        #expect(try table.ada.log(of: "board") == shown)
        #expect(table.board.rights.cuts.looks == looks)
        #expect(try table.ada.ok("node.check")["ok"] == true)
    }

    /// What a removal leaves may come after it, and after what stands before it.
    @Test(arguments: [false, true])
    func `show what they keep when the end of it comes`(restarts: Bool) throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let said = try table.said(12)
        let runs = said.map { $0.run(in: table.board.id) }
        try table.ada.take(Array(runs.prefix(5)))
        try table.ada.take(try table.removals(3, keeping: [said[9]], listing: 50))
        #expect(try table.ada.log(of: "board") == [])
        if restarts { try table.ada.restart() }
        try table.ada.take(Array(runs[5..<9]))
        #expect(try table.ada.log(of: "board") == [])
        try table.ada.take(Array(runs[9...]))
        #expect(try table.ada.log(of: "board") == (0..<10).map { "\($0)" })
        #expect(try table.ada.ok("node.check")["ok"] == true)
    }

    /// Each of those places has the channel folded anew when it comes.
    @Test func `have it folded once a turn, however many of their places come`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let said = try table.said(60)
        let runs = said.map { $0.run(in: table.board.id) }
        try table.ada.take(Array(runs[..<30]))
        try table.ada.take(try table.removals(1, keeping: Array(said[30..<50]), listing: 20))
        let operations = try #require(table.ada.host?.core).turn.store.operations
        let before = operations.readCount
        try table.ada.take(Array(runs[30...]))
        #expect(operations.readCount - before <= 4 * runs.count)
        #expect(try table.ada.log(of: "board") == (0..<50).map { "\($0)" })
        #expect(try table.ada.ok("node.check")["ok"] == true)
    }

    /// 312 bytes an entry where removals were kept as they were read, and listed by log beside that.
    @Test func `take less memory than bytes on the disk`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let said = try table.said(10)
        try table.ada.take(said.map { $0.run(in: table.board.id) })
        let (count, listed) = (10, Limits.privateCutsMax)
        let runs = try table.removals(count, keeping: [said[4]], listing: listed)
        let stored = runs.reduce(0) { $0 + $1.entries[0].payload.count }
        try table.ada.take(runs)
        #expect(try table.ada.log(of: "board").count == 5)
        #expect(stored > 50 * count * listed)
        #expect(table.board.cutBytes <= 40 * count * listed + 4_096)
    }
}
