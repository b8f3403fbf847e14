import CRDTStore
public import PeerNode
import WorkspaceModel

/// Real nodes on a virtual clock and a virtual network, in one thread: one seed is one exact run.
///
/// ```swift
/// let world = SimulatedWorld(seed: 17)
/// let (ada, bob) = (world.addNode(), world.addNode())
/// _ = ada.ask("identity.create", ["name": "Ada"])
/// world.network.part(ada, bob)
/// world.run(for: 60_000)
/// ```
///
/// Every node is a `NodeHost` on a `NodeStore` in SQLite's memory. A crash leaves what the last
/// COMMIT left. The network has delays, pieces of any size, broken connections, partitions in one
/// or both directions and readers that stop; like TCP it neither loses nor reorders the bytes of a
/// connection that lives.
public final class SimulatedWorld {
    /// What the network and the clocks are like.
    public struct Options: Sendable {
        /// How long a piece of a connection's bytes takes, in milliseconds.
        public var latency: ClosedRange<UInt64> = 1...20
        /// The largest piece in which bytes arrive.
        public var pieceByteCountMax = 4_096
        /// How long a node takes until it looks at what came, in milliseconds.
        public var turnDelay: ClosedRange<UInt64> = 0...2
        /// Whether nodes send beacons.
        public var announces = false
        /// Whether a line of level error is no failure.
        public var expectsErrors = false
        /// Private documents of which a node keeps in memory who may do what.
        public var privateJudgementsMax = Limits.privateJudgementsMax

        /// A good network.
        public init() {}
    }

    /// The wall clock at the beginning: a day in 2025, in milliseconds since 1970.
    public static let epoch: UInt64 = 1_760_000_000_000

    /// Names the run.
    public let seed: UInt64
    /// May change while the world runs.
    public var options: Options
    /// The monotonic clock of everybody, in milliseconds.
    public private(set) var now: UInt64 = 1_000
    /// All nodes, in the order of their making.
    public private(set) var nodes: [SimulatedNode] = []
    /// What went wrong, in words; must stay empty.
    public private(set) var failures: [String] = []
    /// Everything that the nodes did since `beginTrace`; `nil` where nobody asked for it.
    public private(set) var trace: TraceHash?
    /// Effects to look at, if a test wants to.
    public var onEffect: ((NodeEffect, SimulatedNode) -> Void)?
    /// Called when a node has carried out a turn, if a test wants to look at it then.
    public var onTurn: ((SimulatedNode) -> Void)?

    private var generator: SeededGenerator
    private var queue = EventQueue()
    private var lastLink: UInt64 = 0
    private var networkStore: SimulatedNetwork?

    /// A world without nodes.
    public init(seed: UInt64, options: Options = Options()) {
        self.seed = seed
        self.options = options
        generator = SeededGenerator(seed: seed)
    }

    /// Who reaches whom.
    public var network: SimulatedNetwork {
        if let networkStore { return networkStore }
        let network = SimulatedNetwork(self)
        networkStore = network
        return network
    }

    /// Adds a home and starts its node.
    ///
    /// - Parameter clockSkew: its wall clock minus the world's, in milliseconds.
    @discardableResult
    public func addNode(clockSkew: Int64 = 0) -> SimulatedNode {
        let node = SimulatedNode(self, index: nodes.count, clockSkew: clockSkew)
        nodes.append(node)
        network.add(node)
        node.start()
        return node
    }

    /// Adds a node on a copy of another node's disk, identity and guard file included, like a
    /// copied virtual machine. Only the others can detect it.
    ///
    /// - Parameter machine: the number of another machine, which the copy itself detects.
    @discardableResult
    public func addCopy(of original: SimulatedNode, onto machine: UInt64? = nil) -> SimulatedNode {
        addNode(on: original.snapshot(), clockSkew: original.clockSkew, machine)
    }

    /// Adds a node on another machine, on what a backup held.
    ///
    /// - Parameters:
    ///   - home: the home of the backup, as `BackupFolder` restores it.
    ///   - clockSkew: its wall clock minus the world's, in milliseconds.
    @discardableResult
    public func addNode(
        restoring home: SimulatedNode.Snapshot, clockSkew: Int64 = 0
    ) -> SimulatedNode {
        addNode(on: home, clockSkew: clockSkew, 1_000 + UInt64(nodes.count))
    }

    private func addNode(
        on disk: SimulatedNode.Snapshot, clockSkew: Int64, _ machine: UInt64?
    ) -> SimulatedNode {
        let node = SimulatedNode(self, index: nodes.count, clockSkew: clockSkew, from: disk)
        if let machine {
            node.home.storeFacts = StoreFileFacts(
                machine: machine, device: 1, inode: 1, birthNanoseconds: machine)
        }
        nodes.append(node)
        network.add(node)
        node.start()
        return node
    }

    /// Breaks the references in circles, so that the stores are closed.
    public func end() {
        queue = EventQueue()
        networkStore?.end()
        networkStore = nil
        (onEffect, onTurn) = (nil, nil)
        for node in nodes { node.end() }
        nodes = []
    }

    /// Hashes what nodes do from now on.
    public func beginTrace() { trace = TraceHash() }

    /// Notes that something is wrong with the run.
    public func fail(_ what: String) { failures.append("at \(now) ms: \(what)") }

    // MARK: Time

    /// Does something at a moment.
    public func schedule(at due: UInt64, _ action: @escaping () -> Void) {
        queue.add(at: max(due, now), action)
    }

    /// Does something some milliseconds later.
    public func schedule(after delay: UInt64, _ action: @escaping () -> Void) {
        queue.add(at: now + delay, action)
    }

    /// Lets so many milliseconds pass.
    public func run(for milliseconds: UInt64) {
        run(within: milliseconds) { false }
    }

    /// Lets time pass until the condition holds.
    ///
    /// - Returns: whether it held before `milliseconds` were over.
    @discardableResult
    public func run(within milliseconds: UInt64, until condition: () -> Bool) -> Bool {
        let end = now + milliseconds
        while !condition() {
            guard let due = queue.nextDue, due <= end, let event = queue.popNext() else {
                now = end
                return condition()
            }
            now = max(now, event.due)
            event.action()
        }
        return true
    }

    /// Lets time pass until a condition holds that is looked at every so many milliseconds: for one that
    /// asks nodes, which after each event would cost more than all events.
    ///
    /// - Returns: whether it held before `milliseconds` were over.
    @discardableResult
    public func run(
        within milliseconds: UInt64, every step: UInt64, until condition: () -> Bool
    ) -> Bool {
        let end = now + milliseconds
        while now < end {
            // To ask takes time, too.
            if condition() { return true }
            run(for: min(step, max(end, now) - now))
        }
        return condition()
    }

    func noted(_ effect: NodeEffect, by node: SimulatedNode) {
        trace?.add(effect, node: node.index, now: now)
        onEffect?(effect, node)
    }

    // MARK: Chance

    func drawLatency() -> UInt64 { UInt64.random(in: options.latency, using: &generator) }
    func drawTurnDelay() -> UInt64 { UInt64.random(in: options.turnDelay, using: &generator) }

    /// Small pieces now and then, so that every header is cut somewhere.
    func drawPieceByteCount() -> Int {
        let largest = generator.oneIn(8) ? 16 : options.pieceByteCountMax
        return 1 + generator.below(largest)
    }

    func drawLinkNumber() -> UInt64 {
        lastLink += 1
        return lastLink
    }
}
