import CSodium
import Glibc
import WorkspaceModel

/// Waits for files at a node: it listens to how far they are.
struct FileWatch {
    private let socket: ControlSocket

    init(_ reader: BenchNode) throws {
        socket = try reader.connect()
        _ = try socket.call(
            "events.subscribe",
            ["types": .array(["transfer.progress"]), "since": "latest", "ephemeral": .bool(true)])
    }

    /// Takes off `count` as many files as have come by now.
    ///
    /// - Parameter milliseconds: how long to wait if nothing is heard.
    /// - Returns: whether none is left.
    func hears(_ count: inout Int, waiting milliseconds: Int32) throws -> Bool {
        var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        var patience = milliseconds
        while poll(&waiting, 1, patience) > 0 {
            try socket.fill()
            patience = 0
        }
        while let line = socket.takeLine() {
            if String(decoding: line, as: UTF8.self).contains("\"complete\":true") { count -= 1 }
        }
        return count <= 0
    }

    /// Waits until `count` files are there, as long as it takes.
    func wait(for count: Int) throws {
        var left = count
        while try !hears(&left, waiting: 1_000) {}
    }
}

/// The calls on files that the rows need.
extension ControlSocket {
    /// Puts a file beside its message, however small.
    ///
    /// - Returns: its id.
    func putFile(_ path: String) throws -> JSONValue {
        let answer = try call("blob.add", ["path": .string(path), "apart": .bool(true)])
        guard let id = answer["id"] else { throw BenchError("a file without an id") }
        return id
    }

    /// Puts a small file as the command line does: it reads the file, whose bytes go with the call.
    ///
    /// - Returns: its id.
    func putSmallFile(_ path: String) throws -> JSONValue {
        let bytes = try RandomFile.read(path)
        let line = request(
            "blob.put", ["bytes": .integer(Int64(bytes.count)), "name": "small"])
        try write(line + bytes)
        let answer = try JSONValue(parsing: nextLine())
        guard let id = answer["result"]?["id"] else { throw BenchError("a file without an id") }
        return id
    }

    /// A message to #general with files.
    func sendFiles(_ ids: [JSONValue]) throws {
        _ = try call("message.send", ["channel": "general", "attachments": .array(ids)])
    }

    /// Waits until a message has told this node of a file.
    func waitToKnow(_ blob: JSONValue) throws {
        try NodePair.wait("word of a file") { (try? call("blob.stat", ["blob": blob])) != nil }
    }

    /// The bytes of a file that a range of HTTP names.
    ///
    /// - Returns: how many came, by the head of the answer.
    func readFile(_ blob: JSONValue, range: String) throws -> Int {
        let id = blob.stringValue ?? ""
        try write(
            Array(
                "GET /files/\(id) HTTP/1.1\r\nHost: x\r\nRange: bytes=\(range)\r\n\r\n".utf8))
        guard String(decoding: try nextLine(), as: UTF8.self).contains(" 206 ") else {
            throw BenchError("no range of \(id)")
        }
        var length = 0
        while true {
            let words = String(decoding: try nextLine(), as: UTF8.self)
                .split(whereSeparator: { $0.isWhitespace })
            if words.first?.lowercased() == "content-length:", words.count > 1 {
                length = Int(words[1]) ?? 0
            }
            if words.isEmpty { return length }
        }
    }
}

/// Files that no program can make smaller.
enum RandomFile {
    static func make(_ path: String, byteCount: Int) throws {
        let file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
        guard file >= 0 else { throw BenchError("cannot write \(path)") }
        defer { close(file) }
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var left = byteCount
        while left > 0 {
            let count = min(left, piece.count)
            randombytes_buf(&piece, count)
            guard write(file, piece, count) == count else {
                throw BenchError("cannot write \(path)")
            }
            left -= count
        }
    }

    /// The bytes of a file of less than 64 KiB.
    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw BenchError("cannot read \(path)") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw BenchError("cannot read \(path)") }
        return Array(bytes[..<count])
    }

    /// - Throws: where the two differ.
    static func compare(_ one: String, _ other: String) throws {
        guard try Spawning.wait(Spawning.start(["cmp", "-s", one, other])) == 0 else {
            throw BenchError("\(other) differs from its source")
        }
    }
}
