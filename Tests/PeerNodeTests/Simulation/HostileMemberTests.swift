import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import SyncProtocol

struct `A member who sends bad operations` {
    /// Gives a log to Ada as the author does or as a relay does, and tells with what she hung up.
    private static func give(
        _ log: HostileLog, to node: SimulatedNode, by peer: HostilePeer, asRelay: Bool
    ) -> HostileLink {
        let link = peer.connect(to: node)
        if asRelay {
            peer.offer([log])
        } else {
            link.push(log.run())
        }
        return link
    }

    // The author named in the operation is the honest Bob; the signature is Mallory's.
    @Test(arguments: [true, false])
    func `is dropped for speaking in another's name (O02)`(asRelay: Bool) throws {
        let scene = try HostileScene(seed: 21)
        defer { scene.world.end() }
        let bob = try HostileMember(keysOf: scene.bob)
        var forged = HostileLog(scene.mallory, incarnation: 77)
        forged.write("forged", at: scene.wall)
        let run = OperationRun(
            log: LogName(document: bob.channel, device: bob.device, incarnation: 77),
            firstSequence: 0, previous: nil, entries: forged.run().entries)
        let peer = scene.peer()
        let link = peer.connect(to: scene.ada)
        if asRelay {
            peer.offer([(LogTip(log: run.log, sequence: 0, id: forged.tip.id), run)])
        } else {
            link.push(run)
        }
        scene.world.run(for: 2_000)
        #expect(!link.isOpen)
        #expect(HostileScene.hasLogged(scene.ada, "link.closed", "sync.unasked") != asRelay)
        #expect(
            HostileScene.hasLogged(scene.ada, "op.rejected", "op.bad_signature") == asRelay)
        try scene.expectHonestPeace()
    }

    // Well signed, by a device that nobody admitted, under somebody else's grant.
    @Test func `shows nothing of a stranger's operations that they bring (O02)`() throws {
        let scene = try HostileScene(seed: 22)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory.stranger(seed: 5), incarnation: 1)
        log.write("from nobody", at: scene.wall)
        for node in scene.honest {
            let link = Self.give(log, to: node, by: scene.peer(), asRelay: true)
            scene.world.run(for: 2_000)
            #expect(link.isOpen, "a relay cannot know")
            #expect(link.pulls.count == 1)
        }
        try scene.expectHonestPeace()
    }

    @Test func `shows nothing under a grant that is not theirs (O02)`() throws {
        let scene = try HostileScene(seed: 23)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        let bob = try HostileMember(keysOf: scene.bob)
        log.write("as Bob", at: scene.wall) { $0.grant = bob.grant }
        log.write("as the founding", at: scene.wall + 1) {
            $0.grant = OperationID(sameBytesAs: scene.mallory.workspace)
        }
        log.write("as nobody", at: scene.wall + 2) { $0.grant = .zero }
        let link = Self.give(log, to: scene.ada, by: scene.peer(), asRelay: false)
        scene.world.run(for: 2_000)
        #expect(link.isOpen)
        try scene.expectHonestPeace()
    }

    /// Each field of the last operation as it travels, changed after the signature was made.
    static let changes: [(name: String, change: @Sendable (inout OperationRun.Entry) -> Void)] = [
        ("kind", { $0.kind = 7 }),
        ("time", { $0.timestamp = HybridTimestamp(rawValue: $0.timestamp.rawValue + 1) }),
        ("grant", { $0.grant = .zero }),
        ("key", { $0.keyID = nil }),
        ("payload", { $0.payload[$0.payload.count / 2] ^= 1 }),
        ("payload end", { $0.payload.append(0) }),
        ("payload cut", { $0.payload.removeLast() }),
        ("signature", { $0.signature = Signature([UInt8](repeating: 3, count: 64)) }),
    ]

    @Test(arguments: changes.indices, [true, false])
    func `is dropped for a change after signing (O03)`(_ index: Int, asRelay: Bool) throws {
        let scene = try HostileScene(seed: 24)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("good", at: scene.wall)
        log.write("changed", at: scene.wall + 1)
        var run = log.run(from: 1)
        Self.changes[index].change(&run.entries[0])
        let peer = scene.peer()
        let link = peer.connect(to: scene.ada)
        link.push(log.cut(to: 1).run())
        if asRelay {
            peer.offer([(log.tip, run)])
        } else {
            link.push(run)
        }
        scene.world.run(for: 2_000)
        #expect(!link.isOpen)
        #expect(
            HostileScene.hasLogged(scene.ada, "op.rejected", "op.bad_signature"),
            "\(Self.changes[index].name)")
        // What came before is good, and the sender is the author only by chance.
        try scene.expectHonestPeace(showing: ["good"])
        let again = scene.peer(1, as: scene.mallory).connect(to: scene.ada)
        again.push(log.run(from: 1))
        scene.world.run(for: 1_000)
        try #require(again.isOpen)
        #expect(Scenes.texts(of: "general", on: scene.ada).contains("changed"))
    }

    /// Beside another branch of the log an operation is looked at by another way, for its place is
    /// not the end of what is stored.
    @Test(arguments: [true, false])
    func `is dropped for a change after signing beside another branch (O03)`(
        isChanged: Bool
    ) throws {
        let scene = try HostileScene(seed: 26)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        for (count, text) in ["one", "two"].enumerated() {
            log.write(text, at: scene.wall) { $0.moveBehind(count) }
        }
        var fork = log.cut(to: 1)
        fork.write("other", at: scene.wall) { $0.moveBehind(1) }
        var run = fork.run(from: 1)
        if isChanged { run.entries[0].timestamp = HybridTimestamp(rawValue: .max >> 1) }
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        link.push(run)
        scene.world.run(for: 2_000)
        #expect(link.isOpen != isChanged)
        #expect(
            HostileScene.hasLogged(scene.ada, "op.rejected", "op.bad_signature") == isChanged)
        #expect(HostileScene.forkCount(of: scene.ada) == (isChanged ? 0 : 1))
        let shown = Scenes.texts(of: "general", on: scene.ada)
        #expect(shown.contains("two") && shown.contains("other") != isChanged)
    }

    /// Other operations would remain in the authority document permanently: it is never pruned, and
    /// served to everybody.
    @Test(arguments: ["authority", "mailbox"])
    func `is dropped for content in a document that is for something else`(_ place: String) throws {
        let scene = try HostileScene(seed: 27)
        defer { scene.world.end() }
        let workspace = try HostileScene.workspace(of: scene.ada)
        let document = place == "authority" ? workspace.id : workspace.mailboxDocument
        var log = HostileLog(scene.mallory, incarnation: 77, document: document)
        log.write("out of place", at: scene.wall)
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 2_000)
        #expect(!link.isOpen)
        #expect(HostileScene.hasLogged(scene.ada, "op.rejected", "op.wrong_scope"))
        try scene.expectHonestPeace()
    }

    /// The code of an error is a text of the peer's, and goes into the log.
    @Test func `writes no line of its own into a log`() throws {
        let scene = try HostileScene(seed: 28)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        let word = "over\nnode.stopped by=\u{1b}[31mmallory\u{202e}"
        link.send(.error(code: word, retryAfterMilliseconds: 0))
        scene.world.run(for: 500)
        let told = scene.ada.log.filter { $0.contains("mallory") }
        #expect(told.count == 1)
        #expect(told.allSatisfy { $0.hasPrefix("peer.error code=over") })
        for line in told {
            #expect(
                !line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e }, "\(line)")
        }
    }

    @Test func `cannot place operations outside their log's order (O05)`() throws {
        let scene = try HostileScene(seed: 25)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        for number in 0..<6 { log.write("o\(number)", at: scene.wall + UInt64(number)) }
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.cut(to: 2).run())
        // Repeated, from the start and from the middle.
        for _ in 0..<3 { link.push(log.cut(to: 2).run(), log.cut(to: 2).run(from: 1)) }
        // A gap: what is behind it waits.
        link.push(log.run(from: 4))
        scene.world.run(for: 2_000)
        #expect(link.isOpen)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 2)
        #expect(HostileScene.forkCount(of: scene.ada) == 0)
        try scene.expectHonestPeace(showing: ["o0", "o1"])
        // The gap is filled, from the other side.
        scene.peer(1, as: scene.mallory).connect(to: scene.bob).push(log.run())
        scene.world.run(for: 60_000)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 0)
        #expect(Scenes.texts(of: "general", on: scene.ada).count == 9)
        #expect(HostileScene.root(of: scene.ada) == HostileScene.root(of: scene.bob))
    }

    /// Sequence numbers at the end of all numbers, said in every way there is.
    @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64(1) << 63])
    func `overflows nothing with the last sequence numbers (O05)`(sequence: UInt64) throws {
        let scene = try HostileScene(seed: 26)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("o0", at: scene.wall)
        log.write("far away", at: scene.wall + 1) { $0.sequence = sequence }
        let far = OperationRun(
            log: log.name, firstSequence: sequence, previous: log.operations.first?.id,
            entries: log.run(from: 1).entries)
        let peer = scene.peer()
        peer.stock = [(log.tip, far)]
        let pushed = peer.connect(to: scene.ada)
        pushed.push(log.cut(to: 1).run())
        pushed.push(far)
        let told = peer.connect(to: scene.bob)
        told.announce([log.tip])
        scene.world.run(for: 1_000)
        // Holders of the log are told that it ends there, and compare.
        for node in scene.honest {
            let bob = try HostileMember(keysOf: node)
            let tip = LogTip(
                log: LogName(document: bob.channel, device: bob.device, incarnation: 1),
                sequence: sequence, id: log.tip.id)
            told.announce([tip])
            told.send(.forkProbe(1, tip))
            let item = PullItem(target: tip, have: [LogPoint(sequence: sequence, id: tip.id)])
            told.send(
                .pull(1, PullRequest(request: 9, items: [item], maxBytes: 1 << 20)))
        }
        scene.world.run(for: 2_000)
        #expect(pushed.isOpen == (sequence < .max), "the message itself says too much")
        try scene.expectHonestPeace(showing: ["o0"])
    }
}

extension OperationDraft {
    /// Behind so many operations of its log, though the clock stands still.
    fileprivate mutating func moveBehind(_ count: Int) {
        timestamp = HybridTimestamp(rawValue: timestamp.rawValue + UInt64(count))
    }
}
