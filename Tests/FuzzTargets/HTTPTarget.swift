import WorkspaceModel

@testable import PeerNode

/// One HTTP request, whole and in pieces, and what a hook makes of it.
extension FuzzTarget {
    static let http = FuzzTarget(
        "http", "a request whole and in pieces: the same; then as a hook, and through a connection",
        bytesMax: 8_192
    ) { bytes in
        guard let cut = bytes.first else { return }
        let content = Array(bytes.dropFirst())
        let whole = parsed([content])
        let pieces = parsed(FuzzBytes.pieces(of: content, by: cut))
        try hold(whole == pieces, "cutting decides: \(whole) and \(pieces)")
        if case .request(let request) = whole {
            try hold(request.body.count <= content.count, "the body grows")
            _ = (try? HookPayload(hook: request), try? HookPayload(post: request))
        }
        try converse(content, cut)
    }

    private static func parsed(_ pieces: [[UInt8]]) -> HTTPRequestParser.Progress {
        var parser = HTTPRequestParser()
        for piece in pieces {
            parser.append(piece)
            let progress = parser.next()
            if progress != .needsMore { return progress }
        }
        parser.end()
        return parser.next()
    }

    /// A connection whose calls all fail: it ends, and what it wrote is bounded.
    private static func converse(_ content: [UInt8], _ cut: UInt8) throws {
        var connection = ControlConnection(id: 1)
        for piece in FuzzBytes.pieces(of: content, by: cut) where connection.wantsInput {
            connection.receive(piece)
            answerAll(&connection)
        }
        connection.endOfInput()
        answerAll(&connection)
        try hold(connection.unsentCount <= 64 * (content.count + 1_024), "answers grow")
        connection.didSend(connection.unsentCount)
        try hold(connection.isFinished, "a connection that is over stays open")
    }

    private static func answerAll(_ connection: inout ControlConnection) {
        while let request = connection.nextRequest() {
            connection.answer(request.call, .failure(.internalFailure(reason: "fuzz.refused")))
        }
    }
}
