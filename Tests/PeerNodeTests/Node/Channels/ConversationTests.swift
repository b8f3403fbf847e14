import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Edits, reactions, pins, threads, mentions and places as commands.
struct `A conversation` {
    typealias Table = `Private channels`.Table

    /// A message as a node shows it.
    static func shown(_ id: JSONValue?, on node: BenchNode) throws -> JSONValue {
        try #require(try node.ok("message.get", ["ids": [id ?? .null]]).items.first)
    }

    /// Public channel, private channel and direct conversation of Ada and Bob.
    private static let places = ["general", "board", "@Bob"]

    private func table(with place: String) throws -> Table {
        let table = try Table()
        guard place == "board" else { return table }
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(5_000)
        return table
    }

    private static func operations(_ node: BenchNode) throws -> Int64 {
        try #require(node.host).core.turn.store.operations.count
    }

    // MARK: Edits

    @Test(arguments: places)
    func `shows the last text of a message everywhere`(_ place: String) throws {
        let table = try table(with: place)
        let sent = try table.ada.ok(
            "message.send", ["channel": .string(place), "text": "helo", "format": "code"])
        #expect(sent["edited_at"] == .null)
        let first = sent["version"]
        table.bench.advance(2_000)
        let edited = try table.ada.ok(
            "message.edit",
            ["message": sent["id"] ?? .null, "text": "hello", "base": first ?? .null])
        #expect(edited["text"] == "hello" && edited["format"] == "code")
        #expect(try edited.number("edited_at") > sent.number("at"))
        #expect(edited["version"] != first)
        #expect(edited["at"] == sent["at"] && edited["id"] == sent["id"])
        let again = try table.ada.ok(
            "message.edit", ["message": sent["id"] ?? .null, "text": "hello!"])
        for node in [table.ada, table.bob] {
            let found = try Self.shown(sent["id"], on: node)
            #expect(found["text"] == "hello!", "\(node.name)")
            #expect(found["version"] == again["version"])
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        #expect(try table.bob.eventTypes().filter { $0 == "message.edited" }.count == 2)
        let stale = try table.ada.refused(
            "message.edit", ["message": sent["id"] ?? .null, "text": "x", "base": first ?? .null])
        #expect(stale.kind == .conflict && stale.exitStatus == 6)
        try table.bob.restart()
        #expect(try Self.shown(sent["id"], on: table.bob)["text"] == "hello!")
        #expect(try table.bob.eventTypes().filter { $0 == "message.edited" }.count == 2)
    }

    @Test func `is not written again where it says that already`() throws {
        let table = try Table()
        let id = try table.ada.send("hello")["id"] ?? .null
        try table.bob.ok("message.react", ["message": id, "emoji": "👍"])
        try table.bob.ok("message.pin", ["message": id])
        let before = try Self.operations(table.bob)
        try table.bob.ok("message.react", ["message": id, "emoji": "👍"])
        try table.bob.ok("message.react", ["message": id, "emoji": "🎉", "remove": true])
        try table.bob.ok("message.pin", ["message": id])
        try table.ada.ok("message.edit", ["message": id, "text": "hello"])
        #expect(try Self.operations(table.bob) == before)
    }

    @Test func `is changed by nobody but its author`() throws {
        let table = try Table()
        let id = try table.ada.send("mine")["id"] ?? .null
        let refused = try table.bob.refused("message.edit", ["message": id, "text": "yours"])
        #expect(refused.kind == .forbidden && refused.reason == "message.not_author")
        #expect(refused.hint?.contains("--thread") == true)
        // Who says so all the same is not heard.
        let general = try #require(try table.bob.workspace().book.channels.values.first)
        let text = try #require(id.stringValue)
        let key = try #require(PublicID.messageKey(text))
        try table.bob.write(
            .annotation(
                .init(.edit(text: "yours", format: .text, mentions: .none), of: key)),
            to: general.id)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try Self.shown(id, on: node)["text"] == "mine")
            #expect(try !node.eventTypes().contains("message.edited"))
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
    }

