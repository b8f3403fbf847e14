import WorkspaceModel

extension Command {
    /// What programs listen to.
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
                readerName.definition, since.definition, types.definition, channels.definition,
                ephemeral.definition, keepalive.definition, count.definition, exec.definition,
                backfill.definition, bots.definition, onlyWorkspace.definition,
            ],
            result: "subscription", shape: .subscription, effect: .writesBeside, scope: .node,
            failures: [.notFound, .cursorExpired],
            example: ["types": ["message.created"], "since": "latest"], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.events.subscribe(
                        SubscriptionRequest(
                            name: given[readerName], since: given[since], types: given[types],
                            channels: given[channels], ephemeral: given[ephemeral],
                            keepaliveSeconds: given[keepalive]),
                        context.scope(given)))
            })
    }()

    private static let eventsWait = {
        let timeout = Parameter.duration(
            "timeout_ms", "How long to wait for the first event.", 0...600_000
        ).defaulting(to: 0)
        return Command(
            "events.wait", "Return the next events, at once or as soon as there are any.",
            parameters: [
                since.definition, readerName.definition, types.definition, channels.definition,
                limit.definition, timeout.definition, onlyWorkspace.definition,
            ],
            result: "list of event", effect: .writesBeside, scope: .node,
            failures: [.notFound, .cursorExpired],
            example: ["since": "all", "limit": 10, "timeout_ms": 0], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                try context.node.events.waitForEvents(
                    EventsRequest(
                        subscription: SubscriptionRequest(
                            name: given[readerName], since: given[since], types: given[types],
                            channels: given[channels], ephemeral: false, keepaliveSeconds: nil),
                        limit: Int(clamping: given[limit]),
                        timeoutMilliseconds: given[timeout]),
                    context.scope(given))
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
            parameters: [name.definition, cursor.definition, warning.definition],
            result: "reader", effect: .writes, scope: .node, failures: [.cursorExpired],
            example: ["name": "bot", "cursor": "e1.4711"], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.events.acknowledge(
                        name: given[name], cursor: given[cursor], warning: given[warning],
                        context.scope(given)))
            })
    }()

    private static let eventsNames = Command(
        "events.names", "List the named readers and their positions.",
        parameters: [limit.definition, cursor.definition], result: "list of reader", effect: .reads,
        scope: .node,
        needs: .daemon,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.events.readers(PageRequest(given), context.scope(given)))
        })

    private static let eventsUnsubscribe = {
        let subscription = Parameter.integer(
            "subscription", "The number you got when you opened the stream.", 1...1_000_000_000)
        return Command(
            "events.unsubscribe", "Close a stream on this connection.",
            parameters: [subscription.definition], result: "nothing", effect: .writesBeside,
            scope: .node, failures: [.notFound],
            example: ["subscription": 1], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                try context.node.events.unsubscribe(given[subscription], context.scope(given))
                return .reply([:])
            })
    }()
}
