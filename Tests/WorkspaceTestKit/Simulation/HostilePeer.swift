public import PeerNode
public import SyncProtocol
import WorkspaceCrypto
public import WorkspaceModel

/// A peer of the simulation that says what a test wants: it shakes hands as a member does, and
/// from then on follows no rule but the test's.
///
/// ```swift
/// let mallory = HostilePeer(world, as: member, number: 1)
/// let link = mallory.connect(to: ada)
/// link.push(log.run())
/// ```
///
/// It does not listen, never ticks and never closes by itself. Pulls are answered from `stock`
/// unless `onPull` is set.
public final class HostilePeer: SimulatedHost {
    /// Where it dials from.
    public let hostAddress: String
    /// Nobody reaches it.
    public var isListening: Bool { false }
    /// Who it says it is.
    public let member: HostileMember
    /// What it serves: a run for each announced tip.
    public var stock: [(tip: LogTip, run: OperationRun)] = []
    /// Answers pulls instead of `stock`.
    public var onPull: ((PullRequest, HostileLink) -> Void)?

    fileprivate unowned let world: SimulatedWorld
    fileprivate let random: SeededRandom
    private var dialled: [UInt64: HostileLink] = [:]
    private var links: [UInt64: HostileLink] = [:]
    private var lastDial: UInt64 = 0

    /// A peer at the address 10.1.x.y that `number` names.
    public init(_ world: SimulatedWorld, as member: HostileMember, number: Int) {
        self.world = world
        self.member = member
        hostAddress = "10.1.\(number / 250).\(number % 250 + 1)"
        random = SeededRandom(seed: world.seed &* 1_000 &+ 500 &+ UInt64(number))
        world.network.add(self)
    }

    /// Dials a node; `isBare` leaves the handshake to the test.
    @discardableResult
    public func dial(_ node: SimulatedNode, isBare: Bool = false) -> HostileLink {
        lastDial += 1
        let link = HostileLink(self, isBare: isBare)
        dialled[lastDial] = link
        world.network.dial(from: self, number: lastDial, to: node.address)
        return link
    }

    /// Dials, shakes hands, opens the workspace, and lets the node say its part.
    public func connect(to node: SimulatedNode) -> HostileLink {
        let link = dial(node)
        world.run(within: 2_000) { link.identity != nil || !link.isOpen }
        link.open()
        world.run(for: 300)
        return link
    }

    /// Announces on all links what it serves from now on.
    public func offer(_ logs: [HostileLog]) {
        offer(logs.map { ($0.tip, $0.run()) })
    }

    /// Announces on all links what it serves from now on.
    public func offer(_ runs: [(tip: LogTip, run: OperationRun)]) {
        stock += runs
        for link in links.values.sorted(by: { $0.number < $1.number }) {
            link.announce(runs.map(\.tip))
        }
    }

    /// Never called: nobody reaches it.
    public func accepted(_ end: SimulatedEnd, from address: String) { end.close() }

    /// Begins the handshake.
    public func dialled(_ end: SimulatedEnd, number: UInt64, address: String) {
        guard let link = dialled.removeValue(forKey: number) else { return end.close() }
        links[end.number] = link
        link.begin(on: end)
    }

    /// The link stays without an end.
    public func dialFailed(number: UInt64, reason: String) {
        dialled.removeValue(forKey: number)?.lost()
    }

    /// Hands bytes to the link's session.
    public func received(_ bytes: [UInt8], on end: SimulatedEnd) {
        links[end.number]?.received(bytes)
    }

    /// Tells the link's session what the kernel has taken.
    public func unsent(_ byteCount: Int, on end: SimulatedEnd) {
        links[end.number]?.unsent(byteCount)
    }

    /// The node hung up.
    public func closed(_ end: SimulatedEnd) { links.removeValue(forKey: end.number)?.lost() }
}

/// One link of a hostile peer to one node.
public final class HostileLink {
    /// The number of its end, in the order of dialling; 0 until it is connected.
    public var number: UInt64 { end?.number ?? 0 }
    /// What the node said, besides pings.
    public private(set) var messages: [SyncMessage] = []
    /// Every byte that came.
    public private(set) var received: [UInt8] = []
    /// Every byte that was sent.
    public private(set) var sent: [UInt8] = []
    /// Whom the handshake proved, as soon as it did.
    public private(set) var identity: PeerIdentity?
    /// Why our own session ended.
    public private(set) var ending: LinkEnding?
    /// Whether the node has not hung up.
    public private(set) var isOpen = true
    /// Called with each message about a blob.
    public var onBlob: (([UInt8]) -> Void)?
    /// So many bytes more reach the network, then the connection breaks in the middle.
    public var bytesUntilCut: Int?

