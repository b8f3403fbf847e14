import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// One message may contain thousands of operations: nobody waits until all are accepted.
struct `What peers bring` {
    /// That many runs of one operation each, of 50 logs by turns.
    private static func runs(
        _ count: Int, by member: HostileMember, at wall: UInt64
    ) -> [OperationRun] {
        var logs = (0..<50).map { HostileLog(member, incarnation: UInt32(1_000 + $0)) }
        return (0..<count).map { number in
            let index = number % logs.count
            logs[index].write("\(number)", at: wall + UInt64(number))
            return logs[index].run(from: number / logs.count)
        }
    }

    /// How many of these are here.
    private static func stored(_ runs: [OperationRun], at core: NodeCore) throws -> Int {
        let workspace = try #require(core.workspaces.values.first).number
        return runs.count { run in
            core.turn.store.operations.branches(of: run.log, in: workspace)
                .contains { $0.tipSequence >= run.firstSequence }
        }
    }

    @Test func `is taken a part in each turn, of all links by turns`() throws {
        let scene = try HostileScene(seed: 97, hostileCount: 2)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        for number in 0..<2 { _ = scene.peer(number).connect(to: scene.ada) }
        scene.world.run(for: 1_000)
        let links = try scene.hostile.map { member in
            try #require(core.links.network.ordered.first { $0.peer?.device == member.device })
        }
        let syncs = try links.map { try #require($0.syncs.values.first) }
        let many = Self.runs(700, by: scene.hostile[0], at: scene.wall)
        let few = Self.runs(20, by: scene.hostile[1], at: scene.wall)

        core.beginTurn(at: core.turn.time)
        try core.syncing.ingest(many, 0, of: syncs[0], on: links[0])
        let first = try Self.stored(many, at: core)
        #expect(first > 0 && first <= Limits.ingestCostPerTurnMax / 17 + 1)
        try core.syncing.ingest(few, 0, of: syncs[1], on: links[1])
        #expect(try Self.stored(few, at: core) == 0)
        #expect(core.links.network.exchange.backlogged == links.map(\.id))
        #expect(syncs[0].ingested.isEmpty)

        var (turns, turnsOfFew) = (1, 0)
        while !core.links.network.exchange.backlogged.isEmpty {
            _ = try core.endTurn()
            try core.turn.store.commit()
            #expect(core.turn.hasMoreToDo == !core.links.network.exchange.backlogged.isEmpty)
            core.beginTurn(at: core.turn.time)
            turns += 1
            if turnsOfFew == 0, try Self.stored(few, at: core) == few.count { turnsOfFew = turns }
        }
        #expect(try Self.stored(many, at: core) == many.count)
        // The budget of the first turn was spent; the second one has taken all of the few.
        #expect(turnsOfFew == 3 && turns == 4)
        #expect(links.allSatisfy { $0.backlog.isEmpty && !$0.isClosing })
        _ = try core.endTurn()
        try core.turn.store.commit()
    }

    @Test func `is all there in the end, and what was said behind it is heard`() throws {
        let scene = try HostileScene(seed: 98)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let link = scene.peer().connect(to: scene.ada)
        let runs = Self.runs(900, by: scene.mallory, at: scene.wall)
        link.send(
            .operations(1, request: 0, runs, isComplete: true), in: .live)
        var last = HostileLog(scene.mallory, incarnation: 900)
        last.write("the last", at: scene.wall + 10_000)
        link.push(last.run())
        scene.world.run(for: 5_000)
        #expect(link.isOpen)
        #expect(try Self.stored(runs + [last.run()], at: core) == runs.count + 1)
        #expect(Scenes.texts(of: "general", on: scene.bob).last == "the last")
        #expect(core.links.network.exchange.backlogged.isEmpty)
    }

    @Test func `is looked at once where it breaks a rule, and nothing behind it is taken`() throws {
        let scene = try HostileScene(seed: 100)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        _ = scene.peer().connect(to: scene.ada)
        scene.world.run(for: 1_000)
        let link = try #require(
            core.links.network.ordered.first { $0.peer?.device == scene.mallory.device })
        var runs = Self.runs(3, by: scene.mallory, at: scene.wall)
        runs[1].entries[0].payload.append(0)
        core.beginTurn(at: core.turn.time)
        try core.syncing.ingest(runs, 0, of: try #require(link.syncs.values.first), on: link)
        let told = core.turn.effects.count { effect in
            guard case .log(_, let text) = effect else { return false }
            return text.hasPrefix("op.rejected")
        }
        #expect(told == 1)
        #expect(
            link.isClosing && link.backlog.isEmpty && core.links.network.exchange.backlogged.isEmpty
        )
        #expect(try runs.map { try Self.stored([$0], at: core) } == [1, 0, 0])
        _ = try core.endTurn()
        try core.turn.store.commit()
    }

    @Test func `by a link that has ended is not gone on with`() throws {
        let scene = try HostileScene(seed: 99)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        _ = scene.peer().connect(to: scene.ada)
        scene.world.run(for: 1_000)
        let link = try #require(
            core.links.network.ordered.first { $0.peer?.device == scene.mallory.device })
        let runs = Self.runs(700, by: scene.mallory, at: scene.wall)
        core.beginTurn(at: core.turn.time)
        try core.syncing.ingest(
            runs, 0, of: try #require(link.syncs.values.first), on: link)
        let first = try Self.stored(runs, at: core)
        try core.links.drop(link, because: .closedByPeer)
        for _ in 0..<3 {
            _ = try core.endTurn()
            try core.turn.store.commit()
            core.beginTurn(at: core.turn.time)
        }
        #expect(core.links.network.exchange.backlogged.isEmpty && !core.turn.hasMoreToDo)
        #expect(try Self.stored(runs, at: core) == first)
    }
}
