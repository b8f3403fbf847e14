import SyncProtocol
import Testing
import WorkspaceModel

/// A few model nodes with links between them, on a clock that the test controls.
///
/// Messages pass through their encoding and frames, so these are tested too.
final class SyncWorld {
    final class Node {
        let device: DeviceID
        var replica: ModelReplica
        var planner = PullPlanner()
        var links: [Int: Link] = [:]
        var agreed: [Int: SyncSession.Agreement] = [:]
        var caughtUp: Set<Int> = []
        /// Peers that did not confirm in time.
        var lostReach: [Int] = []
        var refusals: [WorkspaceRefusal] = []
        var confirmations = 0
        var scopedAgreements = 0
        var ownWhenConfirmed: SetDigest?
        var receipts: [Int: Set<LogTip>] = [:]

        init(device: DeviceID, authorityDocument: DocumentID) {
            self.device = device
            replica = ModelReplica(authorityDocument: authorityDocument)
        }
    }

    /// One direction's sender and the other direction's receiver.
    final class Link {
        var session: SyncSession
        var scheduler = FrameScheduler()
        var decoder = FrameDecoder()
        var deadline: UInt64?
        var violation: SyncViolation?

        init(session: SyncSession) { self.session = session }
    }

    let nodes: [Node]
    var now: UInt64 = 1_000
    private var nextSource: UInt64 = 1
    private var inputs: [(SyncSession.Input, node: Int, peer: Int)] = []
    /// Every message that was sent, for counting.
    private(set) var sent: [(from: Int, message: SyncMessage, bytes: Int)] = []

    static let authority = DocumentID([UInt8](repeating: 0xaa, count: 32))

    init(count: Int) {
        nodes = (0..<count).map { index in
            Node(
                device: DeviceID([UInt8](repeating: UInt8(index + 1), count: 32)),
                authorityDocument: Self.authority)
        }
    }

    func forgetTraffic() { sent = [] }

    // MARK: Links

    func connect(
        _ left: Int, _ right: Int, as leftSees: SyncSession.Standing = .full,
        and rightSees: SyncSession.Standing = .full
    ) {
        addLink(at: left, to: right)
        addLink(at: right, to: left)
        give(.opened(leftSees, agreed: nodes[left].agreed[right]), to: left, from: right)
        give(.opened(rightSees, agreed: nodes[right].agreed[left]), to: right, from: left)
    }

    private func addLink(at node: Int, to peer: Int) {
        let configuration = SyncSession.Configuration(
            workspace: UInt32(peer + 7), tag: WorkspaceTag([UInt8](repeating: 9, count: 16)),
            ownDevice: nodes[node].device, peerDevice: nodes[peer].device, source: nextSource)
        nextSource += 1
        nodes[node].links[peer] = Link(session: SyncSession(configuration))
    }

    /// Drops the link with everything that is under way.
    func disconnect(_ left: Int, _ right: Int) {
        give(.closed, to: left, from: right)
        give(.closed, to: right, from: left)
        nodes[left].links[right] = nil
        nodes[right].links[left] = nil
    }

    // MARK: Moving on

    /// Delivers one frame from one node to another; `false` when there is none.
    @discardableResult
    func deliver(from sender: Int, to receiver: Int, maxPlaintext: Int = 65_519) -> Bool {
        guard let out = nodes[sender].links[receiver], let into = nodes[receiver].links[sender],
            let frame = out.scheduler.nextFrame(maxPlaintext: maxPlaintext)
        else { return false }
        let unasked = out.scheduler.unaskedUnsentBytes
        give(
            .sendQueueLevel(unasked: unasked, asked: out.scheduler.unsentBytes - unasked),
            to: sender, from: receiver)
        do {
            for message in try into.decoder.messages(in: frame, at: 0) {
                if let message = try SyncMessage.decoded(message.bytes) {
                    give(.received(message), to: receiver, from: sender)
                }
            }
        } catch {
            into.violation = error
        }
        return true
    }

    /// Delivers everything until nobody has anything to send, without moving the clock.
    func settle() {
        let framesMax = 20_000
        var isBusy = true
        var frames = 0
        while isBusy, frames < framesMax {
            isBusy = false
            for sender in nodes.indices {
                for receiver in nodes[sender].links.keys.sorted() {
                    while frames < framesMax, deliver(from: sender, to: receiver) {
                        isBusy = true
                        frames += 1
                    }
                }
            }
        }
        #expect(frames < framesMax, "the nodes talk endlessly")
    }

