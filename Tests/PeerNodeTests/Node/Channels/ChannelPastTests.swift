import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Deletions by former admins of a public channel remain, and they delete nothing more, whatever
/// their clocks say.
struct `A right to delete in a channel that has ended` {
    private let world: RemovalBench
    private let messages: [JSONValue]
    private var nodes: [BenchNode] { [world.mina, world.ada, world.wim, world.joon] }

    init() throws {
        world = try RemovalBench()
        try world.wim.ok("channel.create", ["name": "plans"])
        world.bench.advance(5_000)
        let mina = world.mina
        messages = try ["one", "two"].map { try mina.send($0, to: "plans") }
        world.bench.advance(5_000)
        try setJoon("admin")
        world.bench.advance(5_000)
    }

    private func setJoon(_ role: JSONValue) throws {
        try world.wim.ok("channel.role", ["channel": "plans", "member": "@Joon", "role": role])
    }

    private func expect(_ texts: [String], at nodes: [BenchNode]) throws {
        for node in nodes {
            #expect(try node.shownTexts(in: "plans") == texts, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    @Test(arguments: [false, true])
    func `deletes nothing by an operation dated before its end`(isOwner: Bool) throws {
        let (wim, joon, bench) = (world.wim, world.joon, world.bench)
        if isOwner {
            try wim.ok("channel.add", ["channel": "plans", "members": ["@Joon"]])
            try wim.ok("channel.transfer", ["channel": "plans", "member": "@Joon"])
            bench.advance(5_000)
        }
        try joon.delete(messages[0])
        bench.advance(5_000)
        let then = bench.wall
        bench.advance(5_000)
        if isOwner {
            try joon.ok("channel.transfer", ["channel": "plans", "member": "@Wim"])
            bench.advance(5_000)
            // That made no admin of him.
            try setJoon("member")
        } else {
            try setJoon("member")
        }
        bench.advance(5_000)
        try expect(["-", "two"], at: nodes)
        let redaction = try backdated(to: then)
        for node in nodes { try node.take([redaction]) }
        bench.advance(5_000)
        try expect(["-", "two"], at: nodes)
        try world.ada.restart()
        let newcomer = try bench.guest("Zed", of: world.mina)
        bench.advance(60_000)
        try expect(["-", "two"], at: nodes + [newcomer])
    }

    /// Who gives the right away says when, and could say that it is in a hundred years.
    @Test func `is not kept by a link with a date far ahead`() throws {
        let (joon, wim, bench) = (world.joon, world.wim, world.bench)
        try wim.ok("channel.add", ["channel": "plans", "members": ["@Joon"]])
        try wim.ok("channel.transfer", ["channel": "plans", "member": "@Joon"])
        bench.advance(5_000)
        let core = try #require(joon.host?.core)
        let workspace = try joon.workspace()
        let plans = try #require(workspace.book.channels.values.first { $0.name == "plans" })
        var settings = AuthorityPayload.DocumentSettings(document: plans.id)
        settings.replaces = plans.ruling?.lastLink
        settings.owner = try world.mina.workspace().member
        settings.roles = []
        var log = try ForgedLog(joon, incarnation: 78)
        let link = log.write(
            .setDocument(settings), knowing: try ForgedLog.heads(of: joon),
            at: core.turn.time.wall + 86_400_000)
        for node in nodes { try node.take([link.run(in: workspace.id)]) }
        bench.advance(5_000)
        try expect(["one", "two"], at: nodes)
        let redaction = try backdated(to: bench.wall)
        for node in nodes { try node.take([redaction]) }
        bench.advance(5_000)
        try expect(["one", "two"], at: nodes)
        #expect(try joon.deletionRefused(messages[1]).kind == .forbidden)
    }

    /// Of the second message, by Joon, in a log of its own.
    private func backdated(to wall: UInt64) throws -> OperationRun {
        let joon = world.joon
        let core = try #require(joon.host?.core)
        let key = try #require(messages[1]["id"]?.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try core.turn.store.view.message(key))
        let target = try #require(try core.turn.store.operations.operation(row.position.arrival))
        let author = try joon.hostile()
        let draft = OperationDraft(
            kind: .redact, document: target.log.document, incarnation: 77, sequence: 0,
            previous: nil, timestamp: HybridTimestamp(milliseconds: wall, counter: 0),
            grant: author.grant)
        return draft.signed(
            redacting: [target.reference], RedactedMessages([]), under: nil,
            with: author.signing, using: SeededRandom(seed: 5)
        ).run(in: target.log.document)
    }

    /// As what a removal does not know.
    @Test func `has deleted nothing beyond what its end knows`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try joon.delete(messages[0])
        bench.advance(5_000)
        for far in [mina, wim] { for near in [ada, joon] { bench.cut(far, near) } }
        try setJoon("member")
        try joon.delete(messages[1])
        bench.advance(5_000)
        try expect(["-", "two"], at: [mina, wim])
        try expect(["-", "-"], at: [ada, joon])
        bench.heal(mina, joon)
        bench.heal(mina, ada)
        bench.advance(60_000)
        try expect(["-", "two"], at: nodes)
        #expect(try ada.digest() == mina.digest())
    }

    /// The end may come before what it keeps.
    @Test func `has deleted what comes after its end, and lies before it`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for other in [mina, wim, joon] { bench.cut(other, ada) }
        let before = try #require(joon.host?.core).turn.store.operations.arrival
        try joon.delete(messages[0])
        bench.advance(5_000)
        let stored = try #require(
            try joon.host?.core.turn.store.operations.operation(before + 1))
        #expect(stored.entry.kind == OperationKind.redact.rawValue)
        try setJoon("member")
        bench.advance(5_000)
        // Only the authority document goes to Ada first.
        let core = try #require(wim.host?.core)
        let workspace = try wim.workspace()
        let branch = try #require(
            core.turn.store.operations.branches(in: workspace.id, of: workspace.number).last {
                $0.log.device == core.session.home?.device
            })
        let run = try #require(
            try core.turn.store.operations.run(
                of: branch.number, from: branch.tipSequence, through: branch.tipSequence,
                byteCountMax: 1 << 20))
        try ada.take([run])
        try expect(["one", "two"], at: [ada])
        for other in [mina, wim, joon] { bench.heal(other, ada) }
        bench.advance(60_000)
        try expect(["-", "two"], at: nodes)
    }
}
