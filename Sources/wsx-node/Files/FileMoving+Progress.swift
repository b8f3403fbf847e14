import PeerNode
import WorkspaceModel

/// Progress of a call that searches for peers, and may then fetch a lot.
extension FileMoving {
    /// Makes such a call. At a terminal it shows at once what is searched for, then the progress.
    ///
    /// - Parameter what: whom it searches for, in words.
    func call(
        _ method: String, _ parameters: JSONObject, lookingFor what: String,
        _ client: inout ControlClient
    ) throws(NodeError) -> JSONValue {
        guard io.isOutputTerminal, !globals.json, !globals.plain, !globals.quiet else {
            return try client.call(method, parameters)
        }
        let limit = DurationText.text(parameters["timeout_ms"]?.integerValue ?? 30_000)
        io.tell("Looking for \(what), for up to \(limit). Ctrl-C stops.\n")
        // A home without an identity has no events yet.
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

    /// A progress line for an event; `nil` if there is nothing to show.
    static func progress(_ event: JSONValue, of method: String) -> String? {
        switch EventName(of: event) {
        case .kept(.peerConnected):
            // Peers' current names are part of what is fetched. Until then a node only knows their
            // names from when they joined.
            return Command.shape(of: method) == .deviceLink
                ? "connected to another device" : "connected to someone in the workspace"
        case .passing(.syncProgress):
            guard let left = event["data"]?["behind"]?.integerValue, left > 0 else { return nil }
            return "fetching: \(left) to go"
        default: return nil
        }
    }
}
