import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Presence: sent over links, never stored, gone with the last link.
struct `Presence` {
    private let table: Table

    init() throws { table = try Table() }

    private typealias Table = `Private channels`.Table

    /// What somebody looks like to others, `nil` for somebody who is not there.
    static func state(of name: String, on node: BenchNode) throws -> String? {
        try node.ok("presence.list").items.first { $0["name"]?.stringValue == name }?["state"]?
            .stringValue
    }

    /// Opens a stream of what passes.
    static func listen(_ node: BenchNode, _ types: [String] = [], on connection: UInt64 = 7) throws
    {
        try node.ok(
            "events.subscribe",
            ["types": JSONValue(texts: types), "ephemeral": true, "since": "latest"],
            on: connection)
        _ = take(node, on: connection)
    }

    static func take(_ node: BenchNode, on connection: UInt64 = 7) -> [JSONValue] {
        (node.host?.events(for: connection, room: 1 << 20) ?? []).map(\.event.json)
    }

    @Test func `is online as soon as there is a link, and offline when the last is gone`() throws {
        #expect(try table.ada.ok("presence.list").texts("name") == ["Ada", "Bob", "Cleo"])
        #expect(try table.ada.ok("presence.list").items.first?["self"] == true)
        #expect(try Self.state(of: "Bob", on: table.ada) == "online")
        let member = try table.ada.ok("member.get", ["member": "@Bob"])
        #expect(member["presence"]?["state"] == "online")
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(10_000)
        table.bench.cut(table.ada, table.bob)
        #expect(try Self.state(of: "Bob", on: table.ada) == "online")
        table.bench.cut(table.ada, phone)
        #expect(try Self.state(of: "Bob", on: table.ada) == nil)
        #expect(try table.ada.ok("member.get", ["member": "@Bob"])["presence"] == .null)
        #expect(try Self.state(of: "Bob", on: table.cleo) == "online")
        table.bench.heal(table.ada, table.bob)
        #expect(try Self.state(of: "Bob", on: table.ada) == "online")
        phone.kill()
        table.bob.kill()
        #expect(try Self.state(of: "Bob", on: table.cleo) == nil)
    }

    @Test func `is told to everybody when it changes, and keeps its choice`() throws {
        try Self.listen(table.ada, ["presence.changed"])
        let until = Int64(table.bench.wall + 600_000)
        let set = try table.bob.ok(
            "presence.set",
            ["state": "busy", "text": "in a meeting", "emoji": "🎧", "until": .integer(until)])
        #expect(set["state"] == "busy")
        #expect(set["self"] == true)
        table.bench.advance(2_500)
        let seen = try table.ada.ok("profile.of", ["member": "@Bob"])["presence"]
        #expect(
            seen == [
                "state": "busy", "text": "in a meeting", "emoji": "🎧", "until": .integer(until),
            ])
        let events = Self.take(table.ada).filter { $0["type"] == "presence.changed" }
        #expect(events.count == 1)
        #expect(events.first?["data"]?["name"] == "Bob")
        #expect(events.first?["data"]?["state"] == "busy")
        #expect(events.first?["workspace"]?.stringValue?.hasPrefix("w_") == true)
        // Nothing of it is stored with others, nor told where nobody asked for what passes.
        #expect(try !`A profile`.knows("in a meeting", table.ada))
        #expect(try table.ada.events(types: ["presence.changed"]).isEmpty)
        let count = try `What was read`.operations(table.bob)
        try table.bob.ok(
            "presence.set",
            ["state": "busy", "text": "in a meeting", "emoji": "🎧", "until": .integer(until)])
        #expect(try `What was read`.operations(table.bob) == count)

