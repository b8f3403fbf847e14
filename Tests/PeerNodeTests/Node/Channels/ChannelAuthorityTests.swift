import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Mina owns the workspace, Joon and Ana are plain members; `plans` is Joon's.
private struct Plans {
    let bench = CoreBench()
    let mina: BenchNode
    let joon: BenchNode
    let ana: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        ana = try bench.guest("Ana", of: mina)
        try joon.ok("channel.create", ["name": "plans", "topic": "now"])
        try ana.ok("channel.join", ["channel": "plans"])
        bench.advance(1_000)
    }

    var everybody: [BenchNode] { [mina, joon, ana] }

    func agree() throws {
        bench.advance(1_000)
        #expect(try mina.digest() == joon.digest() && joon.digest() == ana.digest())
    }
}

extension JSONValue {
    fileprivate static func plans(_ more: JSONObject = [:]) -> JSONValue {
        var object: JSONObject = ["channel": "plans"]
        for member in more.members { object.append(member.key, member.value) }
        return .object(object)
    }
}

struct `A channel belongs to its creator` {
    private static let changes: [(String, JSONObject)] = [
        ("channel.edit", ["topic": "then"]),
        ("channel.archive", [:]),
        ("channel.transfer", ["member": "Ana"]),
        ("channel.role", ["member": "Ana", "role": "admin"]),
        ("channel.add", ["members": ["Mina"]]),
        ("channel.remove", ["members": ["Ana"]]),
        ("channel.delete", [:]),
    ]

    @Test(arguments: 0..<7)
    func `who may change it`(_ change: Int) throws {
        let (method, parameters) = Self.changes[change]
        for (index, may) in [true, true, false].enumerated() {
            let plans = try Plans()
            // Removing herself is everybody's right, so a stranger is asked about another.
            if method == "channel.remove", index == 2 {
                try plans.mina.ok("channel.join", .plans())
                plans.bench.advance(1_000)
                let error = try plans.ana.refused(method, .plans(["members": ["Mina"]]))
                #expect(error.kind == .forbidden)
                continue
            }
            let node = plans.everybody[index]
            if may {
                #expect(try node.ok(method, .plans(parameters)).text("name") == "plans")
                try plans.agree()
            } else {
                let error = try node.refused(method, .plans(parameters))
                #expect(error.kind == .forbidden && error.exitStatus == 4)
                #expect(error.reason == "channel.role")
            }
        }
    }

    @Test func `its owner is shown, and edits reach everybody with one event`() throws {
        let plans = try Plans()
        let before = try plans.ana.cursor()
        let edited = try plans.joon.ok(
            "channel.edit", .plans(["name": "ideas", "topic": "", "description": "what for"]))
        #expect(edited["owner"]?["name"] == "Joon")
        plans.bench.advance(1_000)
        let shown = try plans.ana.ok("channel.get", ["channel": "ideas"])
        #expect(shown["topic"] == .null && shown["description"] == "what for")
        #expect(try plans.ana.eventTypes(since: before) == ["channel.edited"])
        #expect(try plans.ana.refused("channel.get", .plans()).kind == .notFound)
    }

    @Test func `an edit needs something, and a name nobody has`() throws {
        let plans = try Plans()
        #expect(try plans.joon.refused("channel.edit", .plans()).kind == .badRequest)
        let taken = try plans.joon.refused("channel.edit", .plans(["name": "General"]))
        #expect(taken.kind == .duplicate)
        #expect(try plans.joon.ok("channel.edit", .plans(["name": "Plans"]))["name"] == "Plans")
    }

