import WorkspaceModel

extension Command {
    /// The commands for read markers, notice settings and shared preferences.
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
            parameters: [channel, message], result: "unread", shape: .unread, effect: .signs,
            scope: .conversation, failures: refusals, example: ["channel": "general"],
            run: .answer { (call) throws(NodeError) in
                try call.node.reading.markRead(call[channel], upTo: call[message], call.scope)
            })
    }()

    private static let readStatus = Command(
        "read.status", line: CommandLineForm("read status", examples: ["read status"]),
        "List your conversations, and how far you have read each.",
        parameters: [limit, cursor], result: "list of unread", shape: .unread,
        emptiness: "nothing read yet", effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in
            try call.node.reading.readStatus(call.page, call.scope)
        })

    private static let unreadGet = {
        let all = Parameter.flag("mark_all", "Mark everything as read first.")
            .writing(true, effect: .signs)
        return Command(
            "unread.get",
            line: CommandLineForm("unread", examples: ["unread", "unread --mark-all"]),
            "List conversations with unread messages.",
            parameters: [all, limit, cursor], result: "list of unread", shape: .unread,
            emptiness: "nothing unread", effect: .reads, scope: .workspace, failures: [.forbidden],
            run: .answer { (call) throws(NodeError) in
                try call.node.reading.unread(marksAll: call[all], call.page, call.scope)
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
            parameters: [channel, until, duration], result: "channel", shape: .noticedChannel,
            effect: .signs, scope: .conversation, failures: refusals,
            example: ["channel": "general"],
            run: .answer { (call) throws(NodeError) in
                try call.node.reading.mute(
                    call[channel], until: call[until], forMilliseconds: call[duration], call.scope)
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
            parameters: [channel, level], result: "channel", shape: .noticedChannel, effect: .signs,
            scope: .conversation, failures: refusals,
            example: ["channel": "general", "level": "mentions"],
            run: .answer { (call) throws(NodeError) in
                try call.node.reading.setNotices(call[level], of: call[channel], call.scope)
            })
    }()

    private static let preferenceName = Parameter.text(
        "setting", "The name of the setting.", bytes: 1...Limits.preferenceNameBytesMax)

    private static let preferenceGet = Command(
        "ui.pref.get",
        line: CommandLineForm("ui pref get", ["setting"], examples: ["ui pref get theme"]),
        "Show a setting that programs keep for all your devices.",
        parameters: [preferenceName], result: "preference", effect: .reads, scope: .workspace,
        example: ["setting": "theme"],
        run: .answer { (call) throws(NodeError) in
            try call.node.reading.preference(call[preferenceName], call.scope)
        })

    private static let preferenceList = Command(
        "ui.pref.list", line: CommandLineForm("ui pref list", examples: ["ui pref list"]),
        "List the settings and drafts that programs keep for all your devices.",
        parameters: [limit, cursor], result: "list of preference", shape: .preferences,
        emptiness: "no settings", effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in
            try call.node.reading.preferences(call.page, call.scope)
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
            parameters: [preferenceName, value], result: "preference", effect: .signs,
            scope: .workspace, failures: [.forbidden],
            example: ["setting": "theme", "value": "dark"],
            run: .answer { (call) throws(NodeError) in
                try call.node.reading.setPreference(
                    call[preferenceName], to: call[value], call.scope)
            })
    }()
}
