import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Direct conversations as commands.
struct `Direct conversations` {
    private typealias Table = `Private channels`.Table
    private static func texts(_ channel: String, on node: BenchNode) throws -> [String] {
        try `Private channels`.texts(channel, on: node)
    }

    @Test func `of several are named as they are shown, or by all of their people`() throws {
        let table = try Table()
        let made = try table.bob.ok("dm.open", ["members": ["@Cleo", "@Ada"]])
        let id = try made.text("id")
        #expect(made["name"] == "Ada, Cleo")
        for name in ["@Ada, Cleo", "@ada,  cleo", "@Cleo,@Ada", "@Ada, @Cleo", "@Cleo,Ada"] {
            let sent = try table.bob.ok("message.send", ["channel": .string(name), "text": "hi"])
            #expect(sent["channel"]?.stringValue == id, "\(name)")
        }
        func refused(_ name: String) throws -> NodeError {
            try table.bob.refused("message.send", ["channel": .string(name), "text": "hi"])
        }
        for name in ["@Cleo,", "@,", "@Cleo, Nobody", "@Cleo, Cleo"] {
            #expect(try refused(name).kind == .unknownUser, "\(name)")
        }
        // Nobody is left out without a word.
        let most = Limits.directPeopleMax
        func people(_ count: Int) -> String {
            "@" + [String](repeating: "Cleo,", count: count - 1).joined() + "Ada"
        }
        #expect(try refused(people(most + 1)).reason == "dm.people")
        let full = try table.bob.ok(
            "message.send", ["channel": .string(people(most)), "text": "hi"])
        #expect(full["channel"]?.stringValue == id)
        // Who leaves the sign out is told of it.
        #expect(try refused("Ada, Cleo").hint?.contains("@Ada, Cleo") == true)
        // It need not be there before.
        let first = try table.cleo.ok("message.send", ["channel": "@Ada,@Bob", "text": "hi"])
        #expect(first["channel"]?.stringValue == id)
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

    @Test func `are with yourself and with several people`() throws {
        let table = try Table()
        try table.bob.ok("message.send", ["channel": "@Bob", "text": "note"])
        #expect(try Self.texts("@Bob", on: table.bob) == ["note"])
        #expect(try Self.texts("@me", on: table.bob) == ["note"])
        let own = try table.bob.ok("channel.get", ["channel": "@me"])
        #expect(own["kind"] == "self" && own["name"] == "me")
        #expect(own["people"]?.arrayValue?.count == 1)
        #expect(try table.bob.ok("dm.list")["items"]?[0]?["kind"] == "self")
        #expect(try table.bob.ok("home.get")["dms"]?[0]?["name"] == "me")
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

    @Test func `page through what lies in two documents as if it were one`() throws {
        let table = try Table()
        for (left, right) in [
            (table.bob, table.cleo), (table.bob, table.ada), (table.cleo, table.ada),
        ] { table.bench.cut(left, right) }
        for number in 0..<4 {
            try table.bob.ok(
                "message.send", ["channel": "@Cleo", "text": .string("b\(number)")])
            table.bench.advance(1_000)
            try table.cleo.ok(
                "message.send", ["channel": "@Bob", "text": .string("c\(number)")])
            table.bench.advance(1_000)
        }
        table.bench.heal(table.bob, table.cleo)
        let all = ["b0", "c0", "b1", "c1", "b2", "c2", "b3", "c3"]
        for (node, name) in [(table.bob, "@Cleo"), (table.cleo, "@Bob")] {
            var found: [String] = []
            var before: JSONValue = .null
            repeat {
                var parameters: JSONObject = ["channel": .string(name), "limit": 3]
                if !before.isNull { parameters.append("before", before) }
                let page = try node.ok("message.history", .object(parameters))
                found = page.texts() + found
                before = page["older"] ?? .null
            } while !before.isNull
            #expect(found.filter { $0 != "re" } == all)
            // An answer to what the other wrote in the other document belongs to its thread.
            let root = try node.ok("message.history", ["channel": .string(name)]).items[1]
            let reply = try node.ok(
                "message.send",
                ["channel": .string(name), "text": "re", "thread": root["id"] ?? .null])
            #expect(reply["thread"] == root["id"])
        }
        #expect(try table.bob.ok("node.check")["ok"] == true)
    }

    @Test func `are listened to before anybody has written`() throws {
        let table = try Table()
        let start = try table.cleo.cursor()
        let call = table.cleo.begin(
            "events.wait",
            [
                "channels": ["@Bob"], "types": ["message.*"], "since": .string(start),
                "timeout_ms": 60_000,
            ])
        try table.ada.send("elsewhere", to: "@Cleo")
        try table.bob.send("here", to: "@Cleo")
        table.bench.advance(2_000)
        let events = try #require(try table.cleo.answer(to: call)?.get()).items
        #expect(events.map { $0["data"]?["text"] } == ["here"])
        #expect(try table.cleo.ok("channel.find", ["text": "bob"]).items.isEmpty)
    }
}
