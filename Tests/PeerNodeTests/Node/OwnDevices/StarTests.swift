import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Starred messages: visible only to their person, on all of their devices.
struct `A star` {
    private typealias Table = `Private channels`.Table

    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let phone: BenchNode

    init() throws {
        let table = try Table()
        bench = table.bench
        ada = table.ada
        bob = table.bob
        phone = try bench.bareNode("Phone")
        try bob.link(phone)
        bench.advance(5_000)
    }

    private func star(_ message: JSONValue, on node: BenchNode) throws {
        try node.ok("message.star", ["message": message["id"] ?? .null])
        bench.advance(2_000)
    }

    private func starred(_ node: BenchNode) throws -> [String] {
        try node.ok("message.list", ["starred": true]).texts()
    }

    @Test func `is shown on every own device, and to nobody else`() throws {
        let sent = try ada.send("read this")
        let made = try bob.ok("message.star", ["message": sent["id"] ?? .null])
        #expect(made["starred_at"]?.integerValue == Int64(bench.wall))
        bench.advance(5_000)
        for node in [bob, phone] {
            #expect(try starred(node) == ["read this"], "\(node.name)")
            let log = try node.ok("message.history", ["channel": "general"])
            #expect(log.items.first?["starred_at"] == made["starred_at"], "\(node.name)")
            let event = try #require(try node.events(types: ["star.changed"]).last)
            #expect(event["data"]?["id"] == sent["id"])
            #expect(event["data"]?["channel"] == sent["channel"])
            #expect(event["data"]?["starred"] == true)
        }
        #expect(try starred(ada).isEmpty)
        #expect(try ada.ok("message.history", ["channel": "general"]).items[0]["starred_at"] == nil)
        #expect(try ada.events(types: ["star.changed"]).isEmpty)
        try phone.ok("message.unstar", ["message": sent["id"] ?? .null])
        bench.advance(5_000)
        for node in [bob, phone] {
            #expect(try starred(node).isEmpty, "\(node.name)")
            let told = try node.events(types: ["star.changed"])
            #expect(told.count == 2 && told.last?["data"]?["starred"] == false)
        }
        try bob.restart()
        #expect(try starred(bob).isEmpty)
    }

    @Test func `is written once, and the last one comes first`() throws {
        let (first, second) = (try ada.send("one"), try bob.send("two"))
        let direct = try ada.send("three", to: "@Bob")
        for message in [second, direct, first] { try star(message, on: bob) }
        #expect(try starred(bob) == ["one", "three", "two"])
        let count = try `What was read`.operations(bob)
        try star(first, on: bob)
        #expect(try `What was read`.operations(bob) == count)
        #expect(try starred(bob) == ["one", "three", "two"])
        let page = try bob.ok("message.list", ["starred": true, "limit": 2])
        #expect(page.texts() == ["one", "three"])
        let rest: JSONValue = ["starred": true, "cursor": page["next"] ?? .null]
        #expect(try bob.ok("message.list", rest).texts() == ["two"])
        bench.advance(5_000)
        #expect(try starred(phone) == ["one", "three", "two"])
    }

    @Test func `stays on a message that is deleted, and is put on none`() throws {
        let (first, second) = (try ada.send("one"), try ada.send("two"))
        try star(first, on: bob)
        for message in [first, second] {
            try ada.ok("message.delete", ["message": message["id"] ?? .null])
        }
        bench.advance(2_000)
        let items = try bob.ok("message.list", ["starred": true]).items
        #expect(items.count == 1 && items[0]["text"] == .null)
        let refused = try bob.refused("message.star", ["message": second["id"] ?? .null])
        #expect(refused.kind == .conflict && refused.reason == "message.deleted")
        let missing: JSONValue = ["message": "m_00000000000000000000000000"]
        #expect(try bob.refused("message.star", missing).kind == .notFound)
        try bob.ok("message.unstar", ["message": first["id"] ?? .null])
        #expect(try starred(bob).isEmpty)
    }

    /// Devices that are apart come to the same, and so does a store that is built anew.
    @Test func `is the same no matter which device gets it first`() throws {
        let messages = try ["one", "two", "three"].map { try ada.send($0) }
        try star(messages[0], on: bob)
        try star(messages[1], on: bob)
        phone.kill()
        try bob.ok("message.unstar", ["message": messages[0]["id"] ?? .null])
        try star(messages[2], on: bob)
        bob.kill()
        try phone.boot()
        bench.advance(60_000)
        try phone.ok("message.unstar", ["message": messages[1]["id"] ?? .null])
        bench.advance(5_000)
        try bob.boot()
        bench.advance(60_000)
        for node in [bob, phone] {
            #expect(try starred(node) == ["three"], "\(node.name)")
            let check = try node.ok("node.check")
            #expect(check["problem_count"] == 0, "\(node.name): \(check.text)")
            node.kill()
            try node.rebuildStore()
            try node.boot()
            #expect(try starred(node) == ["three"], "\(node.name)")
            bench.advance(60_000)
        }
    }

    @Test func `is one of a thousand at most`() throws {
        let (first, second) = (try ada.send("one"), try ada.send("two"))
        try star(first, on: bob)
        try bob.inTurn { core, workspace in
            for number in 1..<UInt64(Limits.starsMax) {
                let key = MessageKey(timestamp: HybridTimestamp(rawValue: number), idPrefix: 1)
                _ = try core.own.authorOwn(.star(key, isOn: true), in: workspace)
            }
        }
        let refused = try bob.refused("message.star", ["message": second["id"] ?? .null])
        #expect(refused.kind == .tooMany && refused.reason == "message.stars")
        // What is starred already is so still, and makes room.
        try bob.ok("message.star", ["message": first["id"] ?? .null])
        #expect(try starred(bob) == ["one"])
        try bob.ok("message.unstar", ["message": first["id"] ?? .null])
        try bob.ok("message.star", ["message": second["id"] ?? .null])
        #expect(try starred(bob) == ["two"])
    }

    /// A program of before passes over what it does not know; the next one takes it up.
    @Test func `is found in the store of a program that knew no stars`() throws {
        let sent = try ada.send("read this")
        try star(sent, on: bob)
        for statement in [
            "DELETE FROM self_register WHERE kind > 4", "DELETE FROM setting WHERE kind > 4",
            "DELETE FROM meta WHERE name LIKE 'own.kinds.%'",
        ] { try bob.damage(statement) }
        try bob.restart()
        bench.advance(60_000)
        #expect(try starred(bob) == ["read this"])
        let check = try bob.ok("node.check")
        #expect(check["problem_count"] == 0, "\(check.text)")
    }

    /// It only counts in an own document.
    @Test func `means nothing in a channel`() throws {
        let sent = try ada.send("read this")
        let key = try #require(PublicID.messageKey(try sent.text("id")))
        try ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        bench.advance(5_000)
        for channel in try ada.workspace().channelIndex.all where !channel.isDirect {
            for node in [ada, bob] {
                try node.write(.own(.star(key, isOn: true)), to: channel.id)
                bench.advance(5_000)
            }
        }
        for node in [ada, bob, phone] { #expect(try starred(node).isEmpty, "\(node.name)") }
    }
}
