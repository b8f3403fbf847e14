import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

extension FrozenScenes {
    /// Private channels with people who come, go, are thrown out and come back, under several
    /// keys; a conversation that both opened; and what is written there without a right to.
    static func behindDoors() throws -> FrozenScene {
        let bench = CoreBench(seed: 53)
        let mina = try bench.node("Mina")
        let (ada, joon) = (try bench.guest("Ada", of: mina), try bench.guest("Joon", of: mina))
        let (kim, dora) = (try bench.guest("Kim", of: mina), try bench.guest("Dora", of: mina))
        bench.advance(10_000)
        try joon.ok(
            "channel.create",
            ["name": "board", "private": true, "history": "all", "topic": "money"])
        try joon.ok("channel.add", ["channel": "board", "members": ["Ada", "Kim"]])
        bench.advance(2_000)
        for node in [joon, ada, kim] { try node.send("from \(node.name)", to: "board") }
        try joon.ok("channel.role", ["channel": "board", "member": "Ada", "role": "admin"])
        bench.advance(2_000)
        try ada.ok("channel.edit", ["channel": "board", "topic": "people"])
        try ada.ok("channel.remove", ["channel": "board", "members": ["Kim"]])
        bench.advance(2_000)
        try joon.send("without Kim", to: "board")
        try ada.ok("channel.add", ["channel": "board", "members": ["Kim"]])
        bench.advance(2_000)
        try kim.send("back", to: "board")
        try alone(joon, of: [mina, ada, kim, dora], bench) {
            try joon.ok("channel.remove", ["channel": "board", "members": ["Kim"]])
            try joon.send("on this side", to: "board")
            try kim.send("said meanwhile", to: "board")
            try ada.ok("channel.add", ["channel": "board", "members": ["Mina"]])
            bench.advance(2_000)
            try mina.send("new here", to: "board")
        }
        try joon.ok("channel.add", ["channel": "board", "members": ["Kim"]])
        bench.advance(2_000)
        try mina.ok("channel.leave", ["channel": "board"])
        bench.advance(2_000)
        // Her leaving needs a new key before anybody writes.
        try ada.send("settled", to: "board")
        try alone(joon, of: [mina, ada, kim, dora], bench) {
            try joon.send("from Joon", to: "@Kim")
            try kim.send("from Kim", to: "@Joon")
        }
        try joon.send("both of us", to: "@Kim")
        try later(kim, mina, bench)
        let forged = try forgeries(by: kim, dora, in: "board", bench)
        // Out of the workspace: a new key answers it, and what Kim did not say in time is void.
        for node in [mina, ada, joon, dora] { bench.cut(kim, node) }
        try kim.send("not in time", to: "board")
        try mina.ok("member.remove", ["member": "Kim", "force": true])
        bench.advance(2_000)
        try joon.send("after Kim", to: "board")
        bench.advance(5_000)
        return try FrozenScene(
            "behind doors", of: [mina, ada, joon, kim, dora], besides: forged)
    }

    /// Does something while one of them is cut off from all others.
    private static func alone(
        _ node: BenchNode, of others: [BenchNode], _ bench: CoreBench, _ body: () throws -> Void
    ) throws {
        bench.advance(5_000)
        for other in others { bench.cut(node, other) }
        try body()
        for other in others { bench.heal(node, other) }
        bench.advance(30_000)
    }

    /// A channel that shows only what is written from joining on and changes its owner.
    private static func later(
        _ kim: BenchNode, _ mina: BenchNode, _ bench: CoreBench
    ) throws {
        try kim.ok(
            "channel.create", ["name": "later", "private": true, "history": "from-join"])
        try kim.send("early", to: "later")
        try kim.ok("channel.add", ["channel": "later", "members": ["Mina"]])
        bench.advance(2_000)
        try kim.ok("channel.transfer", ["channel": "later", "member": "Mina"])
        bench.advance(2_000)
        try mina.send("mine now", to: "later")
        try mina.ok("channel.archive", ["channel": "later"])
        bench.advance(2_000)
    }

    /// A plain member who adds, removes, promotes and renames, one who is not in and knows no
    /// key, and content under a key that nothing introduces.
    private static func forgeries(
        by kim: BenchNode, _ dora: BenchNode, in channel: String, _ bench: CoreBench
    ) throws -> [SignedOperation] {
        let workspace = try kim.workspace()
        let shown = try #require(workspace.channelIndex.all.first { $0.name == channel })
        let document = try #require(workspace.sealed.documents[shown.id])
        let seat = try #require(document.authority.standing(of: workspace.member)).seat
        let key = try #require(document.newestKey)
        let random = SeededRandom(seed: 54)
        let doras = try dora.workspace().member
        let joons = try #require(
            document.authority.members.first { $0.role == .owner }
        ).member
        let stranger = SymmetricKey(using: random)
        let actions: [PrivateAction] = [
            .add(PrivateAddition(seats: [PrivateSeat(doras, .member)])),
            .remove(joons, cuts: [], epoch: PrivateEpoch(keyID: key.keyID)),
            .role(joons, .member, drops: false), .set(PrivateSettings(name: "mine")),
            .rekey(PrivateEpoch(keyID: stranger.keyID)),
        ]
        var log = ForgedDocumentLog(
            try kim.hostile(), document: document.id, incarnation: 95, at: bench.wall)
        let heads = document.authority.heads.compactMap { id in
            document.records[id].map {
                OperationReference(
                    device: $0.log.device, incarnation: $0.log.incarnation,
                    sequence: $0.sequence, id: id)
            }
        }
        for action in actions {
            log.write(PrivateChange(action, seat: seat), knowing: heads, under: key, random)
        }
        log.write("under nothing", under: stranger, random)
        var others = ForgedDocumentLog(
            try dora.hostile(), document: document.id, incarnation: 96, at: bench.wall)
        others.write(
            PrivateChange(.rekey(PrivateEpoch(keyID: stranger.keyID)), seat: seat),
            knowing: heads, under: stranger, random)
        return log.operations + others.operations
    }
}

/// A log of a private document in which a member's keys sign anything for a test.
struct ForgedDocumentLog {
    private(set) var operations: [SignedOperation] = []
    private let author: HostileMember
    private let document: DocumentID
    private let incarnation: UInt32
    private let wall: UInt64

    init(_ author: HostileMember, document: DocumentID, incarnation: UInt32, at wall: UInt64) {
        self.author = author
        self.document = document
        self.incarnation = incarnation
        self.wall = wall
    }

    private func draft(
        _ kind: OperationKind, _ known: [OperationReference] = []
    ) -> OperationDraft {
        OperationDraft(
            kind: kind, document: document, incarnation: incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(
                milliseconds: wall + UInt64(operations.count), counter: 0),
            grant: author.grant, dependencies: known)
    }

    /// The same up to a place, to go on from there in another way.
    func prefix(_ count: Int) -> Self {
        var log = self
        log.operations = Array(operations.prefix(count))
        return log
    }

    /// Says something about who is in.
    mutating func write(
        _ change: PrivateChange, knowing heads: [OperationReference], under key: SymmetricKey,
        _ random: SeededRandom
    ) {
        operations.append(
            draft(.privateAuthority, heads).sealedAndSigned(
                change, clear: nil, under: key, with: author.signing, using: random))
    }

    /// Says something.
    mutating func write(_ text: String, under key: SymmetricKey, _ random: SeededRandom) {
        operations.append(
            draft(.content).sealedAndSigned(
                plaintext: ContentPayload.message(.init(text: text)).encoded, under: key,
                keyID: key.keyID, with: author.signing, using: random))
    }
}
