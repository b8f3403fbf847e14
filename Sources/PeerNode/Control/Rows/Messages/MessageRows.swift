import WorkspaceModel

extension Command {
    /// The commands that people use all day.
    static let messageCommands =
        [messageSend, messageHistory, tail, chat, messageGet, messageDelete]
        + messageAnnotationCommands

    static let channel = Parameter.channel("channel", "Which channel or conversation.")
    /// Where the command line looks for `last` and for the rest of a short id.
    static let inChannel = Parameter.channel(
        "in", "The channel in which to look for 'last' or a short id."
    ).optional().local()

    private static let messageSend = {
        let text = Parameter.text(
            "text", "What to say. '-' reads it from standard input; '@Mina' mentions her.",
            bytes: 1...Limits.messageTextBytesMax
        ).standardInput().messageText().optional()
        let thread = Parameter.identifier(
            "thread", "The message that this one answers.", prefix: "m_"
        ).optional()
        let location = Parameter.location(
            "location", "A place to share; the text can then be left out."
        ).optional()
        let format = Parameter.choice(
            "format", "How to show it: as flowing text, or as code, unchanged.", ["text", "code"]
        ).defaulting(to: "text").flag("code").standing(for: "code")
        let attachments = FileMethods.attachments
        let bot = Parameter.flag(
            "bot", "Mark it as written by a program, so that bots do not answer it.")
        return Command(
            "message.send",
            line: CommandLineForm(
                "send", ["channel", "text"],
                examples: [
                    "send general 'hello'", "uptime | wsx-node send ops -",
                    "send @Mina 'lunch?' --key lunch-1",
                    "send general 'here' --location 52.52,13.405", "send general --file plan.pdf",
                ], flow: .send, channels: .open),
            "Send a message. The answer comes once it is saved on disk.",
            parameters: [
                channel, text, thread, location, format, FileMethods.file, FileMethods.inputName,
                attachments, bot, key,
            ],
            result: "message", shape: .sentMessage, effect: .signs, scope: .conversation,
            failures: [
                .notFound, .ambiguous, .forbidden, .archived, .tooLarge, .keyReused, .locked,
            ],
            example: ["channel": "general", "text": "hello", "key": "greeting-1"],
            run: .outcome { (call) throws(NodeError) in
                guard call[text] != nil || call[location] != nil || !call[attachments].isEmpty
                else { throw .missingText }
                return .reply(
                    try call.node.messages.send(
                        MessageDraft(
                            channel: call[channel], text: call[text] ?? "",
                            location: call[location], thread: call[thread],
                            format: call[format], isBot: call[bot],
                            files: call[attachments]),
                        call.creatingScope))
            })
    }()

    private static let messageHistory = {
        let placeBytes = 1...128
        let before = Parameter.text(
            "before", "The newest messages before this position or message.", bytes: placeBytes
        ).optional()
        let after = Parameter.text(
            "after", "The oldest messages after this position or message.", bytes: placeBytes
        ).optional()
        let around = Parameter.text(
            "around", "The messages around this position or message.", bytes: placeBytes
        ).optional()
        let thread = Parameter.identifier(
            "thread", "Only answers to this message.", prefix: "m_"
        ).optional()
        let since = Parameter.time("since", "Only messages written since then.").optional()
        let until = Parameter.time("until", "Only messages written until then.").optional()
        let pinned = Parameter.flag("pinned", "Only pinned messages.")
        let limit = Parameter.integer("limit", "At most this many messages.", 1...100)
            .defaulting(to: 30).short("n")
        let follow = Parameter.flag("follow", "Keep following new messages, as tail does.").local()
            .short("f")
        return Command(
            "message.history",
            line: CommandLineForm(
                "log", ["channel"],
                examples: ["log general -n 10", "log general --since 2h", "log general --pinned"],
                flow: .log, last: .place),
            "Show messages of a channel, oldest first.",
            parameters: [
                channel, before, after, around, thread, since, until, pinned, limit, follow,
            ],
            result: "list of message, with older and newer", shape: .messages,
            emptiness: "no messages", effect: .reads, scope: .conversation,
            failures: [.notFound, .ambiguous, .forbidden],
            example: ["channel": "general", "limit": 10],
            run: .outcome { (call) throws(NodeError) in
                let position = try position(call[before], call[after], call[around])
                return .reply(
                    try call.node.messages.history(
                        HistoryRequest(
                            channel: call[channel], position: position, thread: call[thread],
                            since: call[since], until: call[until],
                            isPinned: call[pinned], limit: Int(clamping: call[limit])),
                        call.scope))
            })
    }()

    private static func position(_ before: String?, _ after: String?, _ around: String?)
        throws(NodeError) -> HistoryRequest.Position
    {
        switch (before, after, around) {
        case (nil, nil, nil): return .latest
        case (let place?, nil, nil): return .before(place)
        case (nil, let place?, nil): return .after(place)
        case (nil, nil, let place?): return .around(place)
        default:
            let given = [("before", before), ("after", after), ("around", around)]
            throw NodeError(
                .badRequest, "'before', 'after' and 'around' cannot be combined",
                hint: "use only one of them", reason: "control.bad_param",
                fields: given.filter { $0.1 != nil }.map {
                    NodeError.Field(name: $0.0, reason: "form")
                })
        }
    }

    private static let tail = {
        let channels = Parameter<[ChannelReference]>.list(
            of: Parameter.channel("channels", "Which channels. Without any, those you are in."),
            count: 0...100
        ).defaulting(to: [])
        let all = Parameter.flag("all", "Also channels you are not in.")
        let bell = Parameter.flag(
            "bell",
            "Ring the terminal's bell for direct messages, mentions, and conversations where "
                + "'channel notify' is 'all', unless muted.")
        return Command(
            "tail",
            line: CommandLineForm(
                "tail", ["channels"],
                examples: ["tail", "tail general random", "tail --all --bell"], flow: .tail),
            "Follow new messages, edits and reactions live. Ctrl-C stops.",
            parameters: [channels, all, bell], result: "messages, one per line", effect: .reads,
            scope: .workspace, failures: [.notFound], example: ["channels": ["general"]])
    }()

    private static let chat = {
        let channel = Parameter.channel(
            "channel", "Where to start. Without it, in the channel that everybody is in."
        ).optional()
        return Command(
            "chat",
            line: CommandLineForm(
                "chat", ["channel"], examples: ["chat", "chat random"], flow: .chat),
            "Chat in a channel, line by line; type /help inside. In a pipe, each line is sent "
                + "unchanged, what others write is printed, and the end of input ends it. Others see "
                + "that you are typing, unless you run 'config set chat.typing off'.",
            parameters: [channel], result: "messages, one per line", effect: .signs,
            scope: .conversation, failures: [.notFound, .ambiguous],
            example: ["channel": "general"])
    }()

    private static let messageGet = {
        let ids = Parameter<[String]>.list(
            of: Parameter.identifier("ids", "Ids of messages.", prefix: "m_"), count: 1...100)
        return Command(
            "message.get",
            line: CommandLineForm(
                "message show", ["ids"],
                examples: ["message show m_01hx9t4c", "message show last --in general"],
                flow: .showMessages),
            "Show messages by id. On the command line, a unique beginning or end, or 'last', is "
                + "enough.",
            parameters: [ids, inChannel, limit, cursor], result: "list of message",
            shape: .messages, effect: .reads, scope: .conversation,
            failures: [.notFound, .ambiguous], example: ["ids": ["m_01hx9t4c"]],
            run: .answer { (call) throws(NodeError) in
                try call.node.messages.messages(call[ids], call.page, call.scope)
            })
    }()
}
