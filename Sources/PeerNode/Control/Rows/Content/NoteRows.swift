import WorkspaceModel

/// The commands about notes.
enum NoteCommandTable {
    static let commands =
        [list, create, get, edit, watch, attach] + presenceCommands + [rename, delete, history]

    static let refusals: [NodeError.Kind] = [.notFound, .ambiguous, .forbidden]

    static let note = Parameter<String>(
        "note", "Which note: its title or id.", .note
    ) { $0.stringValue }
    static let inChannel = Parameter.channel(
        "in", "The channel in which to look for the title."
    ).optional()
    private static let format = Parameter.choice(
        "format", "Whether the text is plain or Markdown.", ["text", "markdown"]
    ).defaulting(to: "text")
    /// How long a text is that is not in the line.
    private static let bytes = Parameter.integer(
        "bytes", "For programs: the size of the text, which then follows the line of the request.",
        0...Int64(Limits.noteTextPerCallBytesMax)
    ).optional().forPrograms()
    /// The methods whose text may follow their line.
    static let takersOfTexts = ["note.create", "note.edit"]

    /// The text of a call, in its line or behind it.
    private static func givenText(
        _ inLine: Parameter<String?>, of call: CommandCall
    ) throws(NodeError) -> String? {
        guard call[bytes] != nil else { return call[inLine] }
        func mismatch(_ sentence: String, _ hint: String) -> NodeError {
            NodeError(
                .badRequest, sentence, hint: hint, reason: "control.bad_param",
                fields: [.init(name: "bytes", reason: ParameterMismatch.form.rawValue)])
        }
        guard call[inLine] == nil else {
            throw mismatch("'text' and 'bytes' cannot be combined", "use only one of them")
        }
        guard let given = call.context.file else { throw .carriesFile }
        guard let text = String(validating: given, as: UTF8.self) else {
            throw mismatch("the text is not UTF-8", "convert it to UTF-8")
        }
        return text
    }
    /// Where the command line finds a text.
    private static let from = Parameter.text(
        "from", "Read the text from this file; '-' reads standard input.", bytes: 1...4_096
    ).optional().local()

    static func reference(_ call: CommandCall) -> NoteReference {
        NoteReference(text: call[note], channel: call[inChannel])
    }

    private static let list = {
        let channel = Parameter.channel(
            "channel", "Which channel or conversation. Without it, all that you are in."
        ).optional()
        let deleted = Parameter.flag("deleted", "Deleted notes that can be restored.")
        return Command(
            "note.list",
            line: CommandLineForm(
                "note list", ["channel"], examples: ["note list", "note list general"]),
            "List notes, the newest first.",
            parameters: [channel, deleted, Command.limit, Command.cursor], result: "list of note",
            shape: .notes, emptiness: "no notes", effect: .reads, scope: .workspace,
            failures: refusals, example: ["channel": "general"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notes.list(
                    in: call[channel], deleted: call[deleted], call.page, call.scope)
            })
    }()

    /// The title of a note without one.
    private static let untitled = "Untitled"

    private static let create = {
        let title = Parameter.text(
            "title", "The title of the note.", bytes: 0...Limits.noteTitleBytesMax
        ).defaulting(to: untitled)
        let text = Parameter.text(
            "text", "The text to start with.", bytes: 0...Limits.controlLineBytesMax
        ).optional().messageText().called("text")
        return Command(
            "note.create",
            line: CommandLineForm(
                "note create", ["channel", "title"],
                examples: [
                    "note create general 'Shopping list'",
                    "note create general Minutes --from minutes.md --format markdown",
                ], flow: .writeNote, channels: .open),
            "Create a note in a channel. Everyone there can write in it at the same time.",
            parameters: [Command.channel, title, text, bytes, from, format, Command.key],
            result: "note", shape: .changedNote, effect: .signs, scope: .conversation,
            failures: refusals + [.archived, .tooMany, .tooLarge, .keyReused],
            example: ["channel": "general", "title": "Shopping list"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notes.create(
                    NoteDraftRequest(
                        channel: call[Command.channel],
                        title: call[title].isEmpty ? untitled : call[title],
                        text: try givenText(text, of: call), isMarkdown: call[format] == "markdown"),
                    call.creatingScope)
            })
    }()

