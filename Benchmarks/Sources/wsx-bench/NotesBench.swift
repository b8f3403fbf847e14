import Glibc
import WorkspaceModel

/// Notes through real nodes: what one change costs who makes it, in a short and in a very long note,
/// and how long a keystroke takes from one editor to the line of another.
enum NotesBench {
    static let sizes = [1_000, 1_000_000]
    static let keystrokes = 60

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_notes")
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let pair = try NodePair(in: folder, options: options)
            try grow(pair, folder, &figures)
            try type(pair, options, &figures)
        }
        figures.print()
    }

    // MARK: One change

    private static func grow(
        _ pair: NodePair, _ folder: TemporaryFolder, _ figures: inout Figures
    ) throws {
        let socket = try pair.a.connect()
        let note = try make("Growing", socket)
        var generator = SystemRandomNumberGenerator()
        var count = 0
        var times: [Double] = []
        func edit(_ changes: Int) throws {
            var list: [JSONValue] = []
            for _ in 0..<changes {
                let at = Int64.random(in: 0...Int64(count), using: &generator)
                list.append(["insert": ["at": .integer(at), "text": "x"]])
                count += 1
            }
            var given = JSONObject()
            given.append("note", note)
            given.append("ops", .array(list))
            given.append("brief", .bool(true))
            _ = try socket.call("note.edit", given)
        }
        for size in sizes {
            while count < size { try edit(min(1_000, size - count)) }
            var each: [Double] = []
            for _ in 0..<500 { each.append(try seconds { try edit(1) }) }
            times.append(Figures.quantile(0.5, of: each))
            figures.add("edit_p50_us_after_\(size)", times[times.count - 1] * 1e6)
        }
        let fsync = try Floors.fsync(in: folder.path)
        figures.add("floor_fsync_p50_us", fsync * 1e6)
        figures.add("ratio_edit_to_fsync", times[0] / fsync)
        figures.add("ratio_million_to_thousand", times[1] / times[0])
    }

    private static func make(_ title: String, _ socket: ControlSocket) throws -> JSONValue {
        var given = JSONObject()
        given.append("channel", "general")
        given.append("title", .string(title))
        guard let id = try socket.call("note.create", given)["id"] else {
            throw BenchError("a note without an id")
        }
        return id
    }

    // MARK: A keystroke

    /// From a line of A's editor to the line of B's, beside a message from A to the event at B.
    private static func type(
        _ pair: NodePair, _ options: Options, _ figures: inout Figures
    ) throws {
        let (sender, reader) = (try pair.a.connect(), try pair.b.connect())
        let note = try make("Typed", sender)
        try NodePair.wait("the note") {
            var given = JSONObject()
            given.append("note", note)
            return (try? reader.call("note.get", given)) != nil
        }
        var events = JSONObject()
        events.append("types", .array(["message.created"]))
        events.append("since", "latest")
        _ = try reader.call("events.subscribe", events)
        var messages: [Double] = []
        for number in 0..<keystrokes {
            let request = sender.sendRequest(number, byteCount: 200)
            messages.append(
                try seconds {
                    try sender.write(request)
                    _ = try reader.nextLine()
                })
            _ = try sender.nextLine()
            usleep(10_000)
        }
        let id = note.stringValue ?? ""
        let one = try EditorProcess(pair.a, note: id, options)
        let other = try EditorProcess(pair.b, note: id, options)
        _ = try (one.nextLine(), other.nextLine())
        // Until each has heard that the other is there.
        while !(try other.nextLine().contains("\"cursors\"")) {}
        usleep(300_000)
        var times: [Double] = []
        for number in 0..<keystrokes {
            other.forget()
            let line = "{\"version\":[1,\(number)],\"patch\":[[\(number),0,\"k\"]]}\n"
            times.append(
                try seconds {
                    try one.write(line)
                    // Its own letter, laid over the text of the other.
                    while !(try other.nextLine().contains("k\"]]")) {}
                })
            // No more than ten words a second: the next is not to wait for its turn.
            usleep(150_000)
        }
        let (key, message) = (
            Figures.quantile(0.5, of: times), Figures.quantile(0.5, of: messages)
        )
        figures.add("keystroke_to_line_p50_us", key * 1e6)
        figures.add("keystroke_to_line_p99_us", Figures.quantile(0.99, of: times) * 1e6)
        figures.add("message_to_event_p50_us", message * 1e6)
        figures.add("ratio_keystroke_to_message", key / message)
    }
}

/// `note attach` as an editor starts it.
private final class EditorProcess {
    private let input: Int32
    private let output: Int32
    private let process: pid_t
    private var received: [UInt8] = []

    init(_ node: BenchNode, note: String, _ options: Options) throws {
        var (typed, shown) = ([Int32](repeating: 0, count: 2), [Int32](repeating: 0, count: 2))
        guard pipe(&typed) == 0, pipe(&shown) == 0 else { throw BenchError("no pipe") }
        for end in typed + shown { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, typed[0], 0)
        posix_spawn_file_actions_adddup2(&actions, shown[1], 1)
        let words = [options.node, "--home", node.home, "note", "attach", note]
        var pointers = words.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let status = posix_spawnp(&process, words[0], &actions, nil, pointers, environ)
        close(typed[0])
        close(shown[1])
        (input, output, self.process) = (typed[1], shown[0], process)
        guard status == 0 else { throw BenchError("cannot attach an editor: \(status)") }
    }

    deinit {
        close(input)
        close(output)
        _ = try? Spawning.wait(process)
    }

    func write(_ line: String) throws {
        let bytes = Array(line.utf8)
        guard Glibc.write(input, bytes, bytes.count) == bytes.count else {
            throw BenchError("the editor's line was not taken")
        }
    }

    /// Lets go of lines that have come.
    func forget() {
        var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 0) > 0, fill() {}
        received = []
    }

    func nextLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 20_000) > 0, fill() else {
                throw BenchError("no line for the editor")
            }
        }
    }

    private func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(output, &chunk, chunk.count)
        if count > 0 { received += chunk[..<count] }
        return count > 0
    }
}
