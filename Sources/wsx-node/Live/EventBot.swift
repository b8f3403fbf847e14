import PeerNode
import WorkspaceModel

/// `events --exec`: runs a shell command for each event, in order, one at a time.
///
/// The node stores the bot's position under its name, after each completed event. So after a crash
/// of the bot or the node it continues with the first incomplete event: none is missed, and none
/// repeated that the node knows to be complete. An event whose command keeps failing is given up
/// after a few tries, which count only while the node is reachable.
struct EventBot {
    let io: any ProgramIO
    let paths: Paths
    /// The name under which the node stores the position.
    let name: String
    /// The command for `/bin/sh -c`.
    let command: String
    /// The parameters of `events.wait`: name and filters.
    let wanted: JSONObject
    /// Whether events of a first sync are handled too: a bot that answers last year's
    /// messages is a nuisance.
    var takesBackfill = false
    /// Whether messages of bots are handled: two bots that answer each other never stop.
    var takesBots = false
    /// How many events are still to be handled.
    var left: Int64 = .max
    /// When to stop, milliseconds since 1970.
    var end: Int64?
    var isJSON = false

    /// The last completed event, not reported to the node yet.
    private var done: String?
    /// The last position reported to the node.
    private var position: String?
    private var skipped = 0
    /// Whether the node was reachable: from then on the bot waits for it when it goes away.
    private var hasServed = false

    init(
        io: any ProgramIO, paths: Paths, name: String, command: String, wanted: JSONObject
    ) {
        self.io = io
        self.paths = paths
        self.name = name
        self.command = command
        self.wanted = wanted
    }

    /// The exit status for "try again later", like `EX_TEMPFAIL` of sysexits.
    static let again: Int32 = 75
    /// How often a failing command is run.
    static let triesMax = 5
    /// The first and the longest pause before a command is run again.
    static let delays: (first: Int64, last: Int64) = (1_000, 60_000)
    /// How long one call waits for events.
    private static let waitMilliseconds: Int64 = 60_000
    /// Events that are asked for at a time.
    private static let pageSize: Int64 = 100
    /// How many events may be skipped before the position is reported.
    private static let skippedMax = 256

    /// Runs until enough events are handled, the time is over, or the node is unreachable.
    ///
    /// - Parameter since: where to start over, or `nil` to continue from the stored position.
    mutating func run(since: JSONValue?) throws(NodeError) -> Int32 {
        if let since { try startOver(since) }
        var pause: Int64 = 100
        while true {
            do throws(NodeError) {
                var client = try connect()
                try tellDone(&client)
                let status = try serve(&client)
                return status
            } catch {
                // The node stopped during a call, which may be long after the first one: no event
                // need have occurred until then.
                if error.kind == .stopping { hasServed = true }
                guard hasServed, Starting.comesBack(error) else { throw error }
                if isOver { return try ending() }
                io.pause(milliseconds: pause)
                pause = min(pause * 2, 5_000)
            }
        }
    }

    private func connect() throws(NodeError) -> ControlClient {
        ControlClient(try io.connect(paths.socket), timeoutMilliseconds: nil)
    }

    /// Stores the start, so that everything afterwards uses the stored position only.
    private mutating func startOver(_ since: JSONValue) throws(NodeError) {
        // A stream reports its start; its events are dropped with its connection.
        var probe = try connect()
        let opened = try probe.call("events.subscribe", ["since": since])
        done = opened["cursor"]?.stringValue
        var client = try connect()
        try tellDone(&client)
    }

    // MARK: Serving

    private var isOver: Bool { end.map { io.now >= $0 } ?? false }

    private func ending() throws(NodeError) -> Int32 {
        // A run without a count was limited by time; one with a count had to be completed.
        guard left < .max / 2 else { return 0 }
        throw NodeError(
            .timeout, "not enough events happened in time", hint: nil, reason: "events.timeout")
    }

    private mutating func serve(_ client: inout ControlClient) throws(NodeError) -> Int32 {
        while left > 0 {
            if hasServed, isOver { return try ending() }
            var given = wanted
            given["name"] = .string(name)
            given["limit"] = .integer(Self.pageSize)
            given["timeout_ms"] = .integer(
                min(Self.waitMilliseconds, max(0, end.map { $0 - io.now } ?? .max)))
            let page = try client.call("events.wait", given)
            hasServed = true
            for event in page["items"]?.arrayValue ?? [] where left > 0 {
                if isOver { return try ending() }
                try take(event, &client)
                // An incomplete event must not be skipped either.
                if isOver { return try ending() }
            }
            // Skips filtered events, so that they are not scanned again.
            if left > 0, let next = page["next"]?.stringValue, next != position {
                done = next
                try tellDone(&client)
            }
        }
        return 0
    }

    private mutating func take(
        _ event: JSONValue, _ client: inout ControlClient
    ) throws(NodeError) {
        let cursor = event["cursor"]?.stringValue
        let isOld = event["backfill"] == true && !takesBackfill
        // A bot that fails at everything would fail at the warning too, and cause another.
        let isOwn =
            EventName(of: event) == .kept(.nodeWarning) && event["data"]?["name"] == .string(name)
        if isOld || isOwn || event["data"]?["bot"] == true && !takesBots {
            done = cursor
            skipped += 1
            if skipped.isMultiple(of: Self.skippedMax) { try tellDone(&client) }
            return
        }
        switch handle(event) {
        case .isOver: return
        case .done(let warning):
            done = cursor
            left -= 1
            try tellDone(&client, warning: warning)
        }
    }