    private static let get = {
        let markdown = Parameter.flag("markdown", "With headings, lists, bold text and links.")
        let blocks = Parameter.flag("blocks", "Also show lines and marks as values.")
        let blame = Parameter.flag("blame", "Show who wrote what.")
        return Command(
            "note.get",
            line: CommandLineForm(
                "note show", ["note"],
                examples: [
                    "note show 'Shopping list' --in general", "note show n_01hx9t4c --markdown",
                ], flow: .showNote),
            "Show the text of a note. In a file or a pipe it is exact, with a line break at its end, "
                + "which 'note edit --from' takes off again.",
            parameters: [note, inChannel, markdown, blocks, blame, Command.cursor],
            result: "note with its text", shape: .noteText, effect: .reads, scope: .conversation,
            failures: refusals, example: ["note": "n_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notes.show(
                    reference(call),
                    NoteViewRequest(
                        isMarkdown: call[markdown], hasBlocks: call[blocks], hasBlame: call[blame],
                        cursor: call[Command.cursor]), call.scope)
            })
    }()

    private static let edit = {
        let text = Parameter.text(
            "text", "The whole new text.", bytes: 0...Limits.controlLineBytesMax
        ).optional().messageText().called("text")
        let changes = Parameter.json(
            "ops",
            "Changes to make instead, in order: {insert: {at, text}}, {delete: {at, length}}, "
                + "{format: {at, length, mark, value}} or {line: {at, kind}}."
        ).optional()
        let base = Parameter.text(
            "base", "The version you have seen; what changed since then is kept.", bytes: 1...64
        ).optional()
        let strict = Parameter.flag(
            "strict", "Change nothing while someone else has locked the note.")
        let brief = Parameter.flag("brief", "Answer with only the versions before and after.")
        let editor = Parameter.flag(
            "editor", "Change the text in your editor: $VISUAL, or $EDITOR."
        ).local()
        return Command(
            "note.edit",
            line: CommandLineForm(
                "note edit", ["note"],
                examples: [
                    "note edit 'Shopping list' --in general --editor",
                    "note edit 'Shopping list' --in general --from list.txt",
                    "note edit n_01hx9t4c --from - < list.txt",
                ], flow: .writeNote),
            "Change the text of a note. What others wrote since 'base' is kept.",
            parameters: [
                note, inChannel, text, bytes, from, editor, changes, base, format, brief, strict,
            ],
            result: "note with its text", shape: .editedNote, effect: .signs, scope: .conversation,
            failures: refusals + [.archived, .conflict, .tooLarge],
            example: ["note": "n_01hx9t4c", "text": "milk"],
            run: .outcome { (call) throws(NodeError) in
                let request = NoteEditRequest(
                    text: try givenText(text, of: call), changes: call[changes], base: call[base],
                    isMarkdown: call[format] == "markdown", isStrict: call[strict])
                guard call[brief] else {
                    return .reply(
                        try call.node.notes.edit(
                            reference(call), request, call.scope))
                }
                return .reply(
                    try call.node.notes.step(reference(call), request, call.scope))
            })
    }()

    private static let watch = Command(
        "note.watch",
        line: CommandLineForm(
            "note watch", ["note"], examples: ["note watch 'Shopping list' --in general"],
            flow: .watchNote),
        "Follow the text of a note live, one change per line. Ctrl-C stops.",
        parameters: [note, inChannel], result: "subscription with the version it begins with",
        shape: .subscription, effect: .writesBeside, scope: .conversation,
        failures: refusals + [.tooMany], example: ["note": "n_01hx9t4c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.notes.watch(reference(call), call.scope)
        })

    private static let attach = Command(
        "note.attach",
        line: CommandLineForm(
            "note attach", ["note"], examples: ["note attach 'Shopping list' --in general"],
            flow: .attachNote),
        "Connect an editor to a note: changes as lines of JSON, both ways. docs/EDITORS.md "
            + "describes them. The end of input ends it.",
        parameters: [note, inChannel], result: "changes, one per line", effect: .signs,
        scope: .conversation, failures: refusals + [.archived, .conflict, .tooLarge, .tooMany],
        example: ["note": "n_01hx9t4c"])

    private static let rename = {
        let title = Parameter.text(
            "title", "The new title.", bytes: 1...Limits.noteTitleBytesMax)
        return Command(
            "note.rename",
            line: CommandLineForm(
                "note rename", ["note", "title"],
                examples: ["note rename 'Shopping list' Groceries --in general"]),
            "Rename a note.",
            parameters: [note, title, inChannel], result: "note", shape: .changedNote,
            effect: .signs, scope: .conversation, failures: refusals + [.archived, .conflict],
            example: ["note": "n_01hx9t4c", "title": "Groceries"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notes.rename(reference(call), to: call[title], call.scope)
            })
    }()

    private static let delete = {
        let undo = Parameter.flag("undo", "Restore it.")
        let purge = Parameter.flag("purge", "Erase everything ever written in it, everywhere.")
        return Command(
            "note.delete",
            line: CommandLineForm(
                "note delete", ["note"],
                examples: [
                    "note delete Groceries --in general", "note delete n_01hx9t4c --undo",
                    "note delete n_01hx9t4c --purge",
                ], question: .purgesNote),
            "Delete a note for everyone. --undo restores it; --purge cannot be undone.",
            parameters: [note, undo, purge, inChannel], result: "note", shape: .changedNote,
            effect: .signs, scope: .conversation,
            failures: refusals + [.archived, .conflict, .tooMany], example: ["note": "n_01hx9t4c"],
            run: .outcome { (call) throws(NodeError) in
                guard !call[undo] || !call[purge] else {
                    throw NodeError(
                        .badRequest, "'undo' and 'purge' cannot be combined",
                        hint: "use only one of them", reason: "control.bad_param",
                        fields: [.init(name: "purge", reason: ParameterMismatch.form.rawValue)])
                }
                return .reply(
                    try call.node.notes.delete(
                        reference(call),
                        call[undo] ? .undoing : call[purge] ? .purging : .hiding,
                        call.scope))
            })
    }()

    private static let history = Command(
        "note.history",
        line: CommandLineForm(
            "note history", ["note"],
            examples: ["note history Groceries --in general -n 10"]),
        "Show who changed a note and when, the latest first.",
        parameters: [note, inChannel, Command.limit, Command.cursor], result: "list of changes",
        shape: .noteHistory, emptiness: "nobody changed it", effect: .reads, scope: .conversation,
        failures: refusals, example: ["note": "n_01hx9t4c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.notes.history(reference(call), call.page, call.scope)
        })
}