    private unowned let peer: HostilePeer
    private let isBare: Bool
    private var end: SimulatedEnd?
    private var session: PeerSession?

    fileprivate init(_ peer: HostilePeer, isBare: Bool) {
        self.peer = peer
        self.isBare = isBare
    }

    private var now: UInt64 { peer.world.now }

    fileprivate func begin(on end: SimulatedEnd) {
        guard isOpen else { return end.close() }
        self.end = end
        guard !isBare else { return }
        let candidate = PSKCandidate(
            .workspace(peer.member.workspace, discovery: 0), psk: peer.member.psk)
        guard
            let (session, effects) = try? PeerSession.dialling(
                as: peer.member.identity, under: candidate, now: now,
                wallMilliseconds: SimulatedWorld.epoch + now, using: peer.random)
        else { return peer.world.fail("the hostile peer cannot dial") }
        self.session = session
        perform(effects)
    }

    // MARK: Saying

    /// Opens the workspace under the number 1, with a root that nobody has.
    public func open(root: SetDigest = .zero) {
        guard let hash = identity?.handshakeHash else { return }
        send(
            .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: peer.member.tag(handshakeHash: hash), root: root,
                    agreedRoot: nil, mine: .zero)))
    }

    /// Says anything.
    public func send(_ message: SyncMessage, in messageClass: MessageClass = .control) {
        guard let session else { return }
        session.send(message, in: messageClass)
        perform(session.flush(now: now))
    }

    /// Says something about a blob.
    public func send(blob message: [UInt8], in messageClass: MessageClass = .control) {
        guard let session else { return }
        session.send(raw: message, in: messageClass)
        perform(session.flush(now: now))
    }

    /// Sends operations that nobody asked for, as an author does.
    public func push(_ runs: OperationRun...) {
        send(.operations(1, request: 0, runs, isComplete: true), in: .live)
    }

    /// Says that it holds these.
    public func announce(_ tips: [LogTip]) { send(.tips(1, tips, final: false), in: .live) }

    /// Says that it holds these, as the end of a comparison.
    public func finish(_ tips: [LogTip]) { send(.tips(1, tips, final: true), in: .bulk) }

    /// Answers a pull.
    public func answer(_ pull: PullRequest, _ runs: [OperationRun], isComplete: Bool = true) {
        send(
            .operations(1, request: pull.request, runs, isComplete: isComplete), in: .bulk)
    }

    /// Sends bytes as they are.
    public func write(_ bytes: [UInt8]) {
        var bytes = bytes
        if let left = bytesUntilCut {
            bytes = Array(bytes.prefix(left))
            bytesUntilCut = left - bytes.count
        }
        sent += bytes
        end?.write(bytes)
    }

    /// Hangs up.
    public func close() {
        end?.close()
        isOpen = false
    }

    /// The pulls that came.
    public var pulls: [PullRequest] {
        messages.compactMap { if case .pull(_, let pull) = $0 { pull } else { nil } }
    }

    /// The word with which the node hung up, if it said one.
    public var errorCode: String? {
        messages.compactMap { if case .error(let code, _) = $0 { code } else { nil } }.last
    }

    fileprivate func received(_ bytes: [UInt8]) {
        received += bytes
        guard let session else { return }
        perform(session.received(bytes, now: now))
    }

    fileprivate func unsent(_ byteCount: Int) {
        guard let session else { return }
        perform(session.writeQueueLevel(byteCount, now: now))
    }

    fileprivate func lost() { isOpen = false }

    private func perform(_ effects: [PeerSession.Effect]) {
        for effect in effects {
            switch effect {
            case .write(let bytes): write(bytes)
            case .wantsAgreement, .pong: break
            case .blob(let bytes): onBlob?(bytes)
            case .established(let identity): self.identity = identity
            case .message(let message, _):
                messages.append(message)
                if case .pull(_, let pull) = message { serve(pull) }
            case .close(let ending):
                self.ending = ending
                close()
            }
        }
    }

    private func serve(_ pull: PullRequest) {
        if let onPull = peer.onPull { return onPull(pull, self) }
        let wanted = Set(pull.items.map(\.target))
        answer(pull, peer.stock.filter { wanted.contains($0.tip) }.map(\.run))
    }
}
