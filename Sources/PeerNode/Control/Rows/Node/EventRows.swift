import WorkspaceModel

extension Command {
    /// The commands for programs that listen for events.
    static let eventCommands = [
        eventsSubscribe, eventsWait, eventsAcknowledge, eventsNames, eventsUnsubscribe,
    ]

    private static let readerName = Parameter.text(
        "name", "A name for this reader; the node remembers how far it has read.", bytes: 1...64
    ).optional().flag("as").writing()
    private static let since = Parameter.text(
        "since", "Where to start: a cursor, 'all', 'latest', or how long ago, such as '10m'.",
        bytes: 1...128
    ).optional()
    private static let types = Parameter<[String]>.list(
        of: Parameter.text("types", "Event types with '*', such as 'message.*'.", bytes: 1...64),
        count: 0...100
    ).defaulting(to: []).flag("type")
    private static let channels = Parameter<[ChannelReference]>.list(
        of: Parameter.channel("channels", "Only events in this channel."), count: 0...100
    ).defaulting(to: []).flag("in")

    /// For those who read events: their position is one for all workspaces.
    static let onlyWorkspace = Parameter.workspace(
        "workspace", "Only events in this workspace, and those in none. Without it, all events."
    ).optional().global()

    private static let eventsSubscribe = {
        let ephemeral = Parameter.flag(
            "ephemeral",
            "Also those that are not kept: message.held, presence.changed, sync.progress, "
                + "transfer.progress and typing; of a note, 'note watch' alone tells them.")
        let keepalive = Parameter.integer(
            "keepalive_s", "Send a keepalive after this many seconds of silence.", 5...3_600
        ).optional()
        let count = Parameter.integer("count", "Stop after this many events.", 1...1_000_000)
            .optional().local()
        let exec = Parameter.text(
            "exec",
            """
            Run this shell command for each event, one at a time. Exit status 0: done; 75: try \
            again later; any other: 5 tries. Needs --as.
            """, bytes: 1...64 * 1024
        ).optional().local()
        let backfill = Parameter.flag(
            "backfill", "With --exec: also old events that came with a first sync."
        ).local()
        let bots = Parameter.flag("bots", "With --exec: also what programs wrote.").local()
        return Command(
            "events.subscribe",
            line: CommandLineForm(
                "events",
                examples: [
                    "events --type 'message.*' --in general", "events --as bot --count 1",
                    "events --as bot --type message.created "
                        + "--exec 'printf \"%s\\n\" \"$WSX_TEXT\"'",
                ], flow: .events),
            "Stream events, one per line. Ctrl-C stops.",
            parameters: [
                readerName, since, types, channels, ephemeral, keepalive, count, exec, backfill,
                bots, onlyWorkspace,
            ],
            result: "subscription", shape: .subscription, effect: .writesBeside, scope: .node,
            failures: [.notFound, .cursorExpired],
            example: ["types": ["message.created"], "since": "latest"], needs: .daemon,
            run: .answer { (call) throws(NodeError) in
                try call.node.events.subscribe(
                    SubscriptionRequest(
                        name: call[readerName], since: call[since], types: call[types],
                        channels: call[channels], ephemeral: call[ephemeral],
                        keepaliveSeconds: call[keepalive]), call.scope)
            })
    }()

    private static let eventsWait = {
        let timeout = Parameter.duration(
            "timeout_ms", "How long to wait for the first event.", 0...600_000
        ).defaulting(to: 0)
        return Command(
            "events.wait", "Return the next events, at once or as soon as there are any.",
            parameters: [since, readerName, types, channels, limit, timeout, onlyWorkspace],
            result: "list of event", effect: .writesBeside, scope: .node,
            failures: [.notFound, .cursorExpired],
            example: ["since": "all", "limit": 10, "timeout_ms": 0], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.events.waitForEvents(
                    EventsRequest(
                        subscription: SubscriptionRequest(
                            name: call[readerName], since: call[since], types: call[types],
                            channels: call[channels], ephemeral: false, keepaliveSeconds: nil),
                        limit: Int(clamping: call[limit]), timeoutMilliseconds: call[timeout]),
                    call.scope)
            })
    }()

    private static let eventsAcknowledge = {
        let name = Parameter.text("name", "The reader's name.", bytes: 1...64)
        let cursor = Parameter.text("cursor", "The cursor of the last event done.", bytes: 1...128)
        let warning = Parameter.text(
            "warning", "Why the reader gave up on the last event; sent as the event node.warning.",
            bytes: 1...Limits.warningBytesMax
        ).optional()
        return Command(
            "events.ack", "Save how far a named reader has read.",
            parameters: [name, cursor, warning], result: "reader", effect: .writes, scope: .node,
            failures: [.cursorExpired], example: ["name": "bot", "cursor": "e1.4711"],
            needs: .daemon,
            run: .answer { (call) throws(NodeError) in
                try call.node.events.acknowledge(
                    name: call[name], cursor: call[cursor], warning: call[warning], call.scope)
            })
    }()

    private static let eventsNames = Command(
        "events.names", "List the named readers and their positions.",
        parameters: [limit, cursor], result: "list of reader", effect: .reads, scope: .node,
        needs: .daemon,
        run: .answer { (call) throws(NodeError) in
            try call.node.events.readers(call.page, call.scope)
        })

    private static let eventsUnsubscribe = {
        let subscription = Parameter.integer(
            "subscription", "The number you got when you opened the stream.", 1...1_000_000_000)
        return Command(
            "events.unsubscribe", "Close a stream on this connection.",
            parameters: [subscription], result: "nothing", effect: .writesBeside, scope: .node,
            failures: [.notFound], example: ["subscription": 1], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.events.unsubscribe(call[subscription], call.scope)
                return .reply([:])
            })
    }()
}
