import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member writes an unlimited number of keys and documents (S-8).
struct `What a member writes into private documents` {
    private let world: BoardBench
    private var bench: CoreBench { world.bench }
    private let random = SeededRandom(seed: 4)
    /// Of a member with one device.
    private static let share = Limits.privateBurstPerMember + Limits.authorityBurstPerDevice

    init() throws { world = try BoardBench() }

    /// Keys of Cleo's in one separate log, or in several, after one message.
    private func keys(_ count: Int, incarnation: UInt32) throws -> OperationRun {
        let board = world.board
        let seat = try #require(board.authority.standing(of: world.cleo.workspace().member)).seat
        let record = try #require(board.records[seat])
        let known = OperationReference(
            device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, id: seat)
        let held = try #require(board.newestKey)
        var log = ForgedDocumentLog(
            try world.cleo.hostile(), document: board.id, incarnation: incarnation,
            at: bench.wall)
        log.write("before \(incarnation)", under: held, random)
        for number in 0..<count {
            // Several operations may introduce one key, and everybody holds this one.
            log.write(
                PrivateChange(.rekey(PrivateEpoch(keyID: held.keyID)), seat: seat),
                knowing: number == 0 ? [known] : [], under: held, random)
        }
        let runs = log.operations.map { $0.run(in: board.id) }
        return OperationRun(
            log: runs[0].log, firstSequence: 0, previous: nil, entries: runs.flatMap(\.entries))
    }

    /// A channel of Cleo's.
    private func root(_ number: Int) throws -> OperationRun {
        let author = try world.cleo.hostile()
        let seats = [PrivateSeat(try world.cleo.workspace().member, .owner)]
        let clear = PrivatePayload.Clear(
            workspace: author.workspace,
            nonce: random.bytes(PrivatePayload.Clear.nonceByteCount))
        let draft = OperationDraft(
            kind: .privateAuthority, document: .zero, incarnation: 77, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(milliseconds: bench.wall, counter: 0), grant: author.grant)
        let signed = draft.sealedAndSigned(
            PrivateChange(
                .root(PrivateRoot(subtype: .channel, seats: seats, history: .all, name: "c")),
                seat: nil),
            clear: clear, under: SymmetricKey(using: random), with: author.signing, using: random)
        return signed.run(in: DocumentID(sameBytesAs: signed.id))
    }

    /// Hands runs to a node, whether it accepts them or not.
    private func offer(_ runs: [OperationRun], to node: BenchNode) throws {
        try node.inTurn { core, known in
            for run in runs {
                _ = try core.acceptAtOnce(
                    run, in: known, from: .peer(run.log.device, source: 1, isBackfill: false))
            }
        }
    }

    private func heal() {
        let nodes = [world.ada, world.bob, world.cleo]
        for (index, node) in nodes.enumerated() {
            for other in nodes.dropFirst(index + 1) { bench.heal(node, other) }
        }
    }

    private func documents(at node: BenchNode) throws -> Int {
        try #require(node.host?.core).turn.store.operations
            .documents(ofWorkspace: try node.workspace().number).count
    }

    private func count(at node: BenchNode) throws -> Int {
        try node.document("board").records.count
    }

    @Test func `is taken up to a share, and what stands before that in its log`() throws {
        let before = try count(at: world.ada)
        try offer([try keys(Self.share + 100, incarnation: 77)], to: world.ada)
        #expect(try count(at: world.ada) == before + Self.share)
        #expect(try world.ada.log(of: "board") == ["before 77"])
        // Nor is more of that accepted in other logs of the same device, until the share refills.
        try offer([try keys(20, incarnation: 78)], to: world.ada)
        #expect(try count(at: world.ada) == before + Self.share)
        bench.advance(60 * 60 * 1_000)
        try offer([try keys(20, incarnation: 79)], to: world.ada)
        #expect(try count(at: world.ada) == before + Self.share + 20)
    }

