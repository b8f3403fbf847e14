import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The preview of a conversation in a list, and workspaces that the user is no longer in.
struct `A conversation in a list` {
    private typealias Table = `Private channels`.Table

    private static func last(_ node: BenchNode) throws -> JSONValue? {
        try node.ok("channel.get", ["channel": "general"])["last"]
    }

    @Test func `shows the newest message that was not deleted`() throws {
        let table = try Table()
        let first = try table.ada.send("first")["id"] ?? .null
        var later: [JSONValue] = []
        for number in 0..<3 { later.append(try table.ada.send("\(number)")["id"] ?? .null) }
        for id in later.reversed() {
            try table.ada.ok("message.delete", ["message": id])
        }
        #expect(try Self.last(table.ada)?["text"] == "first")
        #expect(try Self.last(table.ada)?["id"] == first)
        // Where there is nothing else, a deletion is what is shown.
        try table.ada.ok("message.delete", ["message": first])
        #expect(try Self.last(table.ada)?["text"] == .null)
        #expect(try Self.last(table.ada)?["id"] == later.last)
    }

    @Test func `looks at so many messages for it, and no further`() throws {
        let table = try Table()
        try table.ada.send("first")
        var ids: [JSONValue] = []
        for _ in 0..<Limits.previewScanMax { ids.append(try table.ada.send("x")["id"] ?? .null) }
        for id in ids.dropFirst() { try table.ada.ok("message.delete", ["message": id]) }
        #expect(try Self.last(table.ada)?["text"] == "x")
        try table.ada.ok("message.delete", ["message": ids[0]])
        #expect(try Self.last(table.ada)?["text"] == .null)
    }

    @Test func `shows a place by its label`() throws {
        let table = try Table()
        let place: JSONValue = ["lat": .decimal("52.52"), "lon": .decimal("13.405")]
        try table.ada.ok("message.send", ["channel": "general", "location": place])
        #expect(try Self.last(table.bob)?["text"] == "(location)")
        try table.ada.ok(
            "message.send",
            [
                "channel": "general", "text": " \u{200b}",
                "location": [
                    "lat": .decimal("52.52"), "lon": .decimal("13.405"), "label": "the office",
                ],
            ])
        #expect(try Self.last(table.bob)?["text"] == "(the office)")
        #expect(try table.bob.log() == ["", ""])
    }

    @Test func `has nothing unread where one is out, and stays in the home`() throws {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "plans"])
        try table.ada.ok("channel.create", ["name": "others"])
        try table.bob.ok("channel.join", ["channel": "plans"])
        table.bench.advance(1_000)
        try table.ada.send("one")
        try table.ada.send("two", to: "plans")
        #expect(try table.bob.ok("unread.get").items.count == 2)
        #expect(try table.bob.ok("home.get")["unread"]?["unread"] == 2)
        #expect(try table.bob.ok("home.get")["refused"] == 0)
        table.bench.cut(table.ada, table.bob)
        table.bench.cut(table.cleo, table.bob)
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        try table.bob.send("late")
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(try table.bob.ok("workspace.get")["role"] == .null)
        #expect(try table.bob.ok("unread.get").items == [])
        #expect(try table.bob.ok("read.status").items == [])
        let home = try table.bob.ok("home.get")
        #expect(home["unread"] == ["unread": 0, "mentions": 0])
        let channels = home["channels"]?.arrayValue ?? []
        #expect(Set(channels.compactMap { $0["name"]?.stringValue }) == ["general", "plans"])
        #expect(channels.allSatisfy { $0["unread"] == 0 && $0["joined"] == false })
        #expect(try table.bob.log(of: "plans") == ["two"])
        #expect(home["refused"] == 1)
        let note = home["workspaces"]?[0]?["note"]?.stringValue ?? ""
        #expect(note.contains("you were removed from 'acme' by Ada"))
        #expect(note.contains("wsx-node join LINK"))
    }

    @Test func `is not muted until a time that is over`() throws {
        let table = try Table()
        for until in [0, 1_577_836_800_000, Int64(table.bench.wall)] {
            let error = try table.ada.refused(
                "channel.mute", ["channel": "general", "until": .integer(until)])
            #expect(error.kind == .badRequest && error.reason == "mute.until")
            #expect(error.fields == [.init(name: "until", reason: "range")])
        }
        #expect(try table.ada.ok("channel.get", ["channel": "general"])["muted"] == false)
    }
}

/// The mentioned people, as programs see them.
struct `A message that mentions` {
    private typealias Table = `Private channels`.Table

