import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Branches above the limit are pruned at a cost that depends only on them, not on their document.
struct `A branch too many` {
    private static let forkCount = 30
    private static let incarnation: UInt32 = 77

    private let bench = CoreBench()
    private let mina: BenchNode
    private let joon: BenchNode
    private let wim: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        wim = try bench.guest("Wim", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try mina.ok("channel.add", ["channel": "board", "members": ["Joon"]])
        bench.advance(5_000)
    }

    /// That many operations of a device at one place, the last in their order first: each takes the
    /// place of one that came before it.
    private func forks(
        _ count: Int = Self.forkCount, _ sign: (Int) throws -> SignedOperation
    ) throws -> [SignedOperation] {
        try (0..<count).map(sign).sorted { $1.id < $0.id }
    }

    private func privateForks() throws -> (document: DocumentID, forks: [SignedOperation]) {
        let document = try joon.document("board")
        let key = try #require(document.newestKey)
        let forks = try forks { number in
            try joon.signed(
                .message(.init(text: "fork \(number)")), in: document.id,
                under: (key.keyID, key), incarnation: Self.incarnation, at: UInt64(number))
        }
        return (document.id, forks)
    }

    /// - Returns: how many operations Mina's node read to take these, each in a turn of its own.
    private func cost(of forks: [SignedOperation], in document: DocumentID) throws -> Int {
        let operations = try #require(mina.host?.core).turn.store.operations
        let before = operations.readCount
        for fork in forks { try mina.take([fork.run(in: document)]) }
        let log = try #require(forks.first).run(in: document).log
        #expect(
            operations.branchCount(of: log, in: try mina.workspace().number)
                == Limits.branchesMax)
        return operations.readCount - before
    }

    private static func privateCost(beside count: Int) throws -> Int {
        let world = try Self()
        for number in 0..<count { try world.mina.send("\(number)", to: "board") }
        world.bench.advance(5_000)
        let (document, forks) = try world.privateForks()
        let cost = try world.cost(of: forks, in: document)
        let shown = try world.mina.log(of: "board")
        #expect(shown.count == count + Limits.branchesMax)
        #expect(try world.mina.ok("node.check")["problem_count"] == 0)
        try world.mina.restart()
        #expect(try world.mina.log(of: "board") == shown)
        return cost
    }

    @Test func `of a private channel has its messages not read again`() throws {
        let (few, many) = (
            try Self.privateCost(beside: 2), try Self.privateCost(beside: 60)
        )
        #expect(many <= few + 60, "\(few) \(many)")
    }

    /// Members outside of the channel can write such operations too, which nobody can open.
    @Test func `of a private channel's members has it read again once a turn`() throws {
        let document = try mina.document("board")
        try mina.send("hello", to: "board")
        let key = SymmetricKey(using: SeededRandom(seed: 3))
        let forks = try forks(4 * Limits.branchesCrowdedMax) { number in
            try wim.signedMembership(in: document.id, under: key, at: UInt64(number))
        }
        let core = try #require(mina.host?.core)
        try mina.take(forks.prefix(Limits.branchesMax).map { $0.run(in: document.id) })
        let before = core.turn.tally.rejudged
        core.beginTurn(at: mina.time)
        for fork in forks.dropFirst(Limits.branchesMax) {
            _ = try core.log.accept(
                fork.run(in: document.id), in: try mina.workspace(),
                from: .peer(fork.header.device, source: 1, isBackfill: false))
        }
        _ = try core.endTurn()
        try core.turn.store.commit()
        #expect(core.turn.tally.rejudged - before == 1)
        let now = try mina.document("board")
        #expect(now !== document)
        #expect(now.closed.count == Limits.branchesMax)
        #expect(try mina.log(of: "board") == ["hello"])
        try mina.send("more", to: "board")
        bench.advance(5_000)
        #expect(try joon.log(of: "board") == ["hello", "more"])
        #expect(try mina.ok("node.check")["problem_count"] == 0)
    }

    private static func profileCost(beside count: Int) throws -> Int {
        let world = try Self()
        let joon = world.joon
        let document = try joon.workspace().profileDocument
        for number in 0..<count {
            try joon.write(.profileField(.init(.description, "\(number)")), to: document)
        }
        world.bench.advance(5_000)
        let key = try #require(try joon.workspace().currentKey)
        let forks = try world.forks { number in
            try joon.signed(
                .profileField(.init(.description, "fork \(number)")), in: document, under: key,
                incarnation: Self.incarnation, at: UInt64(number))
        }
        let cost = try world.cost(of: forks, in: document)
        let fields = try world.mina.workspace().people.fields
        let kept = forks.suffix(Limits.branchesMax)
        let last = try #require(
            kept.max { $0.header.timestamp.rawValue < $1.header.timestamp.rawValue })
        let word = Int(last.header.timestamp.milliseconds - world.bench.wall)
        #expect(fields.values.contains { $0[.description] == "fork \(word)" })
        #expect(try world.mina.ok("node.check")["problem_count"] == 0)
        try world.mina.restart()
        #expect(try world.mina.workspace().people.fields == fields)
        return cost
    }

    @Test func `of profiles has those not read again`() throws {
        let (few, many) = (
            try Self.profileCost(beside: 2), try Self.profileCost(beside: 60)
        )
        #expect(many <= few + 60, "\(few) \(many)")
    }

    /// The name of a device is what its last word says that is stored.
    @Test func `takes the name with it that it gave a device`() throws {
        let document = try joon.workspace().profileDocument
        let device = try #require(joon.host?.core.session.home).device
        let key = try #require(try joon.workspace().currentKey)
        let forks = try forks { number in
            try joon.signed(
                .device(device, name: "fork \(number)"), in: document, under: key,
                incarnation: Self.incarnation, at: UInt64(number))
        }
        _ = try cost(of: forks, in: document)
        let name = try mina.workspace().deviceName(device)
        try mina.restart()
        #expect(try mina.workspace().deviceName(device) == name)
        #expect(name?.hasPrefix("fork") == true)
    }
}

