import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// 3.15.10: deleted content is gone from every node, and the rest is unaffected.
struct `Deleting in a network` {
    /// One message as its author sent it.
    private struct Sent {
        let id: String
        let channel: String
        let author: Int
        let payload: [UInt8]
        var isDeleted = false
    }

    static func payload(of id: String, on node: SimulatedNode) throws -> [UInt8] {
        let core = try #require(node.host?.core)
        let key = try #require(PublicID.messageKey(id))
        let row = try #require(try core.turn.store.view.anyMessage(key)?.row)
        return try #require(try core.turn.store.operations.operation(row.position.arrival)).entry
            .payload
    }

    private func send(
        _ text: String, to channel: String, by nodes: [SimulatedNode], _ author: Int
    ) throws -> Sent? {
        guard
            let id = nodes[author].ask(
                "message.send", ["channel": .string(channel), "text": .string(text)])?["id"]?
                .stringValue
        else { return nil }
        return Sent(
            id: id, channel: channel, author: author,
            payload: try Self.payload(of: id, on: nodes[author]))
    }

    @Test(arguments: Seeds.explore(3))
    func `leaves no byte of a payload on any node`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        var random = SeededGenerator(seed: seed)
        // N0 is a relay of the private channel and of the conversations.
        let nodes = try `Private documents in a network`.people(4, in: world)
        _ = nodes[1].ask("channel.create", ["name": "board", "private": true, "history": "all"])
        _ = nodes[1].ask("channel.add", ["channel": "board", "members": ["N2", "N3"]])
        world.run(for: 30_000)
        var sent: [Sent] = []
        for number in 0..<24 {
            let author = 1 + Int(random.below(3))
            let channels = ["general", "board", author == 1 ? "@N2" : "@N1"]
            let channel = channels[Int(random.below(3))]
            if random.below(6) == 0 {
                let victim = nodes[Int(random.below(4))]
                victim.crash()
                world.run(for: 2_000)
                victim.start()
            }
            if let one = try send("text \(number) \(seed)", to: channel, by: nodes, author) {
                sent.append(one)
            }
            if random.below(2) == 0, let place = sent.indices.randomElement(using: &random),
                !sent[place].isDeleted
            {
                let isDone =
                    nodes[sent[place].author].ask(
                        "message.delete", ["message": .string(sent[place].id)]) != nil
                sent[place].isDeleted = isDone
            }
            world.run(for: UInt64(random.below(4)) * 500)
        }
        let isEqual = world.run(within: 900_000, every: 100) {
            Set(nodes.map { HostileScene.root(of: $0) }).count == 1
        }
        #expect(isEqual, "WSX_SEED=\(seed)")
        world.run(for: 60_000)
        for node in nodes {
            let image = try #require(node.store).connection.serialized()
            for message in sent {
                #expect(
                    ByteSearch.finds(message.payload, in: image) == !message.isDeleted,
                    "\(message.id) in \(message.channel) on \(node.index), WSX_SEED=\(seed)")
            }
            let check = node.ask("node.check")
            #expect(check?["problem_count"] == 0, "\(node.index), WSX_SEED=\(seed)")
        }
        try expectEqualViews(nodes, sent, seed)
        try expectNewcomer(world, nodes, sent, seed)
        #expect(sent.contains { $0.isDeleted } && sent.contains { !$0.isDeleted })
        #expect(world.failures == [])
    }

    /// Members show the same rows, with text exactly where nothing was deleted.
    private func expectEqualViews(
        _ nodes: [SimulatedNode], _ sent: [Sent], _ seed: UInt64
    ) throws {
        for channel in ["general", "board"] {
            let expected = sent.filter { $0.channel == channel }
            for node in nodes where channel == "general" || node.index > 0 {
                let shown = Scenes.messages(of: channel, on: node)
                #expect(
                    shown.compactMap { $0["id"]?.stringValue }.sorted()
                        == expected.map(\.id).sorted(), "\(node.index), WSX_SEED=\(seed)")
                for message in shown {
                    let isDeleted = expected.first { $0.id == message["id"]?.stringValue }?
                        .isDeleted
                    #expect((message["text"] == .null) == isDeleted, "WSX_SEED=\(seed)")
                    #expect((message["deleted"] != .null) == isDeleted, "WSX_SEED=\(seed)")
                }
            }
        }
    }

    /// A newcomer gets headers without payloads, and shows the gaps.
    private func expectNewcomer(
        _ world: SimulatedWorld, _ nodes: [SimulatedNode], _ sent: [Sent], _ seed: UInt64
    ) throws {
        let newcomer = world.addNode()
        let link = try #require(Scenes.invite(by: nodes[0]))
        try #require(Scenes.join(link, by: newcomer, named: "N9"))
        let isEqual = world.run(within: 900_000, every: 100) {
            HostileScene.root(of: newcomer) == HostileScene.root(of: nodes[0])
        }
        #expect(isEqual, "WSX_SEED=\(seed)")
        world.run(for: 60_000)
        #expect(
            Scenes.messages(of: "general", on: newcomer).compactMap { $0["id"]?.stringValue }
                .sorted()
                == sent.filter { $0.channel == "general" }.map(\.id).sorted(), "WSX_SEED=\(seed)")
        let image = try #require(newcomer.store).connection.serialized()
        for message in sent where message.isDeleted {
            #expect(!ByteSearch.finds(message.payload, in: image), "WSX_SEED=\(seed)")
        }
        #expect(newcomer.ask("node.check")?["problem_count"] == 0, "WSX_SEED=\(seed)")
    }
}

