import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The fate of a private channel that its owner has deleted.
struct `A deleted private channel` {
    private typealias Table = `Private channels`.Table
    private static let week: UInt64 = 7 * 24 * 3_600 * 1_000

    /// Bob's channel with Cleo in it; Ada is the one who passes on.
    private func board() throws -> (Table, id: DocumentID) {
        let table = try Table()
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try table.bob.send("one", to: "board")
        try table.cleo.send("two", to: "board")
        table.bench.advance(5_000)
        let document = try table.bob.workspace().sealed.documents.values
            .first { $0.root?.subtype == .channel }
        return (table, try #require(document?.id))
    }

    private func secrets(_ id: DocumentID, on node: BenchNode) throws -> Int {
        let core = try #require(node.host?.core)
        let workspace = try node.workspace()
        let number = try #require(
            core.turn.store.operations.document(id, in: workspace.number)?.number)
        return try core.turn.store.registry.secrets(of: number).count
    }

    @Test func `is erased after 7 days: its keys and all it showed, and no digest notices`() throws
    {
        let (table, id) = try board()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.delete", ["channel": "board"])
        table.bench.advance(10_000)
        for node in [table.bob, table.cleo] {
            #expect(try node.rowCount("message") == 2)
            #expect(try secrets(id, on: node) > 0)
        }
        table.bench.letPass(Self.week - 60_000)
        #expect(try secrets(id, on: table.cleo) > 0)
        table.bench.advance(120_000)
        for node in [table.bob, table.cleo] {
            #expect(try node.rowCount("message") == 0)
            #expect(try secrets(id, on: node) == 0)
            #expect(try node.workspace().sealed.documents[id] == nil)
            #expect(try node.digest() == table.ada.digest())
        }
    }

    /// Each turn asks when the next erasure is due: not by going through all that are there.
    @Test func `is looked for when one is deleted, and in no other turn`() throws {
        let (table, _) = try board()
        defer { withExtendedLifetime(table.bench) {} }
        func plans(_ change: () throws -> Void) throws -> Int {
            let core = try #require(table.bob.host?.core)
            let before = core.turn.tally.erasurePlans
            try change()
            table.bench.advance(5_000)
            return core.turn.tally.erasurePlans - before
        }
        let quiet = try plans {
            for number in 0..<5 {
                try table.bob.ok(
                    "channel.create", ["name": .string("c\(number)"), "private": true])
                try table.bob.send("words", to: "c\(number)")
                try table.ada.send("words")
            }
        }
        #expect(quiet == 0)
        let deleted = try plans { try table.bob.ok("channel.delete", ["channel": "c3"]) }
        #expect(deleted > 0)
    }

    /// Its operations stay, and so does what is deleted of them: for relays nothing has changed.
    @Test func `keeps deleted what was deleted in it, also across a restart`() throws {
        let (table, id) = try board()
        defer { withExtendedLifetime(table.bench) {} }
        let message = try table.cleo.send("a slip", to: "board")
        table.bench.advance(5_000)
        let payload = try table.cleo.payload(of: message)
        try table.cleo.delete(message)
        table.bench.advance(5_000)
        try table.bob.ok("channel.delete", ["channel": "board"])
        table.bench.letPass(Self.week + 60_000)
        #expect(try secrets(id, on: table.bob) == 0)
        for node in [table.bob, table.cleo] { try node.restart() }
        table.bench.advance(60_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try node.rowCount("redaction") == 1, "\(node.name)")
            #expect(try node.rowCount("redacted") == 1, "\(node.name)")
            #expect(try node.rowCount("absent WHERE missing = 0") == 1, "\(node.name)")
            #expect(try !node.holds(payload), "\(node.name)")
            #expect(try node.digest() == table.ada.digest())
        }
        // A gap that nobody can fill is none that is asked about.
        #expect(try table.bob.ok("node.check")["problem_count"] == 0)
    }

    @Test func `comes back to nobody, by a restart, by the mailbox or by asking`() throws {
        let (table, id) = try board()
        defer { withExtendedLifetime(table.bench) {} }
        table.bench.cut(table.bob, table.cleo)
        table.bench.cut(table.ada, table.cleo)
        try table.bob.ok("channel.delete", ["channel": "board"])
        table.bench.letPass(Self.week + 60_000)
        #expect(try secrets(id, on: table.bob) == 0)
        // Cleo has not heard of it and has the keys: nothing of that comes back to Bob.
        try table.cleo.send("three", to: "board")
        table.bench.heal(table.bob, table.cleo)
        table.bench.heal(table.ada, table.cleo)
        table.bench.advance(60_000)
        for _ in 0..<2 {
            #expect(try table.bob.workspace().sealed.documents[id] == nil)
            #expect(try secrets(id, on: table.bob) == 0)
            #expect(try table.bob.rowCount("message") == 0)
            #expect(
                try table.bob.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
            #expect(try table.bob.digest() == table.cleo.digest())
            let check = try table.bob.ok("node.check", ["repair": true])
            #expect(check["ok"] == true, "\(check.text)")
            try table.bob.restart()
            table.bench.heal(table.bob, table.cleo)
            table.bench.advance(60_000)
        }
        // Cleo has 7 days from when she heard of it.
        #expect(try secrets(id, on: table.cleo) > 0)
        table.bench.letPass(Self.week + 60_000)
        #expect(try secrets(id, on: table.cleo) == 0)
        // The name is free, and what is made under it is another channel.
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.send("anew", to: "board")
        #expect(try table.bob.log(of: "board") == ["anew"])
    }
}
