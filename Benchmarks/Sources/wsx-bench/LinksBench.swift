import Glibc
import WorkspaceModel

/// What links cost a node that has 10, 30 and 60 of them: memory, what it works and sends until all
/// are caught up, and what it goes on to do when nothing happens.
enum LinksBench {
    private static let window = 20

    static func run(_ options: Options) throws {
        let sizes = options.homes
        let folder = try TemporaryFolder(in: options.folder)
        // Below those that the kernel gives to connections.
        let port = 20_000 + Int(getpid()) % 12_000
        let hub = try BenchNode("A", in: folder, options: options, workspace: "acme", port: port)
        var guests: [BenchNode] = []
        for number in 0..<(sizes.max() ?? 0) {
            let guest = try BenchNode(
                "g\(number)", in: folder, options: options, workspace: nil)
            try NodePair.join(guest, to: hub)
            guest.stop()
            guests.append(guest)
        }
        hub.stop()
        try hub.start()
        var table = ScaleTable(sizes: [0] + sizes)
        var linked = 0
        for size in [0] + sizes {
            let before = try Load(hub)
            let linking = try seconds {
                for guest in guests[linked..<size] { try guest.start() }
                try wait(for: size, on: hub)
            }
            try GrownNode.rest([hub])
            let spent = try Load(hub).since(before)
            let more = Double(max(1, size - linked))
            table.add("linking_ms_each", .call, linking * 1e3 / more)
            table.add("linking_cpu_ms_each", .call, spent.processor * 1e3 / more)
            table.add("linking_kB_each", .call, spent.bytes / 1e3 / more)
            try measure(hub, &table)
            linked = size
        }
        table.print("wsx_links", "links")
    }

    private static func measure(_ hub: BenchNode, _ table: inout ScaleTable) throws {
        let memory = try hub.kernelFigure("RssAnon:", file: "status")
        table.add("memory_kB", .whole(noise: 256), memory)
        let before = try Load(hub)
        sleep(UInt32(window))
        let idle = try Load(hub).since(before)
        table.add("idle_bytes_per_s", .whole(noise: 1), idle.bytes / Double(window))
        table.add("idle_cpu_ms_per_s", .whole(noise: 1), idle.processor * 1e3 / Double(window))
        let socket = try hub.connect()
        let start = try Load(hub)
        let sent = try seconds {
            try socket.pipeline(1, window: 1) { socket.sendRequest($0, byteCount: 1_000) }
        }
        sleep(UInt32(window) / 2)
        let message = try Load(hub).since(start)
        table.add("message_ms", .call, sent * 1e3)
        table.add("message_kB", .whole(noise: 0.5), message.bytes / 1e3)
        table.add("message_cpu_ms", .whole(noise: 10), message.processor * 1e3)
    }

    private static func wait(for links: Int, on hub: BenchNode) throws {
        let socket = try hub.connect()
        try NodePair.wait("\(links) links") {
            try Metrics(socket).value("wsx_peers", "connected") >= Int64(links)
        }
    }

    /// What a node has sent, received and worked since its start.
    private struct Load {
        var bytes: Double
        var processor: Double

        init(_ node: BenchNode) throws {
            let metrics = try Metrics(node.connect())
            bytes = Double(
                metrics.value("wsx_net_bytes_total", "out")
                    + metrics.value("wsx_net_bytes_total", "in"))
            processor = try node.processorSeconds()
        }

        func since(_ before: Self) -> Self {
            var more = self
            more.bytes -= before.bytes
            more.processor -= before.processor
            return more
        }
    }
}
