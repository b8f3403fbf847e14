import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Read markers, notification levels and settings as commands.
struct `What was read` {
    private let table: Table

    init() throws { table = try Table() }

    private typealias Table = `Private channels`.Table

    static func unread(_ node: BenchNode) throws -> [String: Int64] {
        var found: [String: Int64] = [:]
        for item in try node.ok("unread.get").items {
            found[try item.text("name")] = try item.number("unread")
        }
        return found
    }

    static func operations(_ node: BenchNode) throws -> Int64 {
        try #require(node.host).core.turn.store.operations.count
    }

    @Test func `counts what others wrote since you joined, and nothing of your own`() throws {
        try table.ada.send("before")
        let dora = try table.bench.guest("Dora", of: table.ada)
        #expect(try Self.unread(dora).isEmpty)
        try dora.send("mine")
        try table.ada.send("one")
        let second = try table.bob.send("two")
        #expect(try Self.unread(dora) == ["general": 2])
        #expect(try dora.ok("channel.get", ["channel": "general"])["unread"] == 2)
        #expect(try dora.ok("channel.list").items.first?["unread"] == 2)
        let list = try dora.ok("unread.get").items
        #expect(list[0]["mentions"] == 0)
        #expect(list[0]["last"]?["text"] == "two")
        let read = try dora.ok("read.mark", ["channel": "general"])
        #expect(read["unread"] == 0)
        #expect(read["message"] == second["id"])
        #expect(try Self.unread(dora).isEmpty)
        try table.ada.send("three")
        #expect(try Self.unread(dora) == ["general": 1])
        let status = try dora.ok("read.status").items
        #expect(status.count == 1)
        #expect(status[0]["message"] == second["id"])
        #expect(status[0]["unread"] == 1)
    }

    @Test func `goes up to one message, and never back`() throws {
        let first = try table.ada.send("one")
        let second = try table.ada.send("two")
        try table.ada.send("three")
        func mark(_ message: JSONValue?) throws -> JSONValue? {
            try table.bob.ok(
                "read.mark", ["channel": "general", "message": message ?? .null])["unread"]
        }
        #expect(try mark(second["id"]) == 1)
        #expect(try mark(first["id"]) == 1)
        #expect(try mark(nil) == 0)
        #expect(try mark(first["id"]) == 0)
        try table.bob.restart()
        #expect(try Self.unread(table.bob).isEmpty || Self.unread(table.bob) == ["general": 1])
    }

