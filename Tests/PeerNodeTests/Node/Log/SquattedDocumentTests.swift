import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member of two of Mina's workspaces writes in one under the id that a document of the
/// other is about to get.
struct `A document id that was claimed in another workspace` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let wim: BenchNode
    private let core: NodeCore
    private let acme: Workspace
    private let other: Workspace

    init() throws {
        mina = try bench.node("Mina")
        wim = try bench.guest("Wim", of: mina)
        core = try #require(mina.host?.core)
        let first = try #require(core.workspaces.values.first)
        try mina.ok("workspace.create", ["name": "other"])
        acme = first
        other = try #require(core.workspaces.values.first { $0.id != first.id })
        try mina.ok("workspace.select", ["workspace": "acme"])
    }

    /// Content of `workspace` in a document that is nothing there.
    private func squat(
        on document: DocumentID, in workspace: Workspace, sequence: UInt64 = 0
    ) throws -> OperationRun {
        let home = try #require(core.session.home)
        let key = try #require(workspace.currentKey)
        let grant = try #require(
            workspace.judged.evaluator.contentGrant(of: home.device, leastRole: .member))
        let draft = OperationDraft(
            kind: .content, document: document, incarnation: 77, sequence: sequence,
            previous: sequence == 0 ? nil : OperationID([UInt8](repeating: 6, count: 32)),
            timestamp: HybridTimestamp(milliseconds: bench.wall, counter: 0), grant: grant,
            dependencies: [])
        return draft.sealedAndSigned(
            plaintext: [0], under: key.key, keyID: key.id, with: home.signing,
            using: core.turn.environment.random
        ).run(in: document)
    }

    private func bring(_ run: OperationRun, to workspace: Workspace) throws -> IngestOutcome {
        try core.turn.store.begin()
        let somebody = DeviceID([UInt8](repeating: 5, count: 32))
        let outcome = try core.acceptAtOnce(
            run, in: workspace, from: .peer(somebody, source: 9, isBackfill: false))
        try core.turn.store.commit()
        return outcome
    }

    @Test func `is free here, and its channel works`() throws {
        bench.cut(mina, wim)
        try wim.ok("channel.create", ["name": "plans"])
        try wim.send("hello", to: "plans")
        let theirs = try #require(wim.host?.core.workspaces.values.first)
        let plans = try #require(theirs.book.channels.values.first { $0.name == "plans" }).id
        #expect(try bring(squat(on: plans, in: other), to: other) == .stored(1))
        bench.heal(mina, wim)
        bench.advance(60_000)
        #expect(try mina.log(of: "plans") == ["hello"])
        #expect(try mina.digest() == wim.digest())
        try mina.send("here too", to: "plans")
        bench.advance(60_000)
        #expect(try wim.log(of: "plans") == ["hello", "here too"])
    }

    @Test func `may be a whole workspace's, which is joined all the same`() throws {
        let joon = try bench.node("Joon", workspace: "third")
        let third = try #require(joon.host?.core.workspaces.values.first).id
        #expect(try bring(squat(on: third, in: other), to: other) == .stored(1))
        let invite = try joon.ok("invite.create")
        try mina.ok(
            "workspace.join", ["link": invite["link"] ?? .null, "name": "Mina"])
        try joon.send("welcome")
        bench.advance(60_000)
        #expect(try mina.log() == ["welcome"])
        try mina.restart()
        bench.advance(60_000)
        #expect(try mina.log() == ["welcome"])
        #expect(try mina.digest() == joon.digest())
    }

    /// The root of a private document says of which workspace it is. Elsewhere its name would be
    /// taken, and what is written there under it would be judged by the rules of another.
    @Test func `is no private document of another workspace`() throws {
        try mina.ok("channel.create", ["name": "board", "private": true])
        let board = try #require(acme.channelIndex.all.first { $0.name == "board" }).id
        let branch = try #require(
            core.turn.store.operations.branches(in: board, of: acme.number).first)
        let root = try #require(
            try core.turn.store.operations.run(
                of: branch.number, from: 0, through: 0, byteCountMax: .max))
        try #require(root.firstSequence == 0 && root.entries.count == 1)
        // Wim is in both, so that nothing else keeps it out.
        let grants = try #require(root.entries.first).grant
        #expect(acme.authority[grants] != nil)
        let before = other.authority
        other.authority.enter(try #require(acme.authority[grants]), grants)
        defer { other.authority = before }
        #expect(try bring(root, to: other) == .rejected(.wrongScope))
        #expect(core.turn.store.operations.document(board, in: other.number) == nil)
    }

    @Test func `holds one log in each, and neither shows in the other`() throws {
        let channel = try #require(acme.book.channels.values.first).id
        let here = try squat(on: channel, in: acme)
        let there = try squat(on: channel, in: other)
        #expect(try bring(there, to: other) == .stored(1))
        #expect(try bring(there, to: other) == .known)
        #expect(try bring(here, to: acme) == .stored(1))
        let operations = core.turn.store.operations
        for (run, workspace) in [(here, acme), (there, other)] {
            let branches = operations.branches(of: run.log, in: workspace.number)
            #expect(branches.count == 1 && branches.first?.tipSequence == 0)
            let place = try #require(branches.first.map { ($0.number, $0.tipSequence) })
            let read = try operations.run(
                of: place.0, from: 0, through: 0, byteCountMax: .max)
            #expect(read == run)
        }
        #expect(operations.branches(of: here.log, in: 99).isEmpty)
        // What waits for a place in one log is not released for good by the other's.
        let later = try squat(on: channel, in: other, sequence: 2)
        #expect(try bring(later, to: other) == .waiting)
    }
}