    @Test func `keeps no message waiting that knows more of it, and no removal`() throws {
        let (first, second) = try (
            keys(Self.share + 10, incarnation: 77), keys(Self.share + 10, incarnation: 78)
        )
        world.cleo.kill()
        try offer([first], to: world.ada)
        try offer([second], to: world.bob)
        heal()
        bench.advance(5_000)
        try world.bob.send("hello", to: "board")
        try world.ada.send("hello too", to: "board")
        bench.advance(20_000)
        for node in [world.ada, world.bob] {
            let told = try node.log(of: "board")
            #expect(told.contains("hello") && told.contains("hello too"), "\(node.name)")
        }
        try world.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        bench.advance(Limits.authorityRetryMilliseconds + 60_000)
        for node in [world.ada, world.bob] {
            #expect(try node.document("board").authority.members.count == 2, "\(node.name)")
        }
        // What nobody needs is accepted with time.
        bench.advance(3 * 60 * 60 * 1_000)
        #expect(try world.ada.digest() == world.bob.digest())
    }

    /// They date it ahead, so that whatever is written after it would cite it.
    @Test func `is cited by nobody where it is of people who are not in them`() throws {
        let dan = try bench.guest("Dan", of: world.ada)
        bench.advance(5_000)
        var log = ForgedDocumentLog(
            try dan.hostile(), document: world.board.id, incarnation: 9,
            at: bench.wall + 24 * 60 * 60 * 1_000)
        let key = SymmetricKey(using: random)
        for _ in 0..<3 {
            log.write(
                PrivateChange(
                    .rekey(PrivateEpoch(keyID: key.keyID)),
                    seat: OperationID(sameBytesAs: world.board.id)),
                knowing: [], under: key, random)
        }
        let author = try dan.hostile().signing.device
        dan.kill()
        try offer(log.operations.map { $0.run(in: world.board.id) }, to: world.ada)
        try world.ada.send("hello", to: "board")
        var cited: [DeviceID] = []
        let core = try #require(world.ada.host?.core)
        try core.turn.store.operations.forEachOperation(
            in: world.board.id, of: world.ada.workspace().number
        ) { cited += $0.entry.dependencies.map(\.device) }
        #expect(!cited.contains(author))
        let stored = core.turn.store.operations.branches(
            in: world.board.id, of: try world.ada.workspace().number)
        #expect(stored.contains { $0.log.device == author })
    }

    @Test func `is taken up to a share where the root is not here`() throws {
        let author = try world.cleo.hostile()
        let nowhere = DocumentID(random.bytes(DocumentID.byteCount))
        let key = SymmetricKey(using: random)
        var log = ForgedDocumentLog(author, document: nowhere, incarnation: 77, at: bench.wall)
        for _ in 0..<(Self.share + 50) {
            log.write(
                PrivateChange(.rekey(PrivateEpoch(keyID: key.keyID)), seat: .zero), knowing: [],
                under: key, random)
        }
        try offer(log.operations.map { $0.run(in: nowhere) }, to: world.ada)
        let stored = try #require(world.ada.host?.core).turn.store.operations.branches(
            in: nowhere, of: try world.ada.workspace().number)
        #expect(stored.map(\.tipSequence) == [UInt64(Self.share - 1)])
    }

    @Test func `is taken up to a share in however many documents`() throws {
        let before = try documents(at: world.ada)
        try offer((0..<(Self.share + 50)).map { try root($0) }, to: world.ada)
        let after = try documents(at: world.ada)
        #expect(after == before + Self.share)
    }

    // MARK: The profile

    /// Profile operations of a member stay in memory, all of them.
    @Test func `of the profile document are taken up to a share, and the newest with time`() throws
    {
        let share = Limits.profileBurstPerMember + Limits.authorityBurstPerDevice
        let document = try world.ada.workspace().profileDocument
        var log = HostileLog(try world.cleo.hostile(), incarnation: 77, document: document)
        for number in 0..<share + 200 {
            log.write(
                plaintext: ContentPayload.profileField(.init(.description, "word \(number)"))
                    .encoded,
                at: bench.wall - 10_000 + UInt64(number))
        }
        world.cleo.kill()
        func said() throws -> String? {
            try world.ada.ok("profile.of", ["member": "@Cleo"])["description"]?.stringValue
        }
        try offer([log.run()], to: world.ada)
        #expect(try said() == "word \(share - 1)")
        #expect(try world.ada.warnings().contains("member.delayed"))
        // Profile operations of others are accepted meanwhile.
        heal()
        try world.bob.ok("profile.set", ["description": "here"])
        bench.advance(5_000)
        let other = try world.ada.ok("profile.of", ["member": "@Bob"])
        #expect(other["description"] == "here")
        bench.advance(60 * 60 * 1_000)
        try offer([log.run()], to: world.ada)
        #expect(try said() == "word \(share + 199)")
    }
}