    @Test func `is refused for what is not there, and what one is not in`() throws {
        let sent = try table.ada.ok("message.send", ["channel": "@Bob", "text": "hi"])
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        let cases: [(JSONValue, NodeError.Kind)] = [
            (["channel": "nowhere"], .notFound), (["channel": "board"], .notFound),
            (["channel": "general", "message": sent["id"] ?? .null], .notFound),
            (["channel": "general", "message": "m_00000000000000000000000000"], .notFound),
            (["channel": "general", "message": "c_1"], .badRequest),
        ]
        for (arguments, kind) in cases {
            let given = try #require(arguments.objectValue)
            let failure = try table.ada.refused("read.mark", .object(given))
            #expect(failure.kind == kind, "\(arguments.text)")
        }
        #expect(try table.ada.refused("channel.mute", ["channel": "board"]).kind == .notFound)
        #expect(
            try table.ada.refused("channel.mute", ["channel": "general", "until": 5, "for_ms": 5])
                .kind == .badRequest)
        #expect(
            try table.ada.refused("channel.notify", ["channel": "general", "level": "loud"]).kind
                == .badRequest)
        #expect(
            try table.ada.refused("ui.pref.set", ["setting": "", "value": "x"]).kind == .badRequest)
        #expect(
            try table.ada.refused("ui.pref.set", ["setting": "a\u{0}", "value": "x"]).kind
                == .badRequest)
    }

    @Test func `starts with the joining of a channel, private ones too`() throws {
        try table.ada.ok("channel.create", ["name": "plans"])
        try table.ada.send("before", to: "plans")
        #expect(try Self.unread(table.bob).isEmpty)
        #expect(try table.bob.ok("channel.get", ["channel": "plans"])["unread"] == 0)
        table.bench.advance(5)
        try table.bob.ok("channel.join", ["channel": "plans"])
        #expect(try Self.unread(table.bob).isEmpty)
        try table.ada.send("after", to: "plans")
        #expect(try Self.unread(table.bob) == ["plans": 1])
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.send("before", to: "board")
        table.bench.advance(5)
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        try table.ada.send("after", to: "board")
        #expect(try Self.unread(table.bob) == ["plans": 1, "board": 1])
        // Another role in it changes nothing.
        try table.ada.ok(
            "channel.role", ["channel": "board", "member": "@Bob", "role": "admin"])
        #expect(try Self.unread(table.bob) == ["plans": 1, "board": 1])
        try table.ada.ok("message.send", ["channel": "@Bob", "text": "psst"])
        #expect(try Self.unread(table.bob) == ["plans": 1, "board": 1, "Ada": 1])
        #expect(try table.bob.ok("unread.get", ["mark_all": true]).items.isEmpty)
        #expect(try Self.unread(table.bob).isEmpty)
    }

    @Test func `is written once a minute, shown at once, and kept at the end`() throws {
        try table.ada.send("one")
        _ = try Self.unread(table.bob)
        try table.bob.ok("read.mark", ["channel": "general"])
        let written = try Self.operations(table.bob)
        let last = try table.ada.send("two")
        try table.bob.ok("read.mark", ["channel": "general"])
        #expect(try Self.operations(table.bob) == written + 1)
        #expect(try Self.unread(table.bob).isEmpty)
        table.bench.advance(61_000)
        #expect(try Self.operations(table.bob) == written + 2)
        #expect(try Self.unread(table.bob).isEmpty)
        let more = try table.ada.send("three")
        _ = try Self.unread(table.bob)
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.give(.stopping, to: table.bob)
        table.bench.settle()
        try table.bob.restart()
        #expect(try Self.unread(table.bob).isEmpty)
        let status = try table.bob.ok("read.status").items
        #expect(status[0]["message"] == more["id"])
        #expect(last["id"] != more["id"])
    }

    @Test func `is told once, to own devices alone`() throws {
        let sent = try table.ada.send("one")
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        try table.bob.ok("read.mark", ["channel": "general"])
        for node in [table.bob, phone] {
            let events = try node.events(types: ["read.changed"])
            #expect(events.count == 1)
            #expect(events.first?["data"]?["message"] == sent["id"])
            #expect(events.first?["data"]?["unread"] == 0)
            #expect(events.first?["data"]?["mentions"] == 0)
            #expect(events.first?["data"]?["channel"] == sent["channel"])
        }
        #expect(try table.ada.events(types: ["read.changed"]).isEmpty)
        #expect(try Self.unread(phone).isEmpty)
    }

    @Test func `leaves nothing to read where one is out`() throws {
        let direct = try table.ada.ok("dm.open", ["members": ["@Bob"]]).text("id")
        try table.ada.send("one", to: direct)
        try table.bob.ok("read.mark", ["channel": .string(direct)])
        try table.ada.send("two", to: direct)
        func told() throws -> JSONValue? {
            try table.bob.events(types: ["read.changed"]).last?["data"]
        }
        #expect(try told()?["unread"] == 1)
        try table.ada.ok("member.remove", ["member": "@Bob"])
        table.bench.advance(2_000)
        #expect(try told()?["unread"] == 0)
        #expect(try table.bob.ok("home.get")["unread"]?["unread"] == 0)
    }

    @Test func `reaches a device that is linked later`() throws {
        try table.ada.send("one")
        try table.bob.ok("read.mark", ["channel": "general"])
        try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        try table.bob.ok("channel.notify", ["channel": "general", "level": "mentions"])
        try table.bob.ok("channel.mute", ["channel": "@Cleo", "for_ms": 60_000])
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(2_000)
        #expect(try Self.unread(phone).isEmpty)
        #expect(try phone.ok("ui.pref.get", ["setting": "theme"])["value"] == "dark")
        #expect(try phone.ok("channel.get", ["channel": "general"])["notify"] == "mentions")
        #expect(try phone.ok("ui.pref.get", ["setting": "theme2"])["value"] == .null)
        #expect(try phone.ok("node.check")["problem_count"] == 0)
        #expect(try table.ada.ok("ui.pref.get", ["setting": "theme"])["value"] == .null)
        // No command lists the document.
        #expect(try phone.ok("channel.list", ["scope": "all"]).items.count == 1)
        #expect(try phone.ok("dm.list").items.isEmpty)
    }
}