extension BenchNode {
    private func draft(
        _ kind: OperationKind, in document: DocumentID, incarnation: UInt32, at offset: UInt64
    ) throws -> (HomeIdentity, OperationDraft) {
        let (home, workspace) = (try #require(host?.core.session.home), try workspace())
        let grant = workspace.judged.evaluator.contentGrant(
            of: home.device, leastRole: .guest, as: workspace.member)
        let draft = OperationDraft(
            kind: kind, document: document, incarnation: incarnation, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(milliseconds: time.wall + offset, counter: 0),
            grant: try #require(grant))
        return (home, draft)
    }

    /// What this device signs at the start of a log, without storing it.
    ///
    /// - Parameter offset: how many milliseconds from now it says to be written.
    func signed(
        _ content: ContentPayload, in document: DocumentID,
        under key: (id: KeyID, key: SymmetricKey),
        incarnation: UInt32, at offset: UInt64 = 0
    ) throws -> SignedOperation {
        let (home, draft) = try draft(
            .content, in: document, incarnation: incarnation, at: offset)
        return draft.sealedAndSigned(
            plaintext: content.encoded, under: key.key, keyID: key.id, with: home.signing,
            using: random)
    }

    /// The same of an operation on who is in a private channel.
    fileprivate func signedMembership(
        in document: DocumentID, under key: SymmetricKey, at offset: UInt64
    ) throws -> SignedOperation {
        let (home, draft) = try draft(
            .privateAuthority, in: document, incarnation: 77, at: offset)
        let change = PrivateChange(
            .rekey(PrivateEpoch(keyID: key.keyID, older: [], answers: [])), seat: nil)
        return draft.sealedAndSigned(
            change, clear: nil, under: key, with: home.signing, using: random)
    }
}
