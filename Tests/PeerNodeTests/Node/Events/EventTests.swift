import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Events` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `have cursors of epoch and number`() throws {
        let events = try mina.events()
        var epochs: Set<Substring> = []
        for (place, event) in events.enumerated() {
            let parts = try event.text("cursor").split(separator: ".")
            #expect(parts.count == 2)
            #expect(parts[0].first == "e")
            #expect(Int64(parts[1]) == (try event.number("seq")))
            #expect(try event.number("seq") == Int64(place + 1))
            #expect(try event.number("at") == Int64(bench.wall))
            epochs.insert(parts[0])
        }
        #expect(epochs.count == 1)
        #expect(try mina.cursor() == events.last?.text("cursor"))
    }

    @Test func `tell what a workspace is founded of`() throws {
        let types = try mina.eventTypes()
        #expect(types.filter { $0 == "workspace.created" }.count == 1)
        #expect(types.filter { $0 == "channel.created" }.count == 1)
        #expect(types.filter { $0 == "channel.edited" }.isEmpty)
        #expect(types.filter { $0 == "channel.member_added" }.count == 1)
    }

    /// Every event type with the call that shows its object.
    @Test func `carry the object as a call would show it`() throws {
        let start = try mina.cursor()
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        let invite = try mina.ok("invite.create").text("id")
        try mina.ok("invite.revoke", ["id": .string(invite)])
        let sent = try mina.send("hello").text("id")
        var seen: Set<String> = []
        for event in try mina.events(since: start) {
            let type = try event.text("type")
            let data = try #require(event["data"])
            seen.insert(type)
            let id = data["id"] ?? .null
            switch type {
            case "message.created":
                #expect(data == (try mina.ok("message.get", ["ids": [id]]).items.first))
                #expect(id == .string(sent))
            case "channel.created":
                #expect(data == (try mina.ok("channel.get", ["channel": id])))
            case "invite.created", "invite.used", "invite.revoked":
                #expect(
                    data == (try mina.ok("invite.list").items.first { $0["id"] == id }))
            case "member.joined":
                #expect(data == (try mina.ok("member.list").items.first { $0["id"] == id }))
            case "channel.member_added":
                #expect(data.fieldNames == ["channel", "member", "role"])
            case "peer.connected", "sync.caught_up":
                #expect(data == (try mina.ok("peer.list").items.first { $0["id"] == id }))
            default: Issue.record("an event of type \(type)")
            }
        }
        for type in [
            "message.created", "channel.created", "invite.created", "invite.used",
            "invite.revoked", "member.joined", "channel.member_added", "peer.connected",
        ] { #expect(seen.contains(type), "no \(type)") }
    }

    @Test func `say who made a message`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let starts = [try mina.cursor(), try joon.cursor()]
        try mina.send("from Mina")
        try joon.send("from Joon")
        for (node, start, own) in [(mina, starts[0], 0), (joon, starts[1], 1)] {
            let events = try node.events(since: start, types: ["message.created"])
            #expect(events.count == 2)
            for (place, event) in events.enumerated() {
                #expect(event["data"]?["self"] == .bool(place == own))
                #expect(event["data"]?["bot"] == false)
                #expect(event["backfill"] == false)
            }
        }
    }

    @Test func `mark what came with the first sync`() throws {
        try mina.ok("channel.create", ["name": "plans"])
        for number in 0..<40 {
            try mina.send("old \(number)", to: number.isMultiple(of: 2) ? "general" : "plans")
        }
        let joon = try bench.guest("Joon", of: mina)
        let live = try joon.cursor()
        try mina.send("new")
        let before = try joon.events(types: ["message.*"])
        #expect(before.count == 41)
        #expect(before.filter { $0["backfill"] == true }.count == 40)
        #expect(try joon.events(since: live).map { $0["backfill"] } == [false])
        // What happened while one was away is no backfill: bots have to answer it.
        bench.cut(mina, joon)
        let away = try joon.cursor()
        try mina.send("meanwhile")
        bench.heal(mina, joon)
        let missed = try joon.events(since: away, types: ["message.created"])
        #expect(missed.map { $0["backfill"] } == [false])
        #expect(try mina.events().allSatisfy { $0["backfill"] == false })
    }

    @Test func `are told once, however often an operation comes`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        try mina.send("one")
        for _ in 0..<3 {
            bench.cut(mina, joon)
            bench.cut(joon, kim)
            bench.heal(mina, joon)
            bench.heal(joon, kim)
        }
        for node in [mina, joon, kim] {
            #expect(try node.events(types: ["message.created"]).count == 1)
        }
    }

    // MARK: Where to start

    @Test func `start where they are asked to`() throws {
        let founded = try mina.events().count
        try mina.send("1")
        bench.advance(600_000)
        try mina.send("2")
        bench.advance(60_000)
        try mina.send("3")
        let all = try mina.events()
        #expect(all.count == founded + 3)
        let rows: [(String, Int)] = [
            ("all", founded + 3), ("latest", 0), ("30s", 1), ("2m", 2), ("1h", founded + 3),
            (try all[founded].text("cursor"), 2), (try all[founded + 2].text("cursor"), 0),
        ]
        for (since, count) in rows {
            #expect(try mina.events(since: since).count == count, "since \(since)")
        }
    }

    @Test func `are paged, and continue`() throws {
        for number in 0..<20 { try mina.send("\(number)") }
        let all = try mina.events().map { try $0.number("seq") }
        for limit in [Int64(1), 3, 7, 100] {
            var found: [Int64] = []
            var since = "all"
            while true {
                let page = try mina.ok(
                    "events.wait", ["since": .string(since), "limit": .integer(limit)])
                since = try page.text("next")
                guard !page.items.isEmpty else { break }
                #expect(page.items.count <= limit)
                found += try page.items.map { try $0.number("seq") }
            }
            #expect(found == all)
        }
    }

    @Test(
        arguments: [
            (["message.created"], ["message.created"]),
            (["message.*"], ["message.created"]),
            (["*.created"], ["channel.created", "message.created", "workspace.created"]),
            (["*"], nil), ([], nil), (["device.*"], []), (["message.deleted"], []),
            (["channel.member*", "message.*"], ["channel.member_added", "message.created"]),
            (["*a*.c*d"], ["channel.created", "message.created", "workspace.created"]),
        ] as [([String], [String]?)])
    func `are chosen by type`(_ globs: [String], _ expected: [String]?) throws {
        try mina.send("x")
        let found = Set(
            try mina.events(types: globs).compactMap { $0["type"]?.stringValue }
        ).sorted()
        let all = Set(try mina.eventTypes()).sorted()
        #expect(found == expected ?? all)
    }

    @Test func `are those of one workspace when it is named, and of all otherwise`() throws {
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("workspace.create", ["name": "lab"])
        let (acme, lab) = (
            try mina.ok("workspace.get", ["workspace": "acme"]).text("id"),
            try mina.ok("workspace.get", ["workspace": "lab"]).text("id")
        )
        try mina.ok("message.send", ["workspace": "acme", "channel": "general", "text": "a"])
        try mina.ok("message.send", ["workspace": "lab", "channel": "general", "text": "b"])
        func workspaces(_ name: JSONValue) throws -> Set<String?> {
            let page = try mina.ok(
                "events.wait", ["since": "all", "limit": 1_000, "workspace": name])
            return Set(page.items.map { $0["workspace"]?.stringValue })
        }
        // Links to peers are of no workspace.
        #expect(try workspaces(.null) == [acme, lab, nil])
        #expect(try workspaces("acme") == [acme, nil])
        #expect(try workspaces(.string(lab)) == [lab, nil])
        for method in ["events.wait", "events.subscribe"] {
            let error = try mina.refused(method, ["workspace": "nowhere"])
            #expect(error.kind == .notFound && error.fields.first?.name == "workspace")
        }
        // What passes, too.
        for (place, name) in ["lab", "acme"].enumerated() {
            try mina.ok(
                "events.subscribe",
                ["workspace": .string(name), "ephemeral": true, "types": ["typing"]],
                on: UInt64(20 + place))
        }
        try joon.ok("typing.send", ["channel": "general"])
        #expect(stream(mina, on: 20).isEmpty)
        #expect(stream(mina, on: 21).map { $0["type"] } == ["typing"])
    }

    @Test func `are chosen by channel`() throws {
        try mina.ok("channel.create", ["name": "plans"])
        try mina.send("a")
        try mina.send("b", to: "plans")
        let plans = try mina.ok("events.wait", ["since": "all", "channels": ["#Plans"]]).items
        #expect(
            plans.compactMap { $0["type"]?.stringValue }
                == ["channel.created", "channel.member_added", "message.created"])
        #expect(plans.last?["data"]?["text"] == "b")
        let both = try mina.ok(
            "events.wait",
            ["since": "all", "channels": ["plans", "general"], "types": ["message.created"]])
        #expect(both.items.count == 2)
    }

    // MARK: Waiting

    @Test func `are waited for`() throws {
        let call = mina.begin("events.wait", ["timeout_ms": 30_000])
        #expect(mina.answer(to: call) == nil)
        bench.advance(10_000)
        #expect(mina.answer(to: call) == nil)
        try mina.send("at last")
        let answer = try #require(mina.answer(to: call)).get()
        #expect(answer.items.map { $0["data"]?["text"] } == ["at last"])
        #expect(try answer.text("next") == mina.cursor())
    }

    @Test func `are waited for until the time is over`() throws {
        let call = mina.begin("events.wait", ["timeout_ms": 30_000])
        bench.advance(29_999)
        #expect(mina.answer(to: call) == nil)
        bench.advance(1)
        let answer = try #require(mina.answer(to: call)).get()
        #expect(answer.items.isEmpty)
        #expect(try answer.text("next") == mina.cursor())
    }

    @Test func `that nobody wants do not end the waiting`() throws {
        try mina.ok("channel.create", ["name": "plans"])
        let call = mina.begin(
            "events.wait",
            ["timeout_ms": 30_000, "channels": ["plans"], "types": ["message.created"]])
        for number in 0..<300 { try mina.send("\(number)") }
        #expect(mina.answer(to: call) == nil)
        try mina.send("wanted", to: "plans")
        let answer = try #require(mina.answer(to: call)).get()
        #expect(answer.items.map { $0["data"]?["text"] } == ["wanted"])
    }

    @Test func `wait for nobody whose connection is closed`() throws {
        let waiting = mina.begin("events.wait", ["timeout_ms": 30_000], on: 7)
        _ = try mina.ok("events.subscribe", [:], on: 7)
        let staying = mina.begin("events.wait", ["timeout_ms": 30_000], on: 8)
        #expect(mina.host?.subscribers == [7])
        bench.give(.controlClosed(connection: 7), to: mina)
        bench.settle()
        #expect(mina.host?.subscribers == [])
        try mina.send("x")
        #expect(mina.answer(to: waiting) == nil)
        #expect(mina.answer(to: staying) != nil)
        bench.advance(60_000)
        #expect(mina.answer(to: waiting) == nil)
    }

    // MARK: Streams

    private func stream(_ node: BenchNode, on connection: UInt64 = 1, room: Int = 1 << 20)
        -> [JSONValue]
    {
        (node.host?.events(for: connection, room: room) ?? []).map(\.event.json)
    }

    @Test func `are streamed to subscribers`() throws {
        let answer = try mina.ok("events.subscribe", ["types": ["message.created"]])
        #expect(try answer.number("subscription") == 1)
        #expect(try answer.text("cursor") == mina.cursor())
        #expect(stream(mina).isEmpty)
        try mina.send("a")
        try mina.send("b")
        #expect(stream(mina).map { $0["data"]?["text"] } == ["a", "b"])
        #expect(stream(mina).isEmpty)
        try mina.ok("events.unsubscribe", ["subscription": 1])
        try mina.send("c")
        #expect(stream(mina).isEmpty)
        #expect(
            try mina.refused("events.unsubscribe", ["subscription": 1]).kind == .notFound)
    }

    @Test func `are streamed from the beginning, as slowly as the reader wants`() throws {
        for number in 0..<50 { try mina.send("\(number)") }
        try mina.ok("events.subscribe", ["since": "all"])
        var found: [Int64] = []
        var visits = 0
        while true {
            let next = stream(mina, room: 3_000)
            guard !next.isEmpty else { break }
            found += try next.map { try $0.number("seq") }
            visits += 1
        }
        #expect(found == (try mina.events().map { try $0.number("seq") }))
        #expect(visits > 5)
    }

    @Test func `end with no one else's stream`() throws {
        let number = try mina.ok("events.subscribe", [:], on: 3).number("subscription")
        let error = try mina.refused(
            "events.unsubscribe", ["subscription": .integer(number)], on: 4)
        #expect(error.kind == .notFound)
        try mina.send("x")
        #expect(stream(mina, on: 3).count == 1)
        #expect(stream(mina, on: 4).isEmpty)
    }

    @Test(
        arguments: [
            ([], 1), (["node.stopping"], 1), (["node.*"], 1), (["message.created"], 0),
        ] as [([String], Int)])
    func `tell that the node stops, behind everything else`(
        _ types: [String], _ count: Int
    ) throws {
        for input in [nil, NodeInput.stopping] {
            let bench = CoreBench()
            let mina = try bench.node("Mina")
            try mina.ok("events.subscribe", ["types": JSONValue(texts: types)], on: 9)
            try mina.ok("events.subscribe", ["channels": ["general"]], on: 9)
            try mina.send("last")
            let cursor = try mina.cursor()
            if let input {
                bench.give(input, to: mina)
                bench.settle()
            } else {
                try mina.ok("node.stop")
            }
            let told = stream(mina, on: 9)
            let stopping = told.filter { $0["type"] == "node.stopping" }
            #expect(stopping.count == count)
            #expect(stopping.allSatisfy { $0["cursor"] == .string(cursor) && $0["data"] == [:] })
            if count == 1 { #expect(told.last?["type"] == "node.stopping") }
            #expect(stream(mina, on: 9).isEmpty, "once")
        }
    }

    @Test func `give a sign of life when asked for`() throws {
        try mina.ok("events.subscribe", ["keepalive_s": 45])
        #expect(stream(mina).isEmpty)
        bench.advance(45_000)
        #expect(stream(mina).map { $0["type"] } == ["keepalive"])
        #expect(stream(mina).isEmpty)
    }

    // MARK: Readers

    @Test func `are read on from where a name has come`() throws {
        let first = try mina.ok("events.wait", ["name": "bot"])
        // A new name starts at the latest.
        #expect(first.items.isEmpty)
        try mina.send("1")
        try mina.send("2")
        let second = try mina.ok("events.wait", ["name": "bot"])
        #expect(second.items.count == 2)
        // Not acknowledged: they come again, after a restart too.
        try mina.restart()
        #expect(try mina.ok("events.wait", ["name": "bot"]).items.count == 2)
        let cursor = try second.items[0].text("cursor")
        let reader = try mina.ok("events.ack", ["name": "bot", "cursor": .string(cursor)])
        #expect(reader["cursor"] == .string(cursor))
        #expect(try reader.number("at") == Int64(bench.wall))
        #expect(
            try mina.ok("events.wait", ["name": "bot"]).items.map { $0["data"]?["text"] }
                == ["2"])
        #expect(try mina.ok("events.names").items == [reader])
        // `since` wins over the name and moves nothing.
        #expect(!(try mina.ok("events.wait", ["name": "bot", "since": "all"]).items.isEmpty))
        #expect(try mina.ok("events.names").items == [reader])
        let subscription = try mina.ok("events.subscribe", ["name": "bot"])
        #expect(subscription["cursor"] == .string(cursor))
    }

    @Test func `expire with the store they were read from`() throws {
        try mina.send("1")
        let cursor = try mina.cursor()
        mina.kill()
        mina.files.guardBytes = nil
        try mina.boot()
        for (method, parameters) in [
            ("events.wait", ["since": .string(cursor)]),
            ("events.subscribe", ["since": .string(cursor)]),
            ("events.ack", ["name": "bot", "cursor": .string(cursor)]),
        ] as [(String, JSONValue)] {
            let error = try mina.refused(method, parameters)
            #expect(error.kind == .cursorExpired)
            let oldest = try #require(error.details["oldest"]?.stringValue)
            #expect(try mina.events(since: oldest) == mina.events())
        }
        // A name goes on: its position is kept in the table itself.
        #expect(try mina.eventTypes(since: "all").last == "store.restored")
    }

    @Test func `that are not there yet are no position`() throws {
        let cursor = try mina.cursor()
        let epoch = cursor.prefix { $0 != "." }
        let error = try mina.refused("events.wait", ["since": .string("\(epoch).999999")])
        #expect(error.kind == .cursorExpired)
    }

    @Test func `that were trimmed leave a gap that is told`() throws {
        let early = try mina.events()[0].text("cursor")
        try mina.send("old")
        bench.wall += 31 * 86_400_000
        let core = try #require(mina.host?.core)
        core.events.nextTrim = 0
        try mina.send("new")
        let events = try mina.events(since: early)
        #expect(events.map { $0["type"] } == ["events.gap", "message.created"])
        #expect(events[0]["data"]?["from"] == .string(early))
        #expect(events[0]["data"]?["to"] == events[0]["cursor"])
        #expect(events[1]["data"]?["text"] == "new")
    }
}
