import Glibc
import WorkspaceModel

/// Files between two nodes: a large one beside a pipe that only encrypts, hashes and writes; its
/// last bytes alone; messages beside it; a very small one; and many.
enum FilesBench {
    /// Until then the log of the store is emptied, and a node that has nothing to do is at rest.
    private static let quietSeconds: UInt32 = 7
    private static let messages = 400
    private static let pauseMicroseconds: UInt32 = 5_000
    private static let rangeBytes = 1_024

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_files")
        figures.note("file_MiB", options.fileMebibytes)
        figures.note("files", options.fileCount)
        figures.note("small_KiB", options.smallKibibytes)
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            try Large(in: folder, options: options).measure(&figures)
            try ManyFiles.measure(in: folder, options, &figures)
        }
        figures.print()
    }

    // MARK: One large file

    private struct Large {
        let folder: TemporaryFolder
        let pair: NodePair
        let author: ControlSocket
        let reader: ControlSocket
        let path: String
        let byteCount: Int

        init(in folder: TemporaryFolder, options: Options) throws {
            self.folder = folder
            pair = try NodePair(in: folder, options: options)
            (author, reader) = (try pair.a.connect(), try pair.b.connect())
            path = folder.path + "/large"
            byteCount = options.fileMebibytes << 20
            try RandomFile.make(path, byteCount: byteCount)
            // It is not to be written while something is measured.
            sync()
        }

        func measure(_ figures: inout Figures) throws {
            let blob = try move(&figures)
            try readEnd(of: blob, &figures)
            try sendBeside(blob, &figures)
            try sendSmall(&figures)
            pair.a.stop()
            pair.b.stop()
            for name in ["/A", "/B", "/large"] {
                _ = try Spawning.wait(Spawning.start(["rm", "-rf", folder.path + name]))
            }
        }

        /// Put, moved and saved, beside the pipe in the same minute.
        private func move(_ figures: inout Figures) throws -> JSONValue {
            let nodes = [pair.a, pair.b]
            sleep(quietSeconds)
            let rest = try nodes.map { try $0.kernelFigure("VmRSS:", file: "status") }
            let watch = try FileWatch(pair.b)
            var blob = JSONValue.null
            let putting = try seconds { blob = try author.putFile(path) }
            try author.sendFiles([blob])
            try reader.waitToKnow(blob)
            let before = try nodes.reduce(0) { $0 + (try $1.processorSeconds()) }
            let moving = try seconds {
                _ = try reader.call("blob.fetch", ["blob": blob])
                try watch.wait(for: 1)
            }
            let spent = try nodes.reduce(0) { $0 + (try $1.processorSeconds()) } - before
            let target = folder.path + "/saved"
            mkdir(target, 0o700)
            let saving = try seconds {
                _ = try reader.call("blob.get", ["blob": blob, "folder": .string(target)])
            }
            try RandomFile.compare(path, target + "/large")
            unlink(target + "/large")
            for (index, name) in ["author", "reader"].enumerated() {
                let most = try nodes[index].kernelFigure("VmHWM:", file: "status")
                figures.add("\(name)_over_rest_MiB", (most - rest[index]) / 1_024)
            }
            let pipe = try FilePipe(path, byteCount: byteCount, in: folder.path)
            let megabytes = Double(byteCount) / 1e6
            figures.add("put_MBps", megabytes / putting)
            figures.add("moved_MBps", megabytes / moving)
            figures.add("saved_MBps", megabytes / saving)
            figures.add("floor_pipe_MBps", megabytes / pipe.durableSeconds)
            figures.add("floor_pipe_unsynced_MBps", megabytes / pipe.writtenSeconds)
            figures.add("ratio_moved_to_pipe", pipe.durableSeconds / moving)
            figures.add("ratio_moved_to_pipe_unsynced", pipe.writtenSeconds / moving)
            figures.add(
                "ratio_put_move_save_to_pipe",
                pipe.durableSeconds / (putting + moving + saving))
            figures.add("moving_cpu_s_per_GB", spent * 1e3 / megabytes)
            figures.add("floor_pipe_cpu_s_per_GB", pipe.processorSeconds * 1e3 / megabytes)
            figures.add("ratio_cpu_to_pipe", spent / pipe.processorSeconds)
            return blob
        }

        /// The last bytes of a file of which nothing is here: what comes for them.
        private func readEnd(of blob: JSONValue, _ figures: inout Figures) throws {
            _ = try reader.call("blob.drop", ["blob": blob, "force": .bool(true)])
            let before = try Metrics(reader).receivedBytes
            let http = try pair.b.connect()
            let time = try seconds {
                let count = try http.readFile(blob, range: "-\(rangeBytes)")
                guard count == rangeBytes else { throw BenchError("a range of \(count) bytes") }
            }
            let bytes = try Metrics(reader).receivedBytes - before
            figures.add("range_ms", time * 1e3)
            figures.add("range_kB", bytes / 1e3)
            figures.add("range_chunks", bytes / Double(chunkBytes))
            let floor = try Floors.loopbackRoundTrip()
            figures.add("floor_tcp_round_trip_p50_us", floor * 1e6)
        }

        /// A chunk: 256 KiB, or as much more as makes it 16,384 of them at most.
        private var chunkBytes: Int {
            var chunk = 1 << 18
            while (byteCount + chunk - 17) / (chunk - 16) > 16_384 { chunk *= 2 }
            return chunk
        }

        // MARK: Beside messages

        /// Messages from who sends the file to who gets it, alone and while it is moved.
        private func sendBeside(_ blob: JSONValue, _ figures: inout Figures) throws {
            let watch = try FileWatch(pair.b)
            let listener = try listen()
            var alone: [Double] = []
            for number in 0..<messages { alone.append(try send(number, listener)) }
            _ = try reader.call("blob.drop", ["blob": blob, "force": .bool(true)])
            _ = try reader.call("blob.fetch", ["blob": blob])
            var (beside, left) = ([Double](), 1)
            while try !watch.hears(&left, waiting: 0) {
                beside.append(try send(messages + beside.count, listener))
            }
            figures.add("messages_beside", Double(beside.count))
            for (part, name) in [(0.5, "p50"), (0.99, "p99")] {
                let (one, other) = (
                    Figures.quantile(part, of: alone), Figures.quantile(part, of: beside)
                )
                figures.add("message_\(name)_us", one * 1e6)
                figures.add("message_beside_\(name)_us", other * 1e6)
                figures.add("ratio_message_beside_\(name)", other / one)
            }
        }

        private func listen() throws -> ControlSocket {
            let socket = try pair.b.connect()
            _ = try socket.call(
                "events.subscribe", ["types": .array(["message.created"]), "since": "latest"])
            return socket
        }

        private func send(_ number: Int, _ listener: ControlSocket) throws -> Double {
            let request = author.sendRequest(number, byteCount: 200)
            let time = try seconds {
                try author.write(request)
                _ = try listener.nextLine()
            }
            _ = try author.nextLine()
            usleep(pauseMicroseconds)
            return time
        }

        // MARK: A small one

        /// A file of 100 bytes, put and sent, beside a message: until the event at the other node.
        private func sendSmall(_ figures: inout Figures) throws {
            let small = folder.path + "/small"
            try RandomFile.make(small, byteCount: 100)
            let listener = try listen()
            var (texts, files) = ([Double](), [Double]())
            for number in 0..<messages {
                texts.append(try send(number, listener))
                files.append(
                    try seconds {
                        try author.sendFiles([author.putSmallFile(small)])
                        _ = try listener.nextLine()
                    })
                usleep(pauseMicroseconds)
            }
            let (text, file) = (Figures.quantile(0.5, of: texts), Figures.quantile(0.5, of: files))
            figures.add("small_file_p50_us", file * 1e6)
            figures.add("ratio_small_file_to_message", file / text)
        }
    }
}
