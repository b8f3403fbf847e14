import PeerNode
import WorkspaceModel

/// The client of the control socket: one call at a time, and a stream of events.
struct ControlClient {
    let transport: any ControlTransport
    private let timeoutMilliseconds: Int64?
    private var received: [UInt8] = []
    private var scanned = 0
    private var lastID: Int64 = 0
    /// Events received while waiting for an answer, and how many of them were returned.
    private var events: [JSONValue] = []
    private var eventsGiven = 0
    /// Receives a line for each former name that was resolved, which is then removed from the
    /// answer. `nil` leaves it there, for programs.
    var tellsFormer: ((String) -> Void)?

    /// How long a daemon may be silent while starting or stopping, in milliseconds. A slow disk or
    /// a busy machine takes long; the wait ends as soon as it is done.
    static let patience: Int64 = 120_000

    /// - Parameter timeoutMilliseconds: for each answer; `nil` for no limit.
    init(_ transport: any ControlTransport, timeoutMilliseconds: Int64?) {
        self.transport = transport
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Parameters:
    ///   - file: the bytes of a file or a text that follow the line of the request.
    ///   - watch: receives the events of a stream that arrive meanwhile.
    mutating func call(
        _ method: String, _ parameters: JSONObject, file: [UInt8] = [],
        watch: ((JSONValue) -> Void)? = nil
    ) throws(NodeError) -> JSONValue {
        lastID += 1
        let request: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(lastID), "method": .string(method),
            "params": .object(parameters),
        ]
        let line = request.bytes
        guard line.count <= Limits.controlLineBytesMax else { throw .lineTooLong }
        try send(line + [UInt8(ascii: "\n")] + file)
        while true {
            guard let answer = try nextLine(within: timeoutMilliseconds) else { throw Self.ended }
            if answer["method"]?.stringValue == "event" {
                let event = answer["params"] ?? .null
                if let watch { watch(event) } else { events.append(event) }
                continue
            }
            let id = answer["id"]
            guard id == .integer(lastID) || id == .null else { continue }
            if let error = answer["error"] { throw NodeError(json: error) }
            return withoutFormer(answer["result"] ?? .null)
        }
    }

    private func withoutFormer(_ result: JSONValue) -> JSONValue {
        guard let tellsFormer, let names = result["formerly"]?.arrayValue,
            var object = result.objectValue
        else { return result }
        for name in names { tellsFormer(Self.former(name)) }
        object["formerly"] = nil
        return .object(object)
    }

    /// The sentence about a former name: `{name, member}` of an answer or a failure.
    static func former(_ name: JSONValue) -> String {
        let now = name["member"]?["name"]?.stringValue ?? ""
        return "\(sanitised(name["name"]?.stringValue ?? "")) is \(sanitised(now)) now"
    }

    /// A daemon without room says so and closes the connection; then that is the failure.
    private mutating func send(_ line: [UInt8]) throws(NodeError) {
        do throws(NodeError) { try transport.send(line) } catch {
            if let last = try? nextLine(within: 1_000), let reason = last["error"] {
                throw NodeError(json: reason)
            }
            throw error
        }
    }

    /// Opens a stream; `nextEvent()` reads it.
    ///
    /// - Returns: the answer, with the `cursor` that the stream starts after.
    @discardableResult
    mutating func subscribe(_ parameters: JSONObject) throws(NodeError) -> JSONValue {
        try call("events.subscribe", parameters)
    }

    /// The next event, or `nil` when the daemon has closed the connection.
    ///
    /// - Parameter milliseconds: the timeout, after which it throws `timeout`; `nil` for none.
    mutating func nextEvent(within milliseconds: Int64? = nil) throws(NodeError) -> JSONValue? {
        if eventsGiven < events.count {
            eventsGiven += 1
            return events[eventsGiven - 1]
        }
        (events, eventsGiven) = ([], 0)
        while let line = try nextLine(within: milliseconds) {
            if line["method"]?.stringValue == "event" { return line["params"] ?? .null }
            if let error = line["error"] { throw NodeError(json: error) }
        }
        return nil
    }

    /// Whether data is buffered already: polling does not report it again.
    var hasMore: Bool { eventsGiven < events.count || received.contains(UInt8(ascii: "\n")) }

    /// Reads until the daemon closes the connection, possibly after a long silence.
    mutating func waitForEnd(within milliseconds: Int64 = patience) throws(NodeError) {
        while try nextLine(within: milliseconds) != nil {}
    }

    /// The daemon went away during a call or stream.
    static let ended = NodeError(
        .stopping, "the daemon closed the connection before it answered", hint: "wsx-node up",
        reason: KnownReason.endedConnection.rawValue)

    private mutating func nextLine(within milliseconds: Int64?) throws(NodeError) -> JSONValue? {
        while true {
            while scanned < received.count, received[scanned] != UInt8(ascii: "\n") { scanned += 1 }
            if scanned < received.count {
                let line = Array(received[..<scanned])
                received.removeFirst(scanned + 1)
                scanned = 0
                do { return try JSONValue(parsing: line) } catch { throw .badJSON(error) }
            }
            let bytes = try transport.receive(within: milliseconds)
            if bytes.isEmpty { return nil }
            received += bytes
            // Twice the longest line: a daemon of ours never sends more.
            guard received.count <= 2 * Limits.controlLineBytesMax else { throw .lineTooLong }
        }
    }
}
