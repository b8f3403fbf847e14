import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A narrow filter over a long table, which must not delay others.
struct `Events of a long table` {
    private static let types: JSONValue = ["channel.created"]

    /// A node with 10,000 events of no interest between two that are looked for.
    private func longTable() throws -> (bench: CoreBench, mina: BenchNode, core: NodeCore) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let core = try #require(mina.host).core
        try core.turn.write()
        for _ in 0..<10_000 { try core.turn.record(.syncCaughtUp, workspace: nil) }
        try core.turn.store.commit()
        try mina.ok("channel.create", ["name": "plans"])
        return (bench, mina, core)
    }

    @Test func `are looked at a part at a time for a stream`() throws {
        let (bench, mina, core) = try longTable()
        defer { withExtendedLifetime(bench) {} }
        let host = try #require(mina.host)
        try mina.ok(
            "events.subscribe", ["types": Self.types, "since": "all"], on: 7)
        func place() throws -> Int64 {
            try #require(core.events.subscriptions.subscriptions(of: 7).first?.sequence)
        }
        var found: [JSONValue?] = []
        var visits = 0
        while try place() < core.turn.store.events.newest, visits < 10 {
            let before = try place()
            found += host.events(for: 7, room: 1 << 20).map { $0.event.data["name"] }
            #expect(try place() - before <= 4_096)
            // The loop comes again at once though nothing may have been found.
            #expect(try host.looksForEvents(for: 7) == (place() < core.turn.store.events.newest))
            visits += 1
        }
        #expect(found == ["general", "plans"])
        #expect(visits == 3)
        #expect(!host.looksForEvents(for: 7) && !host.looksForEvents(for: 8))
    }

    @Test func `are read by one statement where the next row is there`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        defer { withExtendedLifetime(bench) {} }
        let host = try #require(mina.host)
        let connection = try #require(mina.connection)
        try mina.ok("events.subscribe", ["types": Self.types, "since": "latest"], on: 7)
        let events = host.core.turn.store.events
        func cost(inTurn: Bool = false) throws -> Int {
            if inTurn { events.keepRecent() } else { events.forgetRecent() }
            // Of no interest, so that no object is made of it.
            try host.core.turn.write()
            try host.core.turn.record(.syncCaughtUp, workspace: nil)
            try host.core.turn.store.commit()
            let before = connection.statementCount
            #expect(host.events(for: 7, room: 1 << 20).isEmpty)
            return connection.statementCount - before
        }
        // Another one holds the snapshot.
        for _ in 0..<3 { #expect(try cost() == 2) }
        // Those of the same turn are at hand.
        for _ in 0..<3 { #expect(try cost(inTurn: true) == 0) }
    }

    @Test func `are looked at by all streams of a connection in turn`() throws {
        let (bench, mina, core) = try longTable()
        defer { withExtendedLifetime(bench) {} }
        for _ in 0..<4 {
            try mina.ok(
                "events.subscribe", ["types": Self.types, "since": "all"], on: 7)
        }
        _ = mina.host?.events(for: 7, room: 1 << 20)
        let places = core.events.subscriptions.subscriptions(of: 7).map(\.sequence)
        #expect(places == [1_024, 1_024, 1_024, 1_024])
    }

    @Test func `are all there for a call, which is answered some turns later`() throws {
        let (bench, mina, _) = try longTable()
        defer { withExtendedLifetime(bench) {} }
        let host = try #require(mina.host)
        func call(_ number: UInt64, _ limit: Int64) -> NodeInput {
            .call(
                CallID(connection: 9, number: number), method: "events.wait",
                arguments: ["types": Self.types, "since": "all", "limit": .integer(limit)])
        }
        func answers(_ effects: [NodeEffect]) throws -> [JSONValue] {
            try effects.compactMap { effect throws -> JSONValue? in
                guard case .answer(_, let result) = effect else { return nil }
                return try result.get()
            }
        }
        // What is found early enough needs no more turns.
        let early = try answers(host.turn([call(1, 1)], at: bench.time))
        #expect(early.map { $0.items.map { $0["data"]?["name"] } } == [["general"]])
        var told = try answers(host.turn([call(2, 10)], at: bench.time))
        #expect(told.isEmpty && host.hasMoreToDo)
        var turns = 1
        while told.isEmpty, host.hasMoreToDo, turns < 20 {
            told = try answers(host.turn([], at: bench.time))
            turns += 1
        }
        #expect(turns == 3)
        #expect(told.map { $0.items.map { $0["data"]?["name"] } } == [["general", "plans"]])
        #expect(!host.hasMoreToDo)
        // Also for who waits, and finds nothing.
        let none = try mina.ok(
            "events.wait", ["types": ["session.locked"], "since": "all", "timeout_ms": 0])
        #expect(none.items.isEmpty)
        #expect(try none.text("next") == mina.cursor())
    }

    @Test func `that calls look at together are as many as for one`() throws {
        let (bench, mina, core) = try longTable()
        defer { withExtendedLifetime(bench) {} }
        let host = try #require(mina.host)
        let calls = (1...3).map { number in
            NodeInput.call(
                CallID(connection: 9, number: UInt64(number)), method: "events.wait",
                arguments: ["types": ["session.locked"], "since": "all", "timeout_ms": 60_000])
        }
        _ = host.turn(calls, at: bench.time)
        #expect(core.events.subscriptions.waiters.map(\.sequence).reduce(0, +) <= 4_096)
        var turns = 1
        while host.hasMoreToDo, turns < 20 {
            _ = host.turn([], at: bench.time)
            turns += 1
        }
        #expect(turns == 8)
        #expect(
            core.events.subscriptions.waiters.allSatisfy {
                $0.sequence == core.turn.store.events.newest
            })
    }
}
