import Glibc
import WorkspaceModel

/// The client's end of a control socket, with no more work than a client must do: bytes out,
/// lines in. Lines are parsed only by who needs what they say.
final class ControlSocket {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var start = 0
    private var scanned = 0
    private var lastID = 0

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            close(descriptor)
            throw BenchError("the path of the socket is too long: \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw BenchError("cannot connect to \(path)")
        }
    }

    deinit { close(descriptor) }

    /// One call after another.
    func call(_ method: String, _ parameters: JSONObject = JSONObject()) throws -> JSONValue {
        try write(request(method, parameters))
        let answer = try JSONValue(parsing: nextLine())
        if let error = answer["error"] { throw BenchError("\(method): \(error.text)") }
        return answer["result"] ?? .null
    }

    /// A request as a line, to be written as often as wanted.
    func request(_ method: String, _ parameters: JSONObject) -> [UInt8] {
        lastID += 1
        let value: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(Int64(lastID)), "method": .string(method),
            "params": .object(parameters),
        ]
        return value.bytes + [UInt8(ascii: "\n")]
    }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, 0)
            }
            guard count > 0 else { throw BenchError("the daemon closed the connection") }
            sent += count
        }
    }

    /// The next line without its end; waits for it.
    func nextLine() throws -> [UInt8] {
        while true {
            if let line = takeLine() { return line }
            try fill()
        }
    }

    /// The next whole line that is here already.
    func takeLine() -> [UInt8]? {
        while scanned < received.count, received[scanned] != UInt8(ascii: "\n") { scanned += 1 }
        guard scanned < received.count else { return nil }
        let line = Array(received[start..<scanned])
        scanned += 1
        start = scanned
        if start == received.count {
            received.removeAll(keepingCapacity: true)
            (start, scanned) = (0, 0)
        }
        return line
    }

    /// Reads once; waits until there is something.
    func fill() throws {
        if start > 1 << 20 {
            received.removeFirst(start)
            scanned -= start
            start = 0
        }
        let room = 64 * 1024
        let before = received.count
        received.append(contentsOf: repeatElement(0, count: room))
        let count = received.withUnsafeMutableBytes {
            recv(descriptor, $0.baseAddress?.advanced(by: before), room, 0)
        }
        received.removeLast(room - max(count, 0))
        guard count > 0 else { throw BenchError("the daemon closed the connection") }
    }

    /// Sends `count` requests made by `make`, at most `window` unanswered, and reads every answer.
    func pipeline(_ count: Int, window: Int, _ make: (Int) -> [UInt8]) throws {
        var written = 0
        var answered = 0
        while answered < count {
            var batch: [UInt8] = []
            while written < count, written - answered < window {
                batch += make(written)
                written += 1
            }
            if !batch.isEmpty { try write(batch) }
            try take(answer: nextLine())
            answered += 1
            while let line = takeLine() {
                try take(answer: line)
                answered += 1
            }
        }
    }

    private func take(answer line: [UInt8]) throws {
        // An answer begins {"jsonrpc":"2.0","id":N,"result" or "error".
        guard let colon = line.dropFirst(20).firstIndex(of: UInt8(ascii: ":")),
            let comma = line[colon...].firstIndex(of: UInt8(ascii: ",")), comma + 2 < line.count,
            line[comma + 2] == UInt8(ascii: "r")
        else { throw BenchError("refused: \(String(decoding: line.prefix(400), as: UTF8.self))") }
    }
}

extension ControlSocket {
    /// `message.send` to #general with a text of `byteCount` bytes that says its number.
    func sendRequest(_ number: Int, byteCount: Int) -> [UInt8] {
        var text = "message \(number) "
        text += String(repeating: "x", count: max(0, byteCount - text.utf8.count))
        var parameters = JSONObject()
        parameters.append("channel", "general")
        parameters.append("text", .string(text))
        return request("message.send", parameters)
    }
}
