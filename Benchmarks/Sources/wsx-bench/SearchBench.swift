import CRDTStore
import Glibc
import WorkspaceModel

/// How soon the newest twenty of what was looked for are there, among `--messages` messages in 100
/// channels (the plan asks for 1,000,000), beside one FTS5 table that holds the same texts; and
/// how fast an index that was lost is made again, beside filling that table.
enum SearchBench {
    private static let queries: [(name: String, query: String, raw: String)] = [
        ("common", "status", "status*"),
        ("rare", "zebra", "zebra*"),
        // unicode61 takes what stands between blanks for one word, which the two letters begin.
        ("cjk", "회의", "회의*"),
        ("phrase", "\"release notes\"", "\"release notes\""),
        ("absent", "xylograph", "xylograph*"),
    ]

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_search")
        figures.note("messages", options.messages)
        figures.note("channels", ManyChannels.count)
        let folder = try TemporaryFolder(in: options.folder)
        let raw = try RawIndex(folder.path + "/raw.db", count: options.messages)
        figures.add("floor_index_per_second", Double(options.messages) / raw.seconds)
        let home: String
        do {
            let source = try BenchNode("A", in: folder, options: options, workspace: "acme")
            home = source.home
            try ManyChannels.write(options.messages, to: source.connect(), text)
            source.stop()
        }
        for suffix in ["", "-wal", "-shm"] { unlink(home + "/search.db" + suffix) }
        let again = try BenchNode("A", in: folder, options: options, workspace: nil)
        let socket = try again.connect()
        let time = try seconds {
            // Each question has it write what waits; somebody who waits asks less often than this.
            while try ask("absent", socket)["complete"]?.boolValue != true { usleep(100_000) }
        }
        figures.add("index_per_second", Double(options.messages) / time)
        figures.add("ratio_index_to_floor", raw.seconds / time)
        for (name, query, expression) in queries {
            let own = try times(200) {
                _ = try ask(query, socket)
            }
            let floor = try times(200) { try raw.newest(expression) }
            figures.add("\(name)_p50_ms", Figures.quantile(0.5, of: own) * 1e3)
            figures.add("\(name)_p99_ms", Figures.quantile(0.99, of: own) * 1e3)
            figures.add("floor_\(name)_p50_ms", Figures.quantile(0.5, of: floor) * 1e3)
            figures.add("floor_\(name)_p99_ms", Figures.quantile(0.99, of: floor) * 1e3)
        }
        again.stop()
        figures.print()
    }

    private static func ask(_ query: String, _ socket: ControlSocket) throws -> JSONValue {
        try socket.call(
            "search", ["query": .string(query), "kinds": ["message"], "limit": 20])
    }

    private static func times(_ count: Int, _ body: () throws -> Void) throws -> [Double] {
        try (0..<count).map { _ in try seconds(body) }
    }

    /// About 60 bytes: every second one has the common word, one in ten thousand the rare one.
    static func text(_ number: Int) -> String {
        var text = "message \(number) by \(number % 997) of the build"
        if number.isMultiple(of: 2) { text += " status green" }
        if number.isMultiple(of: 10_000) { text += " zebra" }
        if number % 50 == 1 { text += " 오늘 회의록 공유" }
        if number % 100 == 3 { text += " release notes" }
        return text
    }

    /// One FTS5 table with the texts and nothing else.
    private final class RawIndex {
        private let connection: Connection
        let seconds: Double

        init(_ path: String, count: Int) throws {
            let connection = try Connection(path: path, mode: .disposable)
            self.connection = connection
            try connection.execute(
                "CREATE VIRTUAL TABLE raw USING fts5(text, tokenize = 'unicode61')")
            let insert = try connection.statement("INSERT INTO raw(rowid, text) VALUES(?, ?)")
            let start = ContinuousClock.now
            for number in 0..<count {
                if number % 4_096 == 0 { try connection.begin() }
                try insert.run(.integer(Int64(number + 1)), .text(SearchBench.text(number)))
                if number % 4_096 == 4_095 || number == count - 1 { try connection.commit() }
            }
            seconds = elapsed(since: start)
        }

        func newest(_ expression: String) throws {
            _ = try connection.statement(
                "SELECT text FROM raw WHERE raw MATCH ? ORDER BY rowid DESC LIMIT 20"
            ).rows(.text(expression)) { (row) throws(StorageError) in try row.text(0) }
        }
    }
}
