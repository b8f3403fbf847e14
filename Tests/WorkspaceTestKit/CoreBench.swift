import CRDTStore
public import PeerNode
public import WorkspaceCrypto
public import WorkspaceModel

/// A few nodes on one table: virtual time, stores in memory, and links that carry bytes at once.
///
/// Nothing is ever lost or reordered here, and a turn happens as soon as there is an input. So a
/// test of one rule of a node reads like a conversation. For faults see the simulation.
///
/// ```swift
/// let bench = CoreBench()
/// let mina = try bench.node("Mina")
/// let sent = try mina.ok("message.send", ["channel": "general", "text": "hello"])
/// ```
public final class CoreBench {
    /// The wall clock of all nodes, milliseconds since 1970.
    public var wall: UInt64
    /// Milliseconds of the clock that never steps back, of all nodes.
    public private(set) var monotonic: UInt64 = 1_000_000
    /// In the order in which they were made.
    public private(set) var nodes: [BenchNode] = []

    /// Whose store fails in the turn in which a passphrase has become a key.
    public weak var failsNextDerivation: BenchNode?

    /// Every random byte of those who are no nodes.
    public let randomOfStrangers: SeededRandom

    private let seed: UInt64
    private var queue: [(node: BenchNode, input: NodeInput)] = []
    private var nextLink: UInt64 = 1
    /// Who holds the other end of a link.
    private var ends: [LinkID: (node: BenchNode, link: LinkID, peer: BenchNode)] = [:]
    private var cuts: Set<Set<String>> = []
    /// Whose links carry nothing, which nobody has noticed yet.
    private var silent: Set<Set<String>> = []
    /// Who holds the other end of a node's link without being a node.
    private var strangers: [LinkID: any BenchStranger] = [:]
    /// Strangers that nodes reach, by their address.
    private var addresses: [String: any BenchStranger] = [:]
    private weak var lastCaller: BenchNode?

    /// An empty table.
    ///
    /// - Parameter wall: what the clocks show, milliseconds since 1970.
    public init(seed: UInt64 = 1, wall: UInt64 = 1_795_150_800_123) {
        self.seed = seed
        self.wall = wall
        randomOfStrangers = SeededRandom(seed: seed &* 1_000 &+ 999)
    }

    /// Bytes that links have carried so far.
    public private(set) var carriedByteCount = 0

    /// What every node's clocks show.
    public var time: TurnTime { TurnTime(wall: wall, monotonic: monotonic) }

    /// A started node without an identity, whose listener others reach.
    public func bareNode(_ name: String) throws -> BenchNode {
        let number = UInt64(nodes.count + 1)
        let node = BenchNode(
            name: name, address: "10.0.0.\(number):29790", seed: seed &* 1_000 &+ number,
            on: self)
        nodes.append(node)
        try node.boot()
        return node
    }

    /// A node that starts on a copy of another node's store and small files.
    public func node(
        _ name: String, store image: [UInt8], identity: [UInt8]?, guardBytes: [UInt8]?
    ) throws -> BenchNode {
        let number = UInt64(nodes.count + 1)
        let node = BenchNode(
            name: name, address: "10.0.0.\(number):29790", seed: seed &* 1_000 &+ number,
            on: self)
        nodes.append(node)
        try node.replaceStore(image)
        (node.files.identity, node.files.guardBytes) = (identity, guardBytes)
        try node.boot()
        return node
    }

    /// A node with an identity of this name and, unless `nil`, a workspace.
    public func node(_ name: String, workspace: String? = "acme") throws -> BenchNode {
        let node = try bareNode(name)
        try node.ok("identity.create", ["name": .string(name)])
        if let workspace {
            try node.ok("workspace.create", ["name": .string(workspace)])
        }
        return node
    }

    /// A node that came into the selected workspace of `inviter`.
    public func guest(
        _ name: String, of inviter: BenchNode, role: String = "member", channels: [JSONValue] = []
    ) throws -> BenchNode {
        let node = try bareNode(name)
        let invite = try inviter.ok(
            "invite.create", ["role": .string(role), "channels": .array(channels)])
        try node.ok(
            "workspace.join",
            ["link": invite["link"] ?? .null, "name": .string(name)])
        return node
    }

    // MARK: Time

    /// How long each turn takes.
    public var turnMilliseconds: UInt64 = 0

    /// Lets time pass, and gives every node its turn when it asked for one.
    public func advance(_ milliseconds: UInt64) {
        let end = monotonic + milliseconds
        var futile = 0
        while monotonic <= end {
            let deadlines = nodes.map { $0.host?.nextDeadline }
            guard let due = deadlines.compactMap({ $0 }).min(), due <= end else { break }
            let passed = max(due, monotonic) - monotonic
            wall += passed
            monotonic += passed
            for (node, deadline) in zip(nodes, deadlines) {
                if let deadline, deadline <= monotonic { give(.tick, to: node) }
            }
            settle()
            // A deadline that a tick does not move would stop the clock.
            if passed == 0 {
                wall += 1
                monotonic += 1
                futile += 1
                precondition(futile < 20_000, "a tick does not move the deadline it was due for")
            }
        }
        if monotonic < end {
            wall += end - monotonic
            monotonic = end
        }
    }

    /// Lets time pass while every machine is suspended, on both clocks; then each node has the turn
    /// that it was owed. Many hours in which all links are pinged take seconds.
    public func skip(_ milliseconds: UInt64) {
        wall += milliseconds
        monotonic += milliseconds
        for node in nodes { give(.tick, to: node) }
        settle()
    }