        table.bench.cut(table.ada, table.bob)
        #expect(Self.take(table.ada).last?["data"]?["state"] == "offline")
        table.bench.heal(table.ada, table.bob)
        #expect(try Self.state(of: "Bob", on: table.ada) == "busy")
        try table.bob.restart()
        table.bench.advance(20_000)
        #expect(try Self.state(of: "Bob", on: table.bob) == "busy")
        #expect(try Self.state(of: "Bob", on: table.ada) == "busy")
        // Its time is over, without a word of anybody.
        table.bench.advance(700_000)
        #expect(try Self.state(of: "Bob", on: table.bob) == "online")
        #expect(try Self.state(of: "Bob", on: table.ada) == "online")
        #expect(
            try table.ada.ok("profile.of", ["member": "@Bob"])["presence"]?["text"] == .null)
        #expect(try `What was read`.operations(table.bob) == count)
    }

    @Test func `is one choice for all devices, and offline looks like nobody there`() throws {
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(10_000)
        try phone.ok("presence.set", ["state": "offline", "text": "hidden"])
        table.bench.advance(10_000)
        #expect(try Self.state(of: "Bob", on: table.bob) == "offline")
        #expect(try Self.state(of: "Bob", on: table.ada) == nil)
        #expect(try Self.state(of: "Bob", on: table.cleo) == nil)
        try table.bob.ok("presence.clear")
        table.bench.advance(10_000)
        for node in [table.ada, table.cleo, table.bob, phone] {
            #expect(try Self.state(of: "Bob", on: node) == "online")
        }
        // The latest choice counts, though one device has not heard of it.
        table.bench.cut(phone, table.bob)
        table.bench.cut(phone, table.cleo)
        table.bench.cut(phone, table.ada)
        try table.bob.ok("presence.set", ["state": "absent"])
        table.bench.heal(phone, table.ada)
        table.bench.advance(10_000)
        #expect(try Self.state(of: "Bob", on: table.ada) == "absent")
    }

    /// What `node` says of Bob: in the list, about the member, and in the profile.
    private func ofBob(_ node: BenchNode) throws -> [String?] {
        [
            try Self.state(of: "Bob", on: node),
            try node.ok("member.get", ["member": "@Bob"])["presence"]?["state"]?.stringValue,
            try node.ok("profile.of", ["member": "@Bob"])["presence"]?["state"]?.stringValue,
        ]
    }

    @Test func `is unknown of whom nothing was heard in this run, until it is`() throws {
        table.bench.cut(table.ada, table.bob)
        #expect(try ofBob(table.ada) == [nil, nil, nil])
        try table.ada.restart()
        table.bench.advance(20_000)
        #expect(try Self.state(of: "Cleo", on: table.ada) == "online")
        #expect(try ofBob(table.ada) == ["unknown", "unknown", "unknown"])
        // Who is there is listed first.
        #expect(try table.ada.ok("presence.list").texts("name") == ["Ada", "Cleo", "Bob"])
        try Self.listen(table.ada, ["presence.changed"])
        table.bench.heal(table.ada, table.bob)
        #expect(Self.take(table.ada).last?["data"]?["state"] == "online")
        #expect(try ofBob(table.ada) == ["online", "online", "online"])
        // The link was this run's, and has ended.
        table.bench.cut(table.ada, table.bob)
        #expect(Self.take(table.ada).last?["data"]?["state"] == "offline")
        #expect(try ofBob(table.ada) == [nil, nil, nil])
    }

    @Test func `is unknown of who writes by way of another member alone`() throws {
        table.bench.cut(table.ada, table.bob)
        #expect(try Self.state(of: "Bob", on: table.ada) == nil)
        try Self.listen(table.ada, ["presence.changed"])
        table.bench.advance(1_000)
        try table.bob.send("here")
        table.bench.advance(10_000)
        #expect(try table.ada.log() == ["here"])
        #expect(try ofBob(table.ada) == ["unknown", "unknown", "unknown"])
        #expect(Self.take(table.ada).map { $0["data"]?["state"] } == ["unknown"])
        // Nothing is forgotten of it when he comes and goes.
        table.bench.heal(table.ada, table.bob)
        table.bench.cut(table.ada, table.bob)
        #expect(try Self.state(of: "Bob", on: table.ada) == nil)
    }

    @Test func `is offline of who is gone, though what they wrote before comes later`() throws {
        table.bench.cut(table.ada, table.cleo)
        table.bench.silence(table.ada, table.bob)
        try table.bob.send("before")
        table.bench.advance(1_000)
        table.bench.cut(table.ada, table.bob)
        table.bench.heal(table.ada, table.cleo)
        table.bench.advance(10_000)
        #expect(try table.ada.log() == ["before"])
        #expect(try Self.state(of: "Bob", on: table.ada) == nil)
    }

    /// A core that is made anew after a failure is no start.
    @Test func `is offline of who was gone before a turn that was lost, and of who went with it`()
        throws
    {
        table.bench.cut(table.ada, table.bob)
        table.bench.advance(10_000)
        #expect(try ofBob(table.ada) == [nil, nil, nil])
        table.ada.plant(.commitBefore(0), .full)
        _ = try table.ada.refused("message.send", ["channel": "general", "text": "lost"])
        #expect(try ofBob(table.ada) == [nil, nil, nil])
        #expect(try Self.state(of: "Cleo", on: table.ada) == nil)
        table.bench.advance(60_000)
        #expect(try Self.state(of: "Cleo", on: table.ada) == "online")
    }

    @Test func `is offline of who is gone, though one more link of theirs had come about`() throws {
        let core = try #require(table.ada.host).core
        let workspace = try table.ada.workspace()
        let bob = try table.bob.workspace().member
        let device = try #require(table.bob.host?.core.session.ownDevice)
        let link = try #require(core.links.network.links(to: device).first)
        func shown() -> String? { core.presence.presence(of: bob, in: workspace)?.state }
        // Nothing was opened on it yet.
        let second = PeerLink(
            id: LinkID(1 << 40), session: link.session, address: link.address, attempt: nil,
            openedAt: link.openedAt)
        core.links.network.links[second.id] = second
        #expect(shown() == "online")
        core.presence.forgetPresence(on: link)
        core.links.network.links[link.id] = nil
        #expect(shown() == "unknown")
        core.presence.forgetPresence(on: second)
        core.links.network.links[second.id] = nil
        #expect(shown() == nil)
    }

    @Test func `is one for each workspace`() throws {
        try table.ada.ok("workspace.create", ["name": "other"])
        let link = try table.ada.link()
        try table.bob.join(link)
        table.bench.advance(5_000)
        try table.bob.ok("presence.set", ["state": "busy", "workspace": "other"])
        table.bench.advance(5_000)
        func state(_ workspace: String) throws -> JSONValue? {
            try table.ada.ok(
                "profile.of", ["member": "@Bob", "workspace": .string(workspace)])["presence"]?[
                    "state"]
        }
        #expect(try state("other") == "busy")
        #expect(try state("acme") == "online")
        #expect(
            try table.cleo.ok("presence.list").texts("state") == ["online", "online", "online"])
    }

    @Test func `is refused where it makes no sense`() throws {
        let rows: [(JSONObject, String)] = [
            (["state": "asleep"], "state"), (["state": "busy", "text": ""], "text"),
            (["state": "busy", "text": "  "], "text"), (["state": "busy", "text": "a\nb"], "text"),
            (["state": "busy", "emoji": "\u{1b}"], "emoji"),
            (["state": "busy", "text": .string(String(repeating: "x", count: 257))], "text"),
            (["state": "busy", "until": 5], "until"),
        ]
        for (given, field) in rows {
            let failure = try table.bob.refused("presence.set", .object(given))
            #expect(failure.kind == .badRequest)
            #expect(failure.fields.map(\.name) == [field])
        }
        #expect(try Self.state(of: "Bob", on: table.bob) == "online")
        // What a program wrote into the setting by hand is no choice.
        try table.bob.ok("ui.pref.set", ["setting": "presence", "value": "{\"state\":7}"])
        #expect(try Self.state(of: "Bob", on: table.bob) == "online")
    }

    @Test func `is told at most every two seconds, the latest`() throws {
        table.bench.advance(10_000)
        try Self.listen(table.ada)
        for number in 0..<20 {
            try table.bob.ok("presence.set", ["state": "busy", "text": .string("\(number)")])
        }
        table.bench.advance(10_000)
        let texts = Self.take(table.ada).compactMap { $0["data"]?["text"]?.stringValue }
        #expect(texts.count == 2, "\(texts)")
        #expect(texts.last == "19")
    }

    @Test func `of a peer that sends too much is dropped, and wakes nobody`() throws {
        let workspace = try #require(try table.ada.host?.core.membership.selectedWorkspace())
        let core = try #require(table.ada.host).core
        let bob = try #require(table.bob.host?.core.session.ownDevice)
        let link = try #require(core.links.network.links(to: bob).first)
        try Self.listen(table.ada)
        for number in 0..<1_000 {
            core.presence.presenceHeard(
                PresenceUpdate(.busy, text: "\(number)", chosen: UInt64(number)), in: workspace,
                on: link)
        }
        let heard = Self.take(table.ada).count
        #expect(heard > 0)
        #expect(heard <= Limits.passingWordsMax)
        let before = table.ada.host?.nextDeadline
        #expect(before.map { $0 > table.bench.time.monotonic + 1_000 } ?? true)
    }

    @Test func `is forgotten by a lock, and asked for again`() throws {
        let bench = CoreBench()
        let ada = try bench.bareNode("Ada")
        try ada.ok("identity.create", ["name": "Ada", "passphrase": "correct horse battery"])
        try ada.ok("workspace.create", ["name": "acme"])
        let bob = try bench.guest("Bob", of: ada)
        try bob.ok("presence.set", ["state": "busy", "text": "canarytext"])
        try ada.ok("presence.set", ["state": "absent"])
        bench.advance(10_000)
        #expect(try Self.state(of: "Bob", on: ada) == "busy")
        try Self.listen(ada)
        try ada.ok("lock.now")
        let core = try #require(ada.host).core
        #expect(
            core.links.network.links.values.allSatisfy { link in
                link.syncs.values.allSatisfy { $0.presence == nil }
            })
        try bob.ok("presence.set", ["state": "busy", "text": "later"])
        bench.advance(10_000)
        #expect(!Self.take(ada).contains { $0["type"] == "presence.changed" })
        #expect(try Self.state(of: "Ada", on: bob) == "absent")
        try ada.ok("session.unlock", ["passphrase": "correct horse battery"])
        bench.advance(10_000)
        #expect(try ada.ok("profile.of", ["member": "@Bob"])["presence"]?["text"] == "later")
        #expect(try Self.state(of: "Ada", on: ada) == "absent")
        #expect(try Self.state(of: "Ada", on: bob) == "absent")
    }

    @Test func `ends for a member who becomes a guest, in both directions`() throws {
        // Where a guest sees the people at all.
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        try table.ada.ok("presence.set", ["state": "busy", "text": "canarytext"])
        table.bench.advance(5_000)
        func seen(_ name: String, by node: BenchNode) throws -> JSONValue? {
            try node.ok("member.get", ["member": .string("@" + name)])["presence"]
        }
        #expect(try seen("Ada", by: table.bob)?["text"] == "canarytext")
        #expect(try seen("Bob", by: table.ada)?["state"] == "online")
        try table.ada.ok("member.role", ["member": "@Bob", "role": "guest"])
        table.bench.advance(5_000)
        #expect(try seen("Ada", by: table.bob) == .null)
        #expect(try table.bob.ok("profile.of", ["member": "@Ada"])["presence"] == .null)
        #expect(try seen("Bob", by: table.ada) == .null)
        #expect(try Self.state(of: "Bob", on: table.cleo) == nil)
        // The links stand all the while, and are good for it again.
        try table.ada.ok("presence.set", ["state": "absent", "text": "later"])
        table.bench.advance(5_000)
        #expect(try seen("Ada", by: table.bob) == .null)
        try table.ada.ok("member.role", ["member": "@Bob", "role": "member"])
        table.bench.advance(5_000)
        #expect(try seen("Ada", by: table.bob)?["text"] == "later")
        #expect(try seen("Bob", by: table.ada)?["state"] == "online")
    }

    /// Not even to a changed program, which would show what it hears.
    @Test func `is not said on the link of a guest`() throws {
        for role in ["member", "guest"] {
            let pair = try HostilePair(role: role)
            pair.takeOver()
            let visitor = try pair.visit(pair.ada)
            try pair.ada.ok("presence.set", ["state": "busy", "text": "canarytext"])
            pair.bench.advance(5_000)
            try #require(visitor.isOpen)
            let words = visitor.messages.filter { if case .presence = $0 { true } else { false } }
            #expect(words.isEmpty == (role == "guest"), "\(role)")
        }
    }

    @Test func `that a lost turn has chosen is told to nobody`() throws {
        table.bench.advance(10_000)
        try Self.listen(table.bob, ["presence.changed"])
        table.bob.plant(.commitBefore(0), .full)
        _ = try table.bob.refused("presence.set", ["state": "busy", "text": "lost"])
        let told = Self.take(table.bob)
        #expect(!told.contains { $0["data"]?["name"] == "Bob" })
        #expect(told.contains { $0["type"] == "events.dropped" })
    }

    @Test func `that nobody has fetched is dropped with the keys`() throws {
        let bench = CoreBench()
        let ada = try bench.sealedNode("Ada")
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(10_000)
        try Self.listen(ada, ["presence.changed"])
        try bob.ok("presence.set", ["state": "busy", "text": "canarytext"])
        bench.advance(10_000)
        func kept() -> [PassingEvent]? {
            ada.host?.core.events.subscriptions.subscriptions(of: 7).first?.passing
        }
        #expect(kept()?.last?.data["text"] == "canarytext")
        try ada.ok("lock.now")
        #expect(kept()?.isEmpty == true)
    }

    @Test func `nobody who listens late loses more than is counted`() throws {
        try Self.listen(table.ada, ["typing"])
        let core = try #require(table.ada.host).core
        let workspace = try #require(try core.membership.selectedWorkspace())
        for number in 0..<Limits.passingEventsMax + 5 {
            core.events.pass(.typing, ["number": .integer(Int64(number))], in: workspace)
            core.events.pass(.presenceChanged, [:], in: workspace)
        }
        let events = Self.take(table.ada)
        #expect(events.count == Limits.passingEventsMax + 1)
        #expect(events.last?["type"] == "events.dropped")
        #expect(events.last?["data"]?["count"] == 5)
        #expect(Self.take(table.ada).isEmpty)
        core.events.pass(.typing, [:], in: workspace)
        #expect(Self.take(table.ada).count == 1)
    }
}
