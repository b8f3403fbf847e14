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
            "message", "The last message that was read, instead of the newest.", prefix: "m_"
        ).optional()
        return Command(
            "read.mark",
            line: CommandLineForm(
                "read mark", ["channel", "message"],
                examples: ["read mark general", "read mark @Mina last"]),
            "Mark a conversation as read, on all of one's devices.",
            parameters: [channel.definition, message.definition], result: "unread",
            failures: refusals, example: ["channel": "general"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.markRead(
                        given[channel], upTo: given[message], context.scope(given)))
            })
    }()

    private static let readStatus = Command(
        "read.status", line: CommandLineForm("read status", examples: ["read status"]),
        "List the conversations one is in, with how far they were read.",
        parameters: [limit.definition, cursor.definition], result: "list of unread",
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.readStatus(PageRequest(given), context.scope(given)))
        })

    private static let unreadGet = {
        let all = Parameter.flag("mark_all", "Mark everything as read first.")
        return Command(
            "unread.get",
            line: CommandLineForm("unread", examples: ["unread", "unread --mark-all"]),
            "List the conversations in which something was not read.",
            parameters: [all.definition, limit.definition, cursor.definition],
            result: "list of unread", failures: [.forbidden],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.unread(
                        marksAll: given[all], PageRequest(given), context.scope(given)))
            })
    }()

    private static let channelMute = {
        let until = Parameter.time("until", "Until when.").ahead().optional()
        let duration = Parameter.duration(
            "for_ms", "For how long; without any for ever, with 0s not any more.",
            0...(3_650 * 24 * 3_600 * 1_000)
        ).flag("for").optional()
        return Command(
            "channel.mute",
            line: CommandLineForm(
                "channel mute", ["channel", "for_ms"],
                examples: ["channel mute general 8h", "channel mute general 0s"]),
            "Want no notice of a conversation for a while, on any of one's devices.",
            parameters: [channel.definition, until.definition, duration.definition],
            result: "channel", failures: refusals, example: ["channel": "general"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.mute(
                        given[channel], until: given[until], forMilliseconds: given[duration],
                        context.scope(given)))
            })
    }()

    private static let channelNotify = {
        let level = Parameter.choice(
            "level", "Of which messages notice is wanted; 'default' is as in the whole workspace.",
            ["all", "mentions", "none", "default"])
        return Command(
            "channel.notify",
            line: CommandLineForm(
                "channel notify", ["channel", "level"],
                examples: [
                    "channel notify general mentions", "channel notify general default",
                ]),
            "Say of which messages of a conversation notice is wanted, on all of one's devices.",
            parameters: [channel.definition, level.definition], result: "channel",
            failures: refusals, example: ["channel": "general", "level": "mentions"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.setNotices(
                        given[level], of: given[channel], context.scope(given)))
            })
    }()

    private static let preferenceName = Parameter.text(
        "setting", "What the setting is called.", bytes: 1...Limits.preferenceNameBytesMax)

    private static let preferenceGet = Command(
        "ui.pref.get",
        line: CommandLineForm("ui pref get", ["setting"], examples: ["ui pref get theme"]),
        "Show a setting that programs keep for all of one's devices.",
        parameters: [preferenceName.definition], result: "preference",
        example: ["setting": "theme"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.preference(given[preferenceName], context.scope(given)))
        })

    private static let preferenceList = Command(
        "ui.pref.list", line: CommandLineForm("ui pref list", examples: ["ui pref list"]),
        "List the settings and drafts that programs keep for all of one's devices.",
        parameters: [limit.definition, cursor.definition], result: "list of preference",
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.preferences(PageRequest(given), context.scope(given)))
        })

    private static let preferenceSet = {
        let value = Parameter.text(
            "value", "The new value; without one there is none any more.",
            bytes: 0...Limits.preferenceBytesMax
        ).optional()
        return Command(
            "ui.pref.set",
            line: CommandLineForm(
                "ui pref set", ["setting", "value"],
                examples: [
                    "ui pref set theme dark", "ui pref set draft.general 'not sent yet'",
                ]),
            "Keep a setting, or a draft, for all of one's devices.",
            parameters: [preferenceName.definition, value.definition], result: "preference",
            failures: [.forbidden], example: ["setting": "theme", "value": "dark"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.setPreference(
                        given[preferenceName], to: given[value], context.scope(given)))
            })
    }()
}
