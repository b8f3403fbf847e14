import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// The texts of a channel, oldest first; `-` for what has none.
    func shownTexts(in channel: String) throws -> [String] {
        try ok("message.history", ["channel": .string(channel), "limit": 100]).items.map {
            $0["text"]?.stringValue ?? "-"
        }
    }

    @discardableResult
    func delete(_ message: JSONValue, undo: Bool = false) throws -> JSONValue {
        try ok("message.delete", ["message": message["id"] ?? .null, "undo": .bool(undo)])
    }

    func deletionRefused(_ message: JSONValue, undo: Bool = false) throws -> NodeError {
        try refused("message.delete", ["message": message["id"] ?? .null, "undo": .bool(undo)])
    }

    /// The stored payload of a message, empty once it is erased.
    func payload(of message: JSONValue) throws -> [UInt8] {
        let core = try #require(host?.core)
        let key = try #require(message["id"]?.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try core.turn.store.view.anyMessage(key)?.row)
        return try #require(try core.turn.store.operations.operation(row.position.arrival)).entry
            .payload
    }

    func holds(_ bytes: [UInt8]) throws -> Bool {
        ByteSearch.finds(bytes, in: try image)
    }
}

struct `Your own message` {
    /// The write-ahead log has what a message said until it is emptied, and while something is
    /// written all the time the loop does that only because the host says so.
    @Test func `has the log emptied once it is erased, whatever else is written`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let message = try mina.send("a secret slip")
        let host = try #require(mina.host)
        #expect(host.emptyLog() && !host.mustEmptyLog)
        try mina.send("after")
        #expect(!host.mustEmptyLog)
        let payload = try mina.payload(of: message)
        try mina.delete(message)
        bench.advance(1)
        #expect(try !mina.holds(payload))
        #expect(host.mustEmptyLog)
        try mina.send("something else")
        #expect(host.mustEmptyLog)
        #expect(host.emptyLog() && !host.mustEmptyLog)
    }

    @Test func `is erased everywhere at once, and its place stays`() throws {
        let world = try RemovalBench()
        let (wim, bench) = (world.wim, world.bench)
        let nodes = [world.mina, world.ada, wim, world.joon]
        try world.mina.send("before")
        let message = try wim.send("a secret slip")
        let answer = try world.joon.send("what?", thread: message.text("id"))
        bench.advance(5_000)
        let payload = try wim.payload(of: message)
        let digests = try nodes.map { try $0.digest() }
        #expect(Set(digests).count == 1)
        for node in nodes { #expect(try node.holds(payload), "\(node.name)") }
        let deleted = try wim.delete(message)
        #expect(deleted["text"] == .null)
        #expect(deleted["deleted"]?["by"]?["name"] == "Wim")
        #expect(deleted["deleted"]?["at"]?.integerValue ?? 0 > 0)
        bench.advance(5_000)
        for node in nodes {
            #expect(try !node.holds(payload), "\(node.name)")
            #expect(try node.shownTexts(in: "general") == ["before", "-", "what?"], "\(node.name)")
            let shown = try node.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
            #expect(shown["text"] == .null && shown["deleted"] == deleted["deleted"])
            #expect(shown["replies"] == 1)
            let reply = try node.ok("message.get", ["ids": [answer["id"] ?? .null]]).items[0]
            #expect(reply["thread"] == message["id"])
            let event = try #require(try node.told("message.deleted").last)
            #expect(event["id"] == message["id"])
            #expect(event["by"]?["name"] == "Wim")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        let now = try nodes.map { try $0.digest() }
        #expect(Set(now).count == 1)
        // Once more changes nothing, and nobody brings it back.
        let count = try wim.rowCount("operation")
        try wim.delete(message)
        #expect(try wim.rowCount("operation") == count)
        for node in [wim, world.mina] {
            let refusal = try node.deletionRefused(message, undo: true)
            #expect(refusal.reason == "message.erased", "\(node.name)")
        }
        for node in nodes {
            try node.restart()
            bench.advance(5_000)
            #expect(try node.shownTexts(in: "general") == ["before", "-", "what?"], "\(node.name)")
        }
    }

    @Test func `is not counted as unread once it is deleted`() throws {
        let world = try RemovalBench()
        let message = try world.wim.send("one")
        try world.wim.send("two")
        world.bench.advance(5_000)
        func unread() throws -> Int64? {
            try world.mina.ok("channel.get", ["channel": "general"])["unread"]?.integerValue
        }
        #expect(try unread() == 2)
        try world.wim.delete(message)
        world.bench.advance(5_000)
        #expect(try unread() == 1)
    }

    @Test func `that a newcomer never had shows as deleted, in its thread`() throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        let root = try mina.send("root")
        let message = try wim.send("gone", thread: root.text("id"))
        try wim.send("stays")
        bench.advance(5_000)
        let payload = try wim.payload(of: message)
        try wim.delete(message)
        bench.advance(5_000)
        let newcomer = try bench.guest("Zoe", of: mina)
        bench.advance(60_000)
        #expect(try newcomer.shownTexts(in: "general") == ["root", "-", "stays"])
        let shown = try newcomer.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
        #expect(shown["thread"] == root["id"])
        #expect(shown["deleted"]?["by"]?["name"] == "Wim")
        #expect(shown["author"]?["name"] == "Wim")
        #expect(try !newcomer.holds(payload))
        #expect(try newcomer.digest() == mina.digest())
        #expect(try newcomer.ok("node.check")["problem_count"] == 0)
        #expect(try newcomer.rowCount("absent WHERE missing = 1") == 0)
    }

    @Test func `cannot be deleted in an archived channel, nor by somebody else`() throws {
        let world = try RemovalBench()
        let (mina, wim, joon) = (world.mina, world.wim, world.joon)
        try mina.ok("channel.create", ["name": "plans"])
        world.bench.advance(5_000)
        let message = try wim.send("mine", to: "plans")
        world.bench.advance(5_000)
        let refusal = try joon.deletionRefused(message)
        #expect(refusal.kind == .forbidden && refusal.reason == "message.not_yours")
        try mina.ok("channel.archive", ["channel": "plans"])
        world.bench.advance(5_000)
        #expect(try wim.deletionRefused(message).kind == .archived)
        #expect(try mina.deletionRefused(message).kind == .archived)
        let unknown = try wim.refused(
            "message.delete", ["message": .string("m_" + String(repeating: "0", count: 26))])
        #expect(unknown.kind == .notFound)
    }
}