    /// Lets days pass on the wall clock, and half a minute of them on the other one: a week in
    /// which every link is pinged twice a minute takes minutes.
    public func letPass(_ milliseconds: UInt64) {
        wall += milliseconds - 30_000
        advance(30_000)
    }

    /// Handles inputs until there are none.
    public func settle() {
        while !queue.isEmpty {
            let (node, input) = queue.removeFirst()
            // Where turns take time, each is made.
            if turnMilliseconds == 0, node.notes(input) { continue }
            if case .keysDerived = input, failsNextDerivation === node {
                failsNextDerivation = nil
                node.plant(.commitBefore(0), .full)
            }
            node.turn([input])
            wall += turnMilliseconds
            monotonic += turnMilliseconds
        }
    }

    /// Gives a node an input and everybody what follows from it.
    public func give(_ input: NodeInput, to node: BenchNode) { queue.append((node, input)) }

    // MARK: Links

    /// Ends the links between two nodes; new ones fail until `heal`.
    public func cut(_ left: BenchNode, _ right: BenchNode) {
        cuts.insert([left.name, right.name])
        for (link, end) in ends.sorted(by: { $0.key < $1.key })
        where [end.node.name, end.peer.name] == [left.name, right.name]
            || [end.node.name, end.peer.name] == [right.name, left.name]
        {
            ends[link] = nil
            give(.linkClosed(link), to: end.node)
        }
        settle()
    }

    /// From now on what two nodes send each other is lost, and neither is told.
    public func silence(_ left: BenchNode, _ right: BenchNode) {
        silent.insert([left.name, right.name])
    }

    /// Lets two nodes reach each other again, and dial at once.
    public func heal(_ left: BenchNode, _ right: BenchNode) {
        cuts.remove([left.name, right.name])
        for node in [left, right] {
            give(.networkChanged, to: node)
            give(.tick, to: node)
        }
        settle()
        advance(5_000)
    }

    /// Switching from one node to another takes a moment, in which sent messages arrive:
    /// announcements are gathered for up to 100 ms.
    func look(at node: BenchNode) {
        defer { lastCaller = node }
        if let lastCaller, lastCaller !== node { advance(400) }
    }

    /// Connects somebody who is no node of the bench to one that is.
    ///
    /// - Parameter host: the address from which it comes.
    /// - Returns: the node's end.
    public func connect(
        _ stranger: any BenchStranger, to node: BenchNode, from host: String
    ) -> LinkID {
        let far = LinkID(nextLink + 1)
        nextLink += 2
        strangers[far] = stranger
        give(.accepted(far, address: "\(host):4000"), to: node)
        return far
    }

    /// Lets nodes reach a stranger at an address.
    public func place(_ stranger: any BenchStranger, at address: String) {
        addresses[address] = stranger
    }

    /// A stranger hangs up.
    public func hangUp(_ link: LinkID, at node: BenchNode) {
        guard strangers.removeValue(forKey: link) != nil else { return }
        give(.linkClosed(link), to: node)
        settle()
    }

    func dial(_ number: UInt64, _ address: String, from node: BenchNode) {
        if let stranger = addresses[address] {
            let near = LinkID(nextLink)
            nextLink += 2
            strangers[near] = stranger
            stranger.dialled(by: node, on: near)
            return give(.dialled(near, number: number, address: address), to: node)
        }
        guard let peer = nodes.first(where: { $0.address == address && $0.isReachable }),
            peer !== node, !cuts.contains([peer.name, node.name])
        else { return give(.dialFailed(number: number, reason: "refused"), to: node) }
        let near = LinkID(nextLink)
        let far = LinkID(nextLink + 1)
        nextLink += 2
        ends[near] = (node, near, peer)
        ends[far] = (peer, far, node)
        give(.accepted(far, address: "10.0.0.99:\(40_000 + nextLink)"), to: peer)
        give(.dialled(near, number: number, address: address), to: node)
    }

    /// The other end of a link; links are numbered in pairs.
    private func otherEnd(_ link: LinkID) -> LinkID {
        LinkID(link.number.isMultiple(of: 2) ? link.number - 1 : link.number + 1)
    }

    func carry(_ bytes: [UInt8], on link: LinkID) {
        carriedByteCount += bytes.count
        if let stranger = strangers[link] { return stranger.received(bytes, on: link) }
        guard let end = ends[otherEnd(link)], !silent.contains([end.node.name, end.peer.name])
        else { return }
        give(.received(end.link, bytes), to: end.node)
    }

    func close(_ link: LinkID) {
        if let stranger = strangers.removeValue(forKey: link) { return stranger.closed(link) }
        ends[link] = nil
        guard let end = ends.removeValue(forKey: otherEnd(link)) else { return }
        give(.linkClosed(end.link), to: end.node)
    }

    /// Drops the links of a node whose process is gone.
    func closeAll(of node: BenchNode) {
        for (link, end) in ends.sorted(by: { $0.key < $1.key }) where end.node === node {
            close(link)
        }
    }
}

/// A peer at the other end of a node's link that follows only the test.
public protocol BenchStranger: AnyObject {
    /// A node has dialled this stranger's address; `link` is the node's end.
    func dialled(by node: BenchNode, on link: LinkID)
    /// The node wrote.
    func received(_ bytes: [UInt8], on link: LinkID)
    /// The node hung up.
    func closed(_ link: LinkID)
}
