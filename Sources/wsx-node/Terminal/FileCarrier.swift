import PeerNode
import WorkspaceModel

/// The source of an upload.
protocol UploadSource: AnyObject {
    /// The total length in bytes.
    var byteCount: Int64 { get }
    /// The next bytes, at most this many; empty at the end.
    func read(_ byteCountMax: Int) throws(NodeError) -> [UInt8]
}

/// Transfers one file over HTTP on the control socket, since JSON lines cannot carry it.
struct FileCarrier {
    private let transport: any ControlTransport
    private let timeoutMilliseconds: Int64?
    private var received: [UInt8] = []

    private static let portionByteCount = 64 * 1024

    /// - Parameters:
    ///   - transport: a fresh connection.
    ///   - timeoutMilliseconds: for each wait; `nil` for no limit.
    init(_ transport: any ControlTransport, timeoutMilliseconds: Int64?) {
        self.transport = transport
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Downloads a file.
    ///
    /// - Parameters:
    ///   - file: its id, `b_…`.
    ///   - isAwaited: whether the daemon waits for missing parts.
    ///   - take: receives the bytes as they arrive.
    mutating func get(
        _ file: String, isAwaited: Bool = true, take: ([UInt8]) -> Void
    ) throws(NodeError) {
        let path = "/files/\(Self.encoded(file))" + (isAwaited ? "" : "?timeout_ms=0")
        try transport.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        let head = try head()
        guard head.status == 200 else { throw try failure(head) }
        var left = head.byteCount
        while left > 0 {
            let bytes = received.isEmpty ? try next() : received
            received = []
            guard !bytes.isEmpty else {
                throw NodeError(
                    .blobMissing, "the file ended early: part of it can no longer be read",
                    hint: "wsx-node file verify \(file)", reason: "file.cut")
            }
            let part = bytes.prefix(Int(clamping: left))
            left -= Int64(part.count)
            take(Array(part))
        }
    }

    /// Uploads a file.
    ///
    /// - Returns: the daemon's answer.
    mutating func put(_ source: any UploadSource, name: String) throws(NodeError) -> JSONValue {
        let head =
            "PUT /files?name=\(Self.encoded(name)) HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Length: \(source.byteCount)\r\n\r\n"
        do throws(NodeError) {
            try transport.send(Array(head.utf8))
            var left = source.byteCount
            while left > 0 {
                let bytes = try source.read(min(Self.portionByteCount, Int(clamping: left)))
                guard !bytes.isEmpty else {
                    throw NodeError(
                        .conflict, "standard input changed while it was read",
                        hint: "send it again", reason: "file.changed")
                }
                try transport.send(bytes)
                left -= Int64(bytes.count)
            }
        } catch {
            // A daemon that refuses the rest of a file says why before it closes the connection.
            guard error.isBecause(of: .endedConnection), let head = try? self.head() else {
                throw error
            }
            throw try failure(head)
        }
        let answer = try self.head()
        guard answer.status == 201 else { throw try failure(answer) }
        do { return try JSONValue(parsing: try body(answer)) } catch let error as JSONError {
            throw .badJSON(error)
        } catch let error as NodeError { throw error } catch { throw ControlClient.ended }
    }

    // MARK: Answers

    private struct Head {
        let status: Int
        let byteCount: Int64
    }

    private mutating func head() throws(NodeError) -> Head {
        while true {
            let blank = Array("\r\n\r\n".utf8)
            if let end = received.indices.first(where: { received[$0...].starts(with: blank) }) {
                let lines = String(decoding: received[..<end], as: UTF8.self)
                    .utf8.split(separator: UInt8(ascii: "\n"))
                    .map { String(decoding: Array($0), as: UTF8.self) }
                received.removeFirst(end + blank.count)
                return Self.head(lines)
            }
            guard received.count <= Limits.httpHeadBytesMax else { throw ControlClient.ended }
            let more = try next()
            guard !more.isEmpty else { throw ControlClient.ended }
            received += more
        }
    }

    private static func head(_ lines: [String]) -> Head {
        let words = lines.first?.split(separator: " ") ?? []
        var byteCount: Int64 = 0
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            guard name.lowercased() == "content-length" else { continue }
            let digits = line.dropFirst(name.count + 1).filter { $0.isNumber }
            byteCount = Int64(digits) ?? 0
        }
        let status = words.count > 1 ? Int(words[1]) : nil
        return Head(status: status ?? 0, byteCount: byteCount)
    }

    private mutating func body(_ head: Head) throws(NodeError) -> [UInt8] {
        guard head.byteCount <= Int64(Limits.controlLineBytesMax) else { throw .lineTooLong }
        while received.count < head.byteCount {
            let more = try next()
            guard !more.isEmpty else { throw ControlClient.ended }
            received += more
        }
        return received
    }

    /// Why a request was refused.
    private mutating func failure(_ head: Head) throws(NodeError) -> NodeError {
        let body = try body(head)
        guard let answer = try? JSONValue(parsing: body), let error = answer["error"] else {
            return ControlClient.ended
        }
        return NodeError(json: error)
    }

    private func next() throws(NodeError) -> [UInt8] {
        try transport.receive(within: timeoutMilliseconds)
    }

    /// A text as part of a path or a query.
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
