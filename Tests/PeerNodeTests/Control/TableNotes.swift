import WorkspaceModel

@testable import PeerNode

/// Notes: small fixed answers.
struct TableNotes: NoteCommands {
    let node: TableNode

    static var note: NoteObject {
        NoteObject(
            id: "n_01hx9t4c", workspace: "w_acme0000", channel: "c_general0", title: "List",
            author: PersonObject(id: "u_mina0000", name: "Mina"), createdAt: 1_795_150_000_000)
    }

    static var written: NoteObject {
        var note = note
        note.editedAt = 1_795_150_900_000
        note.editedBy = note.author
        note.content = .init(version: "v_1", text: "milk\nbread", length: 10)
        return note
    }

    private func words(_ note: NoteReference) -> String {
        "\(note.text) \(words(note.channel))"
    }

    private func words(_ channel: ChannelReference?) -> String {
        channel.map { "\($0)" } ?? "nil"
    }

    func create(_ draft: NoteDraftRequest, _ scope: CallScope) throws(NodeError)
        -> Made<NoteObject>
    {
        try node.note(
            "note create \(draft.channel) \(draft.title) \(draft.text ?? "nil") \(draft.isMarkdown)",
            scope)
        return Made(Self.note)
    }

    func list(in channel: ChannelReference?, deleted: Bool, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<NoteObject>
    {
        try node.note("note list \(words(channel)) \(deleted) \(page.limit)", scope)
        return Page(node.findsNothing || deleted ? [] : [Self.note])
    }

    func show(_ note: NoteReference, _ request: NoteViewRequest, _ scope: CallScope)
        throws(NodeError) -> NoteObject
    {
        try node.note(
            "note get \(words(note)) \(request.isMarkdown) \(request.hasBlocks) "
                + "\(request.hasBlame) \(request.cursor ?? "nil")", scope)
        var note = Self.written
        node.changesNote(&note)
        return note
    }

    func edit(_ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope)
        throws(NodeError) -> NoteObject
    {
        try node.note(
            "note edit \(words(note)) \(edit.text ?? "nil") \(edit.changes?.text ?? "nil") "
                + "\(edit.base ?? "nil") \(edit.isMarkdown)", scope)
        return Self.written
    }

    func step(_ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope)
        throws(NodeError) -> NoteStepObject
    {
        try node.note(
            "note step \(words(note)) \(edit.changes?.text ?? "nil") \(edit.base ?? "nil")", scope)
        return NoteStepObject(id: "n_01hx9t4c", from: edit.base ?? "v_1", version: "v_2")
    }

    func select(_ note: NoteReference, _ selection: NoteSelectionRequest, _ scope: CallScope)
        throws(NodeError)
    {
        try node.note(
            "note cursor \(words(note)) \(selection.at) \(selection.length) "
                + "\(selection.base ?? "nil")", scope)
    }

    func lock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject {
        try node.note("note lock \(words(note))", scope)
        var locked = Self.note
        locked.lock = ["by": Self.note.author.json, "device": "d_device00", "at": 1]
        return locked
    }

    func unlock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject {
        try node.note("note unlock \(words(note))", scope)
        var free = Self.note
        free.lock = .null
        return free
    }

    func watch(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteWatchObject {
        try node.note("note watch \(words(note))", scope)
        return NoteWatchObject(subscription: 1, cursor: "e1.0", id: "n_01hx9t4c", version: "v_1")
    }

    func rename(_ note: NoteReference, to title: String, _ scope: CallScope) throws(NodeError)
        -> NoteObject
    {
        try node.note("note rename \(words(note)) \(title)", scope)
        return Self.note
    }

    func delete(_ note: NoteReference, _ way: NoteDeletion, _ scope: CallScope) throws(NodeError)
        -> NoteObject
    {
        try node.note("note delete \(words(note)) \(way)", scope)
        return Self.note
    }

    func history(_ note: NoteReference, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<NoteEventObject>
    {
        try node.note("note history \(words(note)) \(page.limit)", scope)
        return Page([
            NoteEventObject(
                id: "o_01hx9t4c", action: .created, by: Self.note.author, at: 1_795_150_000_000)
        ])
    }
}
