import Glibc
import WorkspaceModel

/// From a call on A's socket to the event on B's: signed, durable at A, encrypted TCP, stored at B.
enum LatencyBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_latency")
        figures.note("text_bytes", 200)
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let pair = try NodePair(in: folder, options: options)
            let sender = try pair.a.connect()
            let reader = try pair.b.connect()
            var parameters = JSONObject()
            parameters.append("types", .array(["message.created"]))
            parameters.append("since", "latest")
            _ = try reader.call("events.subscribe", parameters)
            var times: [Double] = []
            for number in 0..<1_050 {
                let request = sender.sendRequest(number, byteCount: 200)
                let time = try seconds {
                    try sender.write(request)
                    _ = try reader.nextLine()
                }
                _ = try sender.nextLine()
                if number >= 50 { times.append(time) }
            }
            let count = 20_000
            let rate = Double(count) / (try deliver(count, from: sender, to: reader))
            let p50 = Figures.quantile(0.5, of: times)
            figures.add("one_way_p50_us", p50 * 1e6)
            figures.add("one_way_p99_us", Figures.quantile(0.99, of: times) * 1e6)
            figures.add("delivered_per_s", rate)
            let (sign, verify) = Floors.signatures()
            let fsync = try Floors.fsync(in: folder.path)
            let roundTrip = try Floors.loopbackRoundTrip()
            // Two Unix sockets and one TCP connection one way, sign, verify, one fsync at A.
            let floor = 1.5 * roundTrip + 1 / sign + 1 / verify + fsync
            figures.add("floor_fsync_p50_us", fsync * 1e6)
            figures.add("floor_tcp_round_trip_p50_us", roundTrip * 1e6)
            figures.add("floor_sum_of_parts_us", floor * 1e6)
            figures.add("floor_verify_per_s", verify)
            figures.add("ratio_p50_to_sum_of_parts", p50 / floor)
            // B tells nobody of what it has not on disk either, so there is a second fsync.
            figures.add("ratio_p50_to_sum_durable_at_both", p50 / (floor + fsync))
            figures.add("ratio_rate_to_verify", rate / verify)
        }
        figures.print()
    }

    /// - Returns: the seconds from the first call until B has told the last event.
    private static func deliver(
        _ count: Int, from sender: ControlSocket, to reader: ControlSocket
    ) throws -> Double {
        let requests = (0..<count).map { sender.sendRequest($0, byteCount: 200) }
        let start = ContinuousClock.now
        var (written, answered, told) = (0, 0, 0)
        while told < count {
            var batch: [UInt8] = []
            while written < count, written - answered < SendsBench.window {
                batch += requests[written]
                written += 1
            }
            if !batch.isEmpty { try sender.write(batch) }
            var sockets = [
                pollfd(fd: sender.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: reader.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&sockets, 2, 20_000) > 0 else { throw BenchError("delivery stands still") }
            if sockets[0].revents != 0 { try sender.fill() }
            if sockets[1].revents != 0 { try reader.fill() }
            while sender.takeLine() != nil { answered += 1 }
            while reader.takeLine() != nil { told += 1 }
        }
        return elapsed(since: start)
    }
}

/// Two nodes of one workspace, linked.
struct NodePair {
    let a: BenchNode
    let b: BenchNode

    init(in folder: TemporaryFolder, options: Options) throws {
        a = try BenchNode("A", in: folder, options: options, workspace: "acme")
        b = try BenchNode("B", in: folder, options: options, workspace: nil)
        try Self.join(b, to: a)
        // The first message that arrives shows that the link stands and both are caught up.
        let (sender, receiver) = (try a.connect(), try b.connect())
        try sender.pipeline(1, window: 1) { sender.sendRequest($0, byteCount: 200) }
        try Self.wait("the first message") { try Self.messageCount(receiver, atLeast: 1) }
    }

    /// `workspace.join` under a new invite; done when the first sync is.
    static func join(_ guest: BenchNode, to host: BenchNode) throws {
        let parameters = try invitation(to: host)
        _ = try guest.connect().call("workspace.join", parameters)
    }

    /// What `workspace.join` needs.
    static func invitation(to host: BenchNode) throws -> JSONObject {
        var parameters = JSONObject()
        guard let link = try host.connect().call("invite.create")["link"] else {
            throw BenchError("an invite without a link")
        }
        parameters.append("link", link)
        return parameters
    }

    static func wait(_ what: String, until isDone: () throws -> Bool) throws {
        for _ in 0..<60_000 {
            if try isDone() { return }
            usleep(1_000)
        }
        throw BenchError("\(what) did not come within a minute")
    }

    /// Whether the newest page of #general has so many messages.
    static func messageCount(_ socket: ControlSocket, atLeast count: Int) throws -> Bool {
        var parameters = JSONObject()
        parameters.append("channel", "general")
        parameters.append("limit", .integer(Int64(min(count, 100))))
        guard let answer = try? socket.call("message.history", parameters) else { return false }
        return (answer["items"]?.arrayValue?.count ?? 0) >= count
    }
}
