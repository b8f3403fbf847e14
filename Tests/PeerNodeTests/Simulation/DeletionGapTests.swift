import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a redaction says of its targets, and what they show: the same for nodes that had the
/// payloads and for later ones that never get them.
struct `A redaction that says something else of a message` {
    enum Lie: CaseIterable, Sendable {
        case nothing, none, otherThread, noThread, garbage
    }

    /// A thread, an answer in it and a reaction, all of Mallory's; and the redaction of the last two.
    private struct Told {
        var log: HostileLog
        let redaction: OperationReference
    }

    private static func reference(_ log: HostileLog, _ index: Int) -> OperationReference {
        let operation = log.operations[index]
        return OperationReference(
            device: log.name.device, incarnation: log.name.incarnation,
            sequence: operation.header.sequence, id: operation.id)
    }

    private static func key(
        _ reference: OperationReference, at milliseconds: UInt64
    ) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(milliseconds: milliseconds, counter: 0),
            idPrefix: reference.id.messagePrefix)
    }

    private static func tell(
        _ lie: Lie, to link: HostileLink, in scene: HostileScene
    ) -> Told {
        let mallory = scene.mallory
        var log = HostileLog(mallory, incarnation: 50)
        let start = scene.wall
        log.write("thread", at: start)
        log.write("other thread", at: start + 1)
        let thread = key(reference(log, 0), at: start)
        let other = key(reference(log, 1), at: start + 1)
        log.write(
            plaintext: ContentPayload.message(.init(text: "answer", thread: thread)).encoded,
            at: start + 2)
        log.write(
            plaintext: ContentPayload.annotation(
                .init(.reaction("+1", isOn: true), of: thread)
            ).encoded, at: start + 3)
        link.push(log.run())
        scene.world.run(for: 2_000)
        let targets = [reference(log, 2), reference(log, 3)].sorted { $0.id < $1.id }
        let answer = targets[0] == reference(log, 2) ? 0 : 1
        let entries: [RedactedMessages.Entry] =
            switch lie {
            case .nothing, .none, .garbage: []
            case .otherThread: [.init(target: answer, thread: other)]
            // A reaction, as if it were a message.
            case .noThread: [.init(target: 1 - answer, thread: nil)]
            }
        var draft = OperationDraft(
            kind: .redact, document: mallory.channel, incarnation: 51, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(milliseconds: start + 4, counter: 0), grant: mallory.grant)
        if lie == .garbage { draft.dependencies = [reference(log, 2)] }
        let sealing = lie == .nothing ? nil : (id: mallory.keyID, key: mallory.epochKey)
        let key = lie == .garbage ? SymmetricKey(using: SeededRandom(seed: 4)) : mallory.epochKey
        let signed = draft.signed(
            redacting: targets, RedactedMessages(entries), under: sealing.map { ($0.id, key) },
            with: mallory.signing, using: SeededRandom(seed: 9))
        let name = LogName(document: mallory.channel, device: mallory.device, incarnation: 51)
        link.push(signed.run(in: name.document))
        scene.world.run(for: 3_000)
        return Told(
            log: log,
            redaction: OperationReference(
                device: name.device, incarnation: 51, sequence: 0, id: signed.id))
    }

    /// What a node shows of the channel: text, author, thread and answers of each message.
    private static func shown(on node: SimulatedNode) -> [String] {
        Scenes.messages(of: "general", on: node).map { message in
            ["text", "author", "thread", "replies", "deleted"].map {
                "\(message[$0].map { String(decoding: $0.bytes, as: UTF8.self) } ?? "-")"
            }.joined(separator: " ")
        }
    }

    @Test(arguments: Lie.allCases)
    func `is what everybody shows of it`(lie: Lie) throws {
        let scene = try HostileScene(seed: 94)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        let told = Self.tell(lie, to: link, in: scene)
        #expect(link.isOpen)
        let cleo = try scene.addCleo()
        scene.world.run(for: 10_000)
        let seen = Self.shown(on: scene.ada)
        #expect(seen.count == (lie == .nothing || lie == .none || lie == .garbage ? 4 : 5))
        #expect(Self.shown(on: scene.bob) == seen)
        #expect(Self.shown(on: cleo) == seen)
        // What is built from the operations is the same.
        for node in [scene.ada, cleo] {
            node.crash()
            node.start()
            scene.world.run(for: 1_000)
            let check = node.ask("node.check", ["repair": true])
            scene.world.run(for: 3_000)
            #expect(Self.shown(on: node) == seen, "\(String(describing: check))")
        }
        // Who takes it back has the answer in its own thread again, where it is still there.
        let undo = OperationDraft(
            kind: .redact, document: scene.mallory.channel, incarnation: 52, sequence: 0,
            previous: nil, timestamp: HybridTimestamp(milliseconds: scene.wall, counter: 0),
            grant: scene.mallory.grant
        ).signed(undoing: told.redaction, keyID: nil, with: scene.mallory.signing)
        let again = scene.peer().connect(to: scene.ada)
        scene.world.run(for: 1_000)
        again.push(undo.run(in: scene.mallory.channel))
        scene.world.run(for: 10_000)
        #expect(Self.shown(on: scene.bob) == Self.shown(on: scene.ada))
        #expect(Self.shown(on: cleo) == Self.shown(on: scene.ada))
    }
}
