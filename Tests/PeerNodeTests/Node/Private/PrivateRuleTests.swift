import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Forbidden operations on a private channel or a direct conversation, and their errors.
struct `What private channels refuse` {
    private typealias Table = `Private channels`.Table

    /// Bob owns the channel, Cleo is in it, Ada owns the workspace and is not.
    private func table() throws -> Table {
        let table = try Table()
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try table.bob.ok("message.send", ["channel": "@Cleo", "text": "hi"])
        table.bench.advance(2_000)
        return table
    }

    @Test(
        arguments: [
            ("channel.get", ["channel": "board"]),
            ("channel.join", ["channel": "board"]),
            ("channel.leave", ["channel": "board"]),
            ("channel.members", ["channel": "board"]),
            ("channel.add", ["channel": "board", "members": ["Ada"]]),
            ("channel.remove", ["channel": "board", "members": ["Cleo"]]),
            ("channel.edit", ["channel": "board", "topic": "x"]),
            ("channel.transfer", ["channel": "board", "member": "Ada"]),
            ("channel.role", ["channel": "board", "member": "Cleo", "role": "admin"]),
            ("channel.archive", ["channel": "board"]),
            ("channel.unarchive", ["channel": "board"]),
            ("channel.delete", ["channel": "board"]),
            ("message.send", ["channel": "board", "text": "x"]),
            ("message.history", ["channel": "board"]),
            ("why", ["subject": "#board"]),
            ("events.wait", ["channels": ["board"]]),
        ] as [(String, JSONValue)])
    func `the workspace's owner does not find what she is not in`(
        method: String, parameters: JSONValue
    ) throws {
        let table = try table()
        #expect(try table.ada.refused(method, parameters).kind == .notFound)
        withExtendedLifetime(table.bench) {}
    }

    @Test(
        arguments: [
            ("channel.add", ["channel": "board", "members": ["Ada"]], "channel.role"),
            ("channel.remove", ["channel": "board", "members": ["Bob"]], "channel.role"),
            ("channel.edit", ["channel": "board", "topic": "x"], "channel.role"),
            ("channel.transfer", ["channel": "board", "member": "Cleo"], "channel.role"),
            (
                "channel.role", ["channel": "board", "member": "Cleo", "role": "admin"],
                "channel.role"
            ),
            ("channel.archive", ["channel": "board"], "channel.role"),
            ("channel.delete", ["channel": "board"], "channel.role"),
            ("channel.leave", ["channel": "@Bob"], "channel.direct"),
            ("channel.add", ["channel": "@Bob", "members": ["Ada"]], "channel.direct"),
            ("channel.edit", ["channel": "@Bob", "topic": "x"], "channel.direct"),
            ("channel.archive", ["channel": "@Bob"], "channel.direct"),
            ("channel.delete", ["channel": "@Bob"], "channel.direct"),
        ] as [(String, JSONValue, String)])
    func `a plain member changes nothing`(
        method: String, parameters: JSONValue, reason: String
    ) throws {
        let table = try table()
        let refusal = try table.cleo.refused(method, parameters)
        #expect(refusal.kind == .forbidden)
        #expect(refusal.reason == reason)
        #expect(refusal.hint != nil)
    }

