import WorkspaceModel

/// The call in an HTTP request: a method with its parameters, and the form of the answer.
struct HTTPCall {
    /// Of `Command.methods`, or for `POST /rpc` whatever was sent.
    let method: String
    /// Not checked yet.
    var parameters: JSONObject
    /// The form of the answer.
    let reply: HTTPReply

    /// Finds the way and reads the body.
    ///
    /// - Throws: the answer, where it is known already.
    init(_ request: HTTPRequest) throws(HTTPResponse) {
        let first = request.path.first ?? ""
        switch (first, request.path.count) {
        case ("rpc", 1): self = try Self.rpc(request)
        case ("events", 1): self = try Self.events(request)
        case ("hooks", 2): self = try Self.hook(request)
        case ("api", 2) where request.path[1] == "chat.postMessage":
            self = try Self.postMessage(request)
        case ("metrics", 1):
            try Self.requireReading(request)
            self.init(method: "node.metrics", parameters: [:], reply: .metrics)
        case ("healthz", 1):
            try Self.requireReading(request)
            self.init(method: "node.status", parameters: [:], reply: .health)
        case ("files", 1): self = try Self.putFile(request)
        case ("files", 2): self = try Self.file(request, id: request.path[1])
        default:
            throw .refused(
                404, .notFound, "there is nothing at this path", "http.not_found",
                hint: "POST /rpc, /hooks/CHANNEL; GET /events, /metrics, /healthz, /files/BLOB; "
                    + "PUT /files")
        }
    }

    private init(method: String, parameters: JSONObject, reply: HTTPReply) {
        self.method = method
        self.parameters = parameters
        self.reply = reply
    }

    /// A call whose parameters are all in the query.
    private init(
        method: String, query request: HTTPRequest, reply: HTTPReply
    ) throws(HTTPResponse) {
        self.init(method: method, parameters: JSONObject(), reply: reply)
        for field in request.query { try add(field.name, .string(field.value)) }
    }

    private mutating func add(_ name: String, _ value: JSONValue) throws(HTTPResponse) {
        guard parameters[name] == nil else {
            throw .malformed("a name appears twice in the query")
        }
        // The look-up is a walk, so a query of thousands of names is not taken.
        guard parameters.members.count < 64 else {
            throw .malformed("the query has more than 64 names")
        }
        parameters.append(name, value)
    }

    private static func require(_ method: String, _ request: HTTPRequest) throws(HTTPResponse) {
        try require([method], request)
    }

    /// A page that takes no parameters: whatever the query says to get past caches is not looked
    /// at. `HEAD` is answered like `GET`, without the body.
    private static func requireReading(_ request: HTTPRequest) throws(HTTPResponse) {
        try require(["GET", "HEAD"], request)
    }

    private static func require(
        _ methods: [String], _ request: HTTPRequest
    ) throws(HTTPResponse) {
        guard !methods.contains(request.method) else { return }
        let words = methods.joined(separator: ", ")
        var response = HTTPResponse.refused(
            405, .badRequest, "this path only accepts \(words)", "http.method")
        response.fields = [.init(name: "Allow", value: words)]
        throw response
    }

    // MARK: JSON-RPC

    private static func rpc(_ request: HTTPRequest) throws(HTTPResponse) -> Self {
        try require("POST", request)
        let envelope: RequestEnvelope
        do throws(RequestEnvelope.Refusal) { envelope = try RequestEnvelope(request.body) } catch {
            throw HTTPReply.rpc(id: error.id).response(to: .failure(error.error))
        }
        let reply = HTTPReply.rpc(id: envelope.id)
        guard Command.shape(of: envelope.method) != .subscription else {
            throw reply.response(
                to: .failure(
                    NodeError(
                        .unsupported, "POST /rpc cannot stream events",
                        hint: "GET /events, or call events.wait", reason: "http.stream")))
        }
        guard !Command.carriesFile(envelope.method, envelope.parameters) else {
            throw reply.response(to: .failure(.carriesFile))
        }
        var call = Self(method: envelope.method, parameters: envelope.parameters, reply: reply)
        call.takeKey(of: request)
        return call
    }

    /// `Idempotency-Key` is the `key` of a method that has one; a key in the body wins.
    private mutating func takeKey(of request: HTTPRequest) {
        guard let key = request.field("idempotency-key"), parameters["key"] == nil,
            let command = try? Command.method(method),
            command.parameters.contains(where: { $0.name == "key" })
        else { return }
        parameters.append("key", .string(key))
    }

    // MARK: Events

    /// Seconds of silence after which a stream shows that it is alive, if the query names none.
    static let keepaliveSeconds: Int64 = 45

