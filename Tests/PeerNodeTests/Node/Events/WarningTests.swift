import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// An event reader's warning about events that it gave up.
struct `A warning of a bot` {
    @Test func `is told to everybody who listens, with its name and its place`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.send("x")
        let cursor = try mina.cursor()
        let since = cursor
        let reader = try mina.ok(
            "events.ack",
            ["name": "canarybot", "cursor": .string(cursor), "warning": "canaryreason"])
        #expect(reader["cursor"] == .string(cursor))
        let warnings = try mina.events(since: since, types: ["node.warning"])
        #expect(warnings.count == 1)
        #expect(
            warnings.first?["data"] == [
                "kind": "bot.failed", "message": "canaryreason", "name": "canarybot",
                "cursor": .string(cursor),
            ])
        // Names and sentences lie sealed.
        let image = String(decoding: try mina.image, as: UTF8.self)
        #expect(!image.contains("canarybot") && !image.contains("canaryreason"))
        try mina.restart()
        #expect(try mina.events(types: ["node.warning"]).count == 1)
    }

    @Test func `of an earlier build has its kind too`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let core = try #require(mina.host).core
        try core.warn(["reason": "bot.failed", "message": "old"])
        try core.turn.store.commit()
        #expect(
            try mina.events(types: ["node.warning"]).first?["data"]
                == ["kind": "bot.failed", "message": "old"])
    }

    @Test func `is none where nothing was given up, and is no longer than it may be`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let cursor = JSONValue.string(try mina.cursor())
        try mina.ok("events.ack", ["name": "bot", "cursor": cursor])
        #expect(try mina.events(types: ["node.warning"]).isEmpty)
        let long = String(repeating: "x", count: Limits.warningBytesMax + 1)
        for text in [long, ""] {
            let error = try mina.refused(
                "events.ack", ["name": "bot", "cursor": cursor, "warning": .string(text)])
            #expect(error.kind == .badRequest)
        }
        #expect(try mina.events(types: ["node.warning"]).isEmpty)
    }

    @Test func `can be told before there is an identity`() throws {
        let bench = CoreBench()
        let bare = try bench.bareNode("Bare")
        let cursor = JSONValue.string(try bare.cursor())
        try bare.ok("events.ack", ["name": "bot", "cursor": cursor, "warning": "w"])
        #expect(try bare.events(types: ["node.warning"]).first?["data"]?["message"] == "w")
        try bare.ok("identity.create", ["name": "Mina"])
        // A new identity counts its events anew; what is still listed can still be read.
        for event in try bare.events(types: ["node.warning"]) {
            #expect(event["data"]?["message"] == "w")
        }
    }
}

/// The bot flag of messages.
struct `A message of a program` {
    @Test func `is marked on every node, and stays so when it is edited`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sent = try mina.ok(
            "message.send", ["channel": "general", "text": "42 passed", "bot": true])
        #expect(sent["bot"] == true)
        let event = try joon.events(types: ["message.created"]).last
        #expect(event?["data"]?["bot"] == true)
        try mina.ok("message.edit", ["message": sent["id"] ?? .null, "text": "43 passed"])
        let shown = try joon.ok("message.get", ["ids": [sent["id"] ?? .null]]).items.first
        #expect(shown?["bot"] == true && shown?["text"] == "43 passed")
        #expect(try mina.send("by hand")["bot"] == false)
        #expect(try joon.ok("message.history", ["channel": "general"]).items.last?["bot"] == false)
    }

    @Test func `is part of what its key repeats`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let given: JSONValue = ["channel": "general", "text": "x", "key": "k", "bot": true]
        let first = try mina.ok("message.send", given)
        #expect(try mina.ok("message.send", given)["id"] == first["id"])
        let other = try mina.refused(
            "message.send", ["channel": "general", "text": "x", "key": "k"])
        #expect(other.kind == .keyReused)
    }
}
