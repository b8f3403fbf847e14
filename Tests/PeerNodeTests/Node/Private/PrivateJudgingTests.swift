import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Every member can write into a private document, in many logs and messages, and each evaluation
/// visits all of it.
struct `What comes of a private document` {
    /// Bob's channel, in which Ada is, and Cleo, who writes into it what she likes.
    private struct Table {
        let bench = CoreBench()
        let ada: BenchNode
        let bob: BenchNode
        let cleo: BenchNode

        init() throws {
            ada = try bench.node("Ada")
            bob = try bench.guest("Bob", of: ada)
            cleo = try bench.guest("Cleo", of: ada)
            bench.advance(5_000)
            try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
            bench.advance(5_000)
        }

        /// Changes without effect, which nobody can open or everybody, each in a log of its own.
        func garbage(
            _ count: Int, from first: Int = 0, opens: Bool = false
        ) throws -> [OperationRun] {
            let (author, board) = (try cleo.hostile(), try bob.document("board"))
            let random = SeededRandom(seed: UInt64(first) + 1)
            let held = opens ? try #require(board.newestKey) : SymmetricKey(using: random)
            return (first..<(first + count)).map { number in
                var log = ForgedDocumentLog(
                    author, document: board.id, incarnation: 1_000 + UInt32(number),
                    at: bench.wall)
                let key = SymmetricKey(using: random)
                log.write(
                    PrivateChange(
                        .rekey(PrivateEpoch(keyID: key.keyID)),
                        seat: OperationID(sameBytesAs: board.id)),
                    knowing: [], under: held, random)
                return log.operations[0].run(in: board.id)
            }
        }
    }

    @Test func `is judged once a turn, in however many logs it comes`() throws {
        let table = try Table()
        let runs = try table.garbage(300)
        let board = try table.bob.document("board")
        let before = board.judgements
        try table.bob.take(Array(runs.prefix(200)), isBackfill: true)
        #expect(board.judgements == before + 1)
        #expect(board.records.count >= 200)
        for run in runs.dropFirst(200).prefix(5) { try table.bob.take([run], isBackfill: true) }
        #expect(board.judgements == before + 6)
    }

    @Test func `is judged for its changes alone, not for what is said in it`() throws {
        let table = try Table()
        let board = try table.bob.document("board")
        let (before, author) = (board.judgements, try table.cleo.hostile())
        for number in 0..<5 {
            var log = ForgedDocumentLog(
                author, document: board.id, incarnation: 2_000 + UInt32(number),
                at: table.bench.wall)
            let random = SeededRandom(seed: UInt64(number))
            log.write("in vain", under: SymmetricKey(using: random), random)
            try table.bob.take([log.operations[0].run(in: board.id)])
        }
        #expect(board.judgements == before)
    }

    @Test func `is no part of what is judged while it does not open`() throws {
        let table = try Table()
        let board = try table.bob.document("board")
        let telling = board.membership.telling
        try table.bob.take(try table.garbage(50))
        #expect(board.records.count == telling.count + 50)
        #expect(board.membership.telling == telling)
        // What somebody says who is in it stands on what that one knew.
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Ada"]])
        #expect(board.membership.telling.count == telling.count + 1)
    }

    @Test func `is judged more rarely the more there is of it, and in the end`() throws {
        let table = try Table()
        let many = try table.garbage(Limits.judgedAtOnceMax, opens: true)
        try table.bob.take(many, isBackfill: true)
        let board = try table.bob.document("board")
        let (before, known) = (board.judgements, board.records.count)
        let more = try table.garbage(20, from: many.count, opens: true)
        // The first is taken at once; the next ones come faster than it may be judged.
        for run in more { try table.bob.take([run], isBackfill: true) }
        #expect(board.judgements == before + 1)
        #expect(board.records.count == known + 1)
        let pause = UInt64(board.membership.size / Limits.judgedPerMillisecond)
        table.bench.advance(pause + 1)
        #expect(board.judgements == before + 2)
        #expect(board.records.count == known + more.count)
        #expect(try table.bob.ok("node.check")["ok"] == true)
    }

    /// Ada, an admin of it, puts Cleo out; it waits at Bob's to be judged.
    private func removal(at table: Table) throws -> PrivateDocument {
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Ada", "Cleo"]])
        try table.bob.ok("channel.role", ["channel": "board", "member": "Ada", "role": "admin"])
        try table.cleo.send("one", to: "board")
        table.bench.advance(5_000)
        table.bench.cut(table.bob, table.ada)
        table.bench.cut(table.cleo, table.ada)
        try table.ada.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        try table.cleo.send("two", to: "board")
        table.bench.advance(2_000)
        let board = try table.bob.document("board")
        let garbage = try table.garbage(Limits.judgedAtOnceMax, opens: true)
        for node in [table.bob, table.ada] { try node.take(garbage, isBackfill: true) }
        let core = try #require(table.bob.host?.core)
        let rank = JudgingQueue.rank(board.membership.size)
        core.privates.judgings.nextLarge = [rank: table.bob.time.monotonic + 3_600_000]
        #expect(try table.bob.log(of: "board") == ["one", "two"])
        table.bench.heal(table.bob, table.ada)
        table.bench.advance(60_000)
        return board
    }

