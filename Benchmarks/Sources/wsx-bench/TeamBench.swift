import Glibc
import WorkspaceModel

/// What a team of some size costs all of its nodes together: everybody is linked to everybody, on one
/// machine, over loopback.
enum TeamBench {
    /// So long is listened to what something causes; what an idle team sends meanwhile is taken off.
    private static let window = 20

    static func run(_ options: Options) throws {
        for size in options.homes {
            var figures = Figures("wsx_team")
            figures.note("homes", size)
            figures.note("window_s", window)
            let folder = try TemporaryFolder(in: options.folder)
            let team = try Team(size, in: folder, options)
            for _ in 0..<options.runs { try measure(team, &figures) }
            figures.print()
        }
    }

    private static func measure(_ team: Team, _ figures: inout Figures) throws {
        let idle = try team.spent { sleep(UInt32(window)) }
        figures.add("idle_kB", idle.bytes / 1e3)
        func add(_ name: String, _ act: () throws -> Void) throws {
            let spent = try team.spent {
                let start = ContinuousClock.now
                try act()
                let rest = Double(window) - elapsed(since: start)
                if rest > 0 { usleep(UInt32(rest * 1e6)) }
            }
            figures.add("\(name)_kB", (spent.bytes - idle.bytes) / 1e3)
            figures.add("\(name)_cpu_s", spent.processor - idle.processor)
            figures.add("\(name)_operations", spent.operations)
        }
        let text = 1_000
        let socket = try team.nodes[0].connect()
        try add("message") {
            try socket.pipeline(1, window: 1) { socket.sendRequest($0, byteCount: text) }
        }
        figures.add("floor_message_kB", Double(text * (team.nodes.count - 1)) / 1e3)
        try add("presence") {
            let text = JSONValue.string("since \(elapsed(since: team.begun))")
            _ = try socket.call("presence.set", ["state": "busy", "text": text])
        }
        let last = team.nodes[team.nodes.count - 1]
        try team.stop([last])
        sleep(UInt32(window))
        try add("return") { try team.start([last]) }
        try team.stop(team.nodes)
        try add("restart") { try team.start(team.nodes) }
    }
}

/// Homes that are all linked to each other.
private final class Team {
    private(set) var nodes: [BenchNode] = []
    let begun = ContinuousClock.now
    /// What was counted by processes that have ended.
    private var ended = Spent()
    private var running: Set<String> = []

    init(_ size: Int, in folder: TemporaryFolder, _ options: Options) throws {
        // Below those that the kernel gives to connections.
        let port = 20_000 + Int(getpid()) % 120 * 100
        for number in 0..<size {
            let node = try BenchNode(
                "n\(number)", in: folder, options: options, workspace: number == 0 ? "acme" : nil,
                port: port + number)
            nodes.append(node)
            running.insert(node.home)
            if number > 0 { try NodePair.join(node, to: nodes[0]) }
        }
        try waitForLinks()
        // What is owed after so many have come in, such as confirmations, is written in the end.
        sleep(90)
    }

    func stop(_ some: [BenchNode]) throws {
        for node in some {
            ended.add(try counted(node))
            node.stop()
            running.remove(node.home)
        }
    }

    func start(_ some: [BenchNode]) throws {
        for node in some {
            try node.start()
            running.insert(node.home)
        }
        try waitForLinks()
    }

    /// What all nodes together sent, worked and stored meanwhile.
    func spent(_ body: () throws -> Void) throws -> Spent {
        let before = try total()
        try body()
        var after = try total()
        after.subtract(before)
        return after
    }

    private func total() throws -> Spent {
        var sum = ended
        for node in nodes where running.contains(node.home) { sum.add(try counted(node)) }
        return sum
    }

    private func waitForLinks() throws {
        for node in nodes where running.contains(node.home) {
            let socket = try node.connect()
            try NodePair.wait("a link to everybody") {
                let metrics = try Metrics(socket)
                return metrics.value("wsx_peers", "connected") >= Int64(running.count - 1)
            }
        }
    }

    private func counted(_ node: BenchNode) throws -> Spent {
        let metrics = try Metrics(node.connect())
        return Spent(
            bytes: Double(metrics.value("wsx_net_bytes_total", "out")),
            processor: try node.processorSeconds(),
            operations: Double(
                metrics.value("wsx_ops_total", "own") + metrics.value("wsx_ops_total", "peer")))
    }
}

/// What nodes have done.
private struct Spent {
    var bytes = 0.0
    var processor = 0.0
    var operations = 0.0

    mutating func add(_ other: Spent) {
        bytes += other.bytes
        processor += other.processor
        operations += other.operations
    }

    mutating func subtract(_ other: Spent) {
        bytes -= other.bytes
        processor -= other.processor
        operations -= other.operations
    }
}
