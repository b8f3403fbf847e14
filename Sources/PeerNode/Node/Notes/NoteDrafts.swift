import CRDTStore
import NoteText
import WorkspaceModel

/// Text being typed in a note here that is not an operation yet: written to the disk at once,
/// sealed for this home, and published after a pause. An operation per keystroke would cost
/// everybody more than its text.
final class NoteDrafts: NotePart {
    /// Whether it is known which notes somebody wrote in when the node was last stopped by force.
    var hasLooked = false

    /// The prefix of registry keys for drafts of notes.
    static let prefix = "note.draft."
    /// Before the edit: what names this version of it, 8 bytes, and the incarnation that writes it, 4 bytes.
    private static let headCount = 12

    static func name(of place: ViewStore.NotePlace) -> String {
        "\(prefix)\(place.document).\(PublicID.note(place.key))"
    }

    /// The note that a name in the registry is of.
    static func place(of name: String) -> ViewStore.NotePlace? {
        let parts = name.dropFirst(prefix.utf8.count).split(separator: ".")
        guard parts.count == 2, let document = Int64(parts[0]),
            let key = PublicID.noteKey(String(parts[1]))
        else { return nil }
        return .init(document: document, key: key)
    }

    // MARK: Keeping

    /// Keeps a draft safe, in the transaction of the call that changed it.
    func keepDraft(of note: OpenNote) throws(StorageError) {
        guard home != nil, let draft = note.note.draft, let author = note.draftAuthor else {
            return try forgetDraft(of: note)
        }
        let head =
            bigEndianBytes(of: note.drafted)
            + bigEndianBytes(of: UInt64(author.incarnation)).suffix(4)
        try setSealedValue(head + draft.edit.encoded, of: Self.name(of: note.place))
        note.draftChanged = time.monotonic
        if note.draftBegun == nil { note.draftBegun = time.monotonic }
    }

    /// For a draft that has become an operation, or is empty now.
    func forgetDraft(of note: OpenNote) throws(StorageError) {
        note.drafted = 0
        (note.draftBegun, note.retryAt) = (nil, nil)
        try removeDraft(named: Self.name(of: note.place))
    }

    func removeDraft(named name: String) throws(StorageError) {
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
            let record = try sealedValue(name), record.count > Self.headCount,
            let edit = try? NoteEdit(decoding: Array(record.dropFirst(Self.headCount)))
        else { return }
        let incarnation = record[8..<Self.headCount].reduce(0) { $0 << 8 | UInt32($1) }
        guard incarnation == identity.incarnation else {
            if mayWrite { try removeDraft(named: name) }
            return
        }
        let author = NoteOperation.Author(device: home.device, incarnation: incarnation)
        // The operations it refers to may not be here. Then it becomes an operation that waits for
        // them too.
        let isTaken = (try? note.note.restoreDraft(edit, as: author)) ?? false
        note.strandedDraft = isTaken ? nil : edit
        note.draftAuthor = author
        note.drafted = record.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        (note.draftBegun, note.draftChanged) = (time.monotonic, time.monotonic)
    }
}
