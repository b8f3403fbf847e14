import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A check of everything stored` {
    private let bench = CoreBench()

    /// Two people who have said a lot, with whom each test goes on.
    private static let talked: Result<BenchSnapshot, any Error> = Result {
        let bench = CoreBench(seed: 32)
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.join", ["channel": "general"])
        try mina.ok("channel.create", ["name": "plans"])
        let root = try mina.send("one").text("id")
        try joon.send("two", thread: root)
        for number in 0..<200 { try mina.send("m\(number)", to: "plans") }
        bench.advance(60_000)
        return try BenchSnapshot(endingAll: bench)
    }

    private func life() throws -> (BenchNode, BenchNode) {
        let nodes = try Self.talked.get().resume(on: bench)
        return (try #require(nodes.first), try #require(nodes.last))
    }

    private func arrival(of text: String, on node: BenchNode) throws -> Int64 {
        let found = try node.ok("message.history", ["channel": "general"]).items
            .first { $0["text"] == .string(text) }
        let id = try #require(found).text("id")
        let key = try #require(PublicID.messageKey(id))
        let row = try node.host?.core.turn.store.view.message(key)
        return try #require(row).position.arrival
    }

    private func damage(_ node: BenchNode, _ sql: String) throws {
        let connection = try #require(node.connection)
        try connection.begin()
        try connection.execute(sql)
        try connection.commit()
    }

    @Test func `finds nothing where nothing is wrong, in slices`() throws {
        let (mina, joon) = try life()
        for node in [mina, joon] {
            let answer = try node.ok("node.check")
            #expect(answer["ok"] == true)
            #expect(answer["problem_count"] == 0)
            #expect(try answer.number("operations") == node.host?.core.turn.store.operations.count)
            #expect(try answer.number("rows") >= 202)
            #expect(answer["repaired"] == 0)
        }
        // The node goes on meanwhile, and there is one at a time.
        let core = try #require(mina.host?.core)
        core.beginTurn(at: mina.time)
        let call = CallID(connection: 7, number: 1)
        _ = try core.handle(.call(call, method: "node.check", arguments: [:]))
        let effects = try core.endTurn()
        #expect(effects.contains { if case .inspect(call, _) = $0 { true } else { false } })
        #expect(try mina.refused("node.check").kind == .busy)
        mina.carryOut(effects)
        #expect(core.integrity.checking == nil)
    }

    @Test func `finds a changed payload, and gets it back from a peer`() throws {
        let (mina, joon) = try life()
        let arrival = try arrival(of: "two", on: mina)
        try damage(mina, "UPDATE operation SET payload = zeroblob(96) WHERE arr = \(arrival)")
        let found = try mina.ok("node.check")
        #expect(found["ok"] == false)
        let problem = try #require(found["problems"]?.arrayValue?.first)
        #expect(problem["kind"] == "operation")
        #expect(problem["text"] == "its bytes do not match its id")
        let repaired = try mina.ok("node.check", ["repair": true])
        #expect(try repaired.number("repaired") > 0)
        bench.advance(120_000)
        #expect(try mina.log() == ["one", "two"])
        #expect(try mina.digest() == joon.digest())
        #expect(try mina.ok("node.check")["ok"] == true)
        // It was not our own log, so this is still the same store.
        #expect(try mina.events(types: ["store.restored"]).isEmpty)
    }

    @Test func `gets its own signature back too`() throws {
        let (mina, joon) = try life()
        let arrival = try arrival(of: "one", on: mina)
        try damage(mina, "UPDATE operation SET sig = zeroblob(64) WHERE arr = \(arrival)")
        let repaired = try mina.ok("node.check", ["repair": true])
        #expect(repaired["ok"] == false)
        try mina.send("three")
        bench.advance(120_000)
        #expect(Set(try mina.log()) == ["one", "two", "three"])
        #expect(try joon.log() == mina.log())
        #expect(try mina.digest() == joon.digest())
        #expect(try joon.eventTypes().allSatisfy { $0 != "fork.found" })
        try mina.restart()
        #expect(try mina.ok("node.check")["ok"] == true)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        var testDescription: String { sql }
    }

    static let damages = [
        Damage(sql: "DELETE FROM message WHERE thread_hlc IS NOT NULL"),
        Damage(sql: "UPDATE message SET hidden = 1"),
        Damage(sql: "UPDATE message SET key_id = key_id + 1"),
        Damage(
            sql:
                "INSERT INTO message SELECT did, sort + 1, arr, 1, 1, gid, NULL, NULL, 0, 0 FROM message"
        ),
        Damage(sql: "UPDATE subscription SET joined = 0"),
        Damage(sql: "DELETE FROM subscription"),
    ]

    @Test(arguments: damages)
    func `puts a view right that is not what the operations give`(_ damage: Damage) throws {
        let (mina, _) = try life()
        let before = try mina.log()
        let channels = try mina.ok("channel.list").texts("name")
        try self.damage(mina, damage.sql)
        let found = try mina.ok("node.check")
        #expect(found["ok"] == false)
        #expect(found["problems"]?.arrayValue?.allSatisfy { $0["kind"] == "view" } == true)
        #expect(found["repaired"] == 0)
        #expect(try mina.ok("node.check", ["repair": true]).number("repaired") > 0)
        #expect(try mina.ok("node.check")["ok"] == true)
        #expect(try mina.log() == before)
        #expect(try mina.ok("channel.list").texts("name") == channels)
    }

    /// A device deletes, and is then taken back as if it had never done so: the texts are nowhere any
    /// more, and no store has lost them.
    @Test func `blames no store for what a deletion without effect has erased`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("member.role", ["member": "@Joon", "role": "admin"])
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(5_000)
        let said = [try joon.send("mine"), try mina.send("hers")]
        bench.advance(5_000)
        for message in said { try phone.ok("message.delete", ["message": message["id"] ?? .null]) }
        bench.advance(5_000)
        bench.wall += Limits.redactionUndoMilliseconds
        bench.advance(60_000)
        let device = try #require(phone.host?.core.session.home?.device)
        try joon.author(.removeDevice(device, cuts: [], rekey: nil))
        bench.advance(60_000)
        for node in [mina, joon] {
            let core = try #require(node.host?.core)
            let missing = try core.turn.store.operations.missingPayloads(after: 0, limit: 9)
                .compactMap {
                    try core.turn.store.operations.operation($0, hasPayload: false)
                }
            #expect(missing.count == 2, "\(node.name)")
            let checked = try node.ok("node.check", ["repair": true])
            #expect(checked["missing"] == 2, "\(node.name)")
            #expect(checked["ok"] == true, "\(node.name)")
        }
    }

    /// Joon takes words back where the one who removes him does not hear it, so neither counts.
    @Test func `misses no word of somebody who had no right to it`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for near in [ada, wim, joon] { bench.cut(mina, near) }
        try joon.send("said and taken back")
        bench.advance(2_000)
        let key = try #require(
            try joon.ok("message.history", ["channel": "general"]).items.last?["id"])
        try joon.ok("message.delete", ["message": key])
        bench.advance(2_000)
        bench.wall += Limits.redactionUndoMilliseconds
        bench.advance(60_000)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.cut(joon, ada)
        bench.cut(joon, wim)
        for near in [ada, wim] { bench.heal(mina, near) }
        bench.advance(60_000)
        for node in [ada, wim] {
            let core = try #require(node.host?.core)
            #expect(try core.turn.store.operations.hasMissingPayloads(), "\(node.name)")
            let checked = try node.ok("node.check")
            #expect(checked["missing"] == 0 && checked["ok"] == true, "\(node.name)")
        }
    }

    @Test func `judges the authority document again`() throws {
        let (mina, _) = try life()
        let workspace = try mina.workspace()
        // A verdict that the operations do not give.
        let last = try #require(workspace.authorityOrder.last)
        var wrong = AuthEvaluator()
        for id in workspace.authorityOrder where id != last {
            if let operation = workspace.judged.evaluator.operation(id) { try wrong.add(operation) }
        }
        workspace.judged.startOver(with: wrong)
        let found = try mina.ok("node.check")
        #expect(found["ok"] == false)
        #expect(found["problems"]?.arrayValue?.first?["kind"] == "authority")
    }
}
