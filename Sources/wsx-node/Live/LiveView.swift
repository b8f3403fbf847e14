import PeerNode
import WorkspaceModel

/// Messages and what becomes of them as a stream of lines that nobody takes back.
struct LiveView {
    var rendering: Rendering
    /// Names of channels by their ids, for lines that name theirs; `nil` for lines that do not.
    var names: [String: String]?
    /// The conversations that are shown; `nil` for all that come.
    var followed: FollowedChannels?
    /// The workspace whose channels are named without it.
    var home: JSONValue?
    /// The day that the line before belongs to.
    var lastDay: Int64?
    /// The thread that the line before belongs to: its own id of a message that is no answer.
    private(set) var lastThread: String?
    /// Messages that may be spoken of later.
    private(set) var messages = RecentMessages()
    /// Channels as they were told last, by their ids: what was changed is what differs.
    private var channels: [String: JSONValue] = [:]

    init(rendering: Rendering, names: [String: String]?) {
        self.rendering = rendering
        self.names = names
    }

    mutating func note(_ message: JSONValue) { messages.note(message) }

    /// What a new message answers, where the line above it does not tell, and it is not known yet.
    func rootWanted(by message: JSONValue) -> JSONValue? {
        guard !rendering.isJSON, !rendering.isPlain, let thread = message["thread"],
            let id = thread.stringValue, id != lastThread, messages[id] == nil
        else { return nil }
        return thread
    }

    /// Notes channels as they are, or only those that were not known.
    mutating func note(channels found: [JSONValue], onlyNew: Bool = false) {
        for channel in found {
            guard let id = channel["id"]?.stringValue else { continue }
            if !onlyNew || channels[id] == nil { channels[id] = channel }
        }
    }

    /// The line about what became of a channel or of its members, or `nil` where there is nothing
    /// to say.
    mutating func happening(_ event: JSONValue) -> String? {
        let place = Rendering.channel(of: event)
        let former = place?.stringValue.flatMap { channels[$0] }
        if let channel = event["data"], channel["kind"] != nil {
            note(channels: [channel])
            rename(former, to: channel)
        }
        rendering.channelNames = names ?? [:]
        let channel = names == nil ? nil : place.map { rendering.channelName($0) }
        return rendering.happening(event, former: former, channel: channel)
    }

    /// Has the names read again where that of a message's channel is not known.
    mutating func learnName(
        of message: JSONValue, _ read: (inout [String: String]?) throws(NodeError) -> Void
    ) throws(NodeError) {
        guard let known = names, let id = message["channel"]?.stringValue, known[id] == nil else {
            return
        }
        try read(&names)
        // A conversation that is in no list is asked for once.
        if names?[id] == nil { names?[id] = Rendering.shortened(id) }
    }

    /// Takes over what a channel is called now, behind what it was named with.
    private mutating func rename(_ former: JSONValue?, to channel: JSONValue) {
        guard let id = channel["id"]?.stringValue, let shown = names?[id],
            let before = former.flatMap(ChannelNames.shown), shown.hasSuffix(before),
            let now = ChannelNames.shown(channel)
        else { return }
        names?[id] = String(shown.dropLast(before.count)) + now
    }

    /// The lines of a new message.
    mutating func text(of message: JSONValue) -> String {
        note(message)
        rendering.channelNames = names ?? [:]
        let thread = message["thread"]?.stringValue
        rendering.threadRoots = [:]
        if let thread { rendering.threadRoots[thread] = messages[thread] }
        defer { lastThread = thread ?? message["id"]?.stringValue }
        return rendering.messages(
            [message], lastDay: &lastDay, namesChannel: names != nil, lastThread: lastThread)
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