    private static func events(_ request: HTTPRequest) throws(HTTPResponse) -> Self {
        try require("GET", request)
        var call = Self(method: "events.subscribe", parameters: [:], reply: .events)
        var lists: [(name: String, items: [JSONValue])] = [("types", []), ("channels", [])]
        for field in request.query {
            if let index = lists.firstIndex(where: { $0.name == field.name }) {
                lists[index].items += field.value.utf8.split(separator: UInt8(ascii: ","))
                    .map { .string(String(decoding: Array($0), as: UTF8.self)) }
                continue
            }
            switch field.name {
            case "ephemeral":
                try call.add(field.name, .bool(!["0", "false"].contains(field.value)))
            case "keepalive_s":
                let number = Int64(field.value).map(JSONValue.integer)
                try call.add(field.name, number ?? .string(field.value))
            default: try call.add(field.name, .string(field.value))
            }
        }
        for list in lists where !list.items.isEmpty { try call.add(list.name, .array(list.items)) }
        // A browser's event source sends it when it reconnects to the same address.
        if let last = request.field("last-event-id"), !last.isEmpty {
            call.parameters["since"] = .string(last)
        }
        if call.parameters["keepalive_s"] == nil {
            call.parameters.append("keepalive_s", .integer(keepaliveSeconds))
        }
        return call
    }

    // MARK: Files

    /// Whether the body of a request is a file.
    static func takesFile(_ request: HTTPRequest) -> Bool {
        request.method == "PUT" && request.path == ["files"]
    }

    private static func putFile(_ request: HTTPRequest) throws(HTTPResponse) -> Self {
        try require("PUT", request)
        var call = try Self(method: "blob.put", query: request, reply: .madeFile)
        call.parameters["bytes"] = .integer(
            min(Int64(request.fileByteCount ?? 0), Limits.filePositionMax))
        return call
    }

    /// Of the query, only the waiting time is used: the rest serves to bypass caches.
    private static func file(_ request: HTTPRequest, id: String) throws(HTTPResponse) -> Self {
        try requireReading(request)
        let tag = HTTPEntityTag(id: id)
        if let known = request.field("if-none-match"), tag.isNamed(in: known) {
            return Self(
                method: "blob.stat", parameters: ["blob": .string(id)], reply: .unchangedFile)
        }
        // A range is defined for GET alone.
        if request.method == "HEAD" {
            return Self(
                method: "blob.stat", parameters: ["blob": .string(id)], reply: .file(isPart: false))
        }
        let isSame = request.field("if-range").map { $0 == tag.text } ?? true
        let range = isSame ? request.field("range").flatMap(HTTPRange.init) : nil
        var call = Self(
            method: "blob.read", parameters: ["blob": .string(id)],
            reply: .file(isPart: range != nil))
        if let range { call.parameters["offset"] = .integer(range.offset) }
        if let length = range?.length { call.parameters["length"] = .integer(length) }
        if let wait = request.query.first(where: { $0.name == "timeout_ms" })?.value {
            call.parameters["timeout_ms"] = Int64(wait).map(JSONValue.integer) ?? .string(wait)
        }
        return call
    }

    // MARK: Messages

    private static func hook(_ request: HTTPRequest) throws(HTTPResponse) -> Self {
        try require("POST", request)
        let payload: HookPayload
        do throws(HookPayload.Problem) { payload = try HookPayload(hook: request) } catch {
            throw .text(400, error.rawValue)
        }
        // The path says where a hook posts; what is meant for another place is not put here.
        if let channel = payload.channel, !isSamePlace(channel, request.path[1]) {
            throw .text(403, "action_prohibited")
        }
        var call = try Self(method: "message.send", query: request, reply: .hook)
        call.parameters["channel"] = .string(request.path[1])
        call.take(payload, request)
        return call
    }

    /// Whether two references name one conversation, as far as they tell by themselves.
    private static func isSamePlace(_ left: String, _ right: String) -> Bool {
        switch (ChannelReference(left), ChannelReference(right)) {
        case (.name(let left)?, .name(let right)?): NameFolding.matches(left, right)
        case (.direct(.name(let left))?, .direct(.name(let right))?):
            NameFolding.matches(left, right)
        case (let left, let right): left == right
        }
    }

    private static func postMessage(_ request: HTTPRequest) throws(HTTPResponse) -> Self {
        try require("POST", request)
        let payload: HookPayload
        do throws(HookPayload.Problem) { payload = try HookPayload(post: request) } catch {
            throw HTTPReply.slackFailure(error.rawValue)
        }
        guard let channel = payload.channel else {
            throw HTTPReply.slackFailure("channel_not_found")
        }
        var call = try Self(
            method: "message.send", query: request, reply: .postMessage(text: payload.text))
        call.parameters["channel"] = .string(channel)
        call.take(payload, request)
        return call
    }

    private mutating func take(_ payload: HookPayload, _ request: HTTPRequest) {
        parameters["text"] = .string(payload.text)
        // A client that posts to a hook is a program, whatever the payload says.
        parameters["bot"] = true
        if let thread = payload.thread { parameters["thread"] = .string(thread) }
        if let key = request.field("idempotency-key") { parameters["key"] = .string(key) }
    }
}
