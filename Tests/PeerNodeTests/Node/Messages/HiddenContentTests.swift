import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `What was written under a grant that ends` {
    /// Mina owns the workspace, Ada is an admin, Wim and Joon are members. Joon came in by an
    /// invite of Ada's that Mina used for him while Ada was away, and has written two messages.
    private struct World {
        let bench = CoreBench()
        let mina: BenchNode
        let ada: BenchNode
        let wim: BenchNode
        let joon: BenchNode
        let invite: String
        let shown = ["before", "from Joon 1", "from Joon 2"]

        init() throws {
            mina = try bench.node("Mina")
            ada = try bench.guest("Ada", of: mina, role: "admin")
            wim = try bench.guest("Wim", of: mina)
            bench.advance(5_000)
            try wim.send("before")
            let made = try ada.ok("invite.create")
            invite = try made.text("id")
            bench.advance(5_000)
            joon = try bench.bareNode("Joon")
            for other in [mina, wim, joon] { bench.cut(ada, other) }
            try joon.join(try made.text("link"))
            try joon.send("from Joon 1")
            try joon.send("from Joon 2")
            bench.advance(60_000)
            bench.cut(wim, joon)
        }
    }

    @Test func `is hidden, and shown again when the revocation is itself revoked`() throws {
        let world = try World()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        #expect(try mina.log() == world.shown)
        #expect(try wim.log() == world.shown)
        let joonsMessages = try wim.ok("message.history", ["channel": "general"]).items
            .filter { $0["author"]?["name"] == "Joon" }
        let ids = JSONValue.array(joonsMessages.compactMap { $0["id"] })
        #expect(joonsMessages.count == 2)

        // Ada ends her invite without knowing that Mina has used it. Her word on it is stronger
        // than an admission by it.
        try ada.ok("invite.revoke", ["id": .string(world.invite)])
        bench.cut(mina, wim)
        bench.heal(ada, wim)
        bench.advance(30_000)
        #expect(try wim.log() == ["before"])
        #expect(try wim.refused("message.get", ["ids": ids]).kind == .notFound)
        #expect(try !wim.ok("member.list").texts("name").contains("Joon"))
        #expect(try wim.ok("member.list", ["removed": true]).texts("name") == ["Joon"])
        #expect(try wim.ok("channel.get", ["channel": "general"])["last"]?["text"] == "before")
        #expect(try wim.digest() == ada.digest())
        // Old events tell of nothing that is hidden.
        let told = try wim.events(types: ["message.created"])
        #expect(told.allSatisfy { $0["data"]?["author"]?["name"] != "Joon" })
        try wim.restart()
        bench.advance(5_000)
        #expect(try wim.log() == ["before"])

        // Mina, who has not heard of it, removes Ada: what Ada did meanwhile is void.
        try mina.remove(ada)
        bench.heal(mina, wim)
        bench.advance(60_000)
        #expect(try wim.log() == world.shown)
        #expect(try wim.ok("message.get", ["ids": ids]).items.count == 2)
        #expect(try wim.ok("member.list").texts("name").sorted() == ["Joon", "Mina", "Wim"])
        #expect(try wim.digest() == mina.digest())
        #expect(try mina.log() == world.shown)
        try wim.restart()
        bench.advance(5_000)
        #expect(try wim.log() == world.shown)
    }

    @Test func `is hidden on the admitting node, too`() throws {
        let world = try World()
        try world.ada.ok("invite.revoke", ["id": .string(world.invite)])
        world.bench.heal(world.ada, world.mina)
        world.bench.heal(world.ada, world.wim)
        world.bench.advance(60_000)
        for node in [world.mina, world.ada, world.wim] {
            #expect(try node.log() == ["before"], "\(node.name)")
        }
        #expect(
            try Set([world.mina.digest(), world.ada.digest(), world.wim.digest()]).count == 1)
        // And what comes later under it is not taken up.
        _ = world.joon.call("message.send", ["channel": "general", "text": "more"])
        world.bench.advance(60_000)
        #expect(try world.mina.log() == ["before"])
    }

    @Test func `stays where the removal knew it, and ends there`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.send("known")
        bench.advance(5_000)
        let member = try joon.workspace().member
        let core = try #require(mina.host?.core)
        let general = try #require(try mina.workspace().book.channels.values.first)
        let cuts = core.turn.store.operations.branches(
            in: general.id, of: try mina.workspace().number
        )
        .filter { $0.log.device == joon.host?.core.session.home?.device }
        .map {
            CutEntry(
                log: $0.log, sequence: $0.tipSequence,
                id: Identifier16(prefixOf: $0.tip.id))
        }
        bench.cut(mina, joon)
        try mina.author(
            .remove(
                .init(
                    member: member, cuts: cuts, rekey: nil, revokedInvites: [],
                    cutPartCount: 0, cutPartHash: [])))
        try joon.send("unknown")
        bench.heal(mina, joon)
        bench.advance(120_000)
        #expect(try mina.log() == ["known"])
        #expect(try mina.ok("member.list").texts("name") == ["Mina"])
    }

    @Test func `tells the removed, who may read on and write no more`() throws {
        let ended = try EndedGrant()
        let joon = ended.joiner
        let workspace = try joon.ok("workspace.get")
        #expect(workspace["role"] == .null)
        #expect(try joon.log() == joon.ok("message.history", ["channel": "general"]).texts())
        for (method, parameters) in [
            ("message.send", ["channel": "general", "text": "x"]),
            ("channel.create", ["name": "x"]), ("invite.create", [:]),
        ] as [(String, JSONValue)] {
            let error = try joon.refused(method, parameters)
            #expect(error.kind == .forbidden, "\(method)")
            #expect(error.reason == "removed", "\(method)")
        }
        // Nothing newer reaches him.
        try ended.mina.send("among us")
        ended.bench.advance(120_000)
        #expect(try !joon.log().contains("among us"))
    }
}