struct `A message of somebody else` {
    private static let day: UInt64 = 24 * 3_600 * 1_000

    /// Time passes while nobody is on the network.
    private func rest(_ world: RemovalBench, for milliseconds: UInt64) throws {
        let nodes = [world.mina, world.ada, world.wim, world.joon]
        for node in nodes { try node.ok("net.suspend") }
        world.bench.advance(milliseconds)
        for node in nodes { try node.ok("net.resume") }
        world.bench.advance(5_000)
    }

    @Test func `is hidden at once and erased a day later, with a crash between`() throws {
        let world = try RemovalBench()
        let (ada, wim, bench) = (world.ada, world.wim, world.bench)
        let nodes = [world.mina, ada, wim, world.joon]
        let message = try wim.send("an insult")
        bench.advance(5_000)
        let payload = try wim.payload(of: message)
        let answer = try ada.delete(message)
        #expect(answer["deleted"]?["by"]?["name"] == "Ada")
        bench.advance(5_000)
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == ["-"], "\(node.name)")
            #expect(try node.holds(payload), "\(node.name)")
        }
        try rest(world, for: Self.day - 60_000)
        for node in nodes { #expect(try node.holds(payload), "\(node.name)") }
        try world.mina.restart()
        try rest(world, for: 120_000)
        for node in nodes {
            #expect(try !node.holds(payload), "\(node.name)")
            #expect(try node.shownTexts(in: "general") == ["-"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        #expect(try ada.deletionRefused(message, undo: true).reason == "message.erased")
    }

    @Test func `comes back when who deleted it, or somebody stronger, says so`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let nodes = [mina, ada, wim, joon]
        let first = try wim.send("first")
        let second = try wim.send("second")
        bench.advance(5_000)
        for message in [first, second] { try ada.delete(message) }
        bench.advance(5_000)
        // Neither the author nor a member, but an owner above the admin.
        for node in [wim, joon] {
            #expect(try node.deletionRefused(first, undo: true).kind == .forbidden)
        }
        let back = try ada.delete(first, undo: true)
        #expect(back["text"] == "first" && back["deleted"] == .null)
        try mina.delete(second, undo: true)
        bench.advance(5_000)
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == ["first", "second"], "\(node.name)")
            #expect(try node.told("message.restored").count == 2, "\(node.name)")
        }
        try rest(world, for: Self.day + 60_000)
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == ["first", "second"], "\(node.name)")
        }
        // What an owner deletes an admin does not bring back.
        try mina.delete(first)
        bench.advance(5_000)
        let refusal = try ada.deletionRefused(first, undo: true)
        #expect(refusal.reason == "message.deleted_by_another")
        // The author's own deletion goes further than anybody's.
        let payload = try wim.payload(of: first)
        try wim.delete(first)
        bench.advance(5_000)
        for node in nodes { #expect(try !node.holds(payload), "\(node.name)") }
    }

    @Test func `is deleted by who owns or runs its channel`() throws {
        let world = try RemovalBench()
        let (wim, joon, mina, bench) = (world.wim, world.joon, world.mina, world.bench)
        try wim.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        let messages = try ["one", "two", "three"].map { try mina.send($0, to: "plans") }
        bench.advance(5_000)
        #expect(try joon.deletionRefused(messages[0]).kind == .forbidden)
        try wim.delete(messages[0])
        try wim.ok(
            "channel.role", ["channel": "plans", "member": "@Joon", "role": "admin"])
        bench.advance(5_000)
        try joon.delete(messages[1])
        bench.advance(5_000)
        for node in [mina, world.ada, wim, joon] {
            #expect(try node.shownTexts(in: "plans") == ["-", "-", "three"], "\(node.name)")
        }
        // What was deleted by right stays deleted when the right is gone.
        try wim.ok(
            "channel.role", ["channel": "plans", "member": "@Joon", "role": "member"])
        bench.advance(5_000)
        for node in [mina, world.ada, wim, joon] {
            #expect(try node.shownTexts(in: "plans") == ["-", "-", "three"], "\(node.name)")
        }
        #expect(try joon.deletionRefused(messages[2]).kind == .forbidden)
        #expect(try wim.delete(messages[1], undo: true)["text"] == "two")
    }

    @Test func `comes back with its payload when the deletion lies beyond a cut`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let message = try wim.send("kept by Wim")
        bench.advance(5_000)
        let payload = try wim.payload(of: message)
        for far in [mina, wim] {
            for near in [ada, joon] { bench.cut(far, near) }
        }
        try ada.delete(message)
        bench.advance(5_000)
        #expect(try joon.shownTexts(in: "general") == ["-"])
        try rest(world, for: Self.day + 60_000)
        #expect(try !joon.holds(payload) && !ada.holds(payload))
        // Mina's removal knows nothing of the deletion.
        try mina.ok("member.remove", ["member": "Ada", "force": true])
        bench.heal(mina, joon)
        bench.advance(60_000)
        for node in [mina, wim, joon] {
            #expect(try node.shownTexts(in: "general") == ["kept by Wim"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        #expect(try joon.holds(payload))
        #expect(try joon.told("message.restored").count == 1)
        #expect(try joon.texts(of: "kept") == ["kept by Wim"])
        #expect(try joon.digest() == mina.digest())
    }
}

