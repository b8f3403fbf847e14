import PeerNode
import WorkspaceModel

/// Formats messages and their changes as a stream of final lines.
struct LiveView {
    var rendering: Rendering
    /// Channel names by id, for lines that show their channel; `nil` for lines that do not.
    var names: [String: String]?
    /// The shown conversations; `nil` for all.
    var followed: FollowedChannels?
    /// The workspace whose channels are shown without its name.
    var home: JSONValue?
    /// The day of the previous line.
    var lastDay: Int64?
    /// The thread of the previous line; a message without a thread counts as its own.
    private(set) var lastThread: String?
    /// Messages that later lines may refer to.
    private(set) var messages = RecentMessages()
    /// The last known state of channels by id, for detecting changes.
    private var channels: [String: JSONValue] = [:]

    init(rendering: Rendering, names: [String: String]?) {
        self.rendering = rendering
        self.names = names
    }

    mutating func note(_ message: JSONValue) { messages.note(message) }

    /// The thread root of a new message, if the line above does not show it and
    /// it is not known yet.
    func rootWanted(by message: JSONValue) -> JSONValue? {
        guard !rendering.isJSON, !rendering.isPlain, let thread = message["thread"],
            let id = thread.stringValue, id != lastThread, messages[id] == nil
        else { return nil }
        return thread
    }

    /// Records channels, or only unknown ones.
    mutating func note(channels found: [JSONValue], onlyNew: Bool = false) {
        for channel in found {
            guard let id = channel["id"]?.stringValue else { continue }
            if !onlyNew || channels[id] == nil { channels[id] = channel }
        }
    }

    /// The line for a change of a channel or its members, or `nil` if there is nothing to show.
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

    /// Requests the names again if that of a message's channel is unknown.
    mutating func learnName(
        of message: JSONValue, _ read: (inout [String: String]?) throws(NodeError) -> Void
    ) throws(NodeError) {
        guard let known = names, let id = message["channel"]?.stringValue, known[id] == nil else {
            return
        }
        try read(&names)
        // A conversation in no list is requested only once.
        if names?[id] == nil { names?[id] = Rendering.shortened(id) }
    }

    /// Records a channel's new name, keeping its prefix.
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

    /// The line for a change of a message, or `nil` if there is nothing to show.
    mutating func change(_ event: JSONValue) -> String? {
        let known = Rendering.subject(of: event).flatMap { messages[$0] }
        rendering.channelNames = names ?? [:]
        let place = known?["channel"] ?? event["data"]?["channel"]
        let channel = names == nil ? nil : place.map { rendering.channelName($0) }
        defer { if event["data"]?["text"] != nil, let now = event["data"] { note(now) } }
        return rendering.change(event, of: known, channel: channel)
    }
}
