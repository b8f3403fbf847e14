import Glibc
import WorkspaceModel

/// Durable local sends through the control socket: one at a time, and pipelined.
enum SendsBench {
    /// Requests that a client leaves unanswered: what the daemon takes in before it stops reading.
    static let window = 256

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_sends")
        figures.note("text_bytes", 100)
        figures.note("window", window)
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
            let socket = try node.connect()
            try socket.pipeline(500, window: window) { socket.sendRequest($0, byteCount: 100) }
            var times: [Double] = []
            for number in 0..<1_000 {
                let request = socket.sendRequest(number, byteCount: 100)
                times.append(
                    try seconds {
                        try socket.write(request)
                        _ = try socket.nextLine()
                    })
            }
            let single = Double(times.count) / times.reduce(0, +)
            let count = 20_000
            let requests = (0..<count).map { socket.sendRequest($0, byteCount: 100) }
            let time = try seconds { try socket.pipeline(count, window: window) { requests[$0] } }
            let piped = Double(count) / time
            let commits = try Floors.inserts(1_000, batch: 1, in: folder.path)
            let fsync = try Floors.fsync(in: folder.path)
            let p50 = Figures.quantile(0.5, of: times)
            figures.add("one_at_a_time_per_s", single)
            figures.add("one_at_a_time_p50_us", p50 * 1e6)
            figures.add("one_at_a_time_p99_us", Figures.quantile(0.99, of: times) * 1e6)
            figures.add("pipelined_per_s", piped)
            figures.add("floor_sqlite_full_batch_1_per_s", commits)
            figures.add("floor_fsync_p50_us", fsync * 1e6)
            figures.add("floor_sign_per_s", Floors.signatures().sign)
            figures.add("ratio_pipelined_to_one_at_a_time", piped / single)
            figures.add("ratio_pipelined_to_batch_1", piped / commits)
            figures.add("ratio_p50_to_fsync", p50 / fsync)
        }
        figures.print()
    }
}
