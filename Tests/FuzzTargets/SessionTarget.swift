import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A whole session behind the handshake: a member who says, signs and seals what the fuzzer wants,
/// to a node with a store of its own.
///
/// An input is a row of steps: a byte says which, the rest is its content. Signatures and seals are
/// made here, for no fuzzer makes them; what is in them is the fuzzer's.
extension FuzzTarget {
    static let session = FuzzTarget(
        "session", "steps of a member after the handshake, to a node, which then still works",
        bytesMax: 4_096, secondsMax: 25, memoryMax: 2_048
    ) { bytes in
        let scene = try FuzzScene.shared.get()
        let (bench, ada) = try scene.bench()
        var player = SessionPlayer(
            scene: scene, bench: bench, node: ada,
            peer: try FuzzPeer(scene, to: ada, on: bench), input: FuzzBytes(bytes))
        for _ in 0..<64 where !player.input.isEmpty { try player.step() }
        try player.finish(isThorough: bytes.count % 4 == 0)
    }
}

private struct SessionPlayer {
    let scene: FuzzScene
    let bench: CoreBench
    let node: BenchNode
    var peer: FuzzPeer
    var input: FuzzBytes
    /// Operations of logs that Mallory begins here, by their document and incarnation.
    private var logs: [LogName: SignedOperation] = [:]
    private let random = SeededRandom(seed: 77)
    private var waited = 0

    init(
        scene: FuzzScene, bench: CoreBench, node: BenchNode, peer: FuzzPeer, input: FuzzBytes
    ) {
        (self.scene, self.bench, self.node) = (scene, bench, node)
        (self.peer, self.input) = (peer, input)
    }

    mutating func step() throws {
        switch input.byte() % 12 {
        case 0:
            let messageClass = input.byte()
            peer.send(input.field(), in: messageClass)
        case 1: peer.send(frame: input.field())
        case 2: peer.open()
        case 3: peer.push([known().run])
        case 4:
            peer.send(SyncMessage.tips(1, [known().tip], final: input.byte() & 1 == 1).encoded())
        case 5:
            let place = input.word()
            peer.push([sign(.content, at: place, input.field())])
        case 6:
            let place = input.byte()
            peer.push([sign(.authority, at: Int(place & 3) << 8 | 2, input.field())])
        case 7:
            let kind = OperationKind(rawValue: UInt64(input.byte() % 6)) ?? .content
            let place = input.word()
            peer.push([sign(kind, at: place, input.field(), isPlain: true)])
        case 8: peer.answer([known().run])
        case 9:
            let place = input.word()
            peer.answer([sign(.content, at: place, input.field())])
        case 10:
            waited += 1
            if waited < 8 { bench.advance([10, 200, 1_500, 31_000][Int(input.byte() & 3)]) }
        default:
            peer.hangUp()
            peer = try FuzzPeer(scene, to: node, on: bench)
            peer.open()
        }
    }

    private mutating func known() -> (tip: LogTip, run: OperationRun) {
        scene.runs[Int(input.byte()) % scene.runs.count]
    }

    /// The next operation of a log that `place` chooses: the low byte its document, the bits above
    /// one of a few incarnations; the top ones bend its time and its place.
    private mutating func sign(
        _ kind: OperationKind, at place: Int, _ content: [UInt8], isPlain: Bool = false
    ) -> OperationRun {
        let member = scene.mallory
        let document = scene.documents[place & 255 % scene.documents.count]
        let name = LogName(
            document: document, device: member.device, incarnation: UInt32(900 + place >> 8 & 3))
        let last = place >> 10 & 1 == 1 ? nil : logs[name]
        let ahead: UInt64 = place >> 11 & 1 == 1 ? 86_400_000 : 0
        let draft = OperationDraft(
            kind: kind, document: document, incarnation: name.incarnation,
            sequence: last.map { $0.header.sequence + 1 } ?? 0, previous: last?.id,
            timestamp: HybridTimestamp(milliseconds: bench.wall + ahead, counter: 0),
            grant: member.grant, dependencies: kind == .content ? [] : scene.heads)
        let signed =
            kind == .content && !isPlain
            ? draft.sealedAndSigned(
                plaintext: content, under: member.epochKey, keyID: member.keyID,
                with: member.signing, using: random)
            : draft.signed(payload: content, with: member.signing)
        logs[name] = signed
        return signed.run(in: document)
    }

    /// Whatever came: the node runs, shows what it has, and takes a message of its own.
    func finish(isThorough: Bool) throws {
        bench.advance(1_000)
        try hold(!node.hasStopped && node.host != nil, "the node has ended")
        for method in ["workspace.get", "member.list", "channel.list", "invite.list"] {
            _ = try node.ok(method)
        }
        let sent = node.call("message.send", ["channel": "general", "text": "still here"])
        if case .failure(let error) = sent {
            try hold(error.reason != "bench.no_answer", "no answer to a message")
        }
        guard isThorough else { return }
        let found = try node.ok("node.check")
        try hold(found["ok"] == true, "the store is damaged: \(found.text)")
    }
}
