import WorkspaceModel

extension Command {
    /// What programs listen to.
    static let eventCommands = [
        eventsSubscribe, eventsWait, eventsAcknowledge, eventsNames, eventsUnsubscribe,
    ]

    private static let readerName = Parameter.text(
        "name", "A name whose position the node keeps.", bytes: 1...64
    ).optional().flag("as")
    private static let since = Parameter.text(
        "since", "Where to start: a cursor, 'all', 'latest', or how long ago, as '10m'.",
        bytes: 1...128
    ).optional()
    private static let types = Parameter<[String]>.list(
        of: Parameter.text("types", "Event types with '*', as 'message.*'.", bytes: 1...64),
        count: 0...100
    ).defaulting(to: []).flag("type")
    private static let channels = Parameter<[ChannelReference]>.list(
        of: Parameter.channel("channels", "Only events of this channel."), count: 0...100
    ).defaulting(to: []).flag("in")

    /// For those who read events: their position is one for all workspaces.
    static let onlyWorkspace = Parameter.workspace(
        "workspace", "Only what happens in this workspace, or in none; without it, all."
    ).optional().global()

    private static let eventsSubscribe = {
        let ephemeral = Parameter.flag(
            "ephemeral",
            "Also what is not kept: message.held, presence.changed, sync.progress and typing.")
        let keepalive = Parameter.integer(
            "keepalive_s", "Seconds of silence after which a keepalive comes.", 5...3_600
        ).optional()
        let count = Parameter.integer("count", "End after so many events.", 1...1_000_000)
            .optional().local()
        let exec = Parameter.text(
            "exec",
            """
            Run this command of the shell for each event, one at a time: 0 is done, 75 is try \
            later, else 5 tries. Needs --as.
            """, bytes: 1...64 * 1024
        ).optional().local()
        let backfill = Parameter.flag(
            "backfill", "With --exec: also what came with a first sync, which is old."
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
                ]),
            "Stream what happens, one event a line, until interrupted.",
            parameters: [
                readerName.definition, since.definition, types.definition, channels.definition,
                ephemeral.definition, keepalive.definition, count.definition, exec.definition,
                backfill.definition, bots.definition, onlyWorkspace.definition,
            ],
            result: "subscription", failures: [.notFound, .cursorExpired],
            example: ["types": ["message.created"], "since": "latest"], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.subscribe(
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
            "events.wait", "Give the next events, at once or as soon as there are any.",
            parameters: [
                since.definition, readerName.definition, types.definition, channels.definition,
                limit.definition, timeout.definition, onlyWorkspace.definition,
            ],
            result: "list of event", failures: [.notFound, .cursorExpired],
            example: ["since": "all", "limit": 10, "timeout_ms": 0], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                try context.node.waitForEvents(
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
            "warning", "Why the last event was given up, which everybody who listens is told.",
            bytes: 1...Limits.warningBytesMax
        ).optional()
        return Command(
            "events.ack", "Keep how far a named reader has come.",
            parameters: [name.definition, cursor.definition, warning.definition],
            result: "reader", failures: [.cursorExpired],
            example: ["name": "bot", "cursor": "e1.4711"], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.acknowledge(
                        name: given[name], cursor: given[cursor], warning: given[warning],
                        context.scope(given)))
            })
    }()

    private static let eventsNames = Command(
        "events.names", "List the named readers and their positions.",
        parameters: [limit.definition, cursor.definition], result: "list of reader",
        needs: .daemon,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.readers(PageRequest(given), context.scope(given)))
        })

    private static let eventsUnsubscribe = {
        let subscription = Parameter.integer(
            "subscription", "The number that opening the stream gave.", 1...1_000_000_000)
        return Command(
            "events.unsubscribe", "End a stream of this connection.",
            parameters: [subscription.definition], result: "nothing", failures: [.notFound],
            example: ["subscription": 1], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                try context.node.unsubscribe(given[subscription], context.scope(given))
                return .reply([:])
            })
    }()
}
