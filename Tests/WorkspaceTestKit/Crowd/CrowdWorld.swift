import SyncProtocol
import WorkspaceModel

/// Very many nodes with links between them, on a clock that moves in turns: in each turn,
/// everything arrives that was sent in the previous one. The sessions, planners, messages and
/// frames are the real ones; a node is a replica in numbers (`CrowdReplica`), and a link carries
/// any amount in one turn.
///
/// The reach of authors (96) is announced and counted as in the program (`CrowdWorld+Reach`). Not
/// simulated is what else the program sends: handshakes and TCP, address records and their digests
/// (95), presence, and the authority document, with some five operations of each member, which
/// everybody always announces to everybody.
package final class CrowdWorld {
    final class Node {
        let device: DeviceID
        let name: DeviceName
        var replica: CrowdReplica
        var planner = PullPlanner()
        /// The numbers of its ends of links, in the order in which they opened.
        var links: [Int] = []
        /// By the number of the peer.
        var agreed: [Int: SyncSession.Agreement] = [:]

        init(_ device: DeviceID, _ history: CrowdHistory) {
            self.device = device
            name = DeviceName(of: device)
            replica = CrowdReplica(of: history)
        }
    }

    /// One end of a link. Its other end has the next number, or the one before: they begin at an
    /// even one.
    final class End {
        let node: Int
        let peer: Int
        var session: SyncSession
        var scheduler = FrameScheduler()
        var decoder = FrameDecoder()
        var deadline: UInt64?
        /// Whether it is listed among those that have something to send.
        var isListed = false
        /// Whom this node said that it reaches, and whom the peer did.
        var told: Set<DeviceName> = []
        var heard: Set<DeviceName> = []

        init(of node: Int, to peer: Int, _ session: SyncSession) {
            self.node = node
            self.peer = peer
            self.session = session
        }
    }

    /// How long a turn takes on the nodes' clocks, in milliseconds: about half of what it takes to
    /// cross an ocean and come back.
    static let turn: UInt64 = 50
    static let workspace: WorkspaceNumber = 1
    static let tag = WorkspaceTag([UInt8](repeating: 9, count: 16))

    let history: CrowdHistory
    private(set) var nodes: [Node]
    /// By number, `nil` where the link has ended: no number is given twice.
    private(set) var ends: [End?] = []
    private(set) var now: UInt64 = 0
    /// Turns in which something arrived.
    private(set) var turns = 0
    private(set) var traffic: CrowdTraffic
    /// What sessions objected to.
    private(set) var violations: [SyncViolation] = []
    /// Nodes that may not reach somebody any more.
    var lostReach: Set<Int> = []
    /// How many links a node has, 0 for all.
    private let linksEach: Int
    private var random: SeededGenerator
    private var underWay: [(end: Int, frame: [UInt8])] = []
    private var listed: [Int] = []
    private var deadlines = CrowdDeadlines()
    private var inputs: [(input: SyncSession.Input, end: Int)] = []

    /// Nodes that have the same history, in which the first so many have written in turns, and their
    /// links, which are open but have said nothing yet.
    package init(nodes count: Int, links: Int, operations: Int, authors: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let history = CrowdHistory(documents: 10, seed: random.next())
        var nodes: [Node] = []
        for _ in 0..<count { nodes.append(Node(DeviceID(random.bytes(32)), history)) }
        for number in 0..<operations {
            let author = number % authors
            history.write(
                by: nodes[author].device, in: author % history.documents.count,
                textBytes: Self.lineBytes)
        }
        for node in nodes { node.replica.holdAll() }
        let pairs = CrowdGraph.pairs(of: count, links: links, &random)
        self.history = history
        self.nodes = nodes
        self.random = random
        linksEach = links
        traffic = CrowdTraffic(nodes: count)
        for (left, right) in pairs { connect(left, right) }
    }

    // MARK: Links

    /// How many links are open.
    package var linkCount: Int { nodes.reduce(0) { $0 + $1.links.count } / 2 }

    func peers(of index: Int) -> [Int] { nodes[index].links.compactMap { ends[$0]?.peer } }

    func connect(_ left: Int, _ right: Int) {
        let first = ends.count
        for (offset, (node, peer)) in [(left, right), (right, left)].enumerated() {
            let configuration = SyncSession.Configuration(
                workspace: Self.workspace, tag: Self.tag, ownDevice: nodes[node].device,
                peerDevice: nodes[peer].device, source: UInt64(first + offset))
            ends.append(End(of: node, to: peer, SyncSession(configuration)))
            nodes[node].links.append(first + offset)
        }
        for number in [first, first + 1] {
            guard let end = ends[number] else { continue }
            give(.opened(.full, agreed: nodes[end.node].agreed[end.peer]), to: number)
            applyReach(on: number)
        }
    }

    /// Ends all links of a node, with what is under way on them.
    func leave(_ index: Int) {
        for number in nodes[index].links {
            close(number)
            close(number ^ 1)
        }
        takeReachBack()
    }

    private func close(_ number: Int) {
        guard let end = ends[number] else { return }
        give(.closed, to: number)
        ends[number] = nil
        nodes[end.node].links.removeAll { $0 == number }
        forgetReach(of: end)
    }

    /// A new node with an empty replica, linked as all others are. That it was invited and let in,
    /// and proved it, is not part of this.
    ///
    /// - Returns: its number.
    @discardableResult
    func join() -> Int {
        let index = nodes.count
        nodes.append(Node(DeviceID(random.bytes(32)), history))
        traffic.addNode()
        var peers = [Int](0..<index)
        peers.shuffle(using: &random)
        for peer in peers.prefix(linksEach > 0 ? linksEach : index) { connect(index, peer) }
        return index
    }

    // MARK: Turns

    func forgetTraffic() {
        traffic = CrowdTraffic(nodes: nodes.count)
        turns = 0
    }

    /// The next turn, or the next in which somebody is to be woken.
    ///
    /// - Returns: `false` when there is none before `end`, in milliseconds of the clock.
    func step(before end: UInt64) -> Bool {
        guard now < end else { return false }
        flush()
        let arriving = underWay
        underWay = []
        if arriving.isEmpty {
            guard let due = nextDeadline(), due <= end else { return false }
            // Turns begin at multiples of their length.
            now = max(now + Self.turn, (due + Self.turn - 1) / Self.turn * Self.turn)
        } else {
            now += Self.turn
            turns += 1
        }
        for (number, frame) in arriving { receive(frame, at: number) }
        // What was stored is said before what is due because of it, as in the program.
        flush()
        for number in takeDue() { give(.deadline, to: number) }
        takeReachBack()
        flush()
        return true
    }

    /// Lets time pass.
    func pass(to end: UInt64) {
        while step(before: end) {}
        now = max(now, end)
    }

    /// Lets all comparisons come to their ends.
    ///
    /// - Returns: whether nothing is under way then, and nobody is to be woken any more.
    func calm() -> Bool {
        let end = now + 12 * 3_600_000
        while step(before: end) {}
        return underWay.isEmpty && nextDeadline() == nil
    }

    private func nextDeadline() -> UInt64? {
        while let next = deadlines.first {
            if ends[next.end]?.deadline == next.due { return next.due }
            deadlines.removeFirst()
        }
        return nil
    }

    /// Those whose time has come; what they want in turn comes in the next one.
    private func takeDue() -> [Int] {
        var due: [Int] = []
        while let time = nextDeadline(), time <= now, let next = deadlines.first {
            deadlines.removeFirst()
            ends[next.end]?.deadline = nil
            due.append(next.end)
        }
        return due
    }

    /// Puts all that is to be sent into frames, which are under way then.
    private func flush() {
        var place = 0
        while place < listed.count {
            let number = listed[place]
            place += 1
            guard let end = ends[number] else { continue }
            end.isListed = false
            while let frame = end.scheduler.nextFrame() {
                traffic.noteFrame(frame.count, from: end.node, to: end.peer)
                underWay.append((number ^ 1, frame))
            }
            // It may have waited for this, and list the end once more.
            give(.sendQueueLevel(unasked: 0, asked: 0), to: number)
        }
        listed = []
    }

    private func receive(_ frame: [UInt8], at number: Int) {
        guard let end = ends[number] else { return }
        do {
            for whole in try end.decoder.messages(in: frame, at: now) {
                guard let message = try SyncMessage.decoded(whole.bytes) else { continue }
                if case .reach(_, let word) = message {
                    hear(word, at: number)
                } else {
                    give(.received(message), to: number)
                }
            }
        } catch {
            violations.append(error)
        }
    }

    // MARK: A node's hands

    /// Gives an input to one session and carries out what it wants. Inputs that arise on the way
    /// wait until that is done.
    func give(_ input: SyncSession.Input, to number: Int) {
        inputs.append((input, number))
        guard inputs.count == 1 else { return }
        var place = 0
        while place < inputs.count {
            let next = inputs[place]
            place += 1
            guard let end = ends[next.end] else { continue }
            let node = nodes[end.node]
            let effects = end.session.handle(
                next.input, at: now, replica: node.replica, planner: &node.planner)
            for effect in effects { perform(effect, of: end, next.end) }
        }
        inputs = []
    }

    private func perform(_ effect: SyncSession.Effect, of end: End, _ number: Int) {
        let node = nodes[end.node]
        switch effect {
        case .send(let message, let messageClass, let isUnasked):
            send(message, messageClass, isUnasked: isUnasked, from: number)
        case .ingest(let runs, let request):
            let (moved, waiting) = node.replica.ingest(runs)
            tell(moved, waiting: waiting, of: node, answering: request, at: number)
        case .remember(let agreement): node.agreed[end.peer] = agreement
        case .reachLost: lostReach.insert(end.node)
        case .replanOthers:
            for other in node.links where other != number { give(.replan, to: other) }
        case .setDeadline(let due):
            end.deadline = due
            if let due { deadlines.insert(due, of: number) }
        case .close(let violation): violations.append(violation)
        case .peerHolds, .ownOperationsConfirmed, .agreedInScope, .refused, .caughtUp: break
        }
    }

    func send(
        _ message: SyncMessage, _ messageClass: MessageClass, isUnasked: Bool, from number: Int
    ) {
        guard let end = ends[number] else { return }
        let bytes = message.encoded()
        traffic.note(message, bytes: bytes.count)
        end.scheduler.enqueue(bytes, in: messageClass, isUnasked: isUnasked)
        guard !end.isListed else { return }
        end.isListed = true
        listed.append(number)
    }

    private func tell(
        _ moved: [LogName], waiting: [LogName], of node: Node, answering request: RequestNumber,
        at number: Int
    ) {
        let tips = moved.flatMap { log in
            node.replica.branchTips(of: log).map {
                LogTip(log: log, sequence: $0.sequence, id: $0.id)
            }
        }
        if !waiting.isEmpty {
            give(.cited(waiting.map { .init($0, for: [], isKept: true) }), to: number)
        }
        for other in node.links where other == number || !tips.isEmpty {
            give(
                .stored(
                    tips, waiting: other == number ? waiting : [],
                    answering: other == number ? request : nil),
                to: other)
        }
    }

    /// Writes a text at a node, which says whom it reaches and pushes it to them.
    func write(at index: Int, textBytes: Int) {
        tellReach(of: index)
        let node = nodes[index]
        let log = history.write(
            by: node.device, in: index % history.documents.count, textBytes: textBytes)
        node.replica.hold(log)
        guard let (run, tip) = history.last(of: log) else { return }
        for number in node.links { give(.appended(run, tip: tip), to: number) }
    }
}
