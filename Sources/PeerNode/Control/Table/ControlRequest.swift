public import WorkspaceModel

/// A request whose form was parsed and validated.
public struct ControlRequest: Sendable {
    /// Under which the answer is given.
    public let call: CallID
    /// The method's name, not yet looked up.
    public let method: String
    /// Not yet checked.
    public let parameters: JSONObject
    /// What came right behind its line: a file of at most `Limits.inlineFileBytesMax` bytes, or a
    /// text of at most `Limits.noteTextPerCallBytesMax`.
    public var file: [UInt8]?

    /// Looks up the method, checks the parameters, and runs it.
    ///
    /// Runs within a turn of the loop: the answer may leave only after COMMIT.
    public func run(on node: any NodeCommands) throws(NodeError) -> CommandOutcome {
        let context = CommandContext(node: node, call: call, file: file)
        return try Command.method(method).call(context, parameters)
    }
}

/// The members of a JSON-RPC 2.0 request.
struct RequestEnvelope {
    /// To be echoed; `nil` for a notification, which gets no answer.
    let id: JSONValue?
    let method: String
    let parameters: JSONObject

    /// A line that is not a request, and the id to answer with.
    struct Refusal: Error {
        let error: NodeError
        let id: JSONValue
    }

    init(_ line: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do { value = try JSONValue(parsing: line) } catch {
            throw Refusal(error: .badJSON(error), id: .null)
        }
        if value.arrayValue != nil {
            throw Refusal(
                error: .invalidRequest("batches are not supported: send line by line"), id: .null)
        }
        guard let members = value.objectValue else {
            throw Refusal(error: .invalidRequest("a request must be an object"), id: .null)
        }
        let id = members["id"]
        switch id {
        case nil, .null, .string, .integer, .decimal: break
        default:
            throw Refusal(error: .invalidRequest("'id' must be text, a number or null"), id: .null)
        }
        do throws(NodeError) { (method, parameters) = try Self.methodAndParameters(members) } catch
        {
            throw Refusal(error: error, id: id ?? .null)
        }
        self.id = id
    }

    private static func methodAndParameters(_ members: JSONObject) throws(NodeError)
        -> (String, JSONObject)
    {
        for member in members.members {
            if ["jsonrpc", "id", "method", "params"].contains(where: { $0 == member.key }) {
                continue
            }
            throw .invalidRequest("a request has no member \(NodeError.quoted(member.key))")
        }
        guard members["jsonrpc"]?.stringValue == "2.0" else {
            throw .invalidRequest("'jsonrpc' must be \"2.0\"")
        }
        guard let method = members["method"]?.stringValue else {
            throw .invalidRequest("'method' is missing or not text")
        }
        guard let parameters = members["params"] else { return (method, JSONObject()) }
        guard let object = parameters.objectValue else {
            throw NodeError(
                .badRequest, "'params' must be an object: parameters are passed by name",
                hint: "wsx-node rpc --describe METHOD", reason: "control.bad_param",
                fields: [NodeError.Field(name: "params", reason: "type")])
        }
        return (method, object)
    }
}

/// Splits a stream of bytes into lines, examining each byte once.
struct LineSplitter {
    enum Line: Equatable {
        /// Nothing whole yet.
        case none
        /// Without its end; never blank.
        case line([UInt8])
        /// More than `Limits.controlLineBytesMax` bytes without an end.
        case tooLong
    }

    /// What has arrived, from the line on that is not given yet.
    private(set) var bytes: [UInt8] = []
    private var start = 0
    private var scanned = 0
    private var hasEnded = false

    var storedCount: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// The next bytes unchanged, up to a maximum, without splitting into lines.
    mutating func raw(_ countMax: Int) -> [UInt8] {
        let end = start + min(max(countMax, 0), storedCount)
        let taken = Array(bytes[start..<end])
        start = end
        scanned = max(scanned, start)
        dropConsumed()
        return taken
    }

    /// The rest counts as a line, too.
    mutating func end() { hasEnded = true }

    mutating func next() -> Line {
        while true {
            while scanned < bytes.count, bytes[scanned] != UInt8(ascii: "\n") { scanned += 1 }
            let isWhole = scanned < bytes.count
            if scanned - start > Limits.controlLineBytesMax { return .tooLong }
            guard isWhole || (hasEnded && !isEmpty) else {
                dropConsumed()
                return .none
            }
            let line = Array(bytes[start..<scanned])
            start = isWhole ? scanned + 1 : scanned
            scanned = start
            let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            if !isBlank { return .line(line) }
        }
    }

    private mutating func dropConsumed() {
        if bytes.capacity > Limits.controlKeptRoomBytesMax,
            storedCount <= Limits.controlKeptRoomBytesMax / 2
        {
            // A long text was taken, and its connection may stay open for long.
            var rest: [UInt8] = []
            rest.append(contentsOf: bytes[start...])
            bytes = rest
        } else {
            bytes.removeFirst(start)
        }
        scanned -= start
        start = 0
    }
}
