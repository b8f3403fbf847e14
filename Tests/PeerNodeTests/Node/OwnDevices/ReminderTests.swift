import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Reminders: reported once by each of their person's devices.
struct `A reminder` {
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
        for node in [bob, phone] { try node.ok("notify.command", ["command": "show it"]) }
        bench.advance(5_000)
    }

    /// - Parameter minutes: from now.
    private func given(_ minutes: UInt64, _ more: JSONObject) -> JSONValue {
        var given = more
        given["at"] = .integer(Int64(bench.wall + minutes * 60_000))
        return .object(given)
    }

    private func pass(minutes: UInt64) { bench.advance(minutes * 60_000) }

    private func told(_ node: BenchNode) throws -> [JSONValue] {
        try node.events(types: ["reminder.due"])
    }

    private func texts(_ node: BenchNode) -> [String] {
        node.notices.compactMap { notice in
            notice.variables.first { $0.name == "WSX_TEXT" }?.value
        }
    }

    @Test func `is told on every own device by one event and one notice, also after a restart`()
        throws
    {
        let sent = try ada.send("call me back")
        bench.advance(2_000)
        for node in [bob, phone] { node.notices = [] }
        let made = try bob.ok("reminder.create", given(10, ["message": sent["id"] ?? .null]))
        #expect(made["state"] == "waiting" && made["preview"]?["text"] == "call me back")
        #expect(made["channel_name"] == "general" && made["message"] == sent["id"])
        pass(minutes: 9)
        for node in [bob, phone] {
            #expect(try told(node).isEmpty && node.notices.isEmpty, "\(node.name)")
            #expect(try node.ok("reminder.list").items == [made], "\(node.name)")
        }
        pass(minutes: 2)
        for round in ["at once", "after a restart"] {
            for node in [bob, phone] {
                let events = try told(node)
                #expect(events.count == 1, "\(node.name) \(round)")
                #expect(events.first?["data"]?["id"] == made["id"])
                #expect(events.first?["data"]?["state"] == "due")
                #expect(events.first?["backfill"] == false)
                #expect(texts(node) == ["call me back"], "\(node.name) \(round)")
                #expect(try node.ok("reminder.list").items.first?["state"] == "due")
            }
            #expect(try told(ada).isEmpty && ada.ok("reminder.list").items.isEmpty)
            for node in [bob, phone] where round == "at once" { try node.restart() }
            pass(minutes: 5)
        }
    }

    @Test func `says where, who and what to the command that shows it`() throws {
        let sent = try ada.send("call me back")
        bench.advance(2_000)
        bob.notices = []
        try bob.ok(
            "reminder.create", given(5, ["message": sent["id"] ?? .null, "text": "call Ada"]))
        let made = try bob.ok("reminder.create", given(6, ["channel": "general"]))
        pass(minutes: 7)
        let notice = try #require(bob.notices.first)
        let pairs = Dictionary(
            uniqueKeysWithValues: notice.variables.map { ($0.name, $0.value) })
        #expect(pairs["WSX_EVENT_TYPE"] == "reminder.due" && pairs["WSX_AUTHOR"] == "Ada")
        #expect(pairs["WSX_TEXT"] == "call Ada" && pairs["WSX_CHANNEL_NAME"] == "general")
        #expect(pairs["WSX_MESSAGE"] == sent["id"]?.stringValue)
        let other = try #require(bob.notices.last).variables
        #expect(other.first { $0.name == "WSX_AUTHOR" }?.value == "Bob")
        #expect(other.first { $0.name == "WSX_REMINDER" }?.value == made["id"]?.stringValue)
    }

    @Test func `is dropped everywhere once one device cancels it`() throws {
        let made = try bob.ok("reminder.create", given(10, ["channel": "general"]))
        pass(minutes: 2)
        let cancelled = try phone.ok("reminder.cancel", ["id": made["id"] ?? .null])
        #expect(cancelled["state"] == "cancelled")
        pass(minutes: 10)
        for node in [bob, phone] {
            #expect(try told(node).isEmpty && node.ok("reminder.list").items.isEmpty)
            let again = try node.refused("reminder.cancel", ["id": made["id"] ?? .null])
            #expect(again.kind == .notFound && again.hint == "wsx-node remind list")
        }
    }

    /// Links come up first, and then it is known that somebody has dismissed it elsewhere.
    @Test func `that was dismissed meanwhile is not told by a device that was away`() throws {
        let made = try bob.ok("reminder.create", given(10, ["channel": "general"]))
        pass(minutes: 2)
        phone.kill()
        pass(minutes: 10)
        try bob.ok("reminder.cancel", ["id": made["id"] ?? .null])
        pass(minutes: 2)
        try phone.boot()
        bench.heal(bob, phone)
        pass(minutes: 2)
        #expect(try told(bob).count == 1)
        #expect(try told(phone).isEmpty && texts(phone).isEmpty)
    }

    @Test func `that is due still is told by a device that was away`() throws {
        try bob.ok("reminder.create", given(10, ["channel": "general", "text": "notes"]))
        pass(minutes: 2)
        phone.kill()
        pass(minutes: 10)
        try phone.boot()
        pass(minutes: 2)
        #expect(try told(phone).count == 1 && texts(phone) == ["notes"])
    }

    /// A device that was linked today need not ring for last year.
    @Test func `of long ago is told as an old event and by no notice`() throws {
        try bob.ok("reminder.create", given(10, ["channel": "general", "text": "notes"]))
        pass(minutes: 2)
        phone.kill()
        bench.letPass(Limits.reminderNewsMilliseconds + 20 * 60_000)
        try phone.boot()
        pass(minutes: 2)
        let events = try told(phone)
        #expect(events.count == 1 && events.first?["backfill"] == true)
        #expect(texts(phone).isEmpty)
    }

    @Test func `lists what is due before what waits, and knows its text`() throws {
        try ada.send("hello", to: "@Bob")
        bench.advance(2_000)
        try bob.ok("reminder.create", given(30, ["channel": "general", "text": "later"]))
        try bob.ok("reminder.create", given(5, ["channel": "@Ada", "text": "soon"]))
        pass(minutes: 10)
        for node in [bob, phone] {
            let items = try node.ok("reminder.list").items
            #expect(items.map { $0["text"] } == ["soon", "later"])
            #expect(items.map { $0["state"] } == ["due", "waiting"])
            #expect(items.map { $0["channel_name"] } == ["Ada", "general"])
            #expect(items.allSatisfy { $0["preview"] == .null && $0["message"] == .null })
        }
    }

    @Test func `is refused for the past, for what is not there and beyond its bound`() throws {
        let past: JSONValue = ["channel": "general", "at": .integer(Int64(bench.wall))]
        #expect(try bob.refused("reminder.create", past).reason == "reminder.at")
        #expect(
            try bob.refused("reminder.create", given(5, ["channel": "nowhere"])).kind == .notFound)
        let missing: JSONObject = ["message": "m_00000000000000000000000000"]
        #expect(try bob.refused("reminder.create", given(5, missing)).kind == .notFound)
        let zero: JSONObject = ["channel": "general", "text": "a\u{0}"]
        #expect(try bob.refused("reminder.create", given(5, zero)).kind == .badRequest)
        let deleted = try ada.send("gone")["id"] ?? .null
        try ada.ok("message.delete", ["message": deleted])
        bench.advance(2_000)
        #expect(
            try bob.refused("reminder.create", given(5, ["message": deleted])).kind == .conflict)
        try fill(bob)
        let refused = try bob.refused("reminder.create", given(5, ["channel": "general"]))
        #expect(refused.kind == .tooMany && refused.reason == "reminder.count")
        let first = try bob.ok("reminder.list", ["limit": 1]).items.first?["id"] ?? .null
        try bob.ok("reminder.cancel", ["id": first])
        try bob.ok("reminder.create", given(5, ["channel": "general"]))
    }

    /// As many as one device may make.
    private func fill(_ node: BenchNode) throws {
        let name = try `What was read`.conversation(of: node)
        let due = bench.wall + 3_600_000
        try node.inTurn { core, workspace in
            for number in 0..<Limits.remindersMax {
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)
                _ = try core.own.authorOwn(
                    .reminder(ReminderName(bytes), Reminder(due: due, conversation: name)),
                    in: workspace)
            }
        }
    }

    @Test func `can be made whatever another device of the person has written`() throws {
        try fill(phone)
        bench.advance(30_000)
        #expect(
            try phone.refused("reminder.create", given(5, ["channel": "general"])).kind == .tooMany)
        try bob.ok("reminder.create", given(5, ["channel": "general", "text": "still"]))
        #expect(try bob.ok("reminder.list", ["limit": 1]).items.first?["text"] == "still")
    }

    @Test func `with a key is made once`() throws {
        let given = given(5, ["channel": "general", "key": "once"])
        let made = try bob.ok("reminder.create", given)
        let again = try bob.ok("reminder.create", given)
        #expect(made["replayed"] == nil && again["replayed"] == true)
        #expect(made["id"] == again["id"])
        #expect(try bob.ok("reminder.list").items.count == 1)
    }

    /// What came due while the node was locked waits for somebody who may see it.
    @Test func `is told when the node is unlocked`() throws {
        let node = try bench.sealedNode("Sealed")
        try node.ok("reminder.create", given(5, ["channel": "general", "text": "notes"]))
        try node.ok("lock.now")
        pass(minutes: 10)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        pass(minutes: 1)
        let events = try told(node)
        #expect(events.count == 1 && events.first?["data"]?["text"] == "notes")
    }

    @Test func `is not reported again from a rebuilt store`() throws {
        try bob.ok("reminder.create", given(5, ["channel": "general", "text": "told"]))
        let waiting = try bob.ok(
            "reminder.create", given(20, ["channel": "general", "text": "to come"]))
        pass(minutes: 7)
        #expect(try told(bob).count == 1)
        let check = try bob.ok("node.check")
        #expect(check["problem_count"] == 0, "\(check.text)")
        bob.kill()
        try bob.rebuildStore()
        try bob.boot()
        pass(minutes: 5)
        #expect(texts(bob) == ["told"])
        #expect(try bob.ok("reminder.list").items.map { $0["text"] } == ["told", "to come"])
        pass(minutes: 10)
        #expect(texts(bob) == ["told", "to come"])
        #expect(try told(bob).last?["data"]?["id"] == waiting["id"])
    }

    /// Whatever the words of devices that are apart arrive after.
    @Test func `that two devices speak of apart is the same on both`() throws {
        let made = try bob.ok(
            "reminder.create", given(60, ["channel": "general", "text": "first"]))
        bench.advance(5_000)
        phone.kill()
        try bob.ok("reminder.cancel", ["id": made["id"] ?? .null])
        try bob.ok("reminder.create", given(30, ["channel": "general", "text": "second"]))
        bench.advance(5_000)
        bob.kill()
        try phone.boot()
        bench.advance(5_000)
        try phone.ok("reminder.create", given(40, ["channel": "general", "text": "third"]))
        bench.advance(5_000)
        try bob.boot()
        bench.advance(60_000)
        for node in [bob, phone] {
            let items = try node.ok("reminder.list").items
            #expect(items.map { $0["text"] } == ["second", "third"], "\(node.name)")
            let check = try node.ok("node.check")
            #expect(check["problem_count"] == 0, "\(node.name): \(check.text)")
        }
    }
}

extension `What was read` {
    /// What registers call the channel that everybody is in.
    fileprivate static func conversation(of node: BenchNode) throws -> ConversationName {
        let general = try node.workspace().channelIndex.all.first { $0.isDefault }
        return try #require(general?.conversation)
    }
}
