import PeerNode
import WorkspaceModel

/// What is going on in a call that looks for somebody, and may then fetch a lot.
extension FileMoving {
    /// Makes such a call. A person at a terminal is told at once what is looked for, and then what comes.
    ///
    /// - Parameter what: whom it looks for, in words.
    func call(
        _ method: String, _ parameters: JSONObject, lookingFor what: String,
        _ client: inout ControlClient
    ) throws(NodeError) -> JSONValue {
        guard io.isOutputTerminal, !globals.json, !globals.plain, !globals.quiet else {
            return try client.call(method, parameters)
        }
        let limit = DurationText.text(parameters["timeout_ms"]?.integerValue ?? 30_000)
        io.tell("Looking for \(what), for up to \(limit). Ctrl-C stops.\n")
        // A home without an identity hears nothing yet.
        _ = try? client.subscribe([
            "types": JSONValue(texts: [
                EventType.peerConnected.word, PassingEventType.syncProgress.rawValue,
            ]),
            "since": "latest", "ephemeral": true,
        ])
        let io = io
        return try client.call(method, parameters) { event in
            if let text = Self.progress(event, of: method) { io.tell(text + "\n", isOwn: false) }
        }
    }

    /// A line about what has happened; `nil` where there is nothing to say.
    static func progress(_ event: JSONValue, of method: String) -> String? {
        switch EventName(of: event) {
        case .kept(.peerConnected):
            // What they are called comes with what is fetched from them. Until then a node knows what they
            // were called when they came in, which may be another name.
            return Command.shape(of: method) == .deviceLink
                ? "connected to another device" : "connected to someone in the workspace"
        case .passing(.syncProgress):
            guard let left = event["data"]?["behind"]?.integerValue, left > 0 else { return nil }
            return "fetching: \(left) to go"
        default: return nil
        }
    }
}
