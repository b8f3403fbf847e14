import WorkspaceModel

extension NoteCommandTable {
    /// Being in a note together with others.
    static let presenceCommands = [cursor, lock, unlock]

    private static let cursor = {
        let at = Parameter.integer("at", "Where it is, in Unicode characters.", 0...placeMax)
        let length = Parameter.integer(
            "length", "How many characters behind it are selected.", 0...placeMax
        ).defaulting(to: 0)
        let base = Parameter.text(
            "base", "The version these places are in; without it, the text as it is now.",
            bytes: 1...64
        ).optional()
        return Command(
            "note.cursor",
            "Tell others who watch a note where you are in it. Needs a 'note.watch' on this node.",
            parameters: [note, inChannel, at, length, base], result: "nothing",
            effect: .writesBeside, scope: .conversation, failures: refusals + [.conflict],
            example: ["note": "n_01hx9t4c", "at": 4],
            run: .outcome { (call) throws(NodeError) in
                try call.node.notes.select(
                    reference(call),
                    NoteSelectionRequest(
                        at: Int(call[at]), length: Int(call[length]), base: call[base]),
                    call.scope)
                return .reply([:])
            })
    }()

    /// No text is longer than the largest note.
    private static let placeMax: Int64 = 16 * 1024 * 1024

    private static let lock = {
        let hold = Parameter.flag("hold", "Keep it locked until Ctrl-C.").local()
        return Command(
            "note.lock",
            line: CommandLineForm(
                "note lock", ["note"],
                examples: [
                    "note lock 'Shopping list' --in general", "note lock n_01hx9t4c --hold",
                ], flow: .lockNote),
            "Ask others not to write in a note. It ends 1.5 s after your last change or 'note lock'. "
                + "Nobody is kept out: 'note edit --strict' heeds it.",
            parameters: [note, inChannel, hold], result: "note", shape: .changedNote,
            effect: .writesBeside, scope: .conversation,
            failures: refusals + [.archived, .conflict, .tooMany], example: ["note": "n_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.notes.lock(reference(call), call.scope)
            })
    }()

    private static let unlock = Command(
        "note.unlock",
        line: CommandLineForm(
            "note unlock", ["note"], examples: ["note unlock 'Shopping list' --in general"]),
        "Let others write in a note that you locked.",
        parameters: [note, inChannel], result: "note", shape: .changedNote, effect: .writesBeside,
        scope: .conversation, failures: refusals, example: ["note": "n_01hx9t4c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.notes.unlock(reference(call), call.scope)
        })
}
