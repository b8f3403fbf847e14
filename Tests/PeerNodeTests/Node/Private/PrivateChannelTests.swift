import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Private channels as commands: who sees them, who may change them, and what is refused.
struct `Private channels` {
    /// Ada owns the workspace, Bob and Cleo are members.
    struct Table {
        let bench = CoreBench()
        let ada: BenchNode
        let bob: BenchNode
        let cleo: BenchNode

        init() throws {
            ada = try bench.node("Ada")
            bob = try bench.guest("Bob", of: ada)
            cleo = try bench.guest("Cleo", of: ada)
            bench.advance(5_000)
        }
    }

    static func texts(_ channel: String, on node: BenchNode) throws -> [String] {
        try node.ok("message.history", ["channel": .string(channel)])["items"]?.arrayValue?
            .compactMap { $0["text"]?.stringValue } ?? []
    }

    static func names(on node: BenchNode) throws -> [String] {
        try node.ok("channel.list", ["scope": "all"])["items"]?.arrayValue?
            .compactMap { $0["name"]?.stringValue } ?? []
    }

    @Test func `are seen by those who were added and by nobody else`() throws {
        let table = try Table()
        let made = try table.bob.ok(
            "channel.create",
            [
                "name": "board", "private": true, "history": "all", "topic": "money",
                "description": "us",
            ])
        #expect(made["private"] == true)
        #expect(made["kind"] == "channel")
        #expect(made["topic"] == "money")
        #expect(made["description"] == "us")
        #expect(made["members"] == 1)
        #expect(made["joined"] == true)
        #expect(made["owner"]?["name"] == "Bob")
        #expect(made["history"] == "all")
        try table.bob.ok("message.send", ["channel": "board", "text": "first"])
        let added = try table.bob.ok(
            "channel.add", ["channel": "board", "members": ["@Cleo"]])
        #expect(added["members"] == 2)
        #expect(try Self.names(on: table.cleo) == ["general", "board"])
        #expect(try Self.texts("board", on: table.cleo) == ["first"])
        try table.cleo.ok("message.send", ["channel": "#board", "text": "second"])
        #expect(try Self.texts("board", on: table.bob) == ["first", "second"])
        // The workspace's owner sees nothing of it.
        #expect(try Self.names(on: table.ada) == ["general"])
        let refusal = try table.ada.refused("channel.get", ["channel": "board"])
        #expect(refusal.kind == .notFound)
        let id = try #require(made["id"])
        #expect(try table.ada.refused("message.history", ["channel": id]).kind == .notFound)
        let shown = try table.cleo.ok("channel.get", ["channel": "board"])
        #expect(shown["id"] == id)
        #expect(shown["private"] == true)
    }

    // E02
    @Test func `change no role of somebody who is not in them`() throws {
        let table = try Table()
        try table.bob.ok("channel.create", ["name": "board", "private": true])
        for role in ["admin", "member"] {
            let refusal = try table.bob.refused(
                "channel.role", ["channel": "board", "member": "@Cleo", "role": .string(role)])
            #expect(refusal.reason == "channel.not_in")
        }
    }

    @Test func `take out who is removed, who reads nothing that comes later`() throws {
        let table = try Table()
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["@Cleo", "@Ada"]])
        try table.bob.ok("message.send", ["channel": "board", "text": "for all"])
        #expect(try Self.texts("board", on: table.cleo) == ["for all"])
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["@Cleo"]])
        try table.ada.ok("message.send", ["channel": "board", "text": "without her"])
        #expect(try Self.texts("board", on: table.bob) == ["for all", "without her"])
        #expect(try Self.texts("board", on: table.cleo) == ["for all"])
        #expect(try Self.names(on: table.cleo) == ["general", "board"])
        let mine = try table.cleo.ok("channel.list")["items"]?.arrayValue?.count
        #expect(mine == 1)
        let refusal = try table.cleo.refused(
            "message.send", ["channel": "board", "text": "still here"])
        #expect(refusal.kind == .forbidden)
        #expect(refusal.reason == "channel.not_in")
        // Coming back, she reads all of it.
        try table.bob.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        #expect(try Self.texts("board", on: table.cleo) == ["for all", "without her"])
        try table.cleo.ok("message.send", ["channel": "board", "text": "back"])
        #expect(try Self.texts("board", on: table.ada).last == "back")
    }
}
