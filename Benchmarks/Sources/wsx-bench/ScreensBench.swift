import CRDTStore
import Glibc
import WorkspaceModel

/// What a person waits for who opens a program: a page of a channel, the overview of what was not
/// read, and the first screen, with `--messages` unread messages of somebody else in 100 channels
/// (the plan asks for 1,000,000).
enum ScreensBench {
    private static let calls = 300

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_screens")
        figures.note("messages", options.messages)
        figures.note("channels", ManyChannels.count)
        let folder = try TemporaryFolder(in: options.folder)
        let reader = try fill(options, in: folder)
        let socket = try reader.connect()
        try measure("floor_call", &figures) { _ in _ = try socket.call("node.version") }
        try measureStore(reader.home, &figures)
        try measure("newest_page", &figures) { number in
            try page(["channel": ManyChannels.name(number), "limit": 30], socket)
        }
        let deep = try middle(options.messages, socket)
        try measure("deep_page", &figures) { number in
            let place = deep[number % deep.count]
            try page(["channel": place.channel, "before": place.cursor, "limit": 30], socket)
        }
        try measure("unread", &figures) { _ in
            let items = try socket.call("unread.get", ["limit": 100])["items"]?.arrayValue
            guard items?.count == ManyChannels.count else { throw BenchError("not all unread") }
        }
        try measure("home", &figures) { _ in
            let home = try socket.call("home.get")
            guard home["unread"]?["unread"]?.integerValue == Int64(options.messages) else {
                throw BenchError("home counts \(home["unread"]?.text ?? "-")")
            }
        }
        figures.add("rss_MB", try reader.kernelFigure("VmRSS:", file: "status") / 1_024)
        figures.add("pss_MB", try reader.kernelFigure("Pss:", file: "smaps_rollup") / 1_024)
        figures.print()
    }

    /// - Returns: a node that is in all channels and has read nothing.
    private static func fill(
        _ options: Options, in folder: TemporaryFolder
    ) throws -> BenchNode {
        let writer = try BenchNode("A", in: folder, options: options, workspace: "acme")
        try ManyChannels.make(writer.connect())
        let reader = try BenchNode("B", in: folder, options: options, workspace: nil)
        try NodePair.join(reader, to: writer)
        let socket = try reader.connect()
        for number in 1..<ManyChannels.count {
            _ = try socket.call("channel.join", ["channel": ManyChannels.name(number)])
        }
        try ManyChannels.fill(options.messages, to: writer.connect(), SearchBench.text)
        try NodePair.wait("the messages") {
            let unread = try socket.call("home.get")["unread"]?["unread"]?.integerValue
            return unread == Int64(options.messages)
        }
        writer.stop()
        // The search index follows at its own pace, and would be measured with all else.
        try NodePair.wait("the index") {
            try socket.call("search", ["query": "xylograph"])["complete"]?.boolValue == true
        }
        return reader
    }

    private static func page(_ parameters: JSONObject, _ socket: ControlSocket) throws {
        let items = try socket.call("message.history", parameters)["items"]?.arrayValue
        guard items?.count == 30 else { throw BenchError("no page of 30") }
    }

    /// Places in the middle of ten channels, as one finds them who pages back.
    private static func middle(
        _ messages: Int, _ socket: ControlSocket
    ) throws -> [(channel: JSONValue, cursor: JSONValue)] {
        try (0..<10).map { number in
            let channel = ManyChannels.name(number)
            var parameters: JSONObject = ["channel": channel, "limit": 100]
            for _ in 0..<max(messages / ManyChannels.count / 200, 1) {
                let page = try socket.call("message.history", parameters)
                guard let older = page["older"] else { throw BenchError("no older page") }
                parameters["before"] = older
            }
            guard let cursor = parameters["before"] else { throw BenchError("no place") }
            return (channel, cursor)
        }
    }

    private static func measure(
        _ name: String, _ figures: inout Figures, _ body: (Int) throws -> Void
    ) throws {
        let times = try (0..<calls).map { number in try seconds { try body(number) } }
        figures.add("\(name)_p50_ms", Figures.quantile(0.5, of: times) * 1e3)
        figures.add("\(name)_p99_ms", Figures.quantile(0.99, of: times) * 1e3)
    }

    /// SQLite alone: 30 rows in the order of an index, from a connection of its own.
    private static func measureStore(_ home: String, _ figures: inout Figures) throws {
        let connection = try Connection(path: home + "/node.db", mode: .readOnly)
        let statement = try connection.statement(
            "SELECT payload FROM operation WHERE arr <= ? ORDER BY arr DESC LIMIT 30")
        let newest = try connection.statement("SELECT max(arr) FROM operation").integer() ?? 0
        try measure("floor_rows", &figures) { number in
            let last = newest - Int64(number) * (newest / Int64(calls + 1))
            let rows = try statement.rows(.integer(last)) { $0.blob(0) }
            guard !rows.isEmpty else { throw BenchError("no rows") }
        }
    }
}