/// Redactions, and operations without payloads, by a member who ignores all rules.
struct `A member who deletes what he may not` {
    private static func reference(
        _ operation: SignedOperation, in log: LogName
    ) -> OperationReference {
        OperationReference(
            device: log.device, incarnation: log.incarnation, sequence: operation.header.sequence,
            id: operation.id)
    }

    /// The message of a text, as others cite it.
    static func reference(
        to text: String, on node: SimulatedNode
    ) throws -> OperationReference {
        let core = try #require(node.host?.core)
        let shown = Scenes.messages(of: "general", on: node).first {
            $0["text"]?.stringValue == text
        }
        let key = try #require(shown?["id"]?.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try core.turn.store.view.message(key))
        return try #require(try core.turn.store.operations.operation(row.position.arrival))
            .reference
    }

    static func redaction(
        of targets: [OperationReference], undoing undone: OperationReference? = nil,
        by scene: HostileScene, incarnation: UInt32, in document: DocumentID? = nil
    ) -> (run: OperationRun, tip: LogTip) {
        let document = document ?? scene.mallory.channel
        let draft = OperationDraft(
            kind: .redact, document: document, incarnation: incarnation, sequence: 0,
            previous: nil, timestamp: HybridTimestamp(milliseconds: scene.wall, counter: 0),
            grant: scene.mallory.grant)
        let key = scene.mallory.signing
        let signed =
            undone.map { draft.signed(undoing: $0, keyID: nil, with: key) }
            ?? draft.signed(
                redacting: targets, RedactedMessages([]), under: nil, with: key,
                using: SeededRandom(seed: UInt64(incarnation)))
        let log = LogName(
            document: document, device: scene.mallory.device, incarnation: incarnation)
        return (
            signed.run(in: log.document), HostileLog.tip(of: signed, in: log)
        )
    }

    @Test func `changes nothing`() throws {
        let scene = try HostileScene(seed: 81)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        let targets = try ["from Ada", "from Bob"].map {
            try Self.reference(to: $0, on: scene.ada)
        }.sorted { $0.id < $1.id }
        let (run, _) = Self.redaction(of: targets, by: scene, incarnation: 90)
        link.push(run)
        scene.world.run(for: 2_000)
        // What does not exist, and an undo of what is no redaction.
        var nothing = targets[0]
        nothing = OperationReference(
            device: nothing.device, incarnation: nothing.incarnation, sequence: 99,
            id: OperationID([UInt8](repeating: 9, count: 32)))
        link.push(Self.redaction(of: [nothing], by: scene, incarnation: 91).run)
        link.push(Self.redaction(of: [], undoing: targets[0], by: scene, incarnation: 92).run)
        scene.world.run(for: 2_000)
        #expect(link.isOpen)
        for node in scene.honest {
            let store = try #require(node.store)
            #expect(try store.view.redactions.nextErasure() == nil)
        }
        try scene.expectHonestPeace()
    }

