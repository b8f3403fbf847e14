import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada's store as it stands in the middle of a life, and the keys of Mallory, whom she let in.
///
/// It is made once in a process, the same each time; every input starts a node on a copy, so that an
/// input means the same whatever came before it.
struct FuzzScene: Sendable {
    static let shared = Result { try FuzzScene() }

    private let image: [UInt8]
    private let identity: [UInt8]?
    private let guardBytes: [UInt8]?
    private let wall: UInt64
    /// Mallory, who may say and sign anything.
    let mallory: HostileMember
    /// Logs that content of hers may go to.
    let documents: [DocumentID]
    /// What an operation of hers cites that changes who may do what.
    let heads: [OperationReference]
    /// All that Ada holds, as she would hand it over: valid operations of every kind, of others too.
    let runs: [(tip: LogTip, run: OperationRun)]
    /// What the link of an open invite is.
    let invite: String

    private init() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let first = try ada.ok("message.send", ["channel": "general", "text": "hello"])
        let side = try ada.ok("channel.create", ["name": "side"])
        let lobby = try ada.ok("channel.create", ["name": "lobby", "private": true])
        let node = try bench.guest("Mallory", of: ada)
        bench.advance(5_000)
        try node.ok("message.send", ["channel": "general", "text": "from Mallory"])
        _ = ada.call("message.edit", ["message": first["id"] ?? .null, "text": "hello all"])
        _ = ada.call("message.react", ["message": first["id"] ?? .null, "emoji": "👍"])
        _ = ada.call("message.send", ["channel": lobby["id"] ?? .null, "text": "in private"])
        _ = node.call("message.send", ["channel": side["id"] ?? .null, "text": "aside"])
        let gone = try ada.ok("message.send", ["channel": "general", "text": "deleted"])
        _ = ada.call("message.delete", ["message": gone["id"] ?? .null])
        invite = try ada.ok("invite.create")["link"]?.stringValue ?? ""
        bench.advance(5_000)
        guard let core = node.host?.core, let home = core.session.home,
            let workspace = try core.membership.selectedWorkspace(), let key = workspace.currentKey,
            let shown = core.links.localIdentity, let discovery = workspace.discovery.last,
            let channel = workspace.book.channels.values.first(where: { $0.name == "general" }),
            let grant = workspace.judged.evaluator.contentGrant(
                of: home.device, leastRole: .member, as: workspace.member)
        else { throw FuzzFinding(description: "the scene of the fuzzers cannot be set") }
        mallory = HostileMember(
            signing: home.signing, identity: shown, psk: discovery.derived(Array("psk".utf8)),
            workspace: workspace.id, grant: grant, keyID: key.id, epochKey: key.key,
            channel: channel.id)
        let others = workspace.book.channels.values.map(\.id).filter { $0 != channel.id }.sorted()
        documents = [channel.id, workspace.profileDocument, workspace.id] + others
        heads = workspace.judged.evaluator.heads.compactMap { id in
            workspace.authority[id].map {
                OperationReference(
                    device: $0.log.device, incarnation: $0.log.incarnation,
                    sequence: $0.sequence, id: id)
            }
        }
        runs = try Self.runs(of: core, in: workspace)
        node.kill()
        bench.advance(1_000)
        wall = bench.wall
        image = try ada.image
        (identity, guardBytes) = (ada.files.identity, ada.files.guardBytes)
    }

    private static func runs(
        of core: NodeCore, in workspace: Workspace
    ) throws -> [(tip: LogTip, run: OperationRun)] {
        let last = core.turn.store.operations.arrival
        var found: [(tip: LogTip, run: OperationRun)] = []
        for arrival in 1...max(last, 1) {
            guard let stored = try core.turn.store.operations.operation(arrival) else { continue }
            let place = stored.place
            let tip = LogTip(
                log: stored.log, sequence: place.sequence, id: Identifier16(prefixOf: place.link.id)
            )
            let run = OperationRun(
                log: stored.log, firstSequence: place.sequence,
                previous: try core.turn.store.operations.previous(of: place),
                entries: [stored.entry])
            found.append((tip, run))
        }
        return found
    }

    /// A table with Ada on it, as she was.
    func bench() throws -> (bench: CoreBench, ada: BenchNode) {
        let bench = CoreBench(seed: 2, wall: wall)
        let ada = try bench.node(
            "Ada", store: image, identity: identity, guardBytes: guardBytes)
        return (bench, ada)
    }
}

