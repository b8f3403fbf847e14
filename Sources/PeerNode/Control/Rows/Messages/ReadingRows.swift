import WorkspaceModel

extension Command {
    /// What was read, of what notice is wanted, and settings that all own devices share.
    static let readingCommands = [
        readMark, readStatus, unreadGet, channelMute, channelNotify, preferenceGet, preferenceSet,
        preferenceList,
    ]

    private static let refusals: [NodeError.Kind] = [.notFound, .ambiguous, .forbidden]

    private static let readMark = {
        let message = Parameter.identifier(
            "message", "The last message you have read, instead of the newest.", prefix: "m_"
        ).optional()
        return Command(
            "read.mark",
            line: CommandLineForm(
                "read mark", ["channel", "message"],
                examples: ["read mark general", "read mark @Mina last"], last: .place),
            "Mark a conversation as read, on all your devices.",
            parameters: [channel.definition, message.definition], result: "unread", shape: .unread,
            effect: .signs,
            scope: .conversation,
            failures: refusals, example: ["channel": "general"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.reading.markRead(
                        given[channel], upTo: given[message], context.scope(given)))
            })
    }()

    private static let readStatus = Command(
        "read.status", line: CommandLineForm("read status", examples: ["read status"]),
        "List your conversations, and how far you have read each.",
        parameters: [limit.definition, cursor.definition], result: "list of unread", shape: .unread,
        emptiness: "nothing read yet", effect: .reads,
        scope: .workspace,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.reading.readStatus(PageRequest(given), context.scope(given)))
        })

    private static let unreadGet = {
        let all = Parameter.flag("mark_all", "Mark everything as read first.")
            .writing(true, effect: .signs)
        return Command(
            "unread.get",
            line: CommandLineForm("unread", examples: ["unread", "unread --mark-all"]),
            "List conversations with unread messages.",
            parameters: [all.definition, limit.definition, cursor.definition],
            result: "list of unread", shape: .unread, emptiness: "nothing unread", effect: .reads,
            scope: .workspace, failures: [.forbidden],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.reading.unread(
                        marksAll: given[all], PageRequest(given), context.scope(given)))
            })
    }()

    private static let channelMute = {
        let until = Parameter.time("until", "Until when.").ahead().optional()
        let duration = Parameter.duration(
            "for_ms", "For how long. Without a time, permanently; 0s unmutes.",
            0...(3_650 * 24 * 3_600 * 1_000)
        ).flag("for").optional()
        return Command(
            "channel.mute",
            line: CommandLineForm(
                "channel mute", ["channel", "for_ms"],
                examples: ["channel mute general 8h", "channel mute general 0s"]),
            "Mute a conversation, on all your devices.",
            parameters: [channel.definition, until.definition, duration.definition],
            result: "channel", shape: .noticedChannel, effect: .signs, scope: .conversation,
            failures: refusals,
            example: ["channel": "general"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.reading.mute(
                        given[channel], until: given[until], forMilliseconds: given[duration],
                        context.scope(given)))
            })
    }()

    private static let channelNotify = {
        let level = Parameter.choice(
            "level", "Which messages; 'default' follows what is set for the whole workspace.",
            ["all", "mentions", "none", "default"])
        return Command(
            "channel.notify",
            line: CommandLineForm(
                "channel notify", ["channel", "level"],
                examples: [
                    "channel notify general mentions", "channel notify general default",
                ]),
            "Choose what you are notified about in a conversation. Holds on all your devices.",
            parameters: [channel.definition, level.definition], result: "channel",
            shape: .noticedChannel, effect: .signs,
            scope: .conversation,
            failures: refusals, example: ["channel": "general", "level": "mentions"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.reading.setNotices(
                        given[level], of: given[channel], context.scope(given)))
            })
    }()

    private static let preferenceName = Parameter.text(
        "setting", "The name of the setting.", bytes: 1...Limits.preferenceNameBytesMax)

    private static let preferenceGet = Command(
        "ui.pref.get",
        line: CommandLineForm("ui pref get", ["setting"], examples: ["ui pref get theme"]),
        "Show a setting that programs keep for all your devices.",
        parameters: [preferenceName.definition], result: "preference", effect: .reads,
        scope: .workspace,
        example: ["setting": "theme"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.reading.preference(given[preferenceName], context.scope(given)))
        })

    private static let preferenceList = Command(
        "ui.pref.list", line: CommandLineForm("ui pref list", examples: ["ui pref list"]),
        "List the settings and drafts that programs keep for all your devices.",
        parameters: [limit.definition, cursor.definition], result: "list of preference",
        shape: .preferences, emptiness: "no settings",
        effect: .reads, scope: .workspace,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.reading.preferences(PageRequest(given), context.scope(given)))
        })

    private static let preferenceSet = {
        let value = Parameter.text(
            "value", "The new value. Without it, the setting is removed.",
            bytes: 0...Limits.preferenceBytesMax
        ).optional()
        return Command(
            "ui.pref.set",
            line: CommandLineForm(
                "ui pref set", ["setting", "value"],
                examples: [
                    "ui pref set theme dark", "ui pref set draft.general 'not sent yet'",
                ]),
            "Save a setting, or a draft, for all your devices.",
            parameters: [preferenceName.definition, value.definition], result: "preference",
            effect: .signs, scope: .workspace,
            failures: [.forbidden], example: ["setting": "theme", "value": "dark"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.reading.setPreference(
                        given[preferenceName], to: given[value], context.scope(given)))
            })
    }()
}
