import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The cost of judging deletions: it depends on what arrives, not on what was there.
struct `Judging deletions` {
    private typealias Hostile = `A member who deletes what he may not`

    @Test func `costs no more for all the redactions that count for nothing`() throws {
        let scene = try HostileScene(seed: 84)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        let targets = try ["from Ada", "from Bob"].map {
            try Hostile.reference(to: $0, on: scene.ada)
        }.sorted { $0.id < $1.id }
        let core = try #require(scene.ada.host?.core)
        let before = core.turn.tally.judgedRedactions
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
        #expect(core.turn.tally.judgedRedactions - before <= 2 * count)
        for node in scene.honest {
            #expect(Scenes.texts(of: "general", on: node) == ["from Ada", "from Bob"])
        }
        try scene.expectHonestPeace()
    }

    /// A member who names the same target again and again is removed: it is judged once, and none
    /// of the redactions is read.
    @Test func `costs what is named, and not how often, when its author is removed`() throws {
        let scene = try HostileScene(seed: 90)
        defer { scene.world.end() }
        let targets = try ["from Ada", "from Bob"].map {
            try Hostile.reference(to: $0, on: scene.ada)
        }.sorted { $0.id < $1.id }
        let core = try #require(scene.ada.host?.core)
        for number in 0..<40 {
            let redaction = Hostile.redaction(
                of: targets, by: scene, incarnation: UInt32(100 + number))
            try Self.push(redaction.run, of: scene, to: core)
            try Self.turn(of: scene)
        }
        // One of them a turn.
        core.messages.redactionBudget = 17
        let (judged, read) = (core.turn.tally.judgedTargets, core.turn.tally.judgedRedactions)
        try #require(
            scene.ada.ask("member.remove", ["member": "@Mallory 0", "force": true]) != nil)
        scene.world.run(for: 60_000)
        #expect(core.messages.redactionReviews.isEmpty)
        #expect(core.turn.tally.judgedTargets - judged == 2)
        #expect(core.turn.tally.judgedRedactions == read)
        #expect(Scenes.texts(of: "general", on: scene.ada) == ["from Ada", "from Bob"])
    }

    @Test func `costs no more for undos without effect`() throws {
        let scene = try HostileScene(seed: 88)
        defer { scene.world.end() }
        let target = try Hostile.reference(to: "from Bob", on: scene.ada)
        let from = Scenes.messages(of: "general", on: scene.ada).first { $0["text"] == "from Bob" }
        let id = try #require(from?["id"])
        try #require(scene.ada.ask("message.delete", ["message": id]) != nil)
        scene.world.run(for: 1_000)
        let core = try #require(scene.ada.host?.core)
        let key = try #require(id.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try core.turn.store.view.message(key))
        let deletion = try #require(
            try core.turn.store.view.redactions.deletion(of: row.position.arrival))
        let undone = try #require(try core.turn.store.operations.operation(deletion.by)).reference
        let (targets, redactions) = (
            core.turn.tally.judgedTargets, core.turn.tally.judgedRedactions
        )
        let count = 40
        for number in 0..<count {
            let undo = Hostile.redaction(
                of: [], undoing: undone, by: scene, incarnation: UInt32(100 + number))
            try Self.push(undo.run, of: scene, to: core)
            try Self.turn(of: scene)
        }
        // Each is weighed when it comes, and the redaction with it; nothing is judged for that.
        #expect(core.turn.tally.judgedTargets == targets)
        #expect(core.turn.tally.judgedRedactions - redactions <= 2 * count)
        // A later deletion of the same does not pay for them either.
        let before = core.turn.tally.judgedRedactions
        let again = Hostile.redaction(of: [target], by: scene, incarnation: 99)
        try Self.push(again.run, of: scene, to: core)
        try Self.turn(of: scene)
        #expect(core.turn.tally.judgedTargets == targets + 1)
        #expect(core.turn.tally.judgedRedactions - before <= 3)
        #expect(Scenes.texts(of: "general", on: scene.ada) == ["from Ada"])
        // The deletion counts as before.
        try #require(scene.ada.ask("message.delete", ["message": id, "undo": true]) != nil)
        scene.world.run(for: 3_000)
        for node in scene.honest {
            #expect(Scenes.texts(of: "general", on: node) == ["from Ada", "from Bob"])
        }
        try scene.expectHonestPeace()
    }

    private static func push(
        _ run: OperationRun, of scene: HostileScene, to core: NodeCore
    ) throws {
        try core.turn.store.begin()
        let outcome = try core.acceptAtOnce(
            run, in: try HostileScene.workspace(of: scene.ada),
            from: .peer(scene.mallory.device, source: 9, isBackfill: false))
        guard case .stored = outcome else {
            Issue.record("not stored: \(outcome)")
            return
        }
        try core.turn.store.commit()
    }

    /// Has Ada's node do what follows from what was pushed.
    private static func turn(of scene: HostileScene) throws {
        try #require(scene.ada.ask("node.status") != nil)
        scene.world.run(for: 100)
    }

    /// Operations that there are not.
    private static func nothing(_ count: Int, _ seed: Int) -> [OperationReference] {
        (0..<count).map { number in
            let bytes = withUnsafeBytes(of: (seed * 1_000 + number).bigEndian, Array.init)
            return OperationReference(
                device: DeviceID([UInt8](repeating: 3, count: 32)), incarnation: 1,
                sequence: UInt64(number), id: OperationID(bytes + bytes + bytes + bytes))
        }
    }

    // A byte of a peer must not become many of ours, and nobody waits endlessly.
    @Test(arguments: [false, true])
    func `holds a bounded part of what there is to judge`(isAlwaysTheSame: Bool) throws {
        let scene = try HostileScene(seed: 85)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("mine", at: scene.wall)
        try Self.push(log.run(), of: scene, to: core)
        scene.world.run(for: 500)
        let own = try Hostile.reference(to: "mine", on: scene.ada)
        core.messages.redactionBudget = 16
        for number in 0..<40 {
            var targets = Self.nothing(30, isAlwaysTheSame ? 0 : number)
            if number == 39 { targets.append(own) }
            let redaction = Hostile.redaction(
                of: targets.sorted { $0.id < $1.id }, by: scene, incarnation: UInt32(100 + number))
            try Self.push(redaction.run, of: scene, to: core)
        }
        let held = core.messages.redactionReviews.values.map { review in
            review.targets.values.reduce(0) { $0 + max(1, $1?.count ?? 1) }
        }
        #expect(held.reduce(0, +) <= 8 * core.messages.redactionBudget)
        // Somebody else's word, meanwhile.
        let from = Scenes.messages(of: "general", on: scene.bob).first { $0["text"] == "from Bob" }
        let id = try #require(from?["id"])
        try #require(scene.bob.ask("message.delete", ["message": id]) != nil)
        scene.world.run(for: 60_000)
        #expect(core.messages.redactionReviews.isEmpty && core.messages.queuedRedactions == 0)
        #expect(Scenes.texts(of: "general", on: scene.ada) == ["from Ada"])
    }

    // What comes when no more is held is found by what names it.
    @Test func `forgets nothing that came when it held enough`() throws {
        let scene = try HostileScene(seed: 86)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        var log = HostileLog(scene.mallory, incarnation: 77)
        for number in 0..<60 { log.write("late \(number)", at: scene.wall + UInt64(number)) }
        let targets = log.operations.map {
            OperationReference(
                device: log.name.device, incarnation: log.name.incarnation,
                sequence: $0.header.sequence, id: $0.id)
        }.sorted { $0.id < $1.id }
        try Self.push(
            Hostile.redaction(of: targets, by: scene, incarnation: 78).run, of: scene, to: core)
        try Self.turn(of: scene)
        #expect(core.messages.redactionReviews.isEmpty)
        core.messages.redactionBudget = 2
        try Self.push(log.run(), of: scene, to: core)
        #expect(core.messages.queuedRedactions <= 8 * core.messages.redactionBudget)
        scene.world.run(for: 60_000)
        #expect(core.messages.redactionReviews.isEmpty)
        let texts = Scenes.texts(of: "general", on: scene.ada)
        #expect(texts == ["from Ada", "from Bob"])
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
        let before = core.turn.tally.judgedTargets
        try mina.ok("invite.create")
        try mina.ok("member.role", ["member": "@Wim", "role": "admin"])
        try mina.ok("channel.create", ["name": "plans"])
        try mina.ok("channel.edit", ["channel": "general", "topic": "talk"])
        try mina.ok("channel.add", ["channel": "plans", "members": ["@Wim"]])
        try mina.ok("channel.transfer", ["channel": "plans", "member": "@Wim"])
        bench.advance(5_000)
        #expect(core.turn.tally.judgedTargets == before)
        try mina.ok("member.role", ["member": "@Ada", "role": "member"])
        bench.advance(5_000)
        #expect(core.turn.tally.judgedTargets >= before + 6)
        for node in [mina, world.wim, world.joon] {
            #expect(try node.shownTexts(in: "general") == [String](repeating: "-", count: 6))
        }
    }

    @Test func `goes on where it was, a slice a turn, also after a crash`() throws {
        let world = try deleted(4)
        let joon = world.joon
        let core = try #require(joon.host?.core)
        core.messages.redactionBudget = 1
        core.beginTurn(at: joon.time)
        try core.messages.reviewRedactions(of: try joon.workspace())
        let before = core.turn.tally.judgedTargets
        _ = try core.endTurn()
        try core.turn.store.commit()
        core.didCommit()
        #expect(core.turn.hasMoreToDo)
        #expect(core.turn.tally.judgedTargets == before + 1)
        #expect(try joon.rowCount("meta WHERE name = 'redactions.todo'") == 1)
        try joon.restart()
        world.bench.advance(5_000)
        #expect(try joon.rowCount("meta WHERE name = 'redactions.todo'") == 0)
        #expect(try #require(joon.host?.core).turn.tally.judgedTargets >= 4)
        #expect(try joon.shownTexts(in: "general") == ["-", "-", "-", "-"])
    }
}