/// Notification levels, settings, and their rows.
struct `A setting of your own` {
    private typealias Table = `Private channels`.Table

    @Test func `is set, changed and taken back`() throws {
        let table = try Table()
        #expect(try table.bob.ok("ui.pref.get", ["setting": "theme"])["value"] == .null)
        let set = try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        #expect(set["id"] == "theme")
        #expect(set["value"] == "dark")
        let count = try `What was read`.operations(table.bob)
        try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        #expect(try `What was read`.operations(table.bob) == count)
        try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        try table.bob.restart()
        #expect(try table.bob.ok("ui.pref.get", ["setting": "theme"])["value"] == "light")
        try table.bob.ok("ui.pref.set", ["setting": "theme"])
        #expect(try table.bob.ok("ui.pref.get", ["setting": "theme"])["value"] == .null)
    }

    @Test func `is listed by its name, and nothing that the program keeps beside it`() throws {
        let table = try Table()
        #expect(try table.bob.ok("ui.pref.list").items.isEmpty)
        for name in ["theme", "draft.general", "size"] {
            try table.bob.ok("ui.pref.set", ["setting": .string(name), "value": "x"])
        }
        try table.bob.ok("ui.pref.set", ["setting": "size"])
        try table.bob.ok("presence.set", ["state": "busy"])
        try table.bob.ok("profile.set", ["phone": "+49301234567"])
        let first = try table.bob.ok("ui.pref.list", ["limit": 1])
        #expect(first.items.compactMap { $0["id"] } == ["draft.general"])
        let rest = try table.bob.ok("ui.pref.list", ["cursor": first["next"] ?? .null])
        #expect(rest.items.compactMap { $0["id"] } == ["theme"])
        #expect(rest.items.first?["value"] == "x" && rest["next"]?.isNull == true)
        #expect(try table.ada.ok("ui.pref.list").items.isEmpty)
    }

    @Test func `mutes for a while, permanently, and not any more`() throws {
        let table = try Table()
        let muted = try table.bob.ok("channel.mute", ["channel": "general"])
        #expect(muted["muted"] == true)
        #expect(muted["muted_until"] == .null)
        let end = Int64(table.bench.wall) + 3_600_000
        let until = try table.bob.ok(
            "channel.mute", ["channel": "general", "until": .integer(end)])
        #expect(until["muted_until"] == .integer(end))
        table.bench.advance(3_700_000)
        #expect(try table.bob.ok("channel.get", ["channel": "general"])["muted"] == false)
        let short = try table.bob.ok("channel.mute", ["channel": "general", "for_ms": 500])
        #expect(short["muted_until"] == .integer(Int64(table.bench.wall) + 500))
        let ended = try table.bob.ok("channel.mute", ["channel": "general", "for_ms": 0])
        #expect(ended["muted"] == false)
        #expect(ended["muted_until"] == .null)
        #expect(ended["notify"] == "all")
        let quiet = try table.bob.ok(
            "channel.notify", ["channel": "@Cleo", "level": "none"])
        #expect(quiet["notify"] == "none")
        #expect(try table.ada.ok("channel.get", ["channel": "general"])["notify"] == "all")
    }

