/// One side of a connection: a node, or a test that plays a hostile one.
public protocol SimulatedHost: AnyObject {
    /// `10.0.0.1` and so on; different for everybody.
    var hostAddress: String { get }
    /// Whether connections are taken now.
    var isListening: Bool { get }
    /// Somebody connected.
    func accepted(_ end: SimulatedEnd, from address: String)
    /// The connection of a dial is open.
    func dialled(_ end: SimulatedEnd, number: UInt64, address: String)
    /// The connection of a dial could not be made.
    func dialFailed(number: UInt64, reason: String)
    /// Bytes came.
    func received(_ bytes: [UInt8], on end: SimulatedEnd)
    /// What the kernel has not taken of what was written.
    func unsent(_ byteCount: Int, on end: SimulatedEnd)
    /// The other side closed, or the connection broke.
    func closed(_ end: SimulatedEnd)
}

/// One end of a connection.
public final class SimulatedEnd {
    /// Never given twice in one world.
    public let number: UInt64
    /// Whose end it is.
    public let host: any SimulatedHost
    unowned let connection: SimulatedConnection
    fileprivate(set) var isOpen = true

    fileprivate init(
        number: UInt64, host: any SimulatedHost, connection: SimulatedConnection
    ) {
        self.number = number
        self.host = host
        self.connection = connection
    }

    /// Sends bytes to the other end.
    public func write(_ bytes: [UInt8]) { if isOpen { connection.pipe(from: self).write(bytes) } }

    /// Sends the end of the stream, and takes no more in.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        connection.pipe(from: self).finish()
        connection.pipe(to: self).cut()
    }
}

/// A connection of two hosts.
public final class SimulatedConnection {
    private let world: SimulatedWorld
    private var ends: [SimulatedEnd] = []
    private var pipes: [SimulatedPipe] = []

    /// Both hosts, the one that dialled first.
    public var hosts: [any SimulatedHost] { ends.map(\.host) }
    /// Whether both ends are open.
    public var isOpen: Bool { ends.allSatisfy(\.isOpen) }
    /// Bytes that arrived in both directions, those of the one that dialled first.
    public var byteCounts: [Int] { pipes.map(\.deliveredByteCount) }

    init(_ world: SimulatedWorld, from dialler: any SimulatedHost, to listener: any SimulatedHost) {
        self.world = world
        ends = [dialler, listener].map {
            SimulatedEnd(number: world.drawLinkNumber(), host: $0, connection: self)
        }
        pipes = [0, 1].map { index in
            let (sender, receiver) = (ends[index], ends[1 - index])
            return SimulatedPipe(
                world,
                deliver: { if receiver.isOpen { receiver.host.received($0, on: receiver) } },
                end: { [self] in lost(receiver) },
                unsentChanged: { if sender.isOpen { sender.host.unsent($0, on: sender) } })
        }
    }

    var dialler: SimulatedEnd { ends[0] }
    var listener: SimulatedEnd { ends[1] }

    func pipe(from end: SimulatedEnd) -> SimulatedPipe { pipes[end === ends[0] ? 0 : 1] }
    func pipe(to end: SimulatedEnd) -> SimulatedPipe { pipes[end === ends[0] ? 1 : 0] }

    /// Breaks the connection; both ends hear of it, each some time later.
    public func cut() {
        for pipe in pipes { pipe.cut() }
        for end in ends where end.isOpen {
            world.schedule(after: world.drawLatency()) { [self] in lost(end) }
        }
    }

    /// Lets go of both hosts. The pipes hold the connection, which outlives its place in the network.
    fileprivate func end() { (ends, pipes) = ([], []) }

    /// One host is gone without a word; the other hears of it, unless `isSilent`.
    func vanish(_ host: any SimulatedHost, isSilent: Bool) {
        for end in ends where end.host === host { end.isOpen = false }
        if !isSilent { return cut() }
        for pipe in pipes { pipe.isFrozen = true }
    }

    private func lost(_ end: SimulatedEnd) {
        guard end.isOpen else { return }
        end.isOpen = false
        pipe(from: end).cut()
        pipe(to: end).cut()
        end.host.closed(end)
    }