    @Test func `is judged before the node writes, so a removed member reads none of it`() throws {
        let table = try Table()
        let board = try removal(at: table)
        #expect(table.bob.host?.core.privates.judgings.isEmpty == false)
        let before = try #require(board.newestKey).keyID
        try table.bob.send("among us", to: "board")
        #expect(table.bob.host?.core.privates.judgings.isEmpty == true)
        #expect(board.authority.members.count == 2)
        #expect(try table.bob.log(of: "board") == ["one", "among us"])
        let key = try #require(board.newestKey).keyID
        #expect(key != before)
        table.bench.heal(table.cleo, table.ada)
        table.bench.advance(60_000)
        #expect(try table.cleo.workspace().sealed.documents[board.id]?.keys.holds(key) == false)
        #expect(try table.ada.log(of: "board") == ["one", "among us"])
    }

    /// What was shown meanwhile hides, whenever the process ends.
    @Test(arguments: [false, true])
    func `is judged by the next process where the last one ended`(kills: Bool) throws {
        let table = try Table()
        _ = try removal(at: table)
        #expect(table.bob.host?.core.privates.judgings.isEmpty == false)
        if kills { table.bob.kill() }
        try kills ? table.bob.boot() : table.bob.restart()
        table.bench.advance(60_000)
        #expect(try table.bob.log(of: "board") == ["one"])
        #expect(try table.bob.ok("node.check")["ok"] == true)
        #expect(try table.bob.digest() == table.ada.digest())
        #expect(try table.bob.eventTypes().contains("channel.member_removed"))
    }
}

struct `A queue of private documents` {
    private let source = OperationSource.released(source: 0, isBackfill: false)

    private func name(_ number: UInt8) -> JudgingQueue.Name {
        .init(workspace: 1, document: DocumentID([UInt8](repeating: number, count: 32)))
    }

    @Test func `hands out what is small at once, and of what is large one after the other`() {
        var queue = JudgingQueue()
        let sizes: [JudgingQueue.Name: Int] = [
            name(1): 16_000, name(2): 9_000, name(3): 10, name(4): 2_000,
        ]
        for number in [1, 2, 3] as [UInt8] {
            queue.add(name(number), .init(arrivals: [Int64(number)], source: source))
        }
        func due(_ now: UInt64) -> [JudgingQueue.Name] {
            queue.takeDue(at: now) { sizes[$0] ?? 0 }.map(\.name)
        }
        #expect(due(5) == [name(1), name(3)])
        #expect(queue.nextDue { sizes[$0] ?? 0 } == 1_005)
        #expect(due(1_004) == [])
        #expect(due(1_005) == [name(2)])
        #expect(queue.isEmpty)
    }

    @Test func `has nothing wait for what is far larger`() {
        var queue = JudgingQueue()
        let sizes: [JudgingQueue.Name: Int] = [name(1): 1_000_000, name(4): 2_000]
        for number in [1, 4] as [UInt8] { queue.add(name(number), .init(source: source)) }
        func due() -> [JudgingQueue.Name] {
            queue.takeDue(at: 5) { sizes[$0] ?? 0 }.map(\.name)
        }
        let turns = [due(), due()]
        #expect(turns == [[name(1)], [name(4)]], "a giant is a turn of its own")
    }

    /// Of small ones there may be very many.
    @Test func `hands out no more than a turn judges`() {
        var queue = JudgingQueue()
        let count = 2 * Limits.judgedPerTurnMax / Limits.judgedAtOnceMax
        for number in 0..<count { queue.add(name(UInt8(number)), .init(source: source)) }
        let turns = (0..<3).map { _ in
            queue.takeDue(at: 5) { _ in Limits.judgedAtOnceMax }.count
        }
        #expect(turns == [count / 2, count / 2, 0])
        #expect(queue.isEmpty)
    }

    @Test func `puts together what came of one document`() {
        var queue = JudgingQueue()
        let backfill = OperationSource.released(source: 0, isBackfill: true)
        queue.add(name(1), .init(arrivals: [1], source: backfill))
        queue.add(name(1), .init(arrivals: [2], isAnew: true, source: source))
        queue.add(name(1), .init(arrivals: [3], source: backfill))
        let work = queue.take(name(1))
        #expect(work?.arrivals == [1, 2, 3])
        #expect(work?.isAnew == true)
        #expect(work?.source == source, "what is news is told")
        #expect(queue.take(name(1)) == nil)
    }
}
