import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Commands without an effect, and abbreviated requests.
struct `A slip of the pen` {
    private typealias Table = `Private channels`.Table

    @Test(arguments: [true, false])
    func `that takes out who is not in is told`(isPrivate: Bool) throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.create", ["name": "plans", "private": .bool(isPrivate)])
        table.bench.advance(5_000)
        let before = try table.bob.rowCount("operation")
        let error = try table.bob.refused(
            "channel.remove", ["channel": "plans", "members": ["Cleo"]])
        #expect(error.kind == .notFound && error.reason == "channel.not_in")
        #expect(error.message.contains("'Cleo'") && error.message.contains("'plans'"))
        // One of two who is not in: nobody is taken out.
        try table.bob.ok("channel.add", ["channel": "plans", "members": ["Cleo"]])
        let both = try table.bob.refused(
            "channel.remove", ["channel": "plans", "members": ["Cleo", "Ada"]])
        #expect(both.reason == "channel.not_in")
        #expect(
            try table.bob.ok("channel.members", ["channel": "plans"]).texts("name").sorted()
                == ["Bob", "Cleo"])
        try table.bob.ok("channel.remove", ["channel": "plans", "members": ["Cleo"]])
        #expect(try table.bob.rowCount("operation") > before)
        table.bench.advance(5_000)
        guard !isPrivate else { return }
        let gone = try table.cleo.refused("channel.leave", ["channel": "plans"])
        #expect(gone.kind == .notFound && gone.reason == "channel.not_in")
    }

    @Test func `that leaves twice is told`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        table.bench.advance(5_000)
        try table.cleo.ok("channel.leave", ["channel": "board"])
        let again = try table.cleo.refused("channel.leave", ["channel": "board"])
        #expect(again.kind == .notFound && again.reason == "channel.not_in")
    }

    @Test func `that makes a channel twice is told what there is`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try table.ada.ok("channel.create", ["name": "plans"])
        table.bench.advance(5_000)
        let own = try table.bob.refused("channel.create", ["name": "board"])
        #expect(own.kind == .duplicate)
        #expect(own.message.contains("private channel of yours"))
        #expect(own.hint?.contains("channel join") == false)
        #expect(own.hint?.contains("channel edit board --name NEW") == true)
        let other = try table.cleo.refused("channel.create", ["name": "board"])
        #expect(other.hint?.contains("channel show board") == true)
        let open = try table.bob.refused("channel.create", ["name": "plans"])
        #expect(open.hint == "wsx-node channel join plans")
        let isIn = try table.ada.refused("channel.create", ["name": "plans"])
        #expect(isIn.hint == "choose another name")
        let everybody = try table.bob.refused("channel.create", ["name": "general"])
        #expect(everybody.hint == "choose another name")
        let renamed = try table.bob.refused(
            "channel.edit", ["channel": "board", "name": "plans"])
        #expect(renamed.kind == .duplicate && renamed.hint == "choose another name")
        try table.cleo.ok("channel.leave", ["channel": "board"])
        let left = try table.cleo.refused("channel.create", ["name": "board"])
        #expect(left.hint == "choose another name")
    }

    @Test(arguments: [
        ("mesage.created", "did you mean 'message.created'?"),
        ("message.creatd", "did you mean 'message.created'?"),
        ("channel.moved_away", "channel.edited"), ("nonsense", "'message.created'"),
        ("nothing.*", "'message.created'"),
    ])
    func `in the name of an event is told`(_ name: String, _ hint: String) throws {
        let bench = CoreBench()
        defer { withExtendedLifetime(bench) {} }
        let node = try bench.node("Mina")
        for method in ["events.subscribe", "events.wait"] {
            let error = try node.refused(method, ["types": [.string(name)]])
            #expect(error.kind == .badRequest && error.reason == "events.type")
            #expect(error.hint?.contains(hint) == true, "\(error.hint ?? "none")")
            #expect(error.fields.first?.name == "types")
        }
    }

    @Test(arguments: [
        "message.*", "*", "*.created", "events.gap", "keepalive", "mention.received", "ch*d",
    ])
    func `is not what fits an event of the interface`(_ name: String) throws {
        let bench = CoreBench()
        defer { withExtendedLifetime(bench) {} }
        let node = try bench.node("Mina")
        try node.ok("events.wait", ["types": [.string(name)]])
    }
}

struct `Why a channel is what it is` {
    private typealias Table = `Private channels`.Table

    private func last(_ node: BenchNode, _ subject: String, _ action: String? = nil) throws
        -> (answer: Bool?, text: String)
    {
        var given: JSONObject = ["subject": .string(subject)]
        if let action { given["can"] = .string(action) }
        let result = try node.ok("why", .object(given))
        return (
            result["answer"]?.boolValue,
            result["steps"]?.arrayValue?.last?["text"]?.stringValue ?? ""
        )
    }

    @Test func `ends with what it is to the one who asks`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok("channel.create", ["name": "plans"])
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        table.bench.advance(5_000)
        #expect(
            try last(table.bob, "#plans")
                == (true, "this gives Bob the role member, so they may read and send"))
        #expect(
            try last(table.bob, "#board")
                == (true, "this gives Bob the role owner in it, so they may read and send"))
        #expect(
            try last(table.cleo, "#board", "edit")
                == (false, "this gives Cleo only the role member in it, so they may not edit"))
        try table.cleo.send("psst", to: "@Bob")
        #expect(
            try last(table.bob, try table.bob.ok("dm.list").items[0].text("id"), "edit")
                == (false, "a direct message has no owner, so nobody may edit"))
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        table.bench.advance(5_000)
        #expect(
            try last(table.cleo, "#board")
                == (true, "Cleo is no longer in it, so may not send"))
        for name in ["plans", "board"] {
            try table.bob.ok("channel.archive", ["channel": .string(name)])
            let sending = try last(table.bob, "#" + name, "send")
            #expect(sending.answer == false && sending.text.contains("archived"))
        }
    }

    @Test func `is told by the bare name, where nobody is called so`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let plain = try table.bob.ok("why", ["subject": "general"])
        #expect(plain == (try table.bob.ok("why", ["subject": "#general"])))
        #expect(try table.bob.ok("why", ["subject": "Cleo"])["role"] == "member")
        try table.bob.ok("channel.create", ["name": "cleo"])
        let error = try table.bob.refused("why", ["subject": "cleo"])
        #expect(error.kind == .ambiguous)
        let ids = (error.details["candidates"]?.arrayValue ?? []).compactMap { $0["id"] }
        #expect(ids.count == 2)
        for id in ids { try table.bob.ok("why", ["subject": id]) }
        let unknown = try table.bob.refused("why", ["subject": "nobody"])
        #expect(unknown.kind == .unknownUser)
    }
}
