import WorkspaceModel

/// One request and its answer on a control connection that speaks HTTP, without the socket.
struct HTTPExchange {
    private enum Stage {
        case reading
        case waiting(HTTPReply)
        case streaming
        /// So many bytes of a file follow.
        case sending(left: Int64)
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
        switch stage {
        case .reading: true
        case .waiting:
            parser.missingFileBytes > 0 && parser.untakenFileBytes < Limits.fileUntakenBytesMax
        case .streaming, .sending, .answered: parser.discardableCount > 0
        }
    }

    mutating func receive(_ bytes: [UInt8]) { parser.append(bytes) }

    mutating func endOfInput(_ output: inout [UInt8]) {
        parser.end()
        if case .waiting = stage, parser.endsEarly { finish(.bodyTooShort, &output) }
    }

    /// The call, returned once; an invalid request is answered here.
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
                guard !parser.endsEarly else { throw .bodyTooShort }
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
        parser.dropFile()
        if hasBody, let left = response.fileByteCount, left > 0 {
            stage = .sending(left: left)
        } else {
            stage = response.isStream ? .streaming : .answered
        }
    }

    // MARK: Files

    /// Whether bytes of a file are to follow.
    var isSending: Bool {
        if case .sending = stage { return true }
        return false
    }

    /// Sends the next bytes of a file on.
    ///
    /// - Returns: whether anybody waits for them.
    mutating func give(_ bytes: [UInt8], _ output: inout [UInt8]) -> Bool {
        guard case .sending(let left) = stage, bytes.count <= left else { return false }
        output += bytes
        let rest = left - Int64(bytes.count)
        stage = rest > 0 ? .sending(left: rest) : .answered
        return true
    }

    /// The bytes of a file that have arrived since the last call. A client that waits for `100
    /// Continue` gets it.
    mutating func takeFile(_ output: inout [UInt8]) -> [UInt8] {
        guard case .waiting = stage else { return [] }
        if parser.takeContinue() { output += HTTPResponse.proceed }
        do throws(HTTPResponse) { return try parser.takeFile() } catch {
            finish(error, &output)
            return []
        }
    }

    /// Gives a stream its next event.
    func notify(_ event: EventObject, _ output: inout [UInt8]) {
        if case .streaming = stage { HTTPReply.append(event, to: &output) }
    }

    /// Ends the exchange; who waits for an answer is told why. A stream just ends.
    mutating func close(because error: NodeError, _ output: inout [UInt8]) {
        let isSlow = error.reason == NodeError.requestTooSlow.reason
        let tooSlow = isSlow ? HTTPResponse.tooSlow : nil
        switch stage {
        case .reading: finish(tooSlow ?? .failure(error), &output)
        case .waiting(let reply):
            finish(tooSlow ?? reply.response(to: .failure(error)), &output)
        case .streaming, .sending, .answered: stage = .answered
        }
    }

    /// Whether nothing more will be written or has to be read.
    ///
    /// - Parameter hasSubscription: whether the node knows a stream on the connection.
    func isFinished(hasInputEnded: Bool, hasSubscription: Bool) -> Bool {
        switch stage {
        case .reading, .waiting, .sending: false
        case .streaming: !hasSubscription
        case .answered: hasInputEnded || parser.discardableCount == 0
        }
    }
}