    /// Reports the position to the node, before any further call.
    ///
    /// - Parameter warning: why the last event was given up, for all subscribers.
    private mutating func tellDone(
        _ client: inout ControlClient, warning: String? = nil
    ) throws(NodeError) {
        guard let cursor = done else { return }
        var given: JSONObject = ["name": .string(name), "cursor": .string(cursor)]
        given["warning"] = warning.map(JSONValue.string)
        do throws(NodeError) {
            _ = try client.call("events.ack", given)
            position = cursor
        } catch {
            // A restored store has other positions.
            guard error.kind == .cursorExpired else {
                // A daemon older than this program does not know warnings.
                guard warning != nil, error.kind == .badRequest else { throw error }
                return try tellDone(&client)
            }
        }
        done = nil
    }

    // MARK: One event

    private enum Handling {
        /// Completed; with a warning if the event was given up.
        case done(warning: String?)
        /// The time is over: the next run repeats the event.
        case isOver
    }

    /// Runs the command until it succeeds, has failed too often, or the time is over.
    private func handle(_ event: JSONValue) -> Handling {
        let input = Array((event.text + "\n").utf8)
        let environment = environment(for: event)
        var tries = 0
        var delay = Self.delays.first
        while true {
            let status = io.handle(command, input: input, environment: environment)
            if status == 0 { return .done(warning: nil) }
            if status != Self.again, isServed {
                tries += 1
                if tries == Self.triesMax { return .done(warning: warn(event, status)) }
            }
            io.pause(milliseconds: min(delay, end.map { max(0, $0 - io.now) } ?? delay))
            if isOver { return .isOver }
            delay = min(delay * 2, Self.delays.last)
        }
    }

    /// Whether the node is reachable and unlocked. While it is not, a command that needs it can
    /// only fail, which says nothing about the event.
    private var isServed: Bool {
        do throws(NodeError) {
            var client = ControlClient(
                try io.connect(paths.socket), timeoutMilliseconds: ControlClient.patience)
            return try client.call("session.status", [:])["locked"] != true
        } catch { return !Starting.comesBack(error) && error.kind != .timeout }
    }

    /// The command's environment: the event, and how to reach this node. Other people's text is
    /// escaped here; only the event itself has the original.
    private func environment(for event: JSONValue) -> [String: String] {
        let data = event["data"]
        let id = data?["id"]?.stringValue ?? ""
        let isChannel = id.utf8.starts(with: "c_".utf8)
        let isMessage = id.utf8.starts(with: "m_".utf8)
        let foreign = [
            "WSX_EVENT_TYPE": event["type"]?.stringValue ?? "",
            "WSX_CURSOR": event["cursor"]?.stringValue ?? "",
            "WSX_CHANNEL": data?["channel"]?.stringValue ?? (isChannel ? id : ""),
            "WSX_MESSAGE": isMessage ? id : data?["message"]?.stringValue ?? "",
            "WSX_TEXT": data?["text"]?.stringValue ?? "",
        ]
        var given = foreign.mapValues {
            TerminalText.forVariable($0, maxBytes: Limits.botVariableBytesMax)
        }
        given["WSX_NODE_SOCKET"] = io.absolutePath(paths.socket)
        // Marks its messages as a bot's: see `Sending.send`.
        given["WSX_BOT"] = name
        if let home = paths.home { given["WSX_NODE_HOME"] = io.absolutePath(home) }
        // The event's ids belong to its workspace, whichever is selected.
        if let workspace = event["workspace"]?.stringValue {
            given["WSX_NODE_WORKSPACE"] = workspace
        }
        return given
    }

    /// Warns on standard error that an event was given up.
    ///
    /// - Returns: the reason, for the node.
    private func warn(_ event: JSONValue, _ status: Int32?) -> String {
        let how = status.map { "exited with \($0)" } ?? "could not be run"
        let cursor = sanitised(event["cursor"]?.stringValue ?? "")
        let type = sanitised(event["type"]?.stringValue ?? "")
        let text = "the command \(how) \(Self.triesMax) times at \(cursor) \(type); skipped it"
        guard isJSON else {
            io.tell("wsx-node: \(text)\n", indent: 10, isOwn: false)
            return text
        }
        let warning: JSONValue = [
            "type": .string(EventType.nodeWarning.word),
            "data": [
                "kind": "bot.failed", "message": .string(text), "name": .string(name),
                "cursor": event["cursor"] ?? .null,
                "status": status.map { .integer(Int64($0)) } ?? .null,
            ],
        ]
        io.printError(warning.text + "\n")
        return text
    }
}

extension SessionPart {
    /// `events --exec`, after checking its flags against each other.
    func runBot(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        guard let name = parameters["name"]?.stringValue else {
            throw .usage(
                "'--exec' needs --as NAME: the node keeps its position under that name",
                hint: "wsx-node help events")
        }
        guard parameters["ephemeral"] != true, parameters["keepalive_s"] == nil else {
            throw .usage(
                "'--ephemeral' and '--keepalive-s' do not work with '--exec'",
                hint: "events that are not kept cannot be tried again")
        }
        var wanted = JSONObject()
        for key in ["types", "channels", "workspace"] { wanted[key] = parameters[key] }
        var bot = EventBot(
            io: io, paths: try paths(), name: name,
            command: scan.values["exec"]?.stringValue ?? "", wanted: wanted)
        bot.takesBackfill = scan.values["backfill"]?.boolValue == true
        bot.takesBots = scan.values["bots"]?.boolValue == true
        bot.left = scan.values["count"]?.integerValue ?? .max
        bot.end = globals.timeoutMilliseconds.map { io.now &+ $0 }
        bot.isJSON = globals.json
        return try bot.run(since: parameters["since"])
    }
}