    @Test func `its admins edit it and choose people, and nothing more`() throws {
        let plans = try Plans()
        let before = try plans.mina.cursor()
        try plans.joon.ok("channel.role", .plans(["member": "@Ana", "role": "admin"]))
        plans.bench.advance(1_000)
        let event = try #require(try plans.mina.events(since: before).first?["data"])
        #expect(event["member"]?["name"] == "Ana" && event["role"] == "admin")
        #expect(event.fieldNames == ["channel", "member", "role"])
        try plans.ana.ok("channel.edit", .plans(["topic": "hers"]))
        try plans.ana.ok("channel.add", .plans(["members": ["Mina"]]))
        for method in ["channel.archive", "channel.delete"] {
            #expect(try plans.ana.refused(method, .plans()).kind == .forbidden)
        }
        let transfer = try plans.ana.refused("channel.transfer", .plans(["member": "Ana"]))
        #expect(transfer.kind == .forbidden)
        try plans.agree()
        let roles = try plans.mina.ok("channel.members", .plans()).items
            .map { "\(try $0.text("name")) \(try $0.text("role"))" }
        #expect(Set(roles) == ["Joon owner", "Ana admin", "Mina member"])
        try plans.joon.ok("channel.role", .plans(["member": "Ana", "role": "member"]))
        plans.bench.advance(1_000)
        let error = try plans.ana.refused("channel.edit", .plans(["topic": "x"]))
        #expect(error.kind == .forbidden)
    }

    @Test func `it goes to somebody else, and then the former owner is like everybody`() throws {
        let plans = try Plans()
        let before = try plans.mina.cursor()
        #expect(
            try plans.joon.ok("channel.transfer", .plans(["member": "Ana"]))["owner"]?["name"]
                == "Ana")
        plans.bench.advance(1_000)
        let roles = try plans.mina.events(since: before).compactMap {
            $0["data"]?["role"]?.stringValue
        }
        #expect(Set(roles) == ["member", "owner"])
        #expect(try plans.joon.refused("channel.delete", .plans()).kind == .forbidden)
        #expect(try plans.joon.ok("channel.leave", .plans())["joined"] == false)
        try plans.ana.ok("channel.archive", .plans())
        let error = try plans.ana.refused(
            "channel.role", .plans(["member": "Ana", "role": "member"]))
        #expect(error.kind == .transferFirst)
        let unknown = try plans.ana.refused("channel.transfer", .plans(["member": "Zoe"]))
        #expect(unknown.kind == .unknownUser && unknown.fields.first?.name == "member")
    }

    @Test func `what a former owner wrote without knowing of it does not count`() throws {
        let plans = try Plans()
        for other in [plans.mina, plans.ana] { plans.bench.cut(plans.joon, other) }
        try plans.mina.ok("channel.transfer", .plans(["member": "Ana"]))
        try plans.joon.ok("channel.edit", .plans(["topic": "lost"]))
        try plans.joon.ok("channel.delete", .plans())
        #expect(try plans.joon.refused("channel.get", .plans()).kind == .notFound)
        for other in [plans.mina, plans.ana] { plans.bench.heal(plans.joon, other) }
        for node in plans.everybody {
            let channel = try node.ok("channel.get", .plans())
            #expect(channel["owner"]?["name"] == "Ana" && channel["topic"] == "now")
        }
        try plans.agree()
    }
}

struct `The channel everybody is in` {
    @Test(arguments: ["channel.leave", "channel.archive", "channel.delete"])
    func `stays as it is`(_ method: String) throws {
        let plans = try Plans()
        for node in plans.everybody {
            let error = try node.refused(method, ["channel": "general"])
            #expect(error.kind == .defaultChannel && error.exitStatus == 6)
            #expect(error.kind.seed == "E11")
        }
        let removal = try plans.mina.refused(
            "channel.remove", ["channel": "general", "members": ["Ana"]])
        #expect(removal.kind == .defaultChannel)
        #expect(try plans.mina.ok("channel.get", ["channel": "general"])["default"] == true)
    }

    @Test func `is known by its place, not by its name`() throws {
        let plans = try Plans()
        try plans.mina.ok("channel.edit", ["channel": "general", "name": "lobby"])
        try plans.mina.ok("channel.create", ["name": "general"])
        plans.bench.advance(1_000)
        #expect(
            try plans.ana.refused("channel.delete", ["channel": "lobby"]).kind == .defaultChannel)
        try plans.mina.ok("channel.delete", ["channel": "general"])
    }

    @Test func `keeps its name when somebody makes a twin of it`() throws {
        let plans = try Plans()
        plans.bench.cut(plans.mina, plans.joon)
        plans.bench.cut(plans.mina, plans.ana)
        try plans.joon.ok("channel.create", ["name": "lobby"])
        try plans.mina.ok("channel.edit", ["channel": "general", "name": "lobby"])
        plans.bench.heal(plans.mina, plans.joon)
        for node in [plans.mina, plans.joon] {
            #expect(try node.ok("channel.get", ["channel": "lobby"])["default"] == true)
        }
    }
}