    /// Freezes and thaws the directions that the network does not let through.
    func follow(_ network: SimulatedNetwork) {
        for (pipe, end) in zip(pipes, ends) {
            let other = end === ends[0] ? ends[1] : ends[0]
            pipe.isFrozen =
                !network.passes(from: end.host, to: other.host)
                || network.isStalled(other.host)
        }
    }
}

/// All connections, and which hosts can reach each other.
public final class SimulatedNetwork {
    private let world: SimulatedWorld
    private var hosts: [any SimulatedHost] = []
    private var connections: [SimulatedConnection] = []
    /// Open ones and others, for `end()`.
    private var made: [SimulatedConnection] = []
    private var blocked: Set<[String]> = []
    private var stalled: Set<String> = []
    /// Connections that were ever made.
    public private(set) var connectionCount = 0

    init(_ world: SimulatedWorld) { self.world = world }

    /// Makes a host known, so that it can be dialled.
    public func add(_ host: any SimulatedHost) { hosts.append(host) }

    /// Breaks the references in circles.
    func end() {
        for connection in made { connection.end() }
        (hosts, connections, made) = ([], [], [])
    }

    /// Connections with both ends open, in the order of their making.
    public var open: [SimulatedConnection] {
        connections.removeAll { !$0.isOpen }
        return connections
    }

    /// Connects `host` with the host that listens at `address`, after the connection delay.
    public func dial(from host: any SimulatedHost, number: UInt64, to address: String) {
        let name = address.split(separator: ":").first.map(String.init) ?? ""
        let target = hosts.first { $0.hostAddress == name }
        guard let target, passes(from: host, to: target), passes(from: target, to: host) else {
            world.schedule(after: 10_000) { host.dialFailed(number: number, reason: "timeout") }
            return
        }
        world.schedule(after: world.drawLatency()) { [self] in
            guard target.isListening else {
                return host.dialFailed(number: number, reason: "refused")
            }
            connectionCount += 1
            let connection = SimulatedConnection(world, from: host, to: target)
            connections.append(connection)
            made.append(connection)
            connection.follow(self)
            target.accepted(
                connection.listener, from: "\(host.hostAddress):\(40_000 + number % 20_000)")
            world.schedule(after: world.drawLatency()) {
                guard connection.dialler.isOpen else {
                    return host.dialFailed(number: number, reason: "reset")
                }
                host.dialled(connection.dialler, number: number, address: address)
            }
        }
    }

    /// Sends a packet to every other host that is reached from `host`.
    func announce(_ bytes: [UInt8], from host: any SimulatedHost) {
        for other in hosts where other !== host && passes(from: host, to: other) {
            guard let node = other as? SimulatedNode else { continue }
            world.schedule(after: world.drawLatency()) {
                node.heard(bytes, from: host.hostAddress)
            }
        }
    }

    // MARK: Faults

    func passes(from host: any SimulatedHost, to other: any SimulatedHost) -> Bool {
        !blocked.contains([host.hostAddress, other.hostAddress])
    }

    func isStalled(_ host: any SimulatedHost) -> Bool { stalled.contains(host.hostAddress) }

    /// Lets nothing through from `host` to `other`, or everything again. Bytes under way wait, as
    /// TCP repeats them.
    public func block(_ host: any SimulatedHost, _ other: any SimulatedHost, _ isBlocked: Bool) {
        let direction = [host.hostAddress, other.hostAddress]
        if isBlocked { blocked.insert(direction) } else { blocked.remove(direction) }
        follow()
    }

    /// Lets nothing through between two hosts, or everything again.
    public func part(
        _ host: any SimulatedHost, _ other: any SimulatedHost, _ isParted: Bool = true
    ) {
        block(host, other, isParted)
        block(other, host, isParted)
    }

    /// A host stops reading, or goes on.
    public func stall(_ host: any SimulatedHost, _ isStalled: Bool) {
        if isStalled { stalled.insert(host.hostAddress) } else { stalled.remove(host.hostAddress) }
        follow()
    }

    /// Everybody reaches everybody, and reads.
    public func heal() {
        blocked = []
        stalled = []
        follow()
    }

    /// Cuts all connections of a host that is gone.
    func vanish(_ host: any SimulatedHost, isSilent: Bool) {
        for connection in connections where connection.hosts.contains(where: { $0 === host }) {
            connection.vanish(host, isSilent: isSilent)
        }
    }

    private func follow() { for connection in open { connection.follow(self) } }
}