struct `The check of stored operations` {
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let what: String
    }

    static let damages = [
        Damage(
            testDescription: "payload",
            sql: "UPDATE operation SET payload = zeroblob(length(payload)) WHERE arr = 3",
            what: "its bytes do not match its id"),
        Damage(
            testDescription: "id",
            sql: "UPDATE operation SET id = zeroblob(32) WHERE arr = 3",
            what: "its bytes do not match its id"),
        Damage(
            testDescription: "signature",
            sql: "UPDATE operation SET sig = zeroblob(64) WHERE arr = 3",
            what: "its signature no longer verifies"),
        Damage(
            testDescription: "timestamp", sql: "UPDATE operation SET hlc = hlc + 1 WHERE arr = 3",
            what: "its bytes do not match its id"),
        Damage(
            testDescription: "kind", sql: "UPDATE operation SET kind = 1 WHERE arr = 3",
            what: "its bytes do not match its id"),
    ]

    @Test(arguments: damages)
    func `finds what was changed`(_ damage: Damage) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for number in 0..<5 { try mina.send("\(number)") }
        let store = try #require(mina.host?.core.turn.store)
        let all = 1...store.operations.arrival
        #expect(try StoreCheck.problems(in: store.operations, arrivals: all).isEmpty)
        try mina.damage(damage.sql)
        let problems = try StoreCheck.problems(in: store.operations, arrivals: all)
        #expect(problems.contains { $0.arrival == 3 && $0.what == damage.what })
        // The next of the log hangs on it; nothing else is suspected.
        #expect(problems.count <= 2)
        let finding = try mina.ok("node.doctor").items.first { $0["id"] == "operations" }
        #expect(finding?["state"] == "fail")
    }

    @Test func `finds nothing in what many have written`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        for number in 0..<30 { try [mina, joon, kim][number % 3].send("\(number)") }
        bench.advance(60_000)
        for node in [mina, joon, kim] {
            let operations = try #require(node.host?.core.turn.store.operations)
            #expect(
                try StoreCheck.problems(in: operations, arrivals: 1...operations.arrival).isEmpty)
            let status = try node.ok("node.status")
            #expect(try node.rowCount("operation") == status["store"]?.number("operations"))
        }
    }
}
