import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The cost of accepting a chain of citing operations that arrive newest first: each waits for the
/// one before it, and the first releases all of them.
struct `A chain that comes newest first` {
    enum Kind: CaseIterable, Sendable {
        case messages, edits, fields
    }

    /// A base, and operations on logs of their own, each of which cites the one before.
    private static func chain(
        _ count: Int, of kind: Kind, by member: HostileMember, in scene: HostileScene
    ) throws -> [HostileLog] {
        let profile = try HostileScene.workspace(of: scene.ada).profileDocument
        let document = kind == .fields ? profile : member.channel
        var logs: [HostileLog] = []
        for number in 0...count {
            var log = HostileLog(member, incarnation: UInt32(1_000 + number), document: document)
            let cited = logs.last?.reference
            log.write(
                plaintext: said(number, kind, of: logs.first?.operations.first?.id, scene).encoded,
                at: scene.wall + UInt64(number)
            ) { draft in
                draft.dependencies = cited.map { [$0] } ?? []
            }
            logs.append(log)
        }
        return logs
    }

    private static func said(
        _ number: Int, _ kind: Kind, of first: OperationID?, _ scene: HostileScene
    ) -> ContentPayload {
        switch kind {
        case .messages: return .message(.init(text: "\(number)"))
        case .fields: return .profileField(.init(.description, "\(number)"))
        case .edits:
            guard let first else { return .message(.init(text: "base")) }
            let key = MessageKey(
                timestamp: HybridTimestamp(milliseconds: scene.wall, counter: 0),
                idPrefix: first.messagePrefix)
            return .annotation(
                .init(.edit(text: "\(number)", format: .text, mentions: .none), of: key))
        }
    }

    /// - Returns: branches that Ada's node listed to take a chain, and words of profiles it read.
    private static func cost(
        of count: Int, _ kind: Kind
    ) throws -> (listed: Int, profileReads: Int) {
        let scene = try HostileScene(seed: 91)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let logs = try chain(count, of: kind, by: scene.mallory, in: scene)
        try core.turn.store.begin()
        try accept(logs.dropFirst().reversed(), at: core, of: scene)
        #expect(core.log.waiting.operationCount == count)
        let (listed, reads) = (core.turn.store.operations.listedCount, core.turn.tally.profileReads)
        try accept(logs.prefix(1), at: core, of: scene)
        repeat { try core.log.acceptReleased() } while !core.log.released.isEmpty
        let cost = (
            core.turn.store.operations.listedCount - listed, core.turn.tally.profileReads - reads
        )
        try core.turn.store.commit()
        scene.world.run(for: 5_000)
        #expect(core.log.waiting.operationCount == 0)
        for node in scene.honest {
            guard kind == .fields else {
                let texts = Scenes.texts(of: "general", on: node)
                #expect(texts.count == (kind == .messages ? count + 3 : 3))
                #expect(texts.last == "\(count)")
                continue
            }
            let fields = try HostileScene.workspace(of: node).people.fields.values
            #expect(fields.contains { $0[.description] == "\(count)" })
        }
        return cost
    }

    @Test(arguments: Kind.allCases)
    func `costs its own length, and not what is stored`(kind: Kind) throws {
        let (few, many) = (try Self.cost(of: 15, kind), try Self.cost(of: 60, kind))
        // Whole documents may be looked at for a turn, and not for each operation.
        #expect(many.listed <= 4 * few.listed + 60, "\(few) \(many)")
        #expect(many.profileReads <= few.profileReads, "\(few) \(many)")
    }

    private static func accept(
        _ logs: some Sequence<HostileLog>, at core: NodeCore, of scene: HostileScene,
        isBackfill: Bool = false
    ) throws {
        let workspace = try HostileScene.workspace(of: scene.ada)
        for log in logs {
            try core.log.accept(
                log.run(), in: workspace,
                from: .peer(scene.mallory.device, source: 9, isBackfill: isBackfill))
        }
    }

    /// Alternating forks of two logs, each citing the previous one: none of them exceeds the limit
    /// as long as the next one waits.
    @Test func `of forks has its document gone through seldom, though none may go`() throws {
        let scene = try HostileScene(seed: 95)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let count = 180
        var logs: [HostileLog] = []
        for number in 0...count {
            var log = HostileLog(scene.mallory, incarnation: UInt32(1_000 + number % 2))
            let cited = logs.last?.reference
            log.write("\(number)", at: scene.wall + UInt64(number)) { draft in
                draft.dependencies = cited.map { [$0] } ?? []
            }
            logs.append(log)
        }
        try core.turn.store.begin()
        try Self.accept(logs.dropFirst().reversed(), at: core, of: scene)
        let listed = core.turn.store.operations.listedCount
        try Self.accept(logs.prefix(1), at: core, of: scene)
        repeat { try core.log.acceptReleased() } while !core.log.released.isEmpty
        try core.turn.store.commit()
        // Each log had more branches than may wait for the end of a turn: 40,690 where the document
        // was gone through for each operation from then on.
        #expect(count / 2 > Limits.branchesCrowdedMax)
        #expect(core.turn.store.operations.listedCount - listed < 20 * count)
    }

    /// Many logs that cite much, and one more branch of another log than may be.
    @Test func `does not have its document gone through when branches go`() throws {
        let scene = try HostileScene(seed: 96)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let operations = core.turn.store.operations
        try core.turn.store.begin()
        try Self.accept(
            Self.chain(60, of: .messages, by: scene.mallory, in: scene), at: core, of: scene)
        let forks = (0...Limits.branchesMax).map { number in
            var log = HostileLog(scene.mallory, incarnation: 5_000)
            log.write("fork \(number)", at: scene.wall + UInt64(number))
            return log
        }
        let name = try #require(forks.first).name
        let workspace = try HostileScene.workspace(of: scene.ada)
        // The last in their order first, so that none of them is skipped.
        try Self.accept(
            forks.sorted { $1.operations[0].id < $0.operations[0].id }, at: core, of: scene)
        #expect(operations.branchCount(of: name, in: workspace.number) == forks.count)
        let listed = operations.listedCount
        try core.log.acceptReleased()
        #expect(operations.branchCount(of: name, in: workspace.number) == Limits.branchesMax)
        #expect(operations.listedCount == listed)
        try core.turn.store.commit()
    }

    @Test func `is taken in pieces, between which others are answered`() throws {
        let scene = try HostileScene(seed: 92)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let count = 2 * Limits.releasedPerTurnMax + 1
        let logs = try Self.chain(count, of: .messages, by: scene.mallory, in: scene)
        let operations = core.turn.store.operations
        let before = operations.count
        try core.turn.store.begin()
        try Self.accept(logs.reversed(), at: core, of: scene, isBackfill: true)
        for piece in 0...2 {
            #expect(operations.count - before == Int64(1 + piece * Limits.releasedPerTurnMax))
            #expect(!core.log.released.isEmpty)
            try core.log.acceptReleased()
        }
        #expect(core.log.released.isEmpty)
        #expect(operations.count - before == Int64(count + 1))
        try core.turn.store.commit()
    }
}

extension HostileLog {
    /// Its last operation, as others cite it.
    fileprivate var reference: OperationReference? {
        operations.last.map {
            OperationReference(
                device: name.device, incarnation: name.incarnation,
                sequence: $0.header.sequence, id: $0.id)
        }
    }
}
