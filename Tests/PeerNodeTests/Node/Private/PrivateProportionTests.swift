import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The cost of a membership operation in a long private channel, and that the fast
/// path forgets nothing.
struct `After a restart a private channel` {
    private typealias Table = `Private channels`.Table

    private func board() throws -> Table {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        for text in ["one", "two"] { try table.bob.send(text, to: "board") }
        try table.cleo.send("three", to: "board")
        table.bench.advance(5_000)
        return table
    }

    private func forgetRows(of node: BenchNode) throws {
        let document = try #require(
            try node.workspace().sealed.documents.values.first { $0.root?.subtype == .channel })
        try node.damage("DELETE FROM message WHERE did = \(document.number)")
    }

    /// Rows that are taken away behind the node's back come back where content is gone through.
    @Test func `is not gone through because somebody is let in`() throws {
        let table = try board()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.restart()
        try forgetRows(of: table.bob)
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Ada"]])
        #expect(try table.bob.log(of: "board") == [])
        try table.bob.ok("channel.role", ["channel": "board", "member": "Cleo", "role": "admin"])
        #expect(try table.bob.log(of: "board") == [])
    }

    /// Only what the removal's verdict may change is looked at: what Cleo wrote, not Bob's.
    @Test func `is gone through where a removal may have changed it`() throws {
        let table = try board()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.restart()
        try forgetRows(of: table.bob)
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        #expect(try table.bob.log(of: "board") == ["three"])
    }

    /// One who only saw a part of it since the start must not take that for the whole.
    @Test(arguments: [false, true])
    func `hides what a removal does not leave, whatever was said before`(speaks: Bool) throws {
        let table = try board()
        defer { withExtendedLifetime(table.bench) {} }
        table.bench.cut(table.bob, table.cleo)
        table.bench.cut(table.bob, table.ada)
        // Cleo writes what Bob does not know of when he removes her; Ada has no part in it.
        try table.cleo.send("unheard", to: "board")
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        #expect(try table.cleo.log(of: "board") == ["one", "two", "three", "unheard"])
        try table.cleo.restart()
        if speaks { try table.cleo.send("more", to: "board") }
        table.bench.heal(table.bob, table.cleo)
        table.bench.heal(table.bob, table.ada)
        table.bench.advance(60_000)
        #expect(try table.bob.log(of: "board") == ["one", "two", "three"])
        let check = try table.cleo.ok("node.check")
        #expect(check["ok"] == true, "\(check.text)")
        #expect(try table.bob.digest() == table.cleo.digest())
    }
}
