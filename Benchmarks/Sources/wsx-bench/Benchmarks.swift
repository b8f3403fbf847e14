import Glibc

/// `wsx-bench ROW…`: each row prints one JSON line, with the physical floor of the same run beside
/// its figures, because only ratios taken in one run mean anything on a shared machine.
enum Benchmarks {
    static let rows: [(name: String, run: @Sendable (Options) throws -> Void)] = [
        ("ingest", IngestBench.run),
        ("sends", SendsBench.run),
        ("latency", LatencyBench.run),
        ("first-sync", FirstSyncBench.run),
        ("growth", GrowthBench.run),
        ("startup", StartupBench.run),
        ("idle", IdleBench.run),
        ("authority", AuthorityBench.run),
        ("unlock", UnlockBench.run),
        ("search", SearchBench.run),
        ("screens", ScreensBench.run),
        ("backlog", BacklogBench.run),
        ("rekey", RekeyBench.run),
        ("open", OpenBench.run),
        ("seats", SeatsBench.run),
        ("soak", SoakBench.run),
        ("team", TeamBench.run),
        ("wide", WideBench.run),
        ("departed", DepartedBench.run),
        ("roaming", RoamingBench.run),
        ("text", TextBench.run),
        ("notes", NotesBench.run),
        ("files", FilesBench.run),
        ("scale", ScaleBench.run),
        ("links", LinksBench.run),
        ("events", EventsBench.run),
    ]

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            for name in options.rows {
                guard let row = rows.first(where: { $0.name == name }) else { continue }
                try row.run(options)
                fflush(nil)
            }
        } catch {
            let words = "wsx-bench: \(error)\n"
            _ = write(STDERR_FILENO, words, words.utf8.count)
            exit(1)
        }
    }
}

/// What the command line says.
struct Options {
    var rows: [String] = []
    /// Runs of each row; the line shows median, least and most.
    var runs = 3
    /// Messages of `ingest` and `first-sync`.
    var messages = 100_000
    /// The program under test.
    var node = "../.build/release/wsx-node"
    /// Where homes and databases are made: chooses the file system.
    var folder = "/tmp"
    /// How long `idle` watches.
    var idleSeconds = 10
    /// Homes of `team`.
    var homes = [10, 30, 60]
    /// Which things `scale` lets grow; all without any.
    var things: [String] = []
    /// The sizes of `scale`, rising, instead of those of each thing.
    var sizes: [Int] = []
    /// MiB of the large file of `files`, how many small ones there are, and KiB of each.
    var fileMebibytes = 1_024
    var fileCount = 10_000
    var smallKibibytes = 100
    /// How long the two of `soak` write over each history.
    var soakSeconds = 20
    /// Authors of `first-sync`.
    var authors = [1, 8]

    init(_ arguments: ArraySlice<String>) throws {
        let names = Benchmarks.rows.map(\.name)
        var rest = arguments
        while let word = rest.popFirst() {
            if word == "all" {
                rows = names
            } else if names.contains(word) {
                rows.append(word)
            } else {
                guard let value = rest.popFirst() else { throw Self.usage(names) }
                try take(word, value, names)
            }
        }
        guard !rows.isEmpty else { throw Self.usage(names) }
        if access(node, X_OK) != 0, access(".build/release/wsx-node", X_OK) == 0 {
            node = ".build/release/wsx-node"
        }
    }

    private mutating func take(_ option: String, _ value: String, _ names: [String]) throws {
        switch option {
        case "--node": node = value
        case "--folder": folder = value
        case "--runs": runs = try Self.count(value, names)
        case "--messages": messages = try Self.count(value, names)
        case "--idle-seconds": idleSeconds = try Self.count(value, names)
        case "--soak-seconds": soakSeconds = try Self.count(value, names)
        case "--file-mib": fileMebibytes = try Self.count(value, names)
        case "--files": fileCount = try Self.count(value, names)
        case "--small-kib": smallKibibytes = try Self.count(value, names)
        case "--homes":
            homes = try value.split(separator: ",").map { try Self.count($0, names) }
        case "--sizes":
            sizes = try value.split(separator: ",").map { try Self.count($0, names) }
        case "--things":
            things = value.split(separator: ",").map(String.init)
            guard things.allSatisfy({ GrowingThing(rawValue: $0) != nil }) else {
                throw Self.usage(names)
            }
        case "--authors":
            authors = try value.split(separator: ",").map { try Self.count($0, names) }
        default: throw Self.usage(names)
        }
    }

    private static func count(_ text: some StringProtocol, _ names: [String]) throws -> Int {
        guard let number = Int(text), number > 0 else { throw usage(names) }
        return number
    }

    private static func usage(_ names: [String]) -> BenchError {
        BenchError(
            """
            usage: wsx-bench all | \(names.joined(separator: " | "))
                [--runs 3] [--messages 100000] [--authors 1,8] [--idle-seconds 10]
                [--soak-seconds 20] [--homes 10,30,60]
                [--things \(GrowingThing.allCases.map(\.rawValue).joined(separator: ","))]
                [--sizes 100,1000,5000] [--file-mib 1024] [--files 10000] [--small-kib 100]
                [--node ../.build/release/wsx-node] [--folder /tmp]
            """)
    }
}

/// Why a benchmark could not be run, in words.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
