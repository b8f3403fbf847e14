import Glibc
import WorkspaceModel

/// An empty node joins a workspace with a long history and takes all of it over loopback TCP.
enum FirstSyncBench {
    static func run(_ options: Options) throws {
        for authors in options.authors {
            var figures = Figures("wsx_first_sync")
            figures.note("messages", options.messages)
            figures.note("authors", authors)
            figures.note("text_bytes", 100)
            for _ in 0..<options.runs {
                let folder = try TemporaryFolder(in: options.folder)
                let source = try BenchNode("A", in: folder, options: options, workspace: "acme")
                try History.write(
                    options.messages, authors: authors, to: source, in: folder, options: options)
                let sync = try Sync(of: options.messages, from: source, in: folder, options)
                let rate = Double(options.messages) / sync.seconds
                figures.add("stored_and_readable_per_s", rate)
                figures.add("seconds", sync.seconds)
                figures.add("receiver_cpu_us_per_message", sync.receiverMicroseconds)
                figures.add("sender_cpu_us_per_message", sync.senderMicroseconds)
                figures.add("bytes_per_message", sync.bytes)
                figures.add("store_bytes_per_message", sync.storeBytes)
                figures.add("search_bytes_per_message", sync.searchBytes)
                let floor = try Floors.chainedIngest(options.messages, in: folder.path)
                figures.add("floor_signature_per_1000_per_s", floor)
                figures.add("floor_tcp_GBps", try Floors.loopbackRate() / 1e9)
                figures.add("ratio_to_signature_per_1000", rate / floor)
            }
            figures.print()
        }
    }
}

/// One first sync, measured from the call that joins until history and count say all is there.
struct Sync {
    let seconds: Double
    let receiverMicroseconds: Double
    let senderMicroseconds: Double
    /// What came over the network for each message, and what it takes on the disk once all of it is
    /// moved out of the logs: in the store, and in the index of words.
    let bytes: Double
    let storeBytes: Double
    let searchBytes: Double

    init(
        of messages: Int, from source: BenchNode, in folder: TemporaryFolder, _ options: Options
    ) throws {
        let guest = try BenchNode("guest", in: folder, options: options, workspace: nil)
        let wanted = try Self.operations(source.connect())
        let newest = try History.newest(source.connect())
        let socket = try guest.connect()
        let before = (try guest.processorSeconds(), try source.processorSeconds())
        let join = socket.request("workspace.join", try NodePair.invitation(to: source))
        let watch = try guest.connect()
        let start = ContinuousClock.now
        try socket.write(join)
        // Two operations more than the source had before: the invite's admission and more.
        try NodePair.wait("the history") {
            guard try Self.operations(watch) > wanted else { return false }
            return try History.newest(watch) == newest
        }
        seconds = elapsed(since: start)
        let each = 1e6 / Double(messages)
        receiverMicroseconds = (try guest.processorSeconds() - before.0) * each
        senderMicroseconds = (try source.processorSeconds() - before.1) * each
        _ = try socket.nextLine()
        let readable = try History.count(watch)
        guard readable == messages else {
            throw BenchError("B shows \(readable) messages of \(messages)")
        }
        bytes = try Metrics(watch).receivedBytes / Double(messages)
        try Self.waitForIndex(guest)
        guest.stop()
        storeBytes = try fileSize(guest.home + "/node.db") / Double(messages)
        searchBytes = try fileSize(guest.home + "/search.db") / Double(messages)
    }

    /// The index of words is made behind the history, while there is nothing else to do.
    private static func waitForIndex(_ node: BenchNode) throws {
        var before = try node.processorSeconds()
        try NodePair.wait("the index of words") {
            usleep(1_000_000)
            defer { before = (try? node.processorSeconds()) ?? before }
            return try node.processorSeconds() - before < 0.05
        }
    }

    private static func operations(_ socket: ControlSocket) throws -> Int64 {
        try socket.call("node.status")["store"]?["operations"]?.integerValue ?? 0
    }
}

/// A channel's past.
enum History {
    /// Writes `count` messages to #general of `source`, by `authors` devices in equal parts.
    static func write(
        _ count: Int, authors: Int, to source: BenchNode, in folder: TemporaryFolder,
        options: Options
    ) throws {
        let share = count / authors
        var guests: [BenchNode] = []
        for number in 1..<max(authors, 1) {
            let guest = try BenchNode("g\(number)", in: folder, options: options, workspace: nil)
            try NodePair.join(guest, to: source)
            let socket = try guest.connect()
            try NodePair.wait("the channel") {
                (try? socket.call("channel.get", ["channel": "general"])) != nil
            }
            try send(share, socket)
            guests.append(guest)
        }
        let socket = try source.connect()
        try send(count - share * guests.count, socket)
        try NodePair.wait("the other authors' messages") {
            let status = try socket.call("node.status")
            return status["store"]?["operations"]?.integerValue ?? 0 >= Int64(count)
        }
        let there = try Self.count(socket)
        guard there == count else { throw BenchError("\(there) messages of \(count) are there") }
        for guest in guests { guest.stop() }
    }

    /// Writes `count` messages to #general.
    static func send(_ count: Int, _ socket: ControlSocket) throws {
        try socket.pipeline(count, window: SendsBench.window) {
            socket.sendRequest($0, byteCount: 100)
        }
    }

    /// The id of the newest message of #general.
    static func newest(_ socket: ControlSocket) throws -> String? {
        let answer = try? socket.call(
            "message.history", ["channel": "general", "limit": .integer(1)])
        return answer?["items"]?[0]?["id"]?.stringValue
    }

    /// How many messages one gets who pages through #general.
    static func count(_ socket: ControlSocket) throws -> Int {
        var parameters: JSONObject = ["channel": "general", "limit": .integer(100)]
        var count = 0
        while true {
            let page = try socket.call("message.history", parameters)
            count += page["items"]?.arrayValue?.count ?? 0
            guard let older = page["older"]?.stringValue else { return count }
            parameters["before"] = .string(older)
        }
    }
}
