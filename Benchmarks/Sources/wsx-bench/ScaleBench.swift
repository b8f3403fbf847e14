import Glibc
import WorkspaceModel

/// What each thing that can grow costs a node that holds it, and a newcomer who takes it: measured
/// with nothing of it and at three sizes, by the same calls for all things.
enum ScaleBench {
    static func run(_ options: Options) throws {
        for thing in GrowingThing.allCases
        where options.things.isEmpty || options.things.contains(thing.rawValue) {
            let folder = try TemporaryFolder(in: options.folder)
            let grown = try GrownNode(thing, in: folder, options)
            try grown.prepare()
            let sizes = options.sizes.isEmpty ? thing.sizes : options.sizes
            var table = ScaleTable(sizes: [0] + sizes)
            try measure(grown, made: 0, ones: [], processor: 0, &table)
            var made = 0
            for size in sizes {
                let singles = min(20, max(1, (size - made) / 2))
                let before = try grown.node.processorSeconds()
                try grown.make(made..<size - singles)
                let ones = try (size - singles..<size).map { try grown.makeOne($0) }
                let spent = try grown.node.processorSeconds() - before
                try measure(
                    grown, made: size, ones: ones, processor: spent / Double(size - made), &table)
                made = size
            }
            table.print("wsx_scale", thing.rawValue)
        }
    }

    /// - Parameters:
    ///   - ones: seconds of the last single ones that were made.
    ///   - processor: seconds for each that was made since the last size.
    private static func measure(
        _ grown: GrownNode, made: Int, ones: [Double], processor: Double, _ table: inout ScaleTable
    ) throws {
        let node = grown.node
        table.add("one_ms", .call, Figures.quantile(0.5, of: ones) * 1e3)
        table.add("one_cpu_ms", .call, processor * 1e3)
        try grown.rest()
        let live = try node.kernelFigure("RssAnon:", file: "status")
        node.stop()
        let words = (try? fileSize(node.home + "/search.db")) ?? 0
        let disk = try fileSize(node.home + "/node.db") + words
        try grown.withCopy {
            let start = try seconds {
                try node.start()
                _ = try node.connect().call("home.get")
            }
            let starting = try node.processorSeconds()
            try grown.rest()
            let started = try node.kernelFigure("RssAnon:", file: "status")
            table.add("disk_kB", .whole(noise: 8), disk / 1_024)
            table.add("memory_grown_kB", .whole(noise: 256), live)
            table.add("memory_started_kB", .whole(noise: 256), started)
            table.add("start_ms", .call, start * 1e3)
            table.add("start_cpu_ms", .whole(noise: 20), starting * 1e3)
            // Now, since the calls write messages.
            try newcomer(grown, made, &table)
            try calls(grown, &table)
        }
    }

    /// The median of some calls, beside what an empty call and the disk take.
    private static func calls(_ grown: GrownNode, _ table: inout ScaleTable) throws {
        let socket = try grown.node.connect()
        func add(_ name: String, _ call: (Int) throws -> Void) throws {
            var times: [Double] = []
            for number in 0..<50 { times.append(try seconds { try call(number) }) }
            table.add(name, .call, Figures.quantile(0.5, of: times) * 1e3)
        }
        try add("floor_call_ms") { _ in _ = try socket.call("node.version") }
        let fsync = try Floors.fsync(in: grown.folder.path)
        table.add("floor_fsync_ms", .call, fsync * 1e3)
        let text = String(repeating: "x", count: 100)
        try add("message_ms") { _ in
            _ = try socket.call("message.send", ["channel": "general", "text": .string(text)])
        }
        try add("home_ms") { _ in _ = try socket.call("home.get") }
        let (method, parameters) = grown.thing.list
        try add("list_ms") { _ in _ = try socket.call(method, parameters) }
    }

    /// What somebody takes who comes in now, until all is there and has been worked on.
    private static func newcomer(
        _ grown: GrownNode, _ made: Int, _ table: inout ScaleTable
    ) throws {
        let guest = try BenchNode(
            "new\(made)", in: grown.folder, options: grown.options, workspace: nil)
        let before = try guest.processorSeconds()
        let join = try seconds { try NodePair.join(guest, to: grown.node) }
        try GrownNode.rest([guest, grown.node])
        let metrics = try Metrics(guest.connect())
        let operations = Double(metrics.value("wsx_ops_total", "peer"))
        table.add("join_kB", .whole(noise: 4), metrics.receivedBytes / 1e3)
        table.add("join_operations", .whole(noise: 4), operations)
        table.add("join_ms", .call, join * 1e3)
        let spent = try guest.processorSeconds() - before
        table.add("join_cpu_ms", .whole(noise: 30), spent * 1e3)
        table.add("floor_verify_ms", .whole(noise: 0), operations / verifyRate * 1e3)
        guest.stop()
    }

    /// Signatures checked a second by libsodium alone.
    private static let verifyRate = Floors.signatures().verify
}