struct `A message in a private channel` {
    private static let day: UInt64 = 24 * 3_600 * 1_000

    @Test func `of your own is erased on relays, too`() throws {
        let table = try `Private channels`.Table()
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try bob.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        bench.advance(5_000)
        let message = try cleo.send("private slip", to: "board")
        let direct = try cleo.send("direct slip", to: "@Bob")
        bench.advance(5_000)
        let payloads = try [message, direct].map { try cleo.payload(of: $0) }
        for node in [ada, bob, cleo] {
            for payload in payloads { #expect(try node.holds(payload), "\(node.name)") }
        }
        try cleo.delete(message)
        try cleo.delete(direct)
        bench.advance(5_000)
        for node in [ada, bob, cleo] {
            for payload in payloads { #expect(try !node.holds(payload), "\(node.name)") }
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        for node in [bob, cleo] {
            #expect(try node.shownTexts(in: "board") == ["-"], "\(node.name)")
        }
        #expect(try bob.shownTexts(in: "@Cleo") == ["-"])
        let refusal = try bob.deletionRefused(try cleo.send("another", to: "@Bob"))
        #expect(refusal.kind == .forbidden)
    }

    @Test func `of another is deleted by its owner, and the ciphertext stays on relays`() throws {
        let table = try `Private channels`.Table()
        let (ada, bob, cleo, bench) = (table.ada, table.bob, table.cleo, table.bench)
        try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try bob.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        bench.advance(5_000)
        let message = try cleo.send("too much", to: "board")
        bench.advance(5_000)
        let payload = try cleo.payload(of: message)
        try bob.delete(message)
        bench.advance(5_000)
        for node in [bob, cleo] {
            #expect(try node.shownTexts(in: "board") == ["-"], "\(node.name)")
        }
        for node in [ada, bob, cleo] { try node.ok("net.suspend") }
        bench.advance(Self.day + 60_000)
        for node in [ada, bob, cleo] { try node.ok("net.resume") }
        bench.advance(5_000)
        for node in [bob, cleo] { #expect(try !node.holds(payload), "\(node.name)") }
        #expect(try ada.holds(payload))
        for node in [ada, bob, cleo] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        #expect(try Set([ada, bob, cleo].map { try $0.digest() }).count == 1)
    }
}

struct `A right to delete that has ended` {
    @Test func `leaves deleted what was, and gives nothing more`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let nodes = [mina, ada, wim, joon]
        let (first, second) = (try wim.send("first"), try wim.send("second"))
        bench.advance(5_000)
        try ada.delete(first)
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "@Ada", "role": "member"])
        bench.advance(5_000)
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == ["-", "second"], "\(node.name)")
        }
        #expect(try ada.deletionRefused(second).kind == .forbidden)
        // A changed program signs it all the same, under the old grant.
        try ada.forceDeletion(of: second)
        bench.advance(5_000)
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == ["-", "second"], "\(node.name)")
        }
        try mina.ok("member.remove", ["member": "Ada"])
        bench.advance(5_000)
        for node in [mina, wim, joon] {
            #expect(try node.shownTexts(in: "general") == ["-", "second"], "\(node.name)")
        }
    }
}

extension BenchNode {
    /// Signs a redaction without asking whether it has an effect.
    func forceDeletion(of message: JSONValue) throws {
        let key = try #require(message["id"]?.stringValue.flatMap(PublicID.messageKey))
        try inTurn { core, workspace in
            let row = try #require(try core.turn.store.view.message(key))
            let stored = try #require(
                try core.turn.store.operations.operation(row.position.arrival))
            let isWritten = try core.messages.redact(
                [stored.reference], .init(id: stored.reference.id, thread: row.thread),
                in: stored.log.document, isOwn: true, of: workspace)
            #expect(isWritten)
        }
    }
}
