import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A peer that completes a node's handshake as the protocol requires, and then sends
/// anything that a test wants.
final class Visitor: BenchStranger {
    let device: ForeignDevice
    /// Everything that the node sent.
    private(set) var messages: [SyncMessage] = []
    /// The identity that the handshake proved.
    private(set) var identity: PeerIdentity?
    /// Whether the node has not closed the link.
    private(set) var isOpen = true
    /// What it serves to pulls.
    var stock: [(tip: LogTip, run: OperationRun)] = []
    /// Receives every message first.
    var onMessage: ((SyncMessage, Visitor) -> Void)?

    private unowned let bench: CoreBench
    private weak var node: BenchNode?
    private var session: PeerSession?
    private var link: LinkID?
    private let psk: SymmetricKey

    /// Dials a node under a secret.
    init(
        as device: ForeignDevice, under psk: SymmetricKey, at node: BenchNode, on bench: CoreBench,
        from host: String = "10.0.1.1"
    ) throws {
        self.device = device
        self.bench = bench
        self.node = node
        self.psk = psk
        let (session, effects) = try PeerSession.dialling(
            as: device.identity, under: PSKCandidate(.joining, psk: psk),
            now: bench.time.monotonic, wallMilliseconds: bench.wall, using: bench.randomOfStrangers)
        self.session = session
        link = bench.connect(self, to: node, from: host)
        perform(effects)
        bench.settle()
    }

    /// Waits at an address for a node that dials under a secret.
    init(as device: ForeignDevice, at address: String, under psk: SymmetricKey, on bench: CoreBench)
    {
        self.device = device
        self.bench = bench
        self.psk = psk
        bench.place(self, at: address)
    }

    private var now: UInt64 { bench.time.monotonic }

    // MARK: Saying

    /// Sends any message, and lets the node answer.
    func send(_ message: SyncMessage, in messageClass: MessageClass = .control) {
        queue(message, in: messageClass)
        bench.settle()
    }

    /// Sends any message from within `onMessage`.
    func queue(_ message: SyncMessage, in messageClass: MessageClass = .control) {
        guard let session, isOpen else { return }
        session.send(message, in: messageClass)
        perform(session.flush(now: now))
    }

    /// Opens a workspace under the number 1, with a root that nobody has.
    func open(_ workspace: WorkspaceID) {
        guard let hash = identity?.handshakeHash else { return }
        queue(
            .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: Syncing.tag(of: workspace, handshakeHash: hash),
                    root: .zero, agreedRoot: nil, mine: .zero)))
    }

    /// Sends operations that nobody asked for, as an author does.
    func push(_ runs: [OperationRun]) {
        send(.operations(1, request: 0, runs, isComplete: true), in: .live)
    }

    /// Announces these, and hands them over when they are requested.
    func offer(_ served: [(tip: LogTip, run: OperationRun)]) {
        stock += served
        send(.tips(1, served.map(\.tip), final: false), in: .live)
    }

    /// Hangs up.
    func close() {
        if let link, let node, isOpen { bench.hangUp(link, at: node) }
        isOpen = false
    }

    // MARK: Joining

    /// Shows that it holds the link, and opens what the node shows then.
    func knock(with held: HeldLink) {
        guard let hash = identity?.handshakeHash else { return }
        let secret = held.link.secret
        send(
            .joinHello(
                invite: secret.publicKeyName, proof: secret.joinProof(handshakeHash: hash)))
    }

    /// The last answer to a join.
    var joinResult: JoinResult.Code? {
        messages.compactMap { if case .joinResult(let result) = $0 { result.code } else { nil } }
            .last
    }

    // MARK: The other end

    func dialled(by node: BenchNode, on link: LinkID) {
        self.node = node
        self.link = link
        isOpen = true
        identity = nil
        session = PeerSession.answering(
            as: device.identity, candidates: [PSKCandidate(.joining, psk: psk)], now: now,
            wallMilliseconds: bench.wall, using: bench.randomOfStrangers)
    }

    func received(_ bytes: [UInt8], on link: LinkID) {
        guard link == self.link, let session else { return }
        perform(session.received(bytes, now: now))
    }

    func closed(_ link: LinkID) {
        if link == self.link { isOpen = false }
    }

    private func perform(_ effects: [PeerSession.Effect]) {
        for effect in effects {
            switch effect {
            case .write(let bytes):
                if let link, let node { bench.give(.received(link, bytes), to: node) }
                if let session { perform(session.writeQueueLevel(0, now: now)) }
            case .wantsAgreement:
                if let session { perform(session.agreementGranted(now: now)) }
            case .established(let identity): self.identity = identity
            case .pong, .blob: break
            case .message(let message, _): heard(message)
            case .close: isOpen = false
            }
        }
    }

    private func heard(_ message: SyncMessage) {
        messages.append(message)
        onMessage?(message, self)
        guard case .pull(_, let pull) = message else { return }
        let wanted = Set(pull.items.map(\.target))
        let runs = stock.filter { wanted.contains($0.tip) }.map(\.run)
        queue(
            .operations(1, request: pull.request, runs, isComplete: true), in: .bulk)
    }
}

extension Visitor {
    /// One visit with a link: `join2` of what is made for the device that answers.
    ///
    /// - Returns: the node's last answer; `nil` when there was none.
    static func asks(
        _ node: BenchNode, as device: ForeignDevice, with held: HeldLink, on bench: CoreBench,
        _ request: (DeviceID) -> JoinRequest
    ) throws -> JoinResult.Code? {
        let visitor = try Visitor(as: device, under: held.link.secret.psk, at: node, on: bench)
        defer { visitor.close() }
        // A holder of a link that is over is answered a few times a second.
        if visitor.identity == nil { bench.advance(1_000) }
        guard let answerer = visitor.identity?.device else { return nil }
        visitor.knock(with: held)
        guard visitor.joinResult == .open else { return visitor.joinResult }
        visitor.send(.joinRequest(request(answerer)))
        return visitor.joinResult
    }
}