    @Test(arguments: ["message.edit", "message.react", "message.pin", "message.unpin"])
    func `is refused what sending is refused`(_ method: String) throws {
        let table = try Table()
        func call(_ id: JSONValue) -> JSONValue {
            switch method {
            case "message.edit": ["message": id, "text": "new"]
            case "message.react": ["message": id, "emoji": "👍"]
            default: ["message": id]
            }
        }
        #expect(
            try table.ada.refused(method, call("m_00000000000000000000000000")).kind == .notFound)
        #expect(try table.ada.refused(method, call("c_0000000000")).kind == .badRequest)
        try table.ada.ok("channel.create", ["name": "old"])
        let sent = try table.ada.send("x", to: "old")["id"] ?? .null
        try table.ada.ok("channel.archive", ["channel": "old"])
        #expect(try table.ada.refused(method, call(sent)).kind == .archived)
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        let secret = try table.ada.send("x", to: "board")["id"] ?? .null
        #expect(try table.bob.refused(method, call(secret)).kind == .notFound)
        let own = try table.bob.send("bob's")["id"] ?? .null
        try table.ada.ok("member.remove", ["member": "Bob"])
        table.bench.advance(60_000)
        #expect(try table.bob.refused(method, call(own)).kind == .forbidden)
    }

    @Test(arguments: [
        "", " ", "a b", "\u{7}", "\u{2028}", "👍\n", "👍👎", "notanemoji", ":nosuchemoji:",
    ])
    func `takes one sign`(_ emoji: String) throws {
        let table = try Table()
        let id = try table.ada.send("hello")["id"] ?? .null
        let refused = try table.ada.refused(
            "message.react", ["message": id, "emoji": .string(emoji)])
        #expect(refused.kind == .badRequest)
        #expect(refused.fields.map(\.name) == ["emoji"])
    }

    // MARK: Reactions and pins

    @Test func `counts two spellings of one sign as one`() throws {
        let table = try Table()
        let id = try table.ada.send("hello")["id"] ?? .null
        let heart: JSONValue = "❤\u{fe0f}"
        try table.ada.ok("message.react", ["message": id, "emoji": "❤"])
        try table.bob.ok("message.react", ["message": id, "emoji": heart])
        try table.ada.ok("message.react", ["message": id, "emoji": ":heart:"])
        #expect(
            try Self.shown(id, on: table.ada)["reactions"] == [
                ["emoji": heart, "count": 2, "self": true]
            ])
        let left = try table.ada.ok(
            "message.react", ["message": id, "emoji": "❤", "remove": true])
        #expect(left["reactions"] == [["emoji": heart, "count": 1, "self": false]])
        for typed in ["thumbsup", ":+1:", "👍\u{fe0f}"] {
            try table.bob.ok("message.react", ["message": id, "emoji": .string(typed)])
        }
        let signs = try Self.shown(id, on: table.ada)["reactions"]?.arrayValue ?? []
        #expect(signs.map { $0["emoji"] } == [heart, "👍"])
        #expect(signs.map { $0["count"] } == [1, 1])
    }

    /// Another program may write a sign in its own way: the rule of operations takes it.
    @Test func `takes away a sign that was written in another spelling`() throws {
        let table = try Table()
        let id = try table.ada.send("hello")["id"] ?? .null
        let key = try #require(id.stringValue.flatMap(PublicID.messageKey))
        let document = try #require(try table.ada.workspace().channelIndex.all.first).id
        try table.ada.write(
            .annotation(MessageAnnotation(.reaction("❤", isOn: true), of: key)), to: document)
        try table.ada.ok("message.react", ["message": id, "emoji": "❤\u{fe0f}"])
        #expect(
            try Self.shown(id, on: table.ada)["reactions"] == [
                ["emoji": "❤", "count": 1, "self": true]
            ])
        let left = try table.ada.ok(
            "message.react", ["message": id, "emoji": "❤\u{fe0f}", "remove": true])
        #expect(left["reactions"] == [])
    }

    @Test(arguments: places)
    func `counts reactions, and says whose`(_ place: String) throws {
        let table = try table(with: place)
        let (ada, bob) = (table.ada, table.bob)
        let id =
            try ada.ok("message.send", ["channel": .string(place), "text": "hello"])["id"] ?? .null
        for (node, emoji) in [(ada, "👍"), (bob, "👍"), (bob, "🎉")] {
            try node.ok("message.react", ["message": id, "emoji": .string(emoji)])
            table.bench.advance(1_000)
        }
        #expect(
            try Self.shown(id, on: ada)["reactions"] == [
                ["emoji": "👍", "count": 2, "self": true],
                ["emoji": "🎉", "count": 1, "self": false],
            ])
        let left = try bob.ok(
            "message.react", ["message": id, "emoji": "👍", "remove": true])
        #expect(
            left["reactions"] == [
                ["emoji": "👍", "count": 1, "self": false],
                ["emoji": "🎉", "count": 1, "self": true],
            ])
        #expect(
            try Self.shown(id, on: ada)["reactions"] == [
                ["emoji": "👍", "count": 1, "self": true],
                ["emoji": "🎉", "count": 1, "self": false],
            ])
        let told = try ada.events(types: ["reaction.*"]).filter { $0["data"]?["self"] == false }
        #expect(
            told.compactMap { $0["type"]?.stringValue } == [
                "reaction.added", "reaction.added", "reaction.removed",
            ])
        #expect(told.compactMap { $0["data"]?["emoji"]?.stringValue } == ["👍", "🎉", "👍"])
        let data = try #require(told.first?["data"])
        #expect(data["message"] == id)
        #expect(data["member"]?["name"] == "Bob")
        #expect(data["channel"] == (try Self.shown(id, on: ada))["channel"])
        for node in [ada, bob] { #expect(try node.ok("node.check")["problem_count"] == 0) }
    }

    @Test func `takes of one person so many signs under a message`() throws {
        let table = try Table()
        let id = try table.ada.send("hello")["id"] ?? .null
        let signs = "😀😁😂😃😄😅😆😇😈😉😊😋😌😍😎😏😐😑😒😓😔😕😖😗😘😙😚😛😜😝😞😟😠"
            .map { JSONValue.string(String($0)) }
        #expect(signs.count == Limits.reactionsPerMemberMax + 1)
        for sign in signs.dropLast() {
            try table.ada.ok("message.react", ["message": id, "emoji": sign])
        }
        #expect(
            try table.ada.refused("message.react", ["message": id, "emoji": signs[32]]).kind
                == .tooMany)
        try table.ada.ok("message.react", ["message": id, "emoji": signs[1]])
        try table.ada.ok("message.react", ["message": id, "emoji": signs[1], "remove": true])
        try table.ada.ok("message.react", ["message": id, "emoji": signs[32]])
        let shown = try Self.shown(id, on: table.bob)["reactions"]?.arrayValue ?? []
        #expect(shown.count == Limits.reactionsPerMemberMax)
    }

    @Test(arguments: places)
    func `is pinned by anybody, and unpinned by anybody else`(_ place: String) throws {
        let table = try table(with: place)
        let id =
            try table.ada.ok("message.send", ["channel": .string(place), "text": "rules"])["id"]
            ?? .null
        #expect(try table.bob.ok("message.pin", ["message": id])["pinned"] == true)
        #expect(try Self.shown(id, on: table.ada)["pinned"] == true)
        #expect(try table.ada.ok("message.unpin", ["message": id])["pinned"] == false)
        #expect(try Self.shown(id, on: table.bob)["pinned"] == false)
        let told = try table.bob.eventTypes().filter { $0.hasSuffix("pinned") }
        #expect(told == ["message.pinned", "message.unpinned"])
    }

    // MARK: What comes before its message, and what ends

    @Test func `takes what is said before its message came`() throws {
        let table = try Table()
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        bench.cut(ada, cleo)
        bench.cut(bob, cleo)
        let root = try ada.send("first")["id"] ?? .null
        try ada.ok("message.edit", ["message": root, "text": "second"])
        try bob.ok("message.react", ["message": root, "emoji": "👍"])
        try bob.ok(
            "message.send", ["channel": "general", "text": "reply", "thread": root])
        bench.cut(ada, bob)
        // All of it comes from Bob, log by log.
        bench.heal(bob, cleo)
        bench.heal(ada, cleo)
        bench.advance(60_000)
        let shown = try Self.shown(root, on: cleo)
        #expect(shown["text"] == "second" && shown["replies"] == 1)
        #expect(shown["reactions"]?.arrayValue?.count == 1)
        #expect(try cleo.ok("node.check")["problem_count"] == 0)
    }

    @Test func `loses with its author what was said beyond the removal`() throws {
        let table = try Table()
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        let id = try ada.send("rules")["id"] ?? .null
        try bob.ok("message.react", ["message": id, "emoji": "👍"])
        bench.advance(5_000)
        bench.cut(ada, bob)
        bench.cut(ada, cleo)
        try bob.ok("message.pin", ["message": id])
        try bob.ok("message.react", ["message": id, "emoji": "👍", "remove": true])
        try bob.ok("message.react", ["message": id, "emoji": "👎"])
        #expect(try Self.shown(id, on: cleo)["pinned"] == true)
        let cursor = try cleo.cursor()
        try ada.ok("member.remove", ["member": "Bob", "force": true])
        bench.heal(ada, cleo)
        bench.advance(60_000)
        for node in [ada, cleo] {
            let shown = try Self.shown(id, on: node)
            #expect(shown["pinned"] == false, "\(node.name)")
            #expect(
                shown["reactions"] == [["emoji": "👍", "count": 1, "self": false]],
                "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        let told = try cleo.events(since: cursor).compactMap { $0["type"]?.stringValue }
            .filter { $0.hasPrefix("reaction") || $0.hasSuffix("pinned") }.sorted()
        #expect(told == ["message.unpinned", "reaction.added", "reaction.removed"])
        try cleo.restart()
        #expect(try Self.shown(id, on: cleo)["pinned"] == false)
        #expect(try cleo.ok("node.check")["problem_count"] == 0)
    }

    @Test func `is not won by a clock that is ten years ahead`() throws {
        let table = try Table()
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        let id = try ada.send("rules")["id"] ?? .null
        bob.clockSkew = 315_360_000_000
        try bob.ok("message.pin", ["message": id])
        try bob.ok("message.react", ["message": id, "emoji": "👍"])
        #expect(try ada.ok("message.unpin", ["message": id])["pinned"] == false)
        #expect(try Self.shown(id, on: bob)["pinned"] == false)
        bob.clockSkew = -315_360_000_000
        try bob.ok("message.react", ["message": id, "emoji": "👍", "remove": true])
        bench.advance(1_000)
        #expect(try Self.shown(id, on: ada)["reactions"] == [])
        #expect(try ada.ok("message.pin", ["message": id])["pinned"] == true)
        #expect(try Self.shown(id, on: bob)["pinned"] == true)
    }

    @Test func `is put right by a check`() throws {
        let table = try Table()
        let id = try table.ada.send("rules")["id"] ?? .null
        try table.ada.ok("message.pin", ["message": id])
        try table.ada.ok("message.edit", ["message": id, "text": "Rules"])
        try table.ada.damage("UPDATE annotation SET covered = 1")
        #expect(try Self.shown(id, on: table.ada)["pinned"] == false)
        #expect(try table.ada.ok("node.check")["problem_count"] == 2)
        #expect(try table.ada.ok("node.check", ["repair": true])["repaired"] == 2)
        #expect(try Self.shown(id, on: table.ada)["text"] == "Rules")
        try table.ada.damage("DELETE FROM annotation")
        #expect(try table.ada.ok("node.check", ["repair": true])["repaired"] == 2)
        #expect(try table.ada.ok("node.check")["problem_count"] == 0)
        #expect(try Self.shown(id, on: table.ada)["pinned"] == true)
    }

    // MARK: Mentions, places, holders

    @Test func `counts and reports what mentions you`() throws {
        let table = try Table()
        let (ada, bob, cleo) = (table.ada, table.bob, table.cleo)
        // Who answers has read what was there.
        try bob.send("@Bob to myself")
        let first = try ada.ok("message.send", ["channel": "general", "text": "hi @bob"])
        let bobs = try bob.ok("member.list").items.first { $0["name"] == "Bob" }?["id"]
        #expect(first["mentions"] == [bobs ?? .null])
        try ada.send("@channel lunch")
        try ada.ok(
            "message.send", ["channel": "general", "text": "@Bob", "format": "code"])
        try ada.ok("message.send", ["channel": "@Bob", "text": "@Bob psst"])
        func mentions(_ node: BenchNode) throws -> [String: Int64] {
            var found: [String: Int64] = [:]
            for item in try node.ok("unread.get").items {
                found[try item.text("name")] = try item.number("mentions")
            }
            return found
        }
        #expect(try mentions(bob) == ["general": 2, "Ada": 0])
        #expect(try mentions(cleo) == ["general": 1])
        #expect(try bob.ok("channel.get", ["channel": "general"])["mentions"] == 2)
        let told = try bob.events(types: ["mention.received"])
        #expect(
            told.compactMap { $0["data"]?["text"]?.stringValue } == ["hi @bob", "@channel lunch"])
        #expect(try ada.events(types: ["mention.received"]).isEmpty)
        // Of today's text.
        try ada.ok("message.edit", ["message": first["id"] ?? .null, "text": "hi @cleo"])
        #expect(try mentions(bob)["general"] == 1)
        #expect(try mentions(cleo)["general"] == 2)
        #expect(try bob.ok("node.check")["problem_count"] == 0)
        try bob.ok("read.mark", ["channel": "general"])
        #expect(try mentions(bob) == ["Ada": 0])
        let read = try #require(try bob.events(types: ["read.changed"]).last)
        #expect(read["data"]?["mentions"] == 0)
    }

    @Test func `points to a place, with a text or without`() throws {
        let table = try Table()
        let sent = try table.ada.ok(
            "message.send",
            ["channel": "general", "location": "52.5200066,-13.4"])
        #expect(sent["text"] == "")
        let full = try table.ada.ok(
            "message.send",
            [
                "channel": "general", "text": "here",
                "location": [
                    "lat": .decimal("0.5"), "lon": 180, "accuracy": 20, "label": "a pier",
                ],
            ])
        #expect(
            try Self.shown(sent["id"], on: table.bob)["location"] == [
                "lat": .decimal("52.5200066"), "lon": .decimal("-13.4"), "accuracy": .null,
                "label": .null,
            ])
        try table.ada.ok("message.edit", ["message": full["id"] ?? .null, "text": "there"])
        let edited = try Self.shown(full["id"], on: table.bob)
        #expect(edited["text"] == "there")
        #expect(
            edited["location"] == [
                "lat": .decimal("0.5"), "lon": 180, "accuracy": 20, "label": "a pier",
            ])
        // As programs write small numbers.
        let small = try table.ada.ok(
            "message.send",
            ["channel": "general", "location": ["lat": .decimal("1e-07"), "lon": .decimal("1e1")]])
        #expect(small["location"]?["lat"] == .decimal("0.0000001"))
        #expect(small["location"]?["lon"] == 10)
        let bad: [JSONValue] = [
            "91,0", "", ["lat": 1], ["lat": 1, "lon": 1, "x": 1], 5, ["lat": "1", "lon": 1],
            ["lat": 1, "lon": 1, "accuracy": -1], ["lat": 1, "lon": .decimal("1e-8")],
            ["lat": 1, "lon": .decimal("1e999")],
        ]
        for location in bad {
            let refused = try table.ada.refused(
                "message.send", ["channel": "general", "text": "x", "location": location])
            #expect(refused.kind == .badRequest, "\(location.text)")
        }
        let nothing = try table.ada.refused("message.send", ["channel": "general"])
        #expect(nothing.kind == .badRequest && nothing.fields.map(\.name) == ["text"])
    }

    @Test func `is held by those who are known to have it`() throws {
        let table = try Table()
        table.bench.cut(table.ada, table.cleo)
        table.bench.cut(table.bob, table.cleo)
        let id = try table.ada.send("hello")["id"] ?? .null
        table.bench.advance(60_000)
        let holders = try table.ada.ok("message.holders", ["message": id]).items
        #expect(
            holders.compactMap { $0["member"]?["name"]?.stringValue } == ["Ada", "Bob", "Cleo"])
        #expect(holders.map { $0["complete"] } == [true, true, false])
        #expect(holders.map { $0["verdict"] } == ["held", "held", "waiting"])
        #expect(holders.allSatisfy { $0["joined_at"]?.integerValue ?? 0 > 0 })
        // Of who is there it is known as of now, of who is away as of when they were heard.
        let heard = holders.map { $0["at"]?.integerValue ?? 0 }
        #expect(heard[0] == Int64(table.bench.wall) && heard[1] == heard[0])
        #expect(heard[2] > 0 && heard[2] <= heard[0] - 60_000)
        #expect(try table.ada.refused("message.holders", ["message": "m_000000"]).kind == .notFound)
    }
}
