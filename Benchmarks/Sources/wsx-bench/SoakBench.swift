import Glibc
import WorkspaceModel

/// Two who write at the same instant, 50 messages a second together, over a history of each size:
/// what a message costs both nodes must not grow with what was said before.
enum SoakBench {
    private static let perSecond = 25

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_soak")
        figures.note("text_bytes", 100)
        figures.note("messages_per_s", 2 * perSecond)
        figures.note("seconds", options.soakSeconds)
        let sizes = [1_000, max(options.messages / 10, 1_000), max(options.messages, 1_000)]
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let pair = try NodePair(in: folder, options: options)
            var costs: [Double] = []
            var written = 0
            for size in sizes {
                try grow(pair, by: size - written)
                try rest(pair)
                let soak = try Soak(pair, ticks: perSecond * options.soakSeconds, perSecond)
                written = size + soak.messages
                costs.append(soak.microseconds)
                soak.add(to: &figures, "after_\(size)")
                figures.add(
                    "floor_fsync_p50_us_after_\(size)", try Floors.fsync(in: folder.path) * 1e6)
            }
            figures.add("ratio_cpu_largest_to_smallest", costs[2] / costs[0])
        }
        figures.print()
    }

    /// Both write until the history is as long as wanted, by turns.
    private static func grow(_ pair: NodePair, by count: Int) throws {
        var rest = count
        while rest > 0 {
            for node in [pair.a, pair.b] where rest > 0 {
                let part = min(rest, 5_000)
                try History.send(part, node.connect())
                rest -= part
            }
            try settle(pair)
        }
    }

    /// Waits until neither works any more: the index of words is made behind the history, and would be
    /// counted as what a message costs.
    private static func rest(_ pair: NodePair) throws {
        var before = try pair.processorSeconds()
        for _ in 0..<600 {
            usleep(1_000_000)
            let now = try pair.processorSeconds()
            guard now - before > 0.05 else { return }
            before = now
        }
        throw BenchError("the nodes do not come to rest within ten minutes")
    }

    /// Waits until both show the same newest message.
    private static func settle(_ pair: NodePair) throws {
        let (a, b) = (try pair.a.connect(), try pair.b.connect())
        try NodePair.wait("the other one's messages") {
            let newest = try History.newest(a)
            return try newest == History.newest(b)
                && Soak.operations(a) == Soak.operations(b)
        }
    }
}

/// Some seconds of two writers.
private struct Soak {
    private(set) var times: [Double] = []
    let messages: Int
    /// Processor time of one node for one message by any author.
    let microseconds: Double
    /// Operations that a message brought with it, itself too.
    let operations: Double

    init(_ pair: NodePair, ticks: Int, _ perSecond: Int) throws {
        let writers = try [Writer(pair.a), Writer(pair.b)]
        messages = 2 * ticks
        let before = try pair.processorSeconds()
        let stored = try Self.operations(writers[0].sender)
        let start = ContinuousClock.now
        for tick in 0..<ticks {
            let ahead = Double(tick) / Double(perSecond) - elapsed(since: start)
            if ahead > 0 { usleep(UInt32(ahead * 1e6)) }
            let sent = ContinuousClock.now
            for writer in writers { try writer.send(tick) }
            for writer in writers {
                try writer.takeAnswer()
                times.append(elapsed(since: sent))
            }
        }
        for writer in writers { try writer.takeEvents(messages) }
        microseconds = (try pair.processorSeconds() - before) / 2 / Double(messages) * 1e6
        operations =
            Double(try Self.operations(writers[0].sender) - stored) / Double(messages)
    }

    func add(to figures: inout Figures, _ when: String) {
        let (p50, p99) = (Figures.quantile(0.5, of: times), Figures.quantile(0.99, of: times))
        figures.add("cpu_us_per_message_and_node_\(when)", microseconds)
        figures.add("send_p50_us_\(when)", p50 * 1e6)
        figures.add("send_p99_us_\(when)", p99 * 1e6)
        figures.add("operations_per_message_\(when)", operations)
    }

    static func operations(_ socket: ControlSocket) throws -> Int64 {
        try socket.call("node.status")["store"]?["operations"]?.integerValue ?? 0
    }
}

/// One who writes, and sees what comes.
private struct Writer {
    let sender: ControlSocket
    private let reader: ControlSocket

    init(_ node: BenchNode) throws {
        (sender, reader) = (try node.connect(), try node.connect())
        _ = try reader.call(
            "events.subscribe", ["types": .array(["message.created"]), "since": "latest"])
    }

    func send(_ number: Int) throws {
        try sender.write(sender.sendRequest(number, byteCount: 100))
    }

    func takeAnswer() throws {
        let answer = try JSONValue(parsing: sender.nextLine())
        if let error = answer["error"] { throw BenchError("message.send: \(error.text)") }
    }

    func takeEvents(_ count: Int) throws {
        for _ in 0..<count { _ = try reader.nextLine() }
    }
}

extension NodePair {
    /// Of both together.
    fileprivate func processorSeconds() throws -> Double {
        try a.processorSeconds() + b.processorSeconds()
    }
}