struct `People in a channel` {
    @Test func `come and go, which gives them no right`() throws {
        let plans = try Plans()
        let before = try plans.ana.cursor()
        try plans.joon.ok("channel.add", .plans(["members": ["Mina", "Ana"]]))
        plans.bench.advance(1_000)
        #expect(try plans.mina.ok("channel.get", .plans())["joined"] == true)
        #expect(try plans.ana.eventTypes(since: before) == ["channel.member_added"])
        try plans.joon.ok("channel.remove", .plans(["members": ["Mina"]]))
        plans.bench.advance(1_000)
        #expect(try plans.mina.ok("channel.get", .plans())["joined"] == false)
        #expect(
            try plans.ana.eventTypes(since: before)
                == ["channel.member_added", "channel.member_removed"])
        // A public channel is open all the same.
        try plans.mina.send("still here", to: "plans")
        #expect(try plans.mina.ok("channel.join", .plans())["joined"] == true)
        #expect(try plans.mina.ok("channel.leave", .plans())["joined"] == false)
        #expect(try plans.mina.refused("channel.leave", .plans()).reason == "channel.not_in")
        try plans.agree()
    }

    @Test func `are refused by name when they are not in the workspace`() throws {
        let plans = try Plans()
        let error = try plans.joon.refused("channel.add", .plans(["members": ["Ana", "Zoe"]]))
        #expect(error.kind == .unknownUser && error.fields.first?.name == "members")
    }

    @Test func `cannot lose the owner`() throws {
        let plans = try Plans()
        let leaving = try plans.joon.refused("channel.leave", .plans())
        #expect(leaving.kind == .transferFirst && leaving.exitStatus == 6)
        #expect(leaving.kind.seed == "E15")
        #expect(leaving.hint?.contains("channel transfer plans") == true)
        let removal = try plans.mina.refused("channel.remove", .plans(["members": ["Joon"]]))
        #expect(removal.kind == .transferFirst)
    }
}

struct `An archived channel` {
    @Test func `is read and not written`() throws {
        let plans = try Plans()
        try plans.ana.send("before", to: "plans")
        let before = try plans.ana.cursor()
        #expect(try plans.joon.ok("channel.archive", .plans())["archived"] == true)
        #expect(try plans.joon.ok("channel.archive", .plans())["archived"] == true)
        plans.bench.advance(1_000)
        let error = try plans.ana.refused("message.send", .plans(["text": "x"]))
        #expect(error.kind == .archived && error.exitStatus == 1)
        let addition = try plans.joon.refused("channel.add", .plans(["members": ["Mina"]]))
        #expect(addition.kind == .archived)
        #expect(try plans.ana.log(of: "plans") == ["before"])
        try plans.mina.ok("channel.unarchive", .plans())
        plans.bench.advance(1_000)
        try plans.ana.send("after", to: "plans")
        #expect(
            try plans.ana.eventTypes(since: before)
                == ["channel.archived", "channel.unarchived", "message.created"])
        try plans.agree()
    }
}

struct `Channels are found` {
    @Test func `by a part of name, topic or description, also where one is not in`() throws {
        let plans = try Plans()
        try plans.mina.ok("channel.create", ["name": "Garden", "description": "of PLANTS"])
        let found = try plans.mina.ok("channel.find", ["text": "plan"])
        #expect(found.texts("name") == ["plans", "Garden"])
        #expect(try plans.mina.ok("channel.find", ["text": "NOW"]).texts("name") == ["plans"])
        #expect(try plans.mina.ok("channel.find", ["text": "zz"]).items.isEmpty)
    }
}
