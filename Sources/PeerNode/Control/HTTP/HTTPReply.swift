import WorkspaceModel

/// The HTTP form of a call's answer.
enum HTTPReply {
    /// As on a line; without an id there is no body.
    case rpc(id: JSONValue?)
    /// `ok`, or one word of Slack's about what went wrong.
    case hook
    /// As Slack's method of this name answers; the text is what was posted.
    case postMessage(text: String)
    /// The head of a stream, and where it starts.
    case events
    /// The page that Prometheus reads.
    case metrics
    /// `ok`, or what needs looking after.
    case health
    /// The head before the bytes of a file, all of them or a part.
    case file(isPart: Bool)
    /// The client has the file already.
    case unchangedFile
    /// A file that was handed in.
    case madeFile

    /// The answer, ready to be written.
    func response(to result: Result<JSONValue, NodeError>) -> HTTPResponse {
        switch (self, result) {
        case (.rpc(let id), _): Self.rpc(result, id: id)
        case (.hook, .success): .text(200, "ok")
        case (.hook, .failure(let error)): Self.hookFailure(error)
        case (.postMessage(let text), .success(let message)): Self.posted(message, text)
        case (.postMessage, .failure(let error)): Self.postFailure(error)
        case (.events, .success(let subscription)): Self.stream(subscription)
        case (.metrics, .success(let page)): Self.metrics(page)
        case (.health, .success(let status)): Self.health(status)
        case (.health, .failure(let error)): .text(503, error.kind.rawValue + "\n")
        case (.file(let isPart), .success(let file)): HTTPFileReply.head(of: file, isPart: isPart)
        case (.file, .failure(let error)): HTTPFileReply.failure(error)
        case (.unchangedFile, .success(let file)): HTTPFileReply.unchanged(file)
        case (.madeFile, .success(let file)): HTTPFileReply.made(file)
        case (_, .failure(let error)): .failure(error)
        }
    }

    // MARK: JSON-RPC

    private static func rpc(
        _ result: Result<JSONValue, NodeError>, id: JSONValue?
    ) -> HTTPResponse {
        let answer: HTTPResponse
        switch result {
        case .success(let value):
            answer = .json(200, ["jsonrpc": "2.0", "id": id ?? .null, "result": value])
            if answer.body.count > Limits.controlLineBytesMax + 1 {
                return rpc(.failure(.answerTooLong), id: id)
            }
        case .failure(let error):
            answer = .json(
                error.kind.httpStatus, ["jsonrpc": "2.0", "id": id ?? .null, "error": error.json]
            ).asking(toWaitFor: error)
        }
        if id == nil, case .success = result { return HTTPResponse(status: 204) }
        return answer
    }

    // MARK: Events

    /// A first block without data: it is not an event, and a client that reconnects before the
    /// first event misses nothing.
    private static func stream(_ subscription: JSONValue) -> HTTPResponse {
        let cursor = subscription["cursor"]?.stringValue ?? ""
        return HTTPResponse(
            status: 200, contentType: "text/event-stream",
            body: Array("retry: 2000\nid: \(cursor)\n\n".utf8), isStream: true)
    }

    /// One event of a stream. A sign of life is a comment, with the position so far.
    static func append(_ event: EventObject, to output: inout [UInt8]) {
        if event.type == "keepalive" {
            output += ": keepalive\nid: \(event.cursor)\n\n".utf8
            return
        }
        output += "id: \(event.cursor)\nevent: \(event.type)\ndata: ".utf8
        output += event.line ?? event.json.bytes
        output += "\n\n".utf8
    }

    // MARK: Pages

    private static func metrics(_ page: JSONValue) -> HTTPResponse {
        var response = HTTPResponse.text(200, page["text"]?.stringValue ?? "")
        response.contentType = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }

    private static func health(_ status: JSONValue) -> HTTPResponse {
        if StatusObject.isHealthy(status) { return .text(200, "ok\n") }
        return .text(503, StatusObject.illnesses(of: status).map { $0 + "\n" }.joined())
    }

    // MARK: Slack's words

    private static func posted(_ message: JSONValue, _ text: String) -> HTTPResponse {
        let id = JSONValue(orNull: message["id"]?.stringValue)
        return .json(
            200,
            [
                "ok": true, "channel": message["channel"] ?? .null, "ts": id,
                "message": ["type": "message", "text": .string(text), "ts": id],
            ])
    }

    /// Slack tells failures of its methods with status 200.
    static func slackFailure(_ word: String) -> HTTPResponse {
        .json(200, ["ok": false, "error": .string(word)])
    }

    private static func postFailure(_ error: NodeError) -> HTTPResponse {
        let answer: HTTPResponse
        switch error.kind {
        case .archived: answer = slackFailure("is_archived")
        case .forbidden: answer = slackFailure("restricted_action")
        case .rateLimited: answer = .json(429, ["ok": false, "error": "ratelimited"])
        default: answer = slackFailure(word(of: error).word)
        }
        return answer.asking(toWaitFor: error)
    }

    private static func hookFailure(_ error: NodeError) -> HTTPResponse {
        let (status, word) = word(of: error)
        return HTTPResponse.text(status, word).asking(toWaitFor: error)
    }

    /// Slack's word for the same failure of an incoming webhook; this program's own where Slack has
    /// none.
    private static func word(of error: NodeError) -> (status: Int, word: String) {
        let status = error.kind.httpStatus
        switch error.kind {
        case .notFound, .unknownUser:
            let isNowhere = ["workspace.", "identity."].contains { prefix in
                error.reason?.utf8.starts(with: prefix.utf8) == true
            }
            if isNowhere { return (status, "team_not_found") }
            let isThread = error.fields.first?.name == "thread"
            return (status, isThread ? "thread_not_found" : "channel_not_found")
        case .archived: return (status, "channel_is_archived")
        case .forbidden: return (status, "action_prohibited")
        case .tooLarge: return (status, "msg_too_long")
        case .badRequest: return badRequest(error.fields.first)
        default: return (status, error.kind.rawValue)
        }
    }

    private static func badRequest(_ field: NodeError.Field?) -> (status: Int, word: String) {
        switch (field?.name, field?.reason) {
        case ("channel", _): (404, "channel_not_found")
        case ("thread", _): (404, "thread_not_found")
        case ("text", "empty"): (400, "no_text")
        case ("text", _): (400, "invalid_payload")
        default: (400, "bad_request")
        }
    }
}
