import Glibc
public import WorkspaceModel

/// A control socket as used by a script: bytes out, lines in, no convenience.
public final class ControlSocket: @unchecked Sendable {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var scanned = 0
    private var lastID: Int64 = 0

    /// Connects; `nil` where nobody listens.
    public init?(_ path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8.prefix(107))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        // Closed by `deinit` then too: closing it twice could close one that others just opened.
        guard descriptor >= 0, result == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Writes all of it, and says whether that was possible.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool { Self.send(bytes[...], to: descriptor) }

    static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Writes a line.
    @discardableResult
    public func send(line: String) -> Bool { send(Array((line + "\n").utf8)) }

    /// Writes what the other side takes at once.
    ///
    /// - Returns: how many bytes that were.
    public func sendNow(_ bytes: ArraySlice<UInt8>) -> Int {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return max(0, count)
    }

    /// Tells the other side that nothing more comes.
    public func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next line as JSON; `nil` at the end of the stream, or when none comes for so long.
    public func next(within milliseconds: Int32 = LongestWait.milliseconds) -> JSONValue? {
        while true {
            while scanned < received.count, received[scanned] != 0x0A { scanned += 1 }
            if scanned < received.count {
                let line = Array(received[..<scanned])
                received.removeFirst(scanned + 1)
                scanned = 0
                return (try? JSONValue(parsing: line)) ?? .null
            }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, milliseconds) > 0 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 256 * 1024)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }

    /// What comes until the text so far ends with `ending`, or, without one, until the other side
    /// closes; `nil` when that does not happen for so long.
    public func text(
        until ending: String? = nil, within milliseconds: Int32 = LongestWait.milliseconds
    )
        -> String?
    {
        while true {
            if let ending {
                let text = String(decoding: received, as: UTF8.self)
                if text.hasSuffix(ending) {
                    received = []
                    return text
                }
            }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, milliseconds) > 0 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 256 * 1024)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                received += chunk[..<count]
                continue
            }
            defer { received = [] }
            return ending == nil ? String(decoding: received, as: UTF8.self) : nil
        }
    }

    /// A request line of JSON-RPC.
    public static func request(_ method: String, _ parameters: JSONObject, id: Int64) -> JSONValue {
        [
            "jsonrpc": "2.0", "id": .integer(id), "method": .string(method),
            "params": .object(parameters),
        ]
    }

    /// Sends a request without waiting for its answer.
    ///
    /// - Returns: its id.
    @discardableResult
    public func post(_ method: String, _ parameters: JSONObject = [:]) -> Int64 {
        lastID += 1
        send(line: Self.request(method, parameters, id: lastID).text)
        return lastID
    }

    /// Calls a method and waits for the answer to it: the whole line, or `nil`.
    ///
    /// Lines that are no answer, such as events, are dropped meanwhile.
    public func call(_ method: String, _ parameters: JSONObject = [:]) -> JSONValue? {
        let id = post(method, parameters)
        while let line = next() {
            if line["id"] == .integer(id) { return line }
        }
        return nil
    }
}