    @Test func `undoes no deletion of somebody stronger`() throws {
        let scene = try HostileScene(seed: 82)
        defer { scene.world.end() }
        let id = try #require(
            Scenes.messages(of: "general", on: scene.ada).first {
                $0["text"] == "from Bob"
            }?["id"])
        try #require(scene.ada.ask("message.delete", ["message": id]) != nil)
        let store = try #require(scene.ada.store)
        let core = try #require(scene.ada.host?.core)
        let key = try #require(id.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try store.view.message(key))
        let deletion = try #require(try store.view.redactions.deletion(of: row.position.arrival))
        let redaction = try #require(try core.turn.store.operations.operation(deletion.by))
            .reference
        let link = scene.peer().connect(to: scene.ada)
        link.push(Self.redaction(of: [], undoing: redaction, by: scene, incarnation: 93).run)
        scene.world.run(for: 10_000)
        #expect(link.isOpen)
        for node in scene.honest {
            #expect(Scenes.texts(of: "general", on: node) == ["from Ada"])
        }
    }

    /// Mallory hands on Bob's message without its payload to a node that has not got it.
    @Test func `hands on no gap that others cannot fill`() throws {
        let scene = try HostileScene(seed: 83)
        defer { scene.world.end() }
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        world.network.part(ada, bob)
        // The old link is dead, so nothing that is pushed into it arrives.
        let id = try #require(
            bob.ask("message.send", ["channel": "general", "text": "withheld"])?["id"]?.stringValue)
        world.run(for: 200_000)
        let stored = try Self.stored(id, on: bob)
        var run = try Self.run(of: stored, on: bob)
        var entry = try #require(run.entries.last)
        entry.absent = .init(
            length: entry.payload.count, hash: OperationSigning.hash(ofPayload: entry.payload))
        let payload = entry.payload
        entry.payload = []
        run.entries = [entry]
        let tip = LogTip(
            log: run.log, sequence: stored.place.sequence,
            id: Identifier16(prefixOf: stored.place.link.id))
        let peer = scene.peer()
        let last = OperationRun(
            log: run.log, firstSequence: stored.place.sequence, previous: run.previous,
            entries: run.entries)
        let link = peer.connect(to: ada)
        peer.offer([(tip, last)])
        world.run(for: 5_000)
        #expect(link.isOpen, "\(ada.log)")
        let store = try #require(ada.store)
        #expect(try store.operations.missingPayloadCount() == 1)
        #expect(Scenes.texts(of: "general", on: ada) == ["from Ada", "from Bob"])
        // Asked, she sends something else, which is not taken.
        let wrong = PayloadHave(
            workspace: 1, document: run.log.document, operation: stored.reference,
            payload: payload.map { $0 ^ 1 })
        link.send(.payloadHave(wrong), in: .bulk)
        world.run(for: 2_000)
        #expect(try store.operations.missingPayloadCount() == 1)
        world.network.heal()
        let isHealed = world.run(within: 600_000, every: 500) {
            Scenes.texts(of: "general", on: ada).contains("withheld")
        }
        #expect(isHealed, "\(ada.log)")
        #expect(try store.operations.missingPayloadCount() == 0)
        #expect(ada.ask("node.check")?["problem_count"] == 0)
        link.close()
        try scene.expectHonestPeace(showing: ["withheld"])
    }

    private static func stored(_ id: String, on node: SimulatedNode) throws -> StoredOperation {
        let core = try #require(node.host?.core)
        let key = try #require(PublicID.messageKey(id))
        let row = try #require(try core.turn.store.view.anyMessage(key)?.row)
        return try #require(try core.turn.store.operations.operation(row.position.arrival))
    }

    private static func run(
        of stored: StoredOperation, on node: SimulatedNode
    ) throws -> OperationRun {
        let core = try #require(node.host?.core)
        return try #require(
            try core.turn.store.operations.run(
                of: stored.place.branch, from: stored.place.sequence,
                through: stored.place.sequence, byteCountMax: 1 << 20))
    }
}
