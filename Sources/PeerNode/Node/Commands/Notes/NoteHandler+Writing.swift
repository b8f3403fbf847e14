import CRDTStore
import NoteText
import WorkspaceModel

/// Creates and changes notes.
extension NoteHandler: NoteCommands {
    func create(
        _ draft: NoteDraftRequest, _ scope: CallScope
    ) throws(NodeError) -> Made<NoteObject> {
        if let made = try core.replay(scope) { return try replayed(made) }
        let workspace: Workspace = try core.queries.workspace(scope)
        let named = try core.queries.channel(draft.channel, in: workspace)
        try refuseWriting(in: named, of: workspace)
        let title = try checked(draft.title)
        var first: NoteChangeRequest?
        if let text = draft.text { first = try request(text, isMarkdown: draft.isMarkdown) }
        try refuseMore(in: named)
        // Writes where nobody has opened the conversation, so it comes after every refusal.
        let channel = try ChannelHandler(core).opened(named, in: workspace)
        let made = try stored { () throws(StorageError) in
            try core.privates.authorContent(
                .note(.creation(title: title)), to: channel.id, in: workspace)
        }
        guard let made, let document = store.operations.document(channel.id, in: workspace.number),
            let written = try stored({ () throws(StorageError) in
                try store.operations.operation(made.arrival, hasPayload: false)
            })
        else { throw core.membership.notAllowed(in: workspace) }
        try core.remember(scope, made: bigEndianBytes(of: UInt64(made.arrival)))
        let aim = Aim(
            workspace: workspace, channel: channel,
            place: .init(document: document.number, key: written.messageKey),
            document: channel.id)
        if let first { try write(first, base: nil, aim) }
        return Made(try object(of: aim))
    }

    /// The note may be in another workspace than the one that is selected by now.
    private func replayed(_ made: [UInt8]) throws(NodeError) -> Made<NoteObject> {
        let arrival = made.reduce(0) { $0 << 8 | Int64($1) }
        let object = try stored { () throws(StorageError) -> NoteObject? in
            guard let stored = try store.operations.operation(arrival, hasPayload: false),
                let document = store.operations.document(numbered: stored.document),
                let workspace = core.workspaces[document.workspace]
            else { return nil }
            return try core.notes.objects.object(
                of: .init(document: stored.document, key: stored.messageKey), in: workspace)
        }
        guard let object else { throw .internalFailure(reason: "replay") }
        return Made(object, isReplayed: true)
    }

    private func refuseMore(in channel: Workspace.Channel) throws(NodeError) {
        let count = try stored { () throws(StorageError) in
            try core.notes.finding.places(in: [channel], limit: Limits.notesPerChannelMax).count
        }
        guard count >= Limits.notesPerChannelMax else { return }
        throw NodeError(
            .tooMany, "a channel holds at most \(Limits.notesPerChannelMax) notes",
            hint: "write in an existing one: wsx-node note list", reason: "note.count")
    }

    /// A title, validated: one visible line that is not an id.
    private func checked(_ title: String) throws(NodeError) -> String {
        do throws(TextProblem) { try CheckedName.checkWire(title) } catch {
            throw .badText(error, field: "title", hint: nil, reason: "bad_name")
        }
        let isID = PublicID.noteKey(title) != nil || isIdentifier(title, prefix: "n_")
        guard !CheckedName.isBlank(title), !isID else {
            throw NodeError(
                .badRequest,
                isID ? "a title cannot look like an id" : "'title' has no visible characters",
                hint: "choose another title", reason: "bad_name",
                fields: [.init(name: "title", reason: isID ? "form" : "empty")])
        }
        return title
    }

    // MARK: Text

    func edit(
        _ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope
    ) throws(NodeError) -> NoteObject {
        let aim = try aimToWrite(note, scope)
        try refuseDeleted(aim)
        if edit.isStrict { try refuseLocked(aim) }
        try write(try request(edit), base: edit.base, aim)
        return try shown(
            aim,
            NoteViewRequest(isMarkdown: false, hasBlocks: false, hasBlame: false, cursor: nil))
    }

    func step(
        _ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope
    ) throws(NodeError) -> NoteStepObject {
        let aim = try aimToWrite(note, scope)
        try refuseDeleted(aim)
        if edit.isStrict { try refuseLocked(aim) }
        let request = try request(edit)
        let before = try openedToWrite(aim).version
        try write(request, base: edit.base, aim)
        return NoteStepObject(
            id: PublicID.note(aim.place.key), from: before.text,
            version: try opened(aim).version.text)
    }

    private func request(_ edit: NoteEditRequest) throws(NodeError) -> NoteChangeRequest {
        switch (edit.text, edit.changes) {
        case (let text?, nil): return try request(text, isMarkdown: edit.isMarkdown)
        case (nil, let changes?): return .steps(try NoteChanges.steps(changes))
        default:
            throw NodeError(
                .badRequest, "give either 'text' or 'ops'",
                hint: "see 'wsx-node rpc --describe note.edit'", reason: "control.bad_param",
                fields: [.init(name: "text", reason: ParameterMismatch.missing.rawValue)])
        }
    }

    private func write(_ request: NoteChangeRequest, base: String?, _ aim: Aim) throws(NodeError) {
        try core.notes.writing.edit(
            try openedToWrite(aim), request, base: base, in: aim.document, of: aim.workspace)
    }

    /// One final line break of a text ends its last line, and begins none.
    private func request(_ text: String, isMarkdown: Bool) throws(NodeError) -> NoteChangeRequest {
        let text =
            text.utf8.last == UInt8(ascii: "\n") ? String(text.unicodeScalars.dropLast()) : text
        guard text.unicodeScalars.allSatisfy(NoteCharacters.isAllowed) else { throw .noteBadText }
        return isMarkdown ? .lines(NoteMarkdown.lines(of: text)) : .text(text)
    }

    // MARK: Title

    func rename(
        _ note: NoteReference, to title: String, _ scope: CallScope
    ) throws(NodeError) -> NoteObject {
        let aim = try aimToWrite(note, scope)
        try refuseDeleted(aim)
        let title = try checked(title)
        let before = try object(of: aim)
        if before.title.utf8.elementsEqual(title.utf8) { return before }
        try say(.title(title, of: aim.place.key), .noteTitle, aim)
        return try object(of: aim)
    }

    /// Says something of a note until it counts.
    private func say(
        _ content: NoteContent, _ kind: ViewStore.Annotation.Kind, _ aim: Aim
    ) throws(NodeError) {
        try sayUntilItCounts(
            .note(content), in: aim.place.register(kind), isOwn: false, to: aim.document,
            of: aim.workspace)
    }

    // MARK: Deletion

    func delete(
        _ note: NoteReference, _ way: NoteDeletion, _ scope: CallScope
    ) throws(NodeError) -> NoteObject {
        let aim = try aimToWrite(note, scope)
        var object = try object(of: aim)
        switch way {
        case .hiding, .undoing:
            let isOn = way == .hiding
            guard object.isDeleted != isOn else { return object }
            try say(.deletion(isOn: isOn, of: aim.place.key), .noteDeletion, aim)
            return try self.object(of: aim)
        case .purging:
            try purge(aim)
            object.isDeleted = true
            return object
        }
    }
}
