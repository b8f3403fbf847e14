import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What it costs to judge what is deleted: what has come, and not what was there.
@Suite struct `Judging deletions` {
    private typealias Hostile = `A member who deletes what he may not`

    @Test func `costs no more for all the redactions that count for nothing`() throws {
        let scene = try HostileScene(seed: 84)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        let targets = try ["from Ada", "from Bob"].map {
            try Hostile.reference(to: $0, on: scene.ada)
        }.sorted { $0.id < $1.id }
        let core = try #require(scene.ada.host?.core)
        let before = core.tally.judgedRedactions
        let count = 40
        for number in 0..<count {
            link.push(
                Hostile.redaction(
                    of: targets, by: scene, incarnation: UInt32(100 + number)
                ).run)
            scene.world.run(for: 500)
        }
        #expect(link.isOpen)
        let store = try #require(scene.ada.store)
        let kind = OperationKind.redact.rawValue
        let stored = try store.connection.statement(
            "SELECT count(*) FROM operation WHERE kind = \(kind)"
        ).integer()
        #expect(stored == Int64(count))
        // Each is weighed when it comes, and then never again.
        #expect(core.tally.judgedRedactions - before <= 2 * count)
        for node in scene.honest {
            #expect(Scenes.texts(of: "general", on: node) == ["from Ada", "from Bob"])
        }
        try scene.expectHonestPeace()
    }

    /// Ada, an admin, has deleted some of what Wim wrote.
    private func deleted(_ count: Int) throws -> RemovalBench {
        let world = try RemovalBench()
        let messages = try (0..<count).map { try world.wim.send("number \($0)") }
        world.bench.advance(5_000)
        for message in messages { try world.ada.delete(message) }
        world.bench.advance(5_000)
        return world
    }

    @Test func `follows authority only where that reaches who deleted`() throws {
        let world = try deleted(6)
        let (mina, bench) = (world.mina, world.bench)
        let core = try #require(world.joon.host?.core)
        let before = core.tally.judgedTargets
        try mina.ok("invite.create")
        try mina.ok("member.role", ["member": "@Wim", "role": "admin"])
        try mina.ok("channel.create", ["name": "plans"])
        try mina.ok("channel.edit", ["channel": "general", "topic": "talk"])
        try mina.ok("channel.transfer", ["channel": "plans", "member": "@Wim"])
        bench.advance(5_000)
        #expect(core.tally.judgedTargets == before)
        try mina.ok("member.role", ["member": "@Ada", "role": "member"])
        bench.advance(5_000)
        #expect(core.tally.judgedTargets >= before + 6)
        for node in [mina, world.wim, world.joon] {
            #expect(try node.shownTexts(in: "general") == [String](repeating: "-", count: 6))
        }
    }

    @Test func `goes on where it was, a slice a turn, also after a crash`() throws {
        let world = try deleted(4)
        let joon = world.joon
        let core = try #require(joon.host?.core)
        core.redactionBudget = 1
        core.beginTurn(at: joon.time)
        try core.reviewRedactions(of: try joon.workspace())
        let before = core.tally.judgedTargets
        _ = try core.endTurn()
        try core.store.commit()
        core.didCommit()
        #expect(core.hasMoreToDo)
        #expect(core.tally.judgedTargets == before + 1)
        #expect(try joon.rowCount("meta WHERE name = 'redactions.todo'") == 1)
        try joon.restart()
        world.bench.advance(5_000)
        #expect(try joon.rowCount("meta WHERE name = 'redactions.todo'") == 0)
        #expect(try #require(joon.host?.core).tally.judgedTargets >= 4)
        #expect(try joon.shownTexts(in: "general") == ["-", "-", "-", "-"])
    }
}
