import PeerNode
import WorkspaceModel

/// `events --exec`: a command of the shell for each event, one after the other and in order.
///
/// The node keeps how far the bot has come under its name, and is told after each event that was
/// done. So a bot or a node that was killed goes on with the first event that was not done: none
/// is missed, and none comes again that the node knows to be done. What a command fails at is given
/// up after a few tries, which count only while the node is there to be spoken to.
struct EventBot {
    let io: any ProgramIO
    let paths: Paths
    /// Under which the node keeps the position.
    let name: String
    /// For `/bin/sh -c`.
    let command: String
    /// The parameters of `events.wait`: name and filters.
    let wanted: JSONObject
    /// Whether what came with a first sync is handed on too: a bot that answers what was written
    /// last year is in everybody's way.
    var takesBackfill = false
    /// Whether it is handed what programs wrote: two bots that answer each other never end.
    var takesBots = false
    /// So many events are to be handed on.
    var left: Int64 = .max
    /// When it is time to end, milliseconds since 1970.
    var end: Int64?
    var isJSON = false

    /// Done, and the node was not told yet.
    private var done: String?
    /// What the node was told last.
    private var position: String?
    private var skipped = 0
    /// Whether the node was there: from then on one that goes away is waited for.
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

    /// What says "try again later", as `EX_TEMPFAIL` of sysexits does.
    static let again: Int32 = 75
    /// How often a command is run that fails.
    static let triesMax = 5
    /// The first and the longest pause before a command is run again.
    static let delays: (first: Int64, last: Int64) = (1_000, 60_000)
    /// How long one call waits for events.
    private static let waitMilliseconds: Int64 = 60_000
    /// Events that are asked for at a time.
    private static let pageSize: Int64 = 100
    /// So many events may be passed over before the node is told.
    private static let skippedMax = 256

    /// Serves until there were enough events, the time is over, or the node is no more to be had.
    ///
    /// - Parameter since: where to start over, or `nil` to go on from the stored position.
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
                // It ended while it was asked, which may be long after the first question: nothing
                // need have happened until then.
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

    /// Stores a start, so that everything after it goes by the stored position alone.
    private mutating func startOver(_ since: JSONValue) throws(NodeError) {
        // A stream says where it starts; its events are dropped with its connection.
        var probe = try connect()
        let opened = try probe.call("events.subscribe", ["since": since])
        done = opened["cursor"]?.stringValue
        var client = try connect()
        try tellDone(&client)
    }

    // MARK: Serving

    private var isOver: Bool { end.map { io.now >= $0 } ?? false }

    private func ending() throws(NodeError) -> Int32 {
        // A run without a count was to last so long; one with a count was to be full.
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
                // What was not done is not passed over either.
                if isOver { return try ending() }
            }
            // Past what the filters left out, so that it is not looked at again.
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
        // A bot that fails at everything would fail at that too, and warn of it.
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

    /// Tells the node how far it came, before anything else is asked.
    ///
    /// - Parameter warning: why the last event was given up, for everybody who listens.
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
            // A store that was restored counts anew, and has positions of its own.
            guard error.kind == .cursorExpired else {
                // A daemon of before an upgrade knows no warnings.
                guard warning != nil, error.kind == .badRequest else { throw error }
                return try tellDone(&client)
            }
        }
        done = nil
    }

    // MARK: One event

    private enum Handling {
        /// With a warning, where the event was given up.
        case done(warning: String?)
        /// The time is over: the event comes again with the next run.
        case isOver
    }

    /// Runs the command until it takes the event, has failed too often, or the time is over.
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

    /// Whether the node is there and open. While it is not, a command that needs it can only fail,
    /// and that is no word about the event.
    private var isServed: Bool {
        do throws(NodeError) {
            var client = ControlClient(
                try io.connect(paths.socket), timeoutMilliseconds: ControlClient.patience)
            return try client.call("session.status", [:])["locked"] != true
        } catch { return !Starting.comesBack(error) && error.kind != .timeout }
    }

    /// What the command finds in its environment: the event, and the way back to this node. What
    /// others wrote is safe to show there; exactly as it is it stands in the event alone.
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
        // What it sends says so: see `Sending.send`.
        given["WSX_BOT"] = name
        if let home = paths.home { given["WSX_NODE_HOME"] = io.absolutePath(home) }
        // The ids of the event are of its workspace, whichever is selected.
        if let workspace = event["workspace"]?.stringValue {
            given["WSX_NODE_WORKSPACE"] = workspace
        }
        return given
    }

    /// Says on standard error that an event was given up.
    ///
    /// - Returns: why, for the node.
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
    /// `events --exec`, after its flags were checked against one another.
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
