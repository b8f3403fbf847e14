import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A caller that means harm` {
    @Test func `cannot reset the node by asking for what its role does not allow`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let wim = try bench.guest("Wim", of: mina)
        let invite = try mina.ok("invite.create").text("id")
        bench.advance(5_000)
        let before = (opened: wim.openCount, digest: try wim.digest())
        let refused = try wim.refused("invite.revoke", ["id": .string(invite)])
        #expect(refused.kind == .forbidden)
        #expect(wim.openCount == before.opened, "the store was opened again")
        #expect(try wim.digest() == before.digest)
    }

    @Test func `gets no more streams than a connection may have`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for _ in 0..<Limits.controlSubscriptionsMax { try mina.ok("events.subscribe") }
        #expect(try mina.refused("events.subscribe").kind == .tooMany)
    }

    @Test(arguments: [false, true])
    func `does not keep an idle node awake with an address and no workspace`(
        isAnnouncing: Bool
    ) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina", workspace: nil)
        if isAnnouncing {
            mina.announces = true
            try mina.restart()
        }
        try mina.ok("peer.add", ["address": "10.9.9.9:1"])
        mina.turn([.tick])
        let due = mina.host?.nextDeadline ?? .max
        #expect(due > bench.time.monotonic)
    }
}

struct `Content that cites what is void` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let wim: BenchNode
    private let core: NodeCore
    private let workspace: Workspace
    private let channel: DocumentID

    init() throws {
        mina = try bench.node("Mina")
        wim = try bench.guest("Wim", of: mina)
        core = try #require(mina.host?.core)
        workspace = try #require(core.workspaces.values.first)
        channel = try #require(workspace.book.channels.values.first).id
    }

    private var somebody: OperationSource {
        .peer(DeviceID([UInt8](repeating: 5, count: 32)), source: 9, isBackfill: false)
    }

    private func draft(
        _ sequence: UInt64, previous: OperationID? = nil, ahead: UInt64, grant: OperationID,
        citing: [OperationReference] = []
    ) throws -> SignedOperation {
        let home = try #require(core.session.home)
        let key = try #require(workspace.currentKey)
        let draft = OperationDraft(
            kind: .content, document: channel, incarnation: 77, sequence: sequence,
            previous: previous,
            timestamp: HybridTimestamp(milliseconds: bench.wall + ahead, counter: 0),
            grant: grant, dependencies: citing)
        return draft.sealedAndSigned(
            plaintext: [0], under: key.key, keyID: key.id, with: home.signing,
            using: core.turn.environment.random)
    }

    // Otherwise a node that never got the void operation waits for it, and loses all later ones.
    @Test func `brings it with it, so that nobody waits for it endlessly`() throws {
        let noGrant = try #require(
            workspace.authorityOrder.last {
                workspace.judged.evaluator.devices(ofGrant: $0).isEmpty
            })
        let void = try draft(0, ahead: 1_000_000, grant: noGrant)
        let log = LogName(
            document: channel, device: void.header.device, incarnation: 77)
        try core.turn.store.begin()
        #expect(
            try core.acceptAtOnce(void.run(in: channel), in: workspace, from: somebody)
                == .stored(1))
        #expect(
            core.turn.store.operations.branches(of: log, in: workspace.number).first?.kept == nil)
        try core.turn.store.commit()
        bench.give(.tick, to: mina)
        bench.settle()
        // The clock does not order the two, so the message cites the void one.
        try mina.send("hello")
        #expect(
            core.turn.store.operations.branches(of: log, in: workspace.number).first?.kept?.id
                == void.id
        )
        bench.advance(60_000)
        #expect(try wim.log() == ["hello"])
        #expect(try wim.digest() == mina.digest())
    }

    // However a log is cut into runs, the same operations are taken.
    @Test func `waits when it cites its own log wrongly`() throws {
        let home = try #require(core.session.home)
        let grant = try #require(
            workspace.judged.evaluator.contentGrant(of: home.device, leastRole: .member))
        let first = try draft(0, ahead: 0, grant: grant)
        let wrong = OperationReference(
            device: first.header.device, incarnation: 77, sequence: 0,
            id: OperationID([UInt8](repeating: 0xee, count: 32)))
        let second = try draft(
            1, previous: first.id, ahead: 1, grant: grant, citing: [wrong])
        let run = OperationRun(
            log: LogName(document: channel, device: first.header.device, incarnation: 77),
            firstSequence: 0, previous: nil,
            entries: first.run(in: channel).entries + second.run(in: channel).entries)
        try core.turn.store.begin()
        #expect(try core.acceptAtOnce(run, in: workspace, from: somebody) == .waiting)
        #expect(
            try core.acceptAtOnce(first.run(in: channel), in: workspace, from: somebody) == .known,
            "the start of the run did not wait")
        #expect(
            try core.acceptAtOnce(second.run(in: channel), in: workspace, from: somebody)
                == .waiting)
        try core.turn.store.commit()
    }

    @Test func `of another workspace is taken here too, and takes nothing from there`() throws {
        try mina.ok("workspace.create", ["name": "other"])
        let other = try #require(core.workspaces.values.first { $0.id != workspace.id })
        let home = try #require(core.session.home)
        let grant = try #require(
            workspace.judged.evaluator.contentGrant(of: home.device, leastRole: .member))
        let run = try draft(0, ahead: 0, grant: grant).run(in: channel)
        // Its grant is no operation of that workspace, so it waits for it.
        #expect(try core.acceptAtOnce(run, in: other, from: somebody) == .waiting)
    }
}
