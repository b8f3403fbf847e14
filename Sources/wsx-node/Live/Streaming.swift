import PeerNode
import WorkspaceModel

/// Commands that run until they are interrupted.
struct Streaming: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    func streamEvents(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        if scan.values["exec"] != nil { return try runBot(parameters) }
        for flag in ["backfill", "bots"] where scan.values[flag] != nil {
            throw .usage("'--\(flag)' needs '--exec'", hint: "leave it out: a stream includes it")
        }
        var client = try client()
        let name = parameters["name"]?.stringValue
        var left = scan.values["count"]?.integerValue ?? .max
        let rendering = rendering
        try client.subscribe(parameters)
        let end = streamEnd
        var isEmpty = true
        while left > 0 {
            guard let event = try nextEvent(&client, until: end) else {
                if isEmpty, globals.exitCode { return Self.nothingFound }
                // A stream without a count was limited by time; one with a count had to be
                // completed.
                guard left < .max / 2 else { return 0 }
                throw NodeError(
                    .timeout, "not enough events happened in time", hint: nil,
                    reason: "events.timeout")
            }
            io.print(rendering.event(event))
            isEmpty = false
            // An event counts as done only once printed: after a crash it is
            // repeated rather than lost.
            if let name, let cursor = event["cursor"] {
                _ = try client.call("events.ack", ["name": .string(name), "cursor": cursor])
            }
            left -= 1
        }
        return 0
    }

    /// The end of a stream that begins now, milliseconds since 1970; `nil` for never.
    var streamEnd: Int64? { globals.timeoutMilliseconds.map { io.now &+ $0 } }

    /// The next event; `nil` when the given time is over.
    ///
    /// - Throws: also when the daemon stops, which is a failure for its listeners.
    private func nextEvent(
        _ client: inout ControlClient, until end: Int64?
    ) throws(NodeError) -> JSONValue? {
        do throws(NodeError) {
            guard let event = try client.nextEvent(within: end.map { max(0, $0 - io.now) })
            else { throw ControlClient.ended }
            return event
        } catch {
            guard error.kind == .timeout, end != nil else { throw error }
            return nil
        }
    }

    /// `note watch`: changes of the text, one per line.
    func watchNote(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        var client = try client()
        let rendering = rendering
        _ = try client.call(command.name, parameters)
        let end = streamEnd
        while let event = try nextEvent(&client, until: end) {
            io.print(rendering.noteEvent(event))
        }
        return 0
    }

    func tail(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        var client = try client()
        let wanted = liveEvents(in: parameters["channels"])
        let cursor = try client.subscribe(wanted)["cursor"]
        var view = LiveView(rendering: rendering, names: [:])
        var names: [String: String] = [:]
        let channels = try readNames(&client, into: &names)
        view.note(channels: channels)
        // Another workspace may be selected meanwhile.
        view.home = channels.first?["workspace"]
        view.names = names
        let isWhole =
            parameters["channels"]?.arrayValue?.isEmpty == false
            || scan.values["all"]?.boolValue == true
        if !isWhole { view.followed = FollowedChannels() }
        try follow(&client, wanted, after: cursor, &view) { _ in true }
        return 0
    }

    /// A part of the history, then new messages.
    ///
    /// The stream is opened first, so a message written while the history is read arrives twice
    /// rather than never, and the duplicate is not shown.
    func followLog(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        var client = try client()
        let wanted = liveEvents(in: parameters["channel"].map { .array([$0]) })
        let cursor = try client.subscribe(wanted)["cursor"]
        let past = try client.call("message.history", parameters)
        let items = past["items"]?.arrayValue ?? []
        let thread = parameters["thread"]
        var view = LiveView(rendering: rendering, names: nil)
        var seen: Set<String> = []
        for item in items {
            view.note(item)
            if let id = item["id"]?.stringValue { seen.insert(id) }
        }
        readOwnNames(for: items, &client, into: &view.rendering)
        io.print(view.rendering.messages(items, lastDay: &view.lastDay, namesChannel: false))
        if !globals.json, !globals.plain, let id = parameters["channel"] {
            var given: JSONObject = ["channel": id]
            given["workspace"] = workspace.map { .string($0) }
            if let channel = try? client.call("channel.get", given) {
                view.note(channels: [channel])
            }
        }
        try follow(&client, wanted, after: cursor, &view) { message in
            if let thread, message["thread"] != thread { return false }
            // A message that has just arrived cannot be pinned.
            if parameters["pinned"] == true { return false }
            guard let id = message["id"]?.stringValue else { return false }
            // Only events that overlap with the history can repeat it.
            return seen.remove(id) == nil
        }
        return 0
    }

    /// New messages, and for people also their changes.
    private func liveEvents(in channels: JSONValue?) -> JSONObject {
        var types: [EventType] = [.messageCreated]
        if !globals.json, !globals.plain {
            types += Rendering.changeTypes + Rendering.happeningTypes
        }
        var wanted: JSONObject = ["types": JSONValue(texts: types.map(\.word))]
        wanted["channels"] = channels
        wanted["workspace"] = workspace.map { .string($0) }
        return wanted
    }

    /// Prints the wanted messages as they arrive, until the given time is over. When the daemon
    /// stops, it waits if a person reads along, and fails otherwise.
    private func follow(
        _ client: inout ControlClient, _ wanted: JSONObject, after begin: JSONValue?,
        _ view: inout LiveView, where wants: (JSONValue) -> Bool
    ) throws(NodeError) {
        let end = streamEnd
        var cursor = begin
        while true {
            do throws(NodeError) {
                while let event = try nextEvent(&client, until: end) {
                    try tell(event, &client, &view, where: wants)
                    cursor = event["cursor"] ?? cursor
                }
                return
            } catch {
                guard Starting(self).hasStreamReader, Starting.comesBack(error) else { throw error }
            }
            guard try Starting(self).rejoin(&client, wanted, after: &cursor, until: end) else {
                return
            }
        }
    }

    /// Prints an event, if it is wanted.
    private func tell(
        _ event: JSONValue, _ client: inout ControlClient, _ view: inout LiveView,
        where wants: (JSONValue) -> Bool
    ) throws(NodeError) {
        // The terminal may have been resized.
        view.rendering.columns = rendering.columns
        guard let data = event["data"], !data.isNull else { return }
        if Rendering.isHappening(event) {
            guard isFollowed(event, of: Rendering.channel(of: event), &client, &view) else {
                return
            }
            try learnName(of: event, &client, &view)
            if let text = view.happening(event) { io.print(text) }
            return
        }
        guard EventName(of: event) == .kept(.messageCreated) else {
            return try tellChange(event, &client, &view)
        }
        guard wants(data), isFollowed(event, of: data["channel"], &client, &view) else { return }
        try learnName(of: data, &client, &view)
        readOwnNames(for: [data], &client, into: &view.rendering)
        if let root = view.rootWanted(by: data) {
            LogShowing(self).messages([root], in: event["workspace"], &client).forEach {
                view.note($0)
            }
        }
        let hasBell = scan.values["bell"]?.boolValue == true && io.isOutputTerminal
        let rings = hasBell ? try isForUs(event, &client) : false
        io.print(view.text(of: data) + (rings ? "\u{7}" : ""))
    }

    /// Prints a change of a message, requesting it if it was not shown; a filtered log only prints
    /// changes of its own messages.
    private func tellChange(
        _ event: JSONValue, _ client: inout ControlClient, _ view: inout LiveView
    ) throws(NodeError) {
        guard let id = Rendering.subject(of: event) else { return }
        if view.messages[id] == nil {
            guard scan.values["thread"] == nil, scan.values["pinned"] == nil else { return }
            // A deleted message has nothing to show, and says so.
            var given: JSONObject = ["ids": [.string(id)]]
            given["workspace"] = event["workspace"]
            let page = try? client.call("message.get", given)
            if let found = page?["items"]?.arrayValue?.first { view.note(found) }
        }
        let message = view.messages[id]
        let place = message?["channel"] ?? event["data"]?["channel"]
        guard isFollowed(event, of: place, &client, &view) else { return }
        if let message { try learnName(of: message, &client, &view) }
        if let text = view.change(event) { io.print(text) }
    }

    /// Whether an event belongs to a conversation that the stream shows.
    private func isFollowed(
        _ event: JSONValue, of channel: JSONValue?, _ client: inout ControlClient,
        _ view: inout LiveView
    ) -> Bool {
        view.followed?.include(event, of: channel?.stringValue) { id in
            var given: JSONObject = ["channel": .string(id)]
            given["workspace"] = event["workspace"]
            // A deleted or unreadable channel is not left out.
            return (try? client.call("channel.get", given))?["joined"] != false
        } ?? true
    }

    /// Requests the names again if that of an item's channel is unknown.
    private func learnName(
        of item: JSONValue, _ client: inout ControlClient, _ view: inout LiveView
    ) throws(NodeError) {
        let place: JSONValue = [
            "channel": Rendering.channel(of: item) ?? .null,
            "workspace": item["workspace"] ?? .null,
        ]
        let home = view.home
        var found: [JSONValue] = []
        try view.learnName(of: place) { (names) throws(NodeError) in
            var known = names ?? [:]
            found = try readNames(of: place, home: home, &client, into: &known)
            names = known
        }
        if view.names != nil { view.note(channels: found, onlyNew: true) }
    }

    /// Whether a new message rings the bell: somebody else wrote it just now, and it is for us: in
    /// a direct conversation, with a mention of us, or in a channel with notifications for every
    /// message; never in a muted one.
    private func isForUs(
        _ event: JSONValue, _ client: inout ControlClient
    ) throws(NodeError) -> Bool {
        guard let message = event["data"], message["self"] != true, event["backfill"] != true,
            let id = message["channel"]
        else { return false }
        var given: JSONObject = ["channel": id]
        given["workspace"] = event["workspace"]
        guard let channel = try? client.call("channel.get", given), channel["muted"] != true else {
            return false
        }
        let level = channel["notify"]?.stringValue ?? "all"
        if level == "all" { return true }
        guard level == "mentions" else { return false }
        if Rendering.isDirect(channel) { return true }
        given["channel"] = nil
        given["limit"] = 1_000
        let members = try client.call("member.list", given)
        let own = members["items"]?.arrayValue?.first { $0["self"] == true }?["id"]
        return own.map { message["mentions"]?.arrayValue?.contains($0) == true } ?? false
    }
}
