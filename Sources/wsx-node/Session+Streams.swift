import PeerNode
import WorkspaceModel

/// What goes on until it is interrupted.
extension Session {
    func streamEvents(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        if scan.values["exec"] != nil { return try runBot(parameters) }
        for flag in ["backfill", "bots"] where scan.values[flag] != nil {
            throw .usage("'--\(flag)' goes with '--exec'", hint: "a stream gives it anyway")
        }
        var client = try client()
        let name = parameters["name"]?.stringValue
        var left = scan.values["count"]?.integerValue ?? .max
        let rendering = rendering
        try client.subscribe(parameters)
        let end = globals.timeoutMilliseconds.map { io.now &+ $0 }
        var isEmpty = true
        while left > 0 {
            let event: JSONValue
            do throws(NodeError) {
                guard let next = try client.nextEvent(within: end.map { max(0, $0 - io.now) })
                else { throw ControlClient.ended }
                event = next
            } catch {
                guard error.kind == .timeout, end != nil else { throw error }
                if isEmpty, globals.exitCode { return Self.nothingFound }
                // A stream without a count was to last so long; one with a count was to be full.
                guard left < .max / 2 else { return 0 }
                throw NodeError(
                    .timeout, "so many events did not happen in time", hint: nil,
                    reason: "events.timeout")
            }
            io.print(rendering.event(event))
            isEmpty = false
            // Only what was printed is done: after a crash it comes again rather than never.
            if let name, let cursor = event["cursor"] {
                _ = try client.call("events.ack", ["name": .string(name), "cursor": cursor])
            }
            left -= 1
        }
        return 0
    }

    func tail(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        var client = try client()
        var wanted: JSONObject = ["types": ["message.created"]]
        wanted["channels"] = parameters["channels"]
        wanted["workspace"] = parameters["workspace"]
        try client.subscribe(wanted)
        var names: [String: String] = [:]
        try readNames(&client, into: &names)
        var lastDay: Int64?
        try follow(&client, &names, lastDay: &lastDay) { _ in true }
        return 0
    }

    /// Part of the past, and then what comes.
    ///
    /// The stream is opened first, so what is written while the past is read comes twice rather
    /// than never, and the second time is not shown.
    func followLog(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        var client = try client()
        var wanted: JSONObject = ["types": ["message.created"]]
        wanted["channels"] = parameters["channel"].map { .array([$0]) }
        wanted["workspace"] = parameters["workspace"]
        try client.subscribe(wanted)
        let past = try client.call("message.history", parameters)
        let items = past["items"]?.arrayValue ?? []
        let thread = parameters["thread"]
        var seen = Set(items.compactMap { $0["id"]?.stringValue })
        var lastDay: Int64?
        io.print(rendering.messages(items, lastDay: &lastDay, namesChannel: false))
        var names: [String: String]? = nil
        try follow(&client, &names, lastDay: &lastDay) { message in
            if let thread, message["thread"] != thread { return false }
            guard let id = message["id"]?.stringValue else { return false }
            // Only the events that overlap with the past can repeat it.
            return seen.remove(id) == nil
        }
        return 0
    }

    /// Prints the messages that `wants` wants as they come, until the time that was given is over
    /// or the daemon ends, which is a failure.
    ///
    /// - Parameter names: of channels by their ids, for lines that name theirs; `nil` for lines
    ///   that do not.
    private func follow(
        _ client: inout ControlClient, _ names: inout [String: String]?,
        lastDay: inout Int64?, where wants: (JSONValue) -> Bool
    ) throws(NodeError) {
        var rendering = rendering
        let bell = scan.values["bell"]?.boolValue == true && io.isOutputTerminal ? "\u{7}" : ""
        let end = globals.timeoutMilliseconds.map { io.now &+ $0 }
        while true {
            let event: JSONValue
            do throws(NodeError) {
                guard let next = try client.nextEvent(within: end.map { max(0, $0 - io.now) })
                else { throw ControlClient.ended }
                event = next
            } catch {
                // It was to last so long.
                guard error.kind == .timeout, end != nil else { throw error }
                return
            }
            guard let message = event["data"], wants(message) else { continue }
            if var known = names {
                if let id = message["channel"]?.stringValue, known[id] == nil {
                    try readNames(&client, into: &known)
                    names = known
                }
                rendering.channelNames = known
            }
            let text = rendering.messages(
                [message], lastDay: &lastDay, namesChannel: names != nil)
            io.print(text + bell)
        }
    }

    private func follow(
        _ client: inout ControlClient, _ names: inout [String: String],
        lastDay: inout Int64?, where wants: (JSONValue) -> Bool
    ) throws(NodeError) {
        var optional: [String: String]? = names
        try follow(&client, &optional, lastDay: &lastDay, where: wants)
    }

    /// The names of the channels by their ids.
    func readNames(
        _ client: inout ControlClient, into names: inout [String: String]
    ) throws(NodeError) {
        var given: JSONObject = ["scope": "all", "limit": 1_000]
        if let workspace { given["workspace"] = .string(workspace) }
        let channels = try client.call("channel.list", given)
        for channel in channels["items"]?.arrayValue ?? [] {
            guard let id = channel["id"]?.stringValue else { continue }
            names[id] = channel["name"]?.stringValue
        }
    }
}