    // The store has not failed, and is the same afterwards.
    @Test func `a weaker admin is told that removing a stronger one is not allowed`() throws {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "board", "private": true])
        for name in ["Bob", "Cleo"] {
            try table.ada.ok("channel.add", ["channel": "board", "members": [.string(name)]])
            try table.ada.ok(
                "channel.role", ["channel": "board", "member": .string(name), "role": "admin"])
            table.bench.advance(5_000)
        }
        let opened = table.cleo.openCount
        let refusal = try table.cleo.refused(
            "channel.remove", ["channel": "board", "members": ["Bob"]])
        #expect(refusal.kind == .forbidden)
        #expect(refusal.reason == "channel.role")
        #expect(table.cleo.openCount == opened)
        #expect(try table.cleo.ok("channel.members", ["channel": "board"]).items.count == 3)
    }

    @Test func `an owner hands the channel on before leaving`() throws {
        let table = try table()
        let refusal = try table.bob.refused("channel.leave", ["channel": "board"])
        #expect(refusal.kind == .transferFirst)
        #expect(refusal.hint?.contains("channel transfer board") == true)
        let stranger = try table.bob.refused(
            "channel.transfer", ["channel": "board", "member": "Ada"])
        #expect(stranger.kind == .notFound)
        #expect(stranger.hint?.contains("channel add board") == true)
        let given = try table.bob.ok("channel.transfer", ["channel": "board", "member": "Cleo"])
        #expect(given["owner"]?["name"] == "Cleo")
        #expect(try table.bob.refused("channel.archive", ["channel": "board"]).kind == .forbidden)
        #expect(
            try table.bob.ok("channel.edit", ["channel": "board", "topic": "t"])["topic"] == "t")
        let left = try table.bob.ok("channel.leave", ["channel": "board"])
        #expect(left["joined"] == false)
        #expect(try table.cleo.ok("channel.get", ["channel": "board"])["members"] == 1)
        try table.cleo.ok("message.send", ["channel": "board", "text": "alone"])
        #expect(try `Private channels`.texts("board", on: table.bob) == [])
    }

    @Test func `what is private stays so, and what is public too`() throws {
        let table = try table()
        let refusal = try table.bob.refused(
            "channel.create", ["name": "x", "history": "from-join"])
        #expect(refusal.kind == .badRequest)
        #expect(refusal.reason == "channel.history")
        #expect(try table.bob.refused("channel.create", ["name": "Board"]).kind == .duplicate)
        // Somebody outside of it may use the name, and sees no difference.
        let twin = try table.ada.ok("channel.create", ["name": "board"])
        #expect(twin["name"] == "board")
        #expect(
            try `Private channels`.names(on: table.ada) == ["general", "board"])
        let names = try `Private channels`.names(on: table.cleo)
        #expect(names.count == 3)
        #expect(names[1] == "board")
        #expect(names[2].hasPrefix("board-"))
        #expect(
            try table.bob.refused("invite.create", ["channels": [.string(names[2])]]).kind
                == .forbidden)
        #expect(
            try table.cleo.refused("message.send", ["channel": "board", "text": "x"]).kind
                == .ambiguous)
    }

    @Test func `an archived one takes nothing, and a deleted one is gone`() throws {
        let table = try table()
        try table.bob.ok("channel.role", ["channel": "board", "member": "Cleo", "role": "admin"])
        #expect(try table.cleo.refused("channel.archive", ["channel": "board"]).kind == .forbidden)
        #expect(
            try table.cleo.ok("channel.edit", ["channel": "board", "name": "council"])["name"]
                == "council")
        let archived = try table.bob.ok("channel.archive", ["channel": "council"])
        #expect(archived["archived"] == true)
        let refusal = try table.cleo.refused(
            "message.send", ["channel": "council", "text": "x"])
        #expect(refusal.kind == .archived)
        #expect(
            try table.bob.refused("channel.add", ["channel": "council", "members": ["Ada"]]).kind
                == .archived)
        try table.bob.ok("channel.unarchive", ["channel": "council"])
        try table.cleo.ok("message.send", ["channel": "council", "text": "x"])
        try table.bob.ok("channel.delete", ["channel": "council"])
        #expect(try table.cleo.refused("channel.get", ["channel": "council"]).kind == .notFound)
        #expect(try `Private channels`.names(on: table.cleo) == ["general"])
        let digests = try [table.ada, table.bob, table.cleo].map { try $0.digest() }
        #expect(Set(digests).count == 1)
    }

    @Test func `events tell those who are in, and nobody else`() throws {
        let table = try table()
        try table.bob.ok("channel.edit", ["channel": "board", "topic": "t"])
        try table.bob.ok("channel.role", ["channel": "board", "member": "Cleo", "role": "admin"])
        try table.cleo.ok("message.send", ["channel": "board", "text": "m"])
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        table.bench.advance(2_000)
        let seen = try table.cleo.events().map(\.type).filter {
            $0.hasPrefix("channel") || $0.hasPrefix("message")
        }
        #expect(
            seen == [
                "channel.created", "channel.member_added", "channel.created",
                "channel.member_added", "message.created",
                "channel.edited", "channel.role_changed", "message.created",
                "channel.member_removed",
            ], "\(seen)")
        let others = try table.ada.events().map(\.type).filter { $0.hasPrefix("message") }
        #expect(others == [])
    }
}

extension BenchNode {
    fileprivate func events() throws -> [(type: String, data: JSONValue)] {
        try ok("events.wait", ["since": "all", "limit": 1_000])["items"]?.arrayValue?.map {
            ($0["type"]?.stringValue ?? "", $0["data"] ?? .null)
        } ?? []
    }
}
