import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A thing is found` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    private typealias Slip = (method: String, field: String, given: JSONValue)

    /// Every parameter that names a channel or somebody, with a name that nothing has.
    private static let slips: [Slip] =
        Command.methods.flatMap { command -> [Slip] in
            command.remoteParameters.compactMap { parameter -> Slip? in
                let bad: JSONValue
                switch parameter.shape {
                case .channel, .member: bad = "nope"
                case .list(.channel, _), .list(.member, _): bad = ["nope"]
                default: return nil
                }
                var given = command.example.objectValue ?? JSONObject()
                // Everything else that is named is there.
                for other in command.remoteParameters where given[other.name] != nil {
                    switch other.shape {
                    case .channel: given[other.name] = "plans"
                    case .member: given[other.name] = "Joon"
                    case .list(.channel, _): given[other.name] = ["plans"]
                    case .list(.member, _): given[other.name] = ["Joon"]
                    default: break
                    }
                }
                given[parameter.name] = bad
                return (command.name, parameter.name, .object(given))
            }
        }

    @Test func `or is said to be missing under the name of its parameter`() throws {
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        var count = 0
        for row in Self.slips {
            guard case .failure(let error) = mina.call(row.method, row.given),
                error.kind == .notFound || error.kind == .unknownUser
            else { continue }
            count += 1
            let names = try Command.method(row.method).remoteParameters.map(\.name)
            for field in error.fields {
                #expect(names.contains(field.name), "\(row.method) \(row.field): \(field.name)")
            }
            #expect(!error.fields.isEmpty, "\(row.method) \(row.field)")
        }
        #expect(count > 30)
        let rows: [(String, JSONValue, String)] = [
            ("search", ["query": "x", "channels": ["nope"]], "channels"),
            ("search", ["query": "x", "from": "nope"], "from"),
            ("events.wait", ["channels": ["nope"]], "channels"),
            ("events.wait", ["channels": ["@nope"]], "channels"),
            ("events.wait", ["channels": ["c_00000000000000000000000000"]], "channels"),
        ]
        for (method, given, field) in rows {
            #expect(try mina.refused(method, given).fields.map(\.name) == [field], "\(method)")
        }
    }

    @Test(arguments: [
        "Café", "#Café", "CAFÉ", "café", "#CAFE\u{301}", "cafe\u{301}",
    ])
    func `by its name without regard to case or normalisation`(_ name: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina", workspace: "Büro")
        let made = try mina.ok("channel.create", ["name": "Café"])
        #expect(
            try mina.ok("channel.get", ["channel": .string(name)]).text("id") == made.text("id"))
    }

    @Test(arguments: ["Büro", "BÜRO", "bu\u{308}ro"])
    func `workspaces too`(_ name: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina", workspace: "Büro")
        try mina.ok("workspace.create", ["name": "other"])
        let found = try mina.ok("workspace.get", ["workspace": .string(name)])
        #expect(try found.text("name") == "Büro")
    }

    @Test func `by its id`() throws {
        let workspace = try mina.ok("workspace.get").text("id")
        let channel = try mina.ok("channel.get", ["channel": "general"]).text("id")
        #expect(try mina.ok("workspace.get", ["workspace": .string(workspace)])["name"] == "acme")
        #expect(try mina.ok("channel.get", ["channel": .string(channel)])["name"] == "general")
        // The command line alone takes prefixes.
        #expect(
            try mina.refused("channel.get", ["channel": .string(String(channel.prefix(10)))]).kind
                == .notFound)
    }

    @Test func `no new channel has a name that looks like an id`() throws {
        #expect(try mina.refused("channel.create", ["name": "c_000000"]).kind == .badRequest)
        #expect(try mina.refused("channel.get", ["channel": "c_000000"]).kind == .notFound)
    }

    @Test func `unless two have the name`() throws {
        let joon = try bench.node("Joon", workspace: "Acme")
        try joon.join(try mina.link())
        let error = try joon.refused("workspace.get", ["workspace": "ACME"])
        #expect(error.kind == .ambiguous)
        #expect(error.exitStatus == 5)
        let candidates = try #require(error.details["candidates"]?.arrayValue)
        #expect(Set(candidates.compactMap { $0["name"]?.stringValue }) == ["Acme", "acme"])
        #expect(
            Set(candidates.compactMap { $0["id"]?.stringValue })
                == Set(try joon.ok("workspace.list").texts("id")))
        for candidate in candidates {
            let found = try joon.ok("workspace.get", ["workspace": candidate["id"] ?? .null])
            #expect(found["name"] == candidate["name"])
        }
    }

    @Test func `in the workspace that the call names`() throws {
        try mina.ok("workspace.create", ["name": "second", "first_channel": "lobby"])
        #expect(try mina.ok("channel.list").texts("name") == ["lobby"])
        #expect(try mina.ok("channel.list", ["workspace": "acme"]).texts("name") == ["general"])
        // Of two that have it none is meant, and of one that one: `OtherWorkspaceTests`.
        try mina.ok("workspace.create", ["name": "third"])
        try mina.ok("workspace.select", ["workspace": "second"])
        #expect(
            try mina.refused("message.send", ["channel": "general", "text": "x"]).kind
                == .notFound)
        let sent = try mina.ok(
            "message.send", ["channel": "general", "text": "x", "workspace": "acme"])
        let acme = try mina.ok("workspace.get", ["workspace": "acme"])
        #expect(sent["workspace"] == acme["id"])
    }

    @Test func `twins of two partitions live, and only ids tell one from the other`() throws {
        let joon = try bench.guest("Joon", of: mina)
        bench.cut(mina, joon)
        let first = try mina.ok("channel.create", ["name": "plans"])
        bench.advance(1_000)
        let second = try joon.ok("channel.create", ["name": "Plans"])
        bench.heal(mina, joon)
        for node in [mina, joon] {
            let names = try node.ok("channel.list", ["scope": "all"]).items.map {
                [try $0.text("id"), try $0.text("name")]
            }
            #expect(names.count == 3)
            let firstName = try #require(names.first { $0[0] == (try? first.text("id")) })
            let secondName = try #require(names.first { $0[0] == (try? second.text("id")) })
            let short = [firstName, secondName].min { $0[1].count < $1[1].count }
            let long = [firstName, secondName].max { $0[1].count < $1[1].count }
            #expect(short?[1].lowercased() == "plans")
            let suffix = (long?[0].dropFirst(2).prefix(6)).map(String.init) ?? "?"
            #expect(long?[1].lowercased() == "plans-\(suffix)")
            let error = try node.refused("channel.get", ["channel": "PLANS"])
            #expect(error.kind == .ambiguous && error.exitStatus == 5)
            let candidates = try #require(error.details["candidates"]?.arrayValue)
            #expect(Set(candidates.compactMap { $0["id"]?.stringValue }) == [short?[0], long?[0]])
            #expect(
                Set(candidates.compactMap { $0["name"]?.stringValue }) == [short?[1], long?[1]])
            #expect(
                try node.ok("channel.get", ["channel": .string(short?[0] ?? "")]).text("name")
                    == short?[1])
            #expect(
                try node.ok("channel.get", ["channel": .string(long?[1] ?? "")]).text("id")
                    == long?[0])
        }
        #expect(try mina.ok("channel.list").texts("name").count == 2)
        #expect(try mina.digest() == joon.digest())
        // The owner of the later one is asked to rename it, and then each name is one channel's.
        func hint(_ node: BenchNode) throws -> String? {
            try node.ok("node.status")["warnings"]?.arrayValue?
                .first { $0["kind"] == "channel.twin" }?["hint"]?.stringValue
        }
        let asked = try [mina, joon].filter { try hint($0) != nil }
        #expect(asked.count == 1)
        let own = asked[0] === mina ? first : second
        #expect(try hint(asked[0])?.hasPrefix("wsx-node channel edit ") == true)
        try asked[0].ok(
            "channel.edit", ["channel": .string(try own.text("id")), "name": "ideas"])
        bench.advance(1_000)
        for node in [mina, joon] {
            #expect(try node.ok("channel.get", ["channel": "ideas"]).text("id") == own.text("id"))
            #expect(try node.ok("channel.get", ["channel": "plans"]).text("id") != own.text("id"))
        }
        #expect(try hint(asked[0]) == nil)
    }
}

struct `The selected workspace` {
    @Test func `is the one made, joined or selected last`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(try mina.ok("workspace.get")["name"] == "acme")
        try mina.ok("workspace.create", ["name": "second"])
        #expect(try mina.ok("workspace.get")["name"] == "second")
        #expect(try mina.ok("workspace.select", ["workspace": "acme"])["selected"] == true)
        #expect(try mina.ok("workspace.get")["name"] == "acme")
        #expect(
            try mina.ok("workspace.list").items.compactMap { $0["selected"]?.boolValue }
                == [true, false])
        let joon = try bench.node("Joon", workspace: "mine")
        let joined = try joon.join(try mina.link())
        #expect(joined["selected"] == true)
        #expect(try joon.ok("workspace.get")["name"] == "acme")
    }

    @Test func `is remembered`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.ok("workspace.create", ["name": "second"])
        try mina.ok("workspace.select", ["workspace": "acme"])
        try mina.restart()
        #expect(try mina.ok("workspace.get")["name"] == "acme")
    }
}

struct `A list` {
    @Test(arguments: ["workspace.list", "channel.list", "invite.list"])
    func `is paged without gaps and repetitions`(_ method: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for number in 0..<7 {
            try mina.ok("invite.create")
            try mina.ok("channel.create", ["name": .string("channel \(number)")])
            try mina.ok("workspace.create", ["name": .string("space \(number)")])
            try mina.ok("workspace.select", ["workspace": "acme"])
        }
        let all = try mina.ok(method).texts("id")
        #expect(all.count >= 7)
        for limit in Int64(1)...9 {
            var found: [String] = []
            var cursor: JSONValue = .null
            repeat {
                let page = try mina.ok(method, ["limit": .integer(limit), "cursor": cursor])
                #expect(page.items.count <= limit)
                found += page.texts("id")
                cursor = page["next"] ?? .null
            } while !cursor.isNull
            #expect(found == all)
        }
    }

    @Test func `of readers goes on behind a name`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let cursor = try mina.cursor()
        for name in ["c", "a", "d", "b"] {
            try mina.ok("events.ack", ["name": .string(name), "cursor": .string(cursor)])
        }
        let first = try mina.ok("events.names", ["limit": 3])
        #expect(first.texts("name") == ["a", "b", "c"])
        let rest = try mina.ok("events.names", ["limit": 3, "cursor": first["next"] ?? .null])
        #expect(rest.texts("name") == ["d"])
        #expect(rest["next"] == .null)
    }

    /// A user who types a part of a name learns that it was too short, not that there is nobody.
    @Test func `by no part of a name, but those whom it fits are named`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon Kim", of: mina)
        _ = try bench.guest("Joon Lee", of: mina)
        let calls: [(String, JSONValue)] = [
            ("message.send", ["channel": "@Joon", "text": "x"]),
            ("member.get", ["member": "@joon"]), ("dm.open", ["members": ["Joon"]]),
        ]
        for (method, given) in calls {
            let failure = try mina.refused(method, given)
            #expect(failure.kind == .unknownUser, "\(method): \(failure)")
            #expect(failure.hint?.hasPrefix("2 people fit: ") == true, "\(method): \(failure)")
            let names = failure.details["candidates"]?.arrayValue?.compactMap {
                $0["name"]?.stringValue
            }
            #expect(names?.sorted() == ["Joon Kim", "Joon Lee"], "\(method)")
        }
        try mina.ok("message.send", ["channel": "@Joon Kim", "text": "x"])
        let one = try mina.refused("member.get", ["member": "@Min"])
        #expect(one.details["candidates"] == nil)
        withExtendedLifetime(bench) {}
    }
}
