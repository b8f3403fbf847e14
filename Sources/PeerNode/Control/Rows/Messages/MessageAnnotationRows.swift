import WorkspaceModel

extension Command {
    /// The commands that annotate messages.
    static let messageAnnotationCommands = [
        messageEdit, messageReact, messagePin, messageUnpin, messageHolders,
    ]

    private static let message = Parameter.identifier(
        "message", "Which message.", prefix: "m_")
    private static let refusals: [NodeError.Kind] = [
        .notFound, .ambiguous, .forbidden, .archived, .locked,
    ]

    private static let messageEdit = {
        let text = Parameter.text(
            "text", "The new text. '-' reads it from standard input.",
            bytes: 1...Limits.messageTextBytesMax
        ).standardInput().messageText()
        let base = Parameter.identifier(
            "base", "The version you have seen; if there is a newer one, nothing is changed.",
            prefix: "o_"
        ).optional()
        return Command(
            "message.edit",
            line: CommandLineForm(
                "message edit", ["message", "text"],
                examples: [
                    "message edit m_01hx9t4c 'hello, all'",
                    "message edit last 'hello, all' --in general",
                ], last: .own),
            "Edit a message of yours; 'last' is your newest one.",
            parameters: [message, text, base, inChannel], result: "message", shape: .message,
            effect: .signs, scope: .conversation, failures: refusals + [.conflict, .tooLarge],
            example: ["message": "m_01hx9t4c", "text": "hello, all"],
            run: .answer { (call) throws(NodeError) in
                try call.node.messages.edit(
                    call[message], to: call[text], base: call[base], call.scope)
            })
    }()

    private static let messageReact = {
        let emoji = Parameter.text(
            "emoji", "An emoji such as 👍, one other character, or a name: :thumbsup:.",
            bytes: 1...Limits.emojiBytesMax)
        let remove = Parameter.flag("remove", "Remove your reaction.")
        return Command(
            "message.react",
            line: CommandLineForm(
                "message react", ["message", "emoji"],
                examples: [
                    "message react m_01hx9t4c 👍", "message react last 👍 --in general --remove",
                ]),
            "React to a message, once with each emoji.",
            parameters: [message, emoji, remove, inChannel], result: "message", shape: .message,
            effect: .signs, scope: .conversation, failures: refusals + [.tooMany],
            example: ["message": "m_01hx9t4c", "emoji": "👍"],
            run: .answer { (call) throws(NodeError) in
                try call.node.messages.react(
                    call[message], with: call[emoji], isOn: !call[remove], call.scope)
            })
    }()

    private static let messagePin = pinning(
        "message.pin", "message pin", "Pin a message to its channel, for everyone.", isOn: true)

    private static let messageUnpin = pinning(
        "message.unpin", "message unpin", "Unpin a message.", isOn: false)

    private static func pinning(
        _ name: String, _ words: String, _ summary: String, isOn: Bool
    ) -> Command {
        Command(
            name,
            line: CommandLineForm(
                words, ["message"],
                examples: ["\(words) m_01hx9t4c", "\(words) last --in general"]),
            summary, parameters: [message, inChannel], result: "message", shape: .message,
            effect: .signs, scope: .conversation, failures: refusals,
            example: ["message": "m_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.messages.pin(call[message], isOn: isOn, call.scope)
            })
    }

    private static let messageHolders = Command(
        "message.holders",
        line: CommandLineForm(
            "message who", ["message"],
            examples: ["message who m_01hx9t4c", "message who last --in general"]),
        "Show which devices have a message, and which people. Those known to have it come first.",
        parameters: [message, inChannel, limit, cursor], result: "list of holder", shape: .holders,
        effect: .reads, scope: .conversation, failures: [.notFound, .ambiguous],
        example: ["message": "m_01hx9t4c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.messages.holders(call[message], call.scope).part(call.page)
        })
}
