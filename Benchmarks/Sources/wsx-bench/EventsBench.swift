import CRDTStore
import Glibc
import WorkspaceModel

/// What an event costs: in the table where events are kept, up to as many as are ever kept, and for a
/// program that reads all of them through the control socket.
enum EventsBench {
    private static let stored = [10_000, 100_000, 1_000_000]
    private static let read = [1_000, 10_000, 50_000]

    static func run(_ options: Options) throws {
        try store(options)
        try stream(options)
    }

    /// Events written a thousand a transaction, and read again.
    private static func store(_ options: Options) throws {
        let folder = try TemporaryFolder(in: options.folder)
        let path = folder.path + "/events.db"
        var table = ScaleTable(sizes: [0] + stored)
        var made = 0
        for size in [0] + stored {
            let more = Double(max(1, size - made))
            let store = try NodeStore(
                Connection(path: path, mode: size == 0 ? .create : .main))
            let writing = try seconds { try append(size - made, to: store) }
            let reading = try seconds { try readAll(store) }
            made = size
            if size > 0 {
                table.add("append_us_each", .call, writing * 1e6 / more)
                table.add("read_us_each", .call, reading * 1e6 / Double(size))
                let floor = try Floors.inserts(10_000, batch: 1_000, in: folder.path)
                table.add("floor_insert_us_each", .call, 1e6 / floor)
            } else {
                for name in ["append_us_each", "read_us_each", "floor_insert_us_each"] {
                    table.add(name, .call, 0)
                }
            }
            let oldest = try seconds { _ = try store.events.oldest() }
            table.add("oldest_us", .call, oldest * 1e6)
            _ = try store.connection.checkpoint(.truncate)
            table.add("disk_kB", .whole(noise: 16), try fileSize(path) / 1_024)
        }
        table.print("wsx_events", "events stored")
    }

    private static func append(_ count: Int, to store: NodeStore) throws {
        for number in 0..<count {
            if number % 1_000 == 0 { try store.begin() }
            try store.events.append(
                type: 20, at: 1_700_000_000_000, workspace: 1, document: 2,
                arrival: Int64(number))
            if number % 1_000 == 999 || number == count - 1 { try store.commit() }
        }
    }

    private static func readAll(_ store: NodeStore) throws {
        var last: Int64 = 0
        while let next = try store.events.events(after: last, limit: 1_000).last {
            last = next.sequence
        }
    }

    /// A reader who begins at the oldest event, beside so many messages.
    private static func stream(_ options: Options) throws {
        let folder = try TemporaryFolder(in: options.folder)
        let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
        var table = ScaleTable(sizes: [0] + read)
        var made = 0
        let floor = try Floors.loopbackRate()
        for size in [0] + read {
            try History.send(size - made, node.connect())
            made = size
            try GrownNode.rest([node])
            let before = try node.processorSeconds()
            let memory = try node.kernelFigure("RssAnon:", file: "status")
            var bytes = 0
            let time = try seconds { bytes = try drain(size, node) }
            let each = 1 / Double(max(1, size))
            table.add("read_us_each", .call, time * 1e6 * each)
            let spent = try node.processorSeconds() - before
            table.add("read_cpu_us_each", .call, spent * 1e6 * each)
            table.add("bytes_each", .call, Double(bytes) * each)
            table.add("floor_socket_us_each", .call, Double(bytes) / floor * 1e6 * each)
            let after = try node.kernelFigure("RssAnon:", file: "status")
            table.add("memory_of_reading_kB", .whole(noise: 1_024), after - memory)
        }
        table.print("wsx_events", "events read")
    }

    /// Reads the events of so many messages.
    ///
    /// - Returns: their bytes.
    private static func drain(_ count: Int, _ node: BenchNode) throws -> Int {
        guard count > 0 else { return 0 }
        let socket = try node.connect()
        let parameters: JSONObject = ["since": "all", "types": ["message.created"]]
        _ = try socket.call("events.subscribe", parameters)
        var bytes = 0
        for _ in 0..<count { bytes += try socket.nextLine().count + 1 }
        return bytes
    }
}
