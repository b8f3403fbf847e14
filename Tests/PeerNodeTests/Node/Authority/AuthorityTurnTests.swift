import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// An owner's operations in the authority document, sent in one message: what they cost concurrent
/// callers, and that the cost per operation does not grow with their number.
struct `Very many authority operations in one message` {
    private let bench = CoreBench()
    private let ada: BenchNode
    private let bob: BenchNode

    init() throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        bench.advance(5_000)
    }

    /// One run of a new log of Ada's device.
    private func run(
        _ count: Int, _ incarnation: UInt32,
        _ payload: (Int, OperationID?) throws -> AuthorityPayload
    ) throws -> OperationRun {
        var log = try ForgedLog(ada, incarnation: incarnation)
        let heads = try ForgedLog.heads(of: ada)
        for number in 0..<count {
            log.write(
                try payload(number, log.operations.last?.id), knowing: number == 0 ? heads : [])
        }
        let document = try ada.workspace().id
        var run = log.operations[0].run(in: document)
        run.entries = log.operations.flatMap { $0.run(in: document).entries }
        return run
    }

    private func removals(_ count: Int, _ incarnation: UInt32) throws -> OperationRun {
        try run(count, incarnation) { number, _ in
            let nobody = HomeIdentity.member(
                of: SigningKey(using: SeededRandom(seed: UInt64(number))).device, salt: [7])
            return .remove(
                .init(
                    member: nobody, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 0,
                    cutPartHash: []))
        }
    }

    /// - Parameter looks: what the first turn has spent on verdicts before.
    /// - Returns: how many operations each turn stored at Bob's node.
    private func bring(_ run: OperationRun, havingSpent looks: Int = 0) throws -> [Int] {
        let core = try #require(bob.host?.core)
        let device = try #require(ada.host?.core.session.home).device
        let link = try #require(core.links.network.ordered.first { $0.peer?.device == device })
        let sync = try #require(link.syncs[try bob.workspace().number])
        var counts: [Int] = []
        var before = core.turn.store.operations.count
        core.beginTurn(at: bob.time)
        core.log.ingestBudget.spend(looks: looks)
        try core.syncing.ingest([run], 0, of: sync, on: link)
        while true {
            _ = try core.endTurn()
            try core.turn.store.commit()
            core.didCommit()
            counts.append(Int(core.turn.store.operations.count - before))
            before = core.turn.store.operations.count
            guard !core.links.network.exchange.backlogged.isEmpty else { return counts }
            core.beginTurn(at: bob.time)
        }
    }

    @Test func `are taken by several turns, each in its order`() throws {
        let run = try removals(600, 80)
        let counts = try bring(run)
        #expect(counts.reduce(0, +) == 600)
        #expect(counts.count > 1)
        let most = Limits.ingestCostPerTurnMax / 8 + Limits.authorityPerPartMax
        #expect(counts.allSatisfy { $0 <= most }, "\(counts)")
        #expect(try bob.workspace().judged.evaluator.validOperations.count >= 600)
    }

    /// One may bear on ten thousand others, so that a turn may have enough behind any of them.
    @Test func `are left to the next turn once their verdicts have cost enough`() throws {
        let turn = Limits.ingestCostPerTurnMax / 8 * Limits.authorityLooksPerOperation
        #expect(try bring(try removals(20, 80), havingSpent: turn - 1) == [1, 19])
    }

    /// The same of what had waited for something.
    @Test func `are taken one by one where each costs enough`() throws {
        let core = try #require(bob.host?.core)
        let device = try #require(ada.host?.core.session.home).device
        let link = try #require(core.links.network.ordered.first { $0.peer?.device == device })
        let workspace = try bob.workspace()
        core.beginTurn(at: bob.time)
        var left: OperationRun? = try removals(6, 80)
        var counts: [Int] = []
        while let run = left {
            counts.append(run.entries.count)
            let outcome = try core.log.accept(
                run, in: workspace,
                from: .peer(device, source: link.id.number, isBackfill: false), upTo: 1)
            #expect(outcome == .stored(1))
            left = core.log.untaken
        }
        #expect(counts == [6, 5, 4, 3, 2, 1])
        _ = try core.endTurn()
        try core.turn.store.commit()
        core.didCommit()
    }

    /// What is cut is the run, and what is refused stays whole.
    @Test func `are parts of one run, which tell the same`() throws {
        let run = try removals(150, 80)
        let authority = run.log.document
        var (parts, left): ([OperationRun], OperationRun?) = ([], run)
        while let next = left {
            let (part, rest) = next.split(ofAuthority: authority)
            parts.append(part)
            left = rest
        }
        #expect(parts.map(\.entries.count) == [64, 64, 22])
        let whole = try OperationChecks.identities(of: run).map(\.id)
        #expect(try parts.flatMap { try OperationChecks.identities(of: $0).map(\.id) } == whole)
        #expect(run.split(ofAuthority: .zero).rest == nil)
    }

    /// Nobody who was ever let in is concerned, so who is in is not worked out again.
    @Test func `that remove nobody leave alone who is in`() throws {
        let workspace = try bob.workspace()
        _ = workspace.members
        let before = workspace.judged.standingsMade
        for incarnation in 80..<100 {
            _ = try bring(try removals(10, UInt32(incarnation)))
            _ = workspace.members
        }
        // The members that the removals name are asked about, and nobody else.
        #expect(workspace.judged.standingsMade.whole - before.whole <= 1)
        #expect(workspace.judged.standingsMade.single - before.single <= 200 + 2)
    }

    /// A channel that is handed on and edited in one long chain.
    @Test func `about one channel cost no more the longer its chain is`() throws {
        func looks(_ count: Int, _ incarnation: UInt32, _ name: String) throws -> Int {
            try ada.ok("channel.create", ["name": .string(name)])
            bench.advance(5_000)
            let workspace = try bob.workspace()
            let channel = try #require(
                workspace.book.channels.values.first { $0.name == name })
            let start = try #require(channel.ruling).lastLink
            let run = try run(count, incarnation) { number, previous in
                var settings = AuthorityPayload.DocumentSettings(document: channel.id)
                settings.replaces =
                    number == 0 ? (start == channel.ruling?.creation ? nil : start) : previous
                settings.roles = []
                return .setDocument(settings)
            }
            let before = try #require(workspace.book.folds[channel.id]).ledger.looks
            #expect(try bring(run).reduce(0, +) == count)
            let after = try #require(workspace.book.folds[channel.id])
            #expect(workspace.judged.evaluator.chain(of: after.ledger).count >= count)
            return after.ledger.looks - before
        }
        let (few, many) = (try looks(50, 80, "few"), try looks(200, 81, "many"))
        #expect(few >= 50 && many <= 5 * few, "\(few) looks at 50 links, \(many) at 200")
    }
}
