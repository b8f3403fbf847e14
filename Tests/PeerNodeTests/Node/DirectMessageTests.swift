import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Direct conversations as commands.
@Suite struct `Direct conversations` {
    private typealias Table = `Private channels`.Table
    private static func texts(_ channel: String, on node: BenchNode) throws -> [String] {
        try `Private channels`.texts(channel, on: node)
    }

    @Test func `open with the first message and reach the other`() throws {
        let table = try Table()
        #expect(try Self.texts("@Cleo", on: table.bob) == [])
        #expect(try table.bob.ok("dm.list")["items"] == [])
        let sent = try table.bob.ok("message.send", ["channel": "@Cleo", "text": "psst"])
        #expect(try Self.texts("@Bob", on: table.cleo) == ["psst"])
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "what?"])
        #expect(try Self.texts("@Cleo", on: table.bob) == ["psst", "what?"])
        let list = try table.cleo.ok("dm.list")["items"]
        #expect(list?.arrayValue?.count == 1)
        #expect(list?[0]?["kind"] == "dm")
        #expect(list?[0]?["name"] == "Bob")
        #expect(list?[0]?["private"] == true)
        #expect(list?[0]?["id"] == sent["channel"])
        #expect(list?[0]?["people"]?.arrayValue?.count == 2)
        #expect(try table.ada.ok("dm.list")["items"] == [])
    }

    @Test func `are with oneself and with several`() throws {
        let table = try Table()
        try table.bob.ok("message.send", ["channel": "@Bob", "text": "note"])
        #expect(try Self.texts("@Bob", on: table.bob) == ["note"])
        let made = try table.bob.ok("dm.open", ["members": ["@Cleo", "@Ada"]])
        #expect(made["people"]?.arrayValue?.count == 3)
        #expect(made["name"] == "Ada, Cleo")
        let same = try table.ada.ok("dm.open", ["members": ["@Cleo", "@Bob"]])
        #expect(same["id"] == made["id"])
        let id = try #require(made["id"])
        try table.cleo.ok("message.send", ["channel": id, "text": "three"])
        #expect(try Self.texts(try #require(id.stringValue), on: table.ada) == ["three"])
        #expect(try table.bob.ok("dm.list")["items"]?.arrayValue?.count == 2)
    }

    @Test func `show as one when both opened them while apart`() throws {
        let table = try Table()
        table.bench.cut(table.bob, table.cleo)
        table.bench.cut(table.bob, table.ada)
        table.bench.cut(table.cleo, table.ada)
        let first = try table.bob.ok("message.send", ["channel": "@Cleo", "text": "from Bob"])
        let second = try table.cleo.ok("message.send", ["channel": "@Bob", "text": "from Cleo"])
        #expect(first["channel"] == second["channel"])
        table.bench.heal(table.bob, table.cleo)
        for node in [table.bob, table.cleo] {
            #expect(try node.ok("dm.list")["items"]?.arrayValue?.count == 1)
        }
        #expect(try Self.texts("@Cleo", on: table.bob) == ["from Bob", "from Cleo"])
        #expect(try Self.texts("@Bob", on: table.cleo) == ["from Bob", "from Cleo"])
        try table.bob.ok("message.send", ["channel": "@Cleo", "text": "one"])
        #expect(try Self.texts("@Bob", on: table.cleo) == ["from Bob", "from Cleo", "one"])
    }
}
