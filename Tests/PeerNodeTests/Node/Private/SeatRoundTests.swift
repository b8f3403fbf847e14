import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which private documents are asked about their members after a change of authority.
struct `Who is in private documents` {
    private typealias Table = `Private channels`.Table

    private static func rounds(_ node: BenchNode) -> Int {
        node.host?.core.turn.tally.seatRounds ?? 0
    }

    private func table() throws -> Table {
        let table = try Table()
        for name in ["board", "vault"] {
            try table.bob.ok("channel.create", ["name": .string(name), "private": true])
            try table.bob.ok("channel.add", ["channel": .string(name), "members": ["Cleo"]])
        }
        // The first change after a start goes through all of them.
        try table.ada.ok("channel.edit", ["channel": "general", "topic": "first"])
        table.bench.advance(5_000)
        return table
    }

    @Test func `is asked of no document because a channel is edited`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        let before = [table.ada, table.bob, table.cleo].map(Self.rounds)
        for number in 0..<5 {
            try table.ada.ok(
                "channel.edit", ["channel": "general", "topic": .string("at \(number)")])
            try table.bob.ok("channel.create", ["name": .string("c\(number)")])
        }
        table.bench.advance(5_000)
        #expect([table.ada, table.bob, table.cleo].map(Self.rounds) == before)
    }

    @Test func `is asked again when somebody is removed`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        let before = Self.rounds(table.bob)
        try table.ada.ok("member.remove", ["member": "Cleo"])
        table.bench.advance(5_000)
        #expect(Self.rounds(table.bob) > before)
        for name in ["board", "vault"] {
            let shown = try table.bob.ok("channel.get", ["channel": .string(name)])
            #expect(shown["members"] == 1)
        }
        // And after that by no change that is about nobody.
        let after = Self.rounds(table.bob)
        try table.bob.ok("channel.create", ["name": "tea"])
        table.bench.advance(5_000)
        #expect(Self.rounds(table.bob) == after)
    }

    /// What was judged while nobody had gone through all of them is gone through later.
    @Test func `is asked again after a restart, once`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.restart()
        table.bench.advance(5_000)
        try table.bob.ok("channel.create", ["name": "tea"])
        let before = Self.rounds(table.bob)
        try table.bob.ok("channel.create", ["name": "milk"])
        #expect(Self.rounds(table.bob) == before)
        try table.ada.ok("member.remove", ["member": "Cleo"])
        table.bench.advance(5_000)
        #expect(try table.bob.ok("channel.get", ["channel": "board"])["members"] == 1)
    }
}
