import PeerNode
import WorkspaceModel

/// Messages and what becomes of them as a stream of lines that nobody takes back.
struct LiveView {
    private var rendering: Rendering
    /// Names of channels by their ids, for lines that name theirs; `nil` for lines that do not.
    var names: [String: String]?
    /// The workspace whose lines do not name theirs.
    var home: String?
    /// The day that the line before belongs to.
    var lastDay: Int64?
    /// Messages that may be spoken of later.
    private(set) var messages = RecentMessages()

    init(rendering: Rendering, names: [String: String]?) {
        self.rendering = rendering
        self.names = names
    }

    mutating func note(_ message: JSONValue) { messages.note(message) }

    /// Has the names read again where that of a message's channel is not known.
    mutating func learnName(
        of message: JSONValue, _ read: (inout [String: String]?) throws(NodeError) -> Void
    ) throws(NodeError) {
        guard let known = names, let id = message["channel"]?.stringValue, known[id] == nil else {
            return
        }
        try read(&names)
        // A conversation that is in no list is asked for once.
        if names?[id] == nil { names?[id] = String(id.prefix(10)) }
    }

    /// The lines of a new message.
    mutating func text(of message: JSONValue) -> String {
        note(message)
        rendering.channelNames = names ?? [:]
        return rendering.messages([message], lastDay: &lastDay, namesChannel: names != nil)
    }

    /// The line about what became of one, or `nil` where there is nothing to say.
    mutating func change(_ event: JSONValue) -> String? {
        let known = Rendering.subject(of: event).flatMap { messages[$0] }
        rendering.channelNames = names ?? [:]
        let place = known?["channel"] ?? event["data"]?["channel"]
        let channel = names == nil ? nil : place.map { rendering.channelName($0) }
        defer { if event["data"]?["text"] != nil, let now = event["data"] { note(now) } }
        return rendering.change(event, of: known, channel: channel)
    }
}