    @Test func `of two devices that began apart is one`() throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        for other in [table.ada, table.cleo, phone] { table.bench.cut(table.bob, other) }
        table.bench.cut(phone, table.ada)
        table.bench.cut(phone, table.cleo)
        try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        try table.bob.ok("ui.pref.set", ["setting": "size", "value": "12"])
        table.bench.advance(10)
        try phone.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        try phone.ok("channel.notify", ["channel": "general", "level": "none"])
        table.bench.heal(table.bob, phone)
        for node in [table.bob, phone] {
            #expect(try node.ok("ui.pref.get", ["setting": "theme"])["value"] == "light")
            #expect(try node.ok("ui.pref.get", ["setting": "size"])["value"] == "12")
            #expect(try node.ok("channel.get", ["channel": "general"])["notify"] == "none")
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        try table.bob.ok("ui.pref.set", ["setting": "size", "value": "14"])
        #expect(try phone.ok("ui.pref.get", ["setting": "size"])["value"] == "14")
        for node in [table.bob, phone] {
            let core = try #require(node.host).core
            let workspace = try #require(core.workspaces.values.first)
            #expect(workspace.ownDocuments.count == 2)
        }
        #expect(try table.bob.digest() == phone.digest())
    }

    @Test func `that a table holds wrongly is found, and put right`() throws {
        let table = try Table()
        try table.bob.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        try table.ada.send("one")
        try table.bob.ok("read.mark", ["channel": "general"])
        #expect(try table.bob.ok("node.check")["problem_count"] == 0)
        for sql in [
            "DELETE FROM self_register WHERE kind = 2", "UPDATE self_register SET key_hlc = 1",
            "INSERT INTO self_register SELECT workspace, 4, subject, hlc, id, arr, NULL, NULL "
                + "FROM self_register WHERE kind = 1",
            "UPDATE read_frontier SET count = 99", "DELETE FROM read_frontier",
        ] {
            try table.bob.damage(sql)
            #expect(try table.bob.ok("node.check")["problem_count"] != 0, "\(sql)")
            try table.bob.ok("node.check", ["repair": true])
            #expect(try table.bob.ok("node.check")["problem_count"] == 0, "\(sql)")
        }
        #expect(try table.bob.ok("ui.pref.get", ["setting": "theme"])["value"] == "dark")
        #expect(try `What was read`.unread(table.bob).isEmpty)
    }

    @Test func `is answered by nobody while the node is locked`() throws {
        let bench = CoreBench()
        let ada = try bench.bareNode("Ada")
        try ada.ok("identity.create", ["name": "Ada", "passphrase": "correct horse battery"])
        try ada.ok("workspace.create", ["name": "acme"])
        try ada.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        try ada.ok("lock.now")
        let calls: [(String, JSONValue)] = [
            ("unread.get", [:]), ("read.status", [:]), ("ui.pref.get", ["setting": "theme"]),
            ("read.mark", ["channel": "general"]), ("channel.mute", ["channel": "general"]),
        ]
        for (method, arguments) in calls {
            #expect(try ada.refused(method, arguments).kind == .locked, "\(method)")
        }
        try ada.ok("session.unlock", ["passphrase": "correct horse battery"])
        #expect(try ada.ok("ui.pref.get", ["setting": "theme"])["value"] == "dark")
    }
}

