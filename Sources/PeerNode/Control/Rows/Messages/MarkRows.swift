import WorkspaceModel

extension Command {
    /// Messages to come back to, and reminders.
    static let markCommands = [
        messageStar, messageUnstar, messageList, reminderCreate, reminderList, reminderCancel,
    ]

    private static let refusals: [NodeError.Kind] = [.notFound, .ambiguous, .forbidden]

    // MARK: Stars

    private static let messageStar = starring(
        "message.star", "message star", "Star a message, to find it again. Only you see that.",
        isOn: true)

    private static let messageUnstar = starring(
        "message.unstar", "message unstar", "Remove your star from a message.", isOn: false)

    private static func starring(
        _ name: String, _ words: String, _ summary: String, isOn: Bool
    ) -> Command {
        let message = Parameter.identifier("message", "Which message.", prefix: "m_")
        return Command(
            name,
            line: CommandLineForm(
                words, ["message"],
                examples: ["\(words) m_01hx9t4c", "\(words) last --in general"]),
            summary, parameters: [message, inChannel], result: "message", shape: .message,
            effect: .signs, scope: .conversation, failures: refusals + [.conflict, .tooMany],
            example: ["message": "m_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.marks.star(call[message], isOn: isOn, call.scope)
            })
    }

    private static let messageList = {
        // Nothing else can be listed yet, so nobody has to say it.
        let starred = Parameter.flag("starred", "The messages that you have starred.")
            .defaulting(to: true)
        return Command(
            "message.list",
            line: CommandLineForm(
                "message list", examples: ["message list", "message list -n 10"]),
            "List messages you starred, the latest star first.",
            parameters: [starred, limit, cursor], result: "list of message",
            shape: .starredMessages, emptiness: "nothing starred", effect: .reads,
            scope: .workspace, failures: [.notFound], example: ["starred": true],
            run: .outcome { (call) throws(NodeError) in
                guard call[starred] else {
                    throw NodeError(
                        .badRequest, "which messages?",
                        hint: "wsx-node message list lists starred ones, wsx-node log CHANNEL all",
                        reason: "control.bad_param",
                        fields: [.init(name: "starred", reason: ParameterMismatch.form.rawValue)])
                }
                return .reply(
                    try call.node.marks.starredMessages(call.page, call.scope)
                )
            })
    }()

    // MARK: Reminders

    private static let reminderCreate = {
        let message = Parameter.identifier("message", "The message to come back to.", prefix: "m_")
            .optional()
        let channel = Parameter.channel("channel", "The channel or conversation instead.")
            .optional()
        let at = Parameter.time("at", "When. On the command line, a day alone means 9:00.")
            .ahead().fromMorning().called("time")
        let text = Parameter.text(
            "text", "What to be reminded of.", bytes: 1...Limits.reminderTextBytesMax
        ).optional()
        // On the command line a time may be two words, and a text any number.
        let about = Parameter.text(
            "about", "A message, 'last' with --in, or a channel.",
            bytes: ParameterShape.referenceBytes
        ).optional().local()
        let words = Parameter.text(
            "when", "When, and then what to be reminded of.",
            bytes: 1...Limits.messageTextBytesMax
        ).messageText().called("text").optional().local()
        return Command(
            "reminder.create",
            line: CommandLineForm(
                "remind", ["about", "when"],
                examples: [
                    "remind m_01hx9t4c 2h", "remind last tomorrow 9:00 --in general",
                    "remind general in 5 minutes",
                    "remind general monday 9:00 'weekly notes'",
                ], flow: .remind),
            "Remind yourself of a message or a channel, on all your devices.",
            parameters: [about, words, message, channel, at, text, inChannel, key],
            result: "reminder", shape: .reminder, effect: .signs, scope: .workspace,
            failures: refusals + [.conflict, .tooMany, .keyReused],
            example: ["channel": "general", "at": 1_795_200_000_000, "text": "weekly notes"],
            run: .outcome { (call) throws(NodeError) in
                let subject: ReminderDraft.Subject
                switch (call[message], call[channel]) {
                case (let message?, nil): subject = .message(message)
                case (nil, let channel?): subject = .channel(channel)
                default:
                    throw NodeError(
                        .badRequest, "a reminder is about one message or one channel",
                        hint: "wsx-node help remind", reason: "control.bad_param",
                        fields: [.init(name: "message", reason: ParameterMismatch.missing.rawValue)]
                    )
                }
                return .reply(
                    try call.node.marks.remind(
                        ReminderDraft(subject: subject, at: call[at], text: call[text]),
                        call.creatingScope))
            })
    }()

    private static let reminderList = Command(
        "reminder.list", line: CommandLineForm("remind list", examples: ["remind list"]),
        "List your reminders. Those that are due come first.",
        parameters: [limit, cursor], result: "list of reminder", shape: .reminders,
        emptiness: "no reminders", effect: .reads, scope: .workspace, failures: [.notFound],
        run: .answer { (call) throws(NodeError) in
            try call.node.marks.reminders(call.page, call.scope)
        })

    private static let reminderCancel = {
        let id = Parameter.identifier("id", "Which reminder.", prefix: "y_")
        return Command(
            "reminder.cancel",
            line: CommandLineForm("remind cancel", ["id"], examples: ["remind cancel y_7k3qm2xa"]),
            "Cancel a reminder, or dismiss one that is due, on all your devices.",
            parameters: [id], result: "reminder", shape: .reminder, effect: .signs,
            scope: .workspace, failures: [.notFound, .forbidden], example: ["id": "y_7k3qm2xa"],
            run: .answer { (call) throws(NodeError) in
                try call.node.marks.cancelReminder(call[id], call.scope)
            })
    }()
}