    @Test(arguments: [
        ("@channel hi", true), ("@here hi", true), ("@everyone hi", true), ("@Bob hi", false),
        ("hi", false),
    ])
    func `everybody says so`(_ row: (text: String, isEverybody: Bool)) throws {
        let table = try Table()
        let sent = try table.ada.send(row.text)
        #expect(sent["mentions_channel"] == .bool(row.isEverybody))
        let event = try #require(try table.bob.events(types: ["message.created"]).last)
        #expect(event["data"]?["mentions_channel"] == .bool(row.isEverybody))
        let edited = try table.ada.ok(
            "message.edit", ["message": sent["id"] ?? .null, "text": "@channel"])
        #expect(edited["mentions_channel"] == true)
    }

    @Test func `one of two people with one name by the id`() throws {
        let table = try Table()
        try table.cleo.ok("profile.set", ["name": "Bob"])
        table.bench.advance(1_000)
        let bob = try table.bob.ok("member.list").items.first { $0["self"] == true }?["id"]
        let id = try #require(bob?.stringValue)
        #expect(try table.ada.send("@Bob")["mentions"]?.arrayValue?.count == 2)
        #expect(try table.ada.send("@\(id) hi")["mentions"] == [.string(id)])
        #expect(try table.bob.ok("unread.get").items.map { $0["mentions"] } == [2])
        #expect(try table.cleo.ok("unread.get").items.map { $0["mentions"] } == [1])
    }
}

struct `What a caller gets wrong` {
    private typealias Table = `Private channels`.Table

    @Test func `is a text too long, with how long it may be`() throws {
        let table = try Table()
        let long = JSONValue.string(String(repeating: "é", count: 10_000))
        let id = try table.ada.send("x")["id"] ?? .null
        for (method, given) in [
            ("message.send", ["channel": "general", "text": long]),
            ("message.edit", ["message": id, "text": long]),
        ] as [(String, JSONValue)] {
            let error = try table.ada.refused(method, given)
            #expect(error.kind == .tooLarge && error.exitStatus == 1)
            #expect(error.message == "'text' is too long: 20000 bytes, at most 16384 allowed")
            #expect(error.fields == [.init(name: "text", reason: "too_long")])
            #expect(error.details["bytes"] == 20_000 && error.details["bytes_max"] == 16_384)
        }
        // Other texts that are too long are slips in the call.
        let topic = try table.ada.refused(
            "channel.edit", ["channel": "general", "topic": long])
        #expect(topic.kind == .badRequest)
        let nul = try table.ada.refused("message.send", ["channel": "general", "text": "a\u{0}"])
        #expect(nul.hint?.contains("NUL") == true && nul.hint?.contains("file") == false)
    }

    @Test(arguments: [" ", "\n\n", "\u{200b}\u{feff}", "\u{3000}"])
    func `is a text in which nothing can be seen`(_ text: String) throws {
        let table = try Table()
        let id = try table.ada.send("x")["id"] ?? .null
        for (method, given) in [
            ("message.send", ["channel": "general", "text": .string(text)]),
            ("message.send", ["channel": "general", "text": .string(text), "format": "code"]),
            ("message.edit", ["message": id, "text": .string(text)]),
        ] as [(String, JSONValue)] {
            let error = try table.ada.refused(method, given)
            #expect(error.kind == .badRequest)
            #expect(error.fields == [.init(name: "text", reason: "empty")])
        }
        #expect(try table.ada.log() == ["x"])
    }

    @Test func `is told what the subject of why is not`() throws {
        let table = try Table()
        for (subject, reason) in [
            ("m_nope00", "message.not_found"), ("u_nope00", "member.not_found"),
            ("c_nope00", "channel.not_found"), ("nobody", "member.not_found"),
        ] {
            let error = try table.ada.refused("why", ["subject": .string(subject)])
            #expect(error.reason == reason, "\(subject)")
        }
    }

    @Test(arguments: ["two words", "👍👎", "notanemoji", "\u{200b}", " "])
    func `is a presence sign that is none`(_ emoji: String) throws {
        let table = try Table()
        let error = try table.bob.refused(
            "presence.set", ["state": "busy", "emoji": .string(emoji)])
        #expect(error.kind == .badRequest && error.fields.map(\.name) == ["emoji"])
        let heart = try table.bob.ok("presence.set", ["state": "busy", "emoji": "❤"])
        #expect(heart["emoji"] == "❤\u{fe0f}")
    }
}
