import CRDTStore
import NoteText
import WorkspaceModel

/// Turns typed text into operations: after a pause, and before the node stops or drops its keys.
final class NotePublishing: NotePart {
    /// When the next draft becomes an operation.
    var draftDue: UInt64? { room.texts.open.values.compactMap(\.draftDue).min() }

    /// Makes operations of the drafts that are due.
    func publishDue() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for note in room.texts.orderedOpen where note.draftDue.map({ $0 <= time.monotonic }) == true
        {
            try publishKept(note)
        }
    }

    /// Makes operations of all drafts: the node stops, or its keys go.
    func publishAll() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        if !room.drafts.hasLooked { try findDrafts() }
        for note in room.texts.orderedOpen where note.hasDraft { try publishKept(note) }
    }

    /// - Returns: whether there is no draft left.
    @discardableResult
    func publishKept(_ note: OpenNote) throws(StorageError) -> Bool {
        guard note.hasDraft else { return true }
        guard let document = store.operations.document(numbered: note.place.document),
            let workspace = core.workspaces[document.workspace],
            let channel = workspace.channel(numbered: note.place.document),
            !channel.isArchived, channel.includes(workspace.member),
            try publishAlone(note, to: document.id, of: workspace)
        else {
            // It stays, and is displayed only here: perhaps the right to write comes back.
            note.retryAt = time.monotonic &+ Limits.noteDraftRetryMilliseconds
            return false
        }
        return true
    }

    /// Publishes a draft without further changes: the text stays the same under another version.
    private func publishAlone(
        _ note: OpenNote, to document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        let before = note.version
        guard try room.writing.publish(note, to: document, of: workspace) else { return false }
        if !note.isDropped {
            room.attendance.noteMove(of: note, from: before, [], by: workspace.member)
        }
        room.attendance.enqueue(note.place)
        return true
    }

    /// Opens the notes in which somebody wrote when the node was last stopped by force.
    func findDrafts() throws(StorageError) {
        room.drafts.hasLooked = true
        for name in try store.registry.names(beginningWith: NoteDrafts.prefix) {
            guard let place = NoteDrafts.place(of: name),
                let document = store.operations.document(numbered: place.document)
            else {
                // Its channel was erased.
                try room.drafts.removeDraft(named: name)
                continue
            }
            guard let workspace = core.workspaces[document.workspace] else { continue }
            _ = try room.texts.opened(place, in: workspace)
        }
    }

    /// Forgets what is being written in a note that is about to be erased.
    func forgetDraft(at place: ViewStore.NotePlace) throws(StorageError) {
        try room.drafts.removeDraft(named: NoteDrafts.name(of: place))
        if let note = room.texts.known(place), note.hasDraft { room.texts.drop(note) }
    }
}
