import Glibc
import WorkspaceModel

/// 10,000 events that lie ready, for 50 subscribers at once of which 10 never read: how fast the
/// others have all of them, what the stopped ones cost, and whether calls are answered meanwhile.
enum BacklogBench {
    private static let events = 10_000
    private static let subscribers = 50
    private static let stopped = 10

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_backlog")
        figures.note("events", events)
        figures.note("subscribers", subscribers)
        figures.note("stopped", stopped)
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
            let socket = try node.connect()
            try socket.pipeline(events, window: SendsBench.window) {
                socket.sendRequest($0, byteCount: 100)
            }
            let before = try node.kernelFigure("VmRSS:", file: "status")
            let sockets = try (0..<subscribers).map { _ in try node.connect() }
            let start = ContinuousClock.now
            for subscriber in sockets {
                let parameters: JSONObject = ["since": "all", "types": ["message.created"]]
                try subscriber.write(subscriber.request("events.subscribe", parameters))
            }
            var slowest = 0.0
            let bytes = try drain(Array(sockets.dropFirst(stopped))) {
                slowest = max(slowest, try seconds { _ = try socket.call("node.version") })
            }
            let time = elapsed(since: start)
            let delivered = Double(events * (subscribers - stopped))
            figures.add("events_per_s", delivered / time)
            figures.add("MBps", bytes / time / 1e6)
            figures.add("floor_socket_MBps", try Floors.loopbackRate() / 1e6)
            figures.add("slowest_call_meanwhile_ms", slowest * 1e3)
            let after = try node.kernelFigure("VmRSS:", file: "status")
            figures.add("grown_MB", (after - before) / 1_024)
            figures.add(
                "send_after_p50_ms",
                Figures.quantile(
                    0.5,
                    of: try (0..<200).map { number in
                        let request = socket.sendRequest(number, byteCount: 100)
                        return try seconds {
                            try socket.write(request)
                            _ = try socket.nextLine()
                        }
                    }) * 1e3)
        }
        figures.print()
    }

    /// Reads until each has had its answer and every event; `meanwhile` is called now and then.
    ///
    /// - Returns: the bytes that came.
    private static func drain(
        _ sockets: [ControlSocket], meanwhile: () throws -> Void
    ) throws -> Double {
        var lines = [Int](repeating: 0, count: sockets.count)
        var bytes = 0
        var chunk = [UInt8](repeating: 0, count: 256 * 1024)
        var open = sockets.indices.map { $0 }
        var rounds = 0
        while !open.isEmpty {
            var polls = open.map {
                pollfd(fd: sockets[$0].descriptor, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&polls, nfds_t(polls.count), 30_000) > 0 else {
                throw BenchError("nothing came for 30 s")
            }
            for (place, index) in open.enumerated() where polls[place].revents != 0 {
                let count = read(sockets[index].descriptor, &chunk, chunk.count)
                guard count > 0 else { throw BenchError("a subscriber was closed") }
                bytes += count
                lines[index] += chunk[..<count].count { $0 == 0x0A }
            }
            open = open.filter { lines[$0] <= events }
            rounds += 1
            if rounds % 50 == 0 { try meanwhile() }
        }
        return Double(bytes)
    }
}