    /// Lets time pass, with all deadlines on the way.
    func pass(_ milliseconds: UInt64) {
        let end = now + milliseconds
        settle()
        while let (due, node, peer) = nextDeadline(), due <= end {
            now = max(now, due)
            nodes[node].links[peer]?.deadline = nil
            give(.deadline, to: node, from: peer)
            settle()
        }
        now = end
    }

    private func nextDeadline() -> (due: UInt64, node: Int, peer: Int)? {
        var next: (due: UInt64, node: Int, peer: Int)?
        for (index, node) in nodes.enumerated() {
            for peer in node.links.keys.sorted() {
                guard let due = node.links[peer]?.deadline else { continue }
                if next.map({ due < $0.due }) ?? true { next = (due, index, peer) }
            }
        }
        return next
    }

    // MARK: A node's hands

    /// Gives an input to one session and carries out what it wants. Inputs that arise on the way
    /// wait until that is done.
    func give(_ input: SyncSession.Input, to index: Int, from peer: Int) {
        inputs.append((input, index, peer))
        guard inputs.count == 1 else { return }
        while let (input, index, peer) = inputs.first {
            let node = nodes[index]
            if let link = node.links[peer] {
                let effects = link.session.handle(
                    input, at: now, replica: node.replica, planner: &node.planner)
                for effect in effects { perform(effect, of: index, toward: peer) }
            }
            inputs.removeFirst()
        }
    }

    private func perform(_ effect: SyncSession.Effect, of index: Int, toward peer: Int) {
        let node = nodes[index]
        switch effect {
        case .send(let message, let messageClass, let isUnasked):
            let bytes = message.encoded()
            sent.append((index, message, bytes.count))
            node.links[peer]?.scheduler.enqueue(bytes, in: messageClass, isUnasked: isUnasked)
        case .ingest(let runs, let request):
            let (moved, waiting) = node.replica.ingest(runs)
            give(.cited(node.replica.citing), to: index, from: peer)
            tell(moved, waiting: waiting, at: index, answering: request, from: peer)
        case .remember(let agreement): node.agreed[peer] = agreement
        case .agreedInScope: node.scopedAgreements += 1
        case .peerHolds(let tips): node.receipts[peer, default: []].formUnion(tips)
        case .ownOperationsConfirmed:
            node.confirmations += 1
            node.ownWhenConfirmed = node.replica.ownTipsDigest(of: node.device)
        case .refused(let refusal): node.refusals.append(refusal)
        case .caughtUp: node.caughtUp.insert(peer)
        case .reachLost: node.lostReach.append(peer)
        case .replanOthers:
            for other in node.links.keys.sorted() where other != peer {
                give(.replan, to: index, from: other)
            }
        case .setDeadline(let due): node.links[peer]?.deadline = due
        case .close(let violation):
            node.links[peer]?.violation = violation
        }
    }

    private func tell(
        _ moved: [LogName], waiting: [LogName], at index: Int, answering request: RequestNumber,
        from peer: Int
    ) {
        let tips = moved.flatMap { log in
            nodes[index].replica.branchTips(of: log).map {
                LogTip(log: log, sequence: $0.sequence, id: $0.id)
            }
        }
        for other in nodes[index].links.keys.sorted() {
            give(
                .stored(
                    tips, waiting: other == peer ? waiting : [],
                    answering: other == peer ? request : nil),
                to: index, from: other)
        }
    }

    /// Writes an operation at a node and pushes it to its links.
    func write(
        at index: Int, _ document: DocumentID, payload: [UInt8],
        dependencies: [OperationReference] = [], forkingAt chosen: OperationID? = nil
    ) {
        let node = nodes[index]
        let log = LogName(document: document, device: node.device, incarnation: 1)
        let previous = chosen ?? node.replica.heads(of: log).last?.id
        let run = node.replica.write(
            log, behind: previous, payload: payload, dependencies: dependencies)
        guard let head = node.replica.heads(of: log).first(where: { $0.entry == run.entries[0] })
        else { return }
        let tip = LogTip(
            log: log, sequence: head.sequence, id: Identifier16(prefixOf: head.id))
        for peer in node.links.keys.sorted() {
            give(.appended(run, tip: tip), to: index, from: peer)
        }
    }

    /// The n-th document of the tests; 0 is the authority document.
    static func document(_ number: Int) -> DocumentID {
        guard number > 0 else { return authority }
        return DocumentID(
            [UInt8(truncatingIfNeeded: number &* 37), UInt8(truncatingIfNeeded: number >> 8)]
                + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 30))
    }
}