/// Mallory at the end of a link to a node: a right handshake, and from then on frames of whatever
/// the fuzzer wants.
final class FuzzPeer: BenchStranger {
    private let scene: FuzzScene
    private unowned let bench: CoreBench
    private let node: BenchNode
    private var handshake: LinkHandshake?
    private var transport: NoiseTransport?
    private var link: LinkID?
    private var buffer: [UInt8] = []
    private var decoder = FrameDecoder()
    /// Whom the handshake proved.
    private(set) var identity: PeerIdentity?
    /// What the node said.
    private(set) var messages: [SyncMessage] = []
    private(set) var isOpen = true
    /// What it was asked for and has not answered.
    private(set) var pulls: [PullRequest] = []

    init(_ scene: FuzzScene, to node: BenchNode, on bench: CoreBench) throws {
        (self.scene, self.bench, self.node) = (scene, bench, node)
        let candidate = PSKCandidate(
            .workspace(scene.mallory.workspace, discovery: 0), psk: scene.mallory.psk)
        let (handshake, first) = try LinkHandshake.begin(
            scene.mallory.identity, under: candidate, wall: bench.wall,
            using: bench.randomOfStrangers)
        self.handshake = handshake
        link = bench.connect(self, to: node, from: "10.0.1.1")
        write(first)
        bench.settle()
    }

    private func write(_ bytes: [UInt8]) {
        if let link, isOpen { bench.give(.received(link, bytes), to: node) }
    }

    /// A frame of these bytes, whatever they are.
    func send(frame plaintext: [UInt8]) {
        guard isOpen, let transport, let sealed = try? transport.seal(plaintext) else { return }
        write([UInt8(sealed.count >> 8 & 255), UInt8(sealed.count & 255)] + sealed)
        bench.settle()
    }

    /// A message of these bytes, in as many fragments as it takes.
    func send(_ message: [UInt8], in messageClass: UInt8 = 1) {
        var rest = message[...]
        while !rest.isEmpty {
            let part = rest.prefix(16_000)
            rest = rest.dropFirst(part.count)
            let head = messageClass & 3 | (rest.isEmpty ? 4 : 0)
            send(frame: [head, UInt8(part.count >> 8), UInt8(part.count & 255)] + part)
        }
    }

    /// Opens the workspace with a root that nobody has, so that the node compares.
    func open(root: SetDigest = .zero) {
        guard let identity else { return }
        let opening = WorkspaceOpening(
            workspace: 1, tag: scene.mallory.tag(handshakeHash: identity.handshakeHash), root: root,
            agreedRoot: nil, mine: .zero)
        send(SyncMessage.workspaceOpen(opening).encoded(), in: 0)
    }

    func push(_ runs: [OperationRun], answering request: RequestNumber = 0) {
        let message = SyncMessage.operations(1, request: request, runs, isComplete: true)
        send(message.encoded(), in: request == 0 ? 1 : 2)
    }

    func answer(_ runs: [OperationRun]) {
        guard let pull = pulls.popLast() else { return }
        push(runs, answering: pull.request)
    }

    func hangUp() {
        if let link, isOpen { bench.hangUp(link, at: node) }
        isOpen = false
    }

    func dialled(by node: BenchNode, on link: LinkID) {}

    func closed(_ link: LinkID) { isOpen = false }

    func received(_ bytes: [UInt8], on link: LinkID) {
        buffer += bytes
        if transport == nil { shakeHands() }
        while let transport, buffer.count >= 2 {
            let length = Int(buffer[0]) << 8 | Int(buffer[1])
            guard buffer.count >= 2 + length else { return }
            let frame = Array(buffer[2..<2 + length])
            buffer.removeFirst(2 + length)
            guard let plaintext = try? transport.open(frame),
                let whole = try? decoder.messages(in: plaintext, at: 1)
            else { continue }
            for bytes in whole.map(\.bytes) {
                guard let message = try? SyncMessage.decoded(bytes) else { continue }
                messages.append(message)
                if case .pull(_, let pull) = message { pulls.append(pull) }
            }
        }
    }

    private func shakeHands() {
        guard
            case .finished(let third, let transport, let identity)? = try? handshake?.read(
                from: &buffer, using: bench.randomOfStrangers)
        else { return }
        (self.transport, self.identity) = (transport, identity)
        write(third)
    }
}
