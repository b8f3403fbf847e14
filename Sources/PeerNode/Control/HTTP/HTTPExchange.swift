import WorkspaceModel

/// One request and its answer on a control connection that speaks HTTP, without the socket.
struct HTTPExchange {
    private enum Stage {
        case reading
        case waiting(HTTPReply)
        case streaming
        case answered
    }

    private var parser = HTTPRequestParser()
    private var stage = Stage.reading
    private var hasBody = true

    // MARK: Recognising

    /// Whether a connection that begins with `bytes` speaks HTTP; `nil` while they may become
    /// either. No line of JSON-RPC begins with a capital.
    static func recognises(_ bytes: [UInt8]) -> Bool? {
        let methods = ["GET ", "POST ", "HEAD ", "PUT ", "PATCH ", "DELETE ", "OPTIONS "]
        for method in methods {
            if bytes.starts(with: method.utf8) { return true }
            if method.utf8.starts(with: bytes) { return nil }
        }
        return false
    }

    // MARK: Reading

    /// Whether more of the request is wanted, or what is left of a refused one.
    var wantsInput: Bool {
        if case .reading = stage { return true }
        return parser.discardableCount > 0
    }

    mutating func receive(_ bytes: [UInt8]) { parser.append(bytes) }

    mutating func endOfInput() { parser.end() }

    /// What is asked for, once; a request that is none is answered here.
    mutating func next(_ output: inout [UInt8]) -> HTTPCall? {
        guard case .reading = stage else { return nil }
        switch parser.next() {
        case .needsMore:
            if parser.takeContinue() { output += HTTPResponse.proceed }
            return nil
        case .refused(let response): finish(response, &output)
        case .request(let request):
            hasBody = request.method != "HEAD"
            do throws(HTTPResponse) {
                let call = try HTTPCall(request)
                stage = .waiting(call.reply)
                return call
            } catch { finish(error, &output) }
        }
        return nil
    }

    // MARK: Answering

    mutating func answer(_ result: Result<JSONValue, NodeError>, _ output: inout [UInt8]) {
        guard case .waiting(let reply) = stage else { return }
        finish(reply.response(to: result), &output)
    }

    private mutating func finish(_ response: HTTPResponse, _ output: inout [UInt8]) {
        response.append(to: &output, hasBody: hasBody)
        stage = response.isStream ? .streaming : .answered
    }

    /// Gives a stream its next event.
    func notify(_ event: EventObject, _ output: inout [UInt8]) {
        if case .streaming = stage { HTTPReply.append(event, to: &output) }
    }

    /// Ends the exchange; who waits for an answer is told why. A stream just ends.
    mutating func close(because error: NodeError, _ output: inout [UInt8]) {
        switch stage {
        case .reading:
            finish(error.reason == "control.request_timeout" ? .tooSlow : .failure(error), &output)
        case .waiting(let reply): finish(reply.response(to: .failure(error)), &output)
        case .streaming, .answered: stage = .answered
        }
    }

    /// Whether nothing more will be written or has to be read.
    ///
    /// - Parameter hasSubscription: whether the node knows a stream on the connection.
    func isFinished(hasInputEnded: Bool, hasSubscription: Bool) -> Bool {
        switch stage {
        case .reading, .waiting: false
        case .streaming: !hasSubscription
        case .answered: hasInputEnded || parser.discardableCount == 0
        }
    }
}