/// Settings of a stolen device with the largest timestamps, written before it was revoked.
struct `What a stolen device has set` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let desk: BenchNode
    private let stolen: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        desk = try bench.guest("Bob", of: mina)
        stolen = try bench.bareNode("Stolen")
        try desk.link(stolen)
        bench.advance(5_000)
    }

    /// Words of the stolen device, which its own program would date otherwise.
    private func set(_ registers: [OwnRegister]) throws {
        stolen.clockSkew = 30 * 365 * 86_400_000
        try stolen.inTurn { core, workspace in
            for register in registers { _ = try core.own.authorOwn(register, in: workspace) }
        }
        bench.advance(5_000)
    }

    private func general() throws -> ConversationName {
        let workspace = try desk.workspace()
        let channel = try #require(workspace.channelIndex.all.first { $0.isDefault })
        return try #require(channel.conversation)
    }

    private func expectSound() throws {
        let check = try desk.ok("node.check")
        #expect(check["problem_count"] == 0, "\(check.text)")
        desk.kill()
        try desk.rebuildStore()
        try desk.boot()
    }

    @Test func `is set again by another, and its devices are renamed`() throws {
        try desk.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        bench.advance(5_000)
        let name = try general()
        let device = try #require(desk.host?.core.session.home?.device)
        try set([
            .preference("theme", value: "dark"), .mute(name, until: nil),
            .level(name, OwnRegister.NoticeLevel.none),
        ])
        try stolen.inTurn { core, workspace in
            _ = try core.profiles.authorProfile(.device(device, name: "mine"), in: workspace)
            // What is last in a log that is ahead is cited in any case.
            let own = try #require(core.session.home?.device)
            _ = try core.profiles.authorProfile(.device(own, name: "box"), in: workspace)
        }
        bench.advance(5_000)
        #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "dark")
        let called = try desk.ok("device.list", ["member": "Bob"]).items.map { $0["name"] }
        #expect(called.contains("mine"), "\(called)")
        let id = JSONValue.string(
            PublicID.device(try #require(stolen.host?.core.session.home?.device)))
        stolen.kill()
        try desk.ok("device.revoke", ["device": id])
        bench.advance(5_000)
        try desk.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        try desk.ok("channel.mute", ["channel": "general", "for_ms": 0])
        try desk.ok("channel.notify", ["channel": "general", "level": "all"])
        try desk.ok("device.rename", ["device": .string(PublicID.device(device)), "name": "desk"])
        for step in ["at once", "built anew"] {
            #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "light", "\(step)")
            let channel = try desk.ok("channel.get", ["channel": "general"])
            #expect(channel["muted"] == false && channel["notify"] == "all", "\(step)")
            let names = try desk.ok("device.list", ["member": "Bob"]).items.map { $0["name"] }
            #expect(names.contains("desk") && !names.contains("mine"), "\(step)")
            if step == "at once" { try expectSound() }
        }
    }

    @Test func `in an own document that others have made apart, and many times`() throws {
        try set((0..<100).map { .preference("theme", value: "dark \($0)") })
        let other = PrivateRoot(
            subtype: .own, seats: [PrivateSeat(try desk.workspace().member, .owner)])
        try desk.inTurn { core, workspace in
            _ = try core.privates.authoring.makePrivate(other, in: workspace)
        }
        bench.advance(5_000)
        #expect(try desk.workspace().ownDocuments.count == 2)
        stolen.kill()
        try desk.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "light")
        try expectSound()
        #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "light")
    }

    /// A store of before knows of what was set the word that counts alone.
    @Test func `and what was set before is read again from a store of an earlier version`() throws {
        for value in ["light", "dark", "blue"] {
            try desk.ok("ui.pref.set", ["setting": "theme", "value": .string(value)])
            bench.advance(2_000)
        }
        for table in ["setting", "setting_past", "following_past"] {
            try desk.damage("DROP TABLE \(table)")
        }
        try desk.damage(EarlierStore.schema15)
        try desk.damage(BenchNode.droppingNotes)
        try desk.damage("PRAGMA user_version = 12")
        try desk.restart()
        bench.advance(60_000)
        #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "blue")
        let check = try desk.ok("node.check")
        #expect(check["problem_count"] == 0, "\(check.text)")
        try expectSound()
        #expect(try desk.ok("ui.pref.get", ["setting": "theme"])["value"] == "blue")
    }

    /// A marker that names what nobody can have read ends two hours ahead at most.
    @Test func `leaves unread what comes after a marker from the far future`() throws {
        let end = MessageKey(timestamp: HybridTimestamp(rawValue: .max >> 1), idPrefix: .max)
        try set([.read(try general(), upTo: end)])
        stolen.kill()
        // What is dated ahead is displayed ten minutes ahead at most.
        bench.advance(2 * Limits.clockLeadMillisecondsMax)
        try mina.send("news")
        bench.advance(5_000)
        #expect(try `What was read`.unread(desk)["general"] == 1)
        try expectSound()
        #expect(try `What was read`.unread(desk)["general"] == 1)
        try desk.ok("read.mark", ["channel": "general"])
        #expect(try `What was read`.unread(desk).isEmpty)
    }
}
