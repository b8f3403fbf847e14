import CRDTStore
import NoteText
import WorkspaceModel

/// What is being written in a note here and is no operation yet: safe on the disk at once, sealed for
/// this home, and published after a pause. An operation for each keystroke would cost everybody more
/// than its text.
extension Notes {
    /// What stands in the registry for a note that is being written in.
    private static let prefix = "note.draft."
    /// Before the edit: what names this version of it, 8 bytes, and the incarnation that writes it, 4 bytes.
    private static let headCount = 12

    private static func name(of place: ViewStore.NotePlace) -> String {
        "\(prefix)\(place.document).\(PublicID.note(place.key))"
    }

    /// The note that a name in the registry is of.
    private static func place(of name: String) -> ViewStore.NotePlace? {
        let parts = name.dropFirst(prefix.utf8.count).split(separator: ".")
        guard parts.count == 2, let document = Int64(parts[0]),
            let key = PublicID.noteKey(String(parts[1]))
        else { return nil }
        return .init(document: document, key: key)
    }

    // MARK: Keeping

    /// Keeps a draft safe, in the transaction of the call that changed it.
    func keepDraft(of note: OpenNote) throws(StorageError) {
        guard let home, let draft = note.note.draft, let author = note.draftAuthor else {
            return try forgetDraft(of: note)
        }
        try write()
        let name = Self.name(of: note.place)
        let head =
            bigEndianBytes(of: note.drafted)
            + bigEndianBytes(of: UInt64(author.incarnation)).suffix(4)
        try store.registry.setValue(
            home.seal(
                head + draft.edit.encoded, name: Array(name.utf8), using: environment.random),
            of: name)
        note.draftChanged = time.monotonic
        if note.draftBegun == nil { note.draftBegun = time.monotonic }
    }

    /// For a draft that has become an operation, or says nothing any more.
    func forgetDraft(of note: OpenNote) throws(StorageError) {
        note.drafted = 0
        (note.draftBegun, note.retryAt) = (nil, nil)
        try removeDraft(named: Self.name(of: note.place))
    }

    /// Forgets what is being written in a note that is about to be erased.
    func forgetDraft(at place: ViewStore.NotePlace) throws(StorageError) {
        try removeDraft(named: Self.name(of: place))
        if let note = known(place), note.hasDraft { drop(note) }
    }

    private func removeDraft(named name: String) throws(StorageError) {
        guard try store.registry.value(name) != nil else { return }
        try write()
        try store.registry.setValue(nil, of: name)
    }

    /// Takes up a draft that was kept, in a note that was just made of its edits.
    ///
    /// A draft of another incarnation stays out: a copy of this home may have published it, and its text
    /// would be there twice.
    func takeUpDraft(into note: OpenNote) throws(StorageError) {
        let name = Self.name(of: note.place)
        guard let home, let identity = storeIdentity,
            let sealed = try store.registry.value(name),
            let record = home.open(sealed, name: Array(name.utf8)),
            record.count > Self.headCount,
            let edit = try? NoteEdit(decoding: Array(record.dropFirst(Self.headCount)))
        else { return }
        let incarnation = record[8..<Self.headCount].reduce(0) { $0 << 8 | UInt32($1) }
        guard incarnation == identity.incarnation else {
            if mayWrite { try removeDraft(named: name) }
            return
        }
        let author = NoteOperation.Author(device: home.device, incarnation: incarnation)
        // What it refers to may not be here. Then it becomes an operation that waits for that too.
        let isTaken = (try? note.note.restoreDraft(edit, as: author)) ?? false
        note.strandedDraft = isTaken ? nil : edit
        note.draftAuthor = author
        note.drafted = record.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        (note.draftBegun, note.draftChanged) = (time.monotonic, time.monotonic)
    }

    // MARK: Publishing

    /// When the next draft becomes an operation.
    var draftDue: UInt64? { open.values.compactMap(\.draftDue).min() }

    /// Makes operations of the drafts that are due.
    func publishDue() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for note in orderedOpen where note.draftDue.map({ $0 <= time.monotonic }) == true {
            try publishKept(note)
        }
    }

    /// Makes operations of all drafts: the node stops, or its keys go.
    func publishAll() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        if !hasLookedForDrafts { try findDrafts() }
        for note in orderedOpen where note.hasDraft { try publishKept(note) }
    }

    /// - Returns: whether there is no draft any more.
    @discardableResult
    func publishKept(_ note: OpenNote) throws(StorageError) -> Bool {
        guard note.hasDraft else { return true }
        guard let document = store.operations.document(numbered: note.place.document),
            let workspace = core.workspaces[document.workspace],
            let channel = workspace.channel(numbered: note.place.document),
            !channel.isArchived, channel.includes(workspace.member),
            try publishAlone(note, to: document.id, of: workspace)
        else {
            // It stays, and is shown here alone: perhaps the right to write comes back.
            note.retryAt = time.monotonic &+ Limits.noteDraftRetryMilliseconds
            return false
        }
        return true
    }

    /// Publishes a draft to which nothing is added: the text stays as it is under another version.
    private func publishAlone(
        _ note: OpenNote, to document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        let before = note.version
        guard try publish(note, to: document, of: workspace) else { return false }
        if !note.isDropped { noteMove(of: note, from: before, [], by: workspace.member) }
        owe(note.place)
        return true
    }

    /// Opens the notes in which somebody wrote when the node was last stopped by force.
    func findDrafts() throws(StorageError) {
        hasLookedForDrafts = true
        for name in try store.registry.names(beginningWith: Self.prefix) {
            guard let place = Self.place(of: name),
                let document = store.operations.document(numbered: place.document)
            else {
                // Its channel was erased.
                try removeDraft(named: name)
                continue
            }
            guard let workspace = core.workspaces[document.workspace] else { continue }
            _ = try opened(place, in: workspace)
        }
    }
}
