import Glibc
import WorkspaceModel

/// Many files beside one that is as large as all of them: put and sent by one node, then fetched by
/// another.
enum ManyFiles {
    /// What a message may have, unless a policy says otherwise.
    private static let filesPerMessage = 5
    /// Files that a client has under way, in both directions: a script with thousands waits for none alone.
    private static let filesAtATime = 60
    /// Messages whose files are put one message after the other, to see what waiting for each costs.
    private static let messagesOneByOne = 100

    static func measure(
        in folder: TemporaryFolder, _ options: Options, _ figures: inout Figures
    ) throws {
        let pair = try NodePair(in: folder, options: options)
        for node in [pair.a, pair.b] {
            // What the disk of this machine has is no matter here.
            _ = try node.connect().call("cache.quota", ["bytes": .integer(1 << 40)])
        }
        let byteCount = options.smallKibibytes << 10
        let one = try hand(
            [byteCount * options.fileCount], pair, folder.path + "/one")
        let many = try hand(
            Array(repeating: byteCount, count: options.fileCount), pair, folder.path + "/many")
        let count = Double(options.fileCount)
        figures.add("many_put_and_sent_per_s", count / many.putting)
        figures.add("many_moved_per_s", count / many.moving)
        figures.add(
            "ratio_many_to_one", (many.putting + many.moving) / (one.putting + one.moving))
        figures.add("ratio_many_moved_to_one", many.moving / one.moving)
        let alone = try seconds { try putOneByOne(byteCount, pair.a.connect(), folder.path) }
        figures.add("one_message_of_files_ms", alone * 1e3 / Double(messagesOneByOne))
    }

    /// Seconds until files of these sizes are put and sent, and then until they have come.
    private static func hand(
        _ sizes: [Int], _ pair: NodePair, _ folder: String
    ) throws -> (putting: Double, moving: Double) {
        let (author, reader) = (try pair.a.connect(), try pair.b.connect())
        mkdir(folder, 0o700)
        let paths = sizes.indices.map { "\(folder)/\($0)" }
        for (path, size) in zip(paths, sizes) { try RandomFile.make(path, byteCount: size) }
        sync()
        var blobs: [JSONValue] = []
        let putting = try seconds {
            for start in stride(from: 0, to: paths.count, by: filesAtATime) {
                let ids = try put(
                    Array(paths[start..<min(paths.count, start + filesAtATime)]), author)
                try send(ids, author)
                blobs += ids
            }
        }
        for blob in blobs.suffix(1) { try reader.waitToKnow(blob) }
        let watch = try FileWatch(pair.b)
        let requests = blobs.map { reader.request("blob.fetch", ["blob": $0]) }
        var left = requests.count
        let moving = try seconds {
            for start in stride(from: 0, to: requests.count, by: filesAtATime) {
                let count = min(filesAtATime, requests.count - start)
                try reader.pipeline(count, window: count) { requests[start + $0] }
                // Nobody is told of thousands of files who does not listen meanwhile.
                _ = try watch.hears(&left, waiting: 0)
            }
            while try !watch.hears(&left, waiting: 1_000) {}
        }
        _ = try Spawning.wait(Spawning.start(["rm", "-rf", folder]))
        return (putting, moving)
    }

    /// Puts files, all asked for at once.
    private static func put(_ paths: [String], _ author: ControlSocket) throws -> [JSONValue] {
        for path in paths {
            try author.write(
                author.request("blob.add", ["path": .string(path), "apart": .bool(true)]))
        }
        return try paths.map { _ in
            guard let id = try JSONValue(parsing: author.nextLine())["result"]?["id"] else {
                throw BenchError("a file was not taken")
            }
            return id
        }
    }

    /// Sends files, as many to a message as it may have, all messages at once.
    private static func send(_ ids: [JSONValue], _ author: ControlSocket) throws {
        let messages = stride(from: 0, to: ids.count, by: filesPerMessage).map {
            Array(ids[$0..<min(ids.count, $0 + filesPerMessage)])
        }
        try author.pipeline(messages.count, window: messages.count) {
            author.request(
                "message.send", ["channel": "general", "attachments": .array(messages[$0])])
        }
    }

    private static func putOneByOne(
        _ byteCount: Int, _ author: ControlSocket, _ folder: String
    ) throws {
        let paths = (0..<filesPerMessage).map { "\(folder)/again-\($0)" }
        for path in paths { try RandomFile.make(path, byteCount: byteCount) }
        for _ in 0..<messagesOneByOne { try send(put(paths, author), author) }
        for path in paths { unlink(path) }
    }
}
