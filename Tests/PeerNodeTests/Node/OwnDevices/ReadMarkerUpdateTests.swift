import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Read positions sent to the person's other device while the marker is not written yet.
struct `What was read at another device` {
    private typealias Table = `Private channels`.Table

    /// Bob has a phone, and has just read, so that his next marker waits.
    private func deskTable() throws -> (Table, phone: BenchNode) {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        try table.ada.send("one")
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.advance(2_000)
        return (table, phone)
    }

    private static func unread(_ node: BenchNode) throws -> [String: Int64] {
        try `What was read`.unread(node)
    }

    private static func told(_ node: BenchNode) throws -> Int {
        try node.events(types: ["read.changed"]).count
    }

    @Test func `is read at once, and written once`() throws {
        let (table, phone) = try deskTable()
        let sent = try table.ada.send("two")
        #expect(try Self.unread(phone) == ["general": 1])
        let (stored, events) = (try `What was read`.operations(phone), try Self.told(phone))
        try table.bob.ok("read.mark", ["channel": "general"])
        #expect(try Self.unread(phone).isEmpty)
        #expect(try `What was read`.operations(phone) == stored)
        #expect(
            try phone.events(types: ["read.changed"]).last?["data"]?["message"] == sent["id"])
        #expect(try Self.told(phone) == events + 1)
        #expect(try Self.unread(table.ada).isEmpty)
        // Then Bob's marker comes, and neither writes nor tells another.
        table.bench.advance(200_000)
        #expect(try `What was read`.operations(phone) == stored + 1)
        #expect(try Self.told(phone) == events + 1)
        #expect(try Self.told(table.bob) == events + 1)
        #expect(try phone.ok("node.check")["problem_count"] == 0)
        #expect(try table.bob.digest() == phone.digest())
    }

    @Test(arguments: [false, true])
    func `is written by whichever is left`(phoneStops: Bool) throws {
        let (table, phone) = try deskTable()
        try table.ada.send("two")
        let stored = try `What was read`.operations(phone)
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bob.kill()
        table.bench.settle()
        if phoneStops {
            table.bench.give(.stopping, to: phone)
            table.bench.settle()
        } else {
            table.bench.advance(60_000)
            #expect(try `What was read`.operations(phone) == stored)
            table.bench.advance(61_000)
        }
        try phone.restart()
        #expect(try `What was read`.operations(phone) == stored + 1)
        #expect(try Self.unread(phone).isEmpty)
        table.bench.advance(200_000)
        #expect(try `What was read`.operations(phone) == stored + 1)
    }

    @Test func `is told at most once in a second, the latest`() throws {
        let (table, phone) = try deskTable()
        let events = try Self.told(phone)
        for text in ["two", "three", "four"] { try table.ada.send(text) }
        for message in try table.bob.ok("message.history", ["channel": "general"]).items.suffix(3) {
            try table.bob.ok(
                "read.mark", ["channel": "general", "message": message["id"] ?? .null])
        }
        let (told, left) = (try Self.told(phone) - events, try Self.unread(phone))
        #expect(told == 1 && left == ["general": 2], "\(told) \(left)")
        table.bench.advance(Limits.readWordMilliseconds)
        #expect(try Self.told(phone) == events + 2)
        #expect(try Self.unread(phone).isEmpty)
    }

    @Test func `is told in one order by every process`() throws {
        let (table, phone) = try deskTable()
        let ids = try (0..<7).map { number in
            try table.bob.ok("channel.create", ["name": .string("topic-\(number)")]).text("id")
        }
        var sent: [[JSONValue]] = []
        for text in ["one", "two", "three"] {
            sent.append(try ids.map { try table.ada.send(text, to: $0)["id"] ?? .null })
        }
        // The first marker of each is written, the second told, and the third has to wait a second.
        for messages in sent {
            for (id, message) in zip(ids, messages) {
                try table.bob.ok("read.mark", ["channel": .string(id), "message": message])
            }
        }
        let events = try Self.told(phone)
        table.bench.advance(Limits.readWordMilliseconds)
        let told = try phone.events(types: ["read.changed"]).dropFirst(events)
            .compactMap { $0["data"]?["message"]?.stringValue }
        let ordered = zip(ids, sent[2]).sorted { left, right in
            let names = [left, right].map { PublicID.bytes($0.0, prefix: "c_") ?? [] }
            return names[0].lexicographicallyPrecedes(names[1])
        }
        #expect(told == ordered.compactMap { $0.1.stringValue })
    }

    @Test func `does not cover what only this one had`() throws {
        let (table, phone) = try deskTable()
        table.bench.cut(table.cleo, table.bob)
        table.bench.cut(table.cleo, table.ada)
        for other in [table.bob, table.ada] { table.bench.cut(phone, other) }
        try table.cleo.send("heard by the phone alone")
        table.bench.advance(1_000)
        try table.ada.send("meanwhile")
        try table.bob.ok("read.mark", ["channel": "general"])
        #expect(try Self.unread(phone) == ["general": 1])
        table.bench.cut(table.cleo, phone)
        table.bench.heal(phone, table.bob)
        try table.ada.send("more")
        let reached = try table.bob.log().contains("heard by the phone alone")
        #expect(reached)
        table.bench.advance(200_000)
        #expect(try Self.unread(phone) == Self.unread(table.bob))
    }

    @Test func `is believed of own devices alone, for conversations that there are`() throws {
        let (table, phone) = try deskTable()
        let sent = try table.ada.send("two")
        let key = try #require(PublicID.messageKey(try sent.text("id")))
        let general = try phone.ok("channel.get", ["channel": "general"]).text("id")
        let name = try #require(
            PublicID.bytes(general, prefix: "c_").flatMap(ConversationName.init))
        let other = try #require(ConversationName([UInt8](repeating: 7, count: 16)))
        func say(_ conversation: ConversationName, from speaker: BenchNode) throws {
            let device = try #require(speaker.host?.core.session.ownDevice)
            try phone.inTurn { core, workspace in
                let link = try #require(core.links.network.links(to: device).first)
                let channel = try #require(
                    workspace.channelIndex.all.first { $0.publicID == general })
                let word = ReadMarkerUpdate(
                    conversation, upTo: key,
                    frontier: core.own.frontier(of: channel, upTo: .max, in: workspace))
                for _ in 0..<3 { try core.own.readingHeard(word, in: workspace, on: link) }
            }
        }
        let events = try Self.told(phone)
        try say(name, from: table.ada)
        try say(other, from: table.bob)
        #expect(try Self.unread(phone) == ["general": 1])
        #expect(try phone.workspace().own.readMarks.pending.isEmpty)
        try say(name, from: table.bob)
        #expect(try Self.unread(phone).isEmpty)
        #expect(try Self.told(phone) == events + 1)
    }

    @Test func `says nothing while the keys are away`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let phone = try bench.bareNode("Phone")
        try ada.link(phone)
        try ada.ok("identity.passphrase.change", ["new": "correct horse battery"])
        try ada.ok("lock.now")
        let core = try #require(ada.host).core
        #expect(core.own.nextMarker == nil)
        try core.own.tellMarkers()
        withExtendedLifetime(bench) {}
    }
}
