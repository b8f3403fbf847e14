import CRDTStore
import NoteText
import WorkspaceModel

/// The note texts that are in memory.
final class NoteTexts: NotePart {
    /// The notes whose text is in memory.
    private(set) var open: [ViewStore.NotePlace: OpenNote] = [:]
    /// Rises with each use of a note.
    private var uses: UInt64 = 0
    /// For notes that are not open: how many edits arrived since they were first counted.
    private var tails: [ViewStore.NotePlace: Int] = [:]

    /// Forgets all texts, and what is known beside the store of what they were.
    func forgetAll() {
        (open, tails) = ([:], [:])
        room.citing.forget()
        room.news.forget()
        room.attendance.forget()
        room.drafts.hasLooked = false
    }

    /// The open notes, in an order that does not depend on the table.
    var orderedOpen: [OpenNote] { open.values.sorted { $0.place < $1.place } }

    // MARK: Open notes

    /// The text of a note, which stays open for a while.
    func opened(
        _ place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> OpenNote {
        if let known = known(place) { return known }
        let note = try load(place, in: workspace)
        open[place] = note
        tails[place] = nil
        use(note)
        try closeSurplus(besides: note)
        return note
    }

    /// A note that is open.
    func known(_ place: ViewStore.NotePlace) -> OpenNote? {
        forgetGone()
        guard let note = open[place] else { return nil }
        use(note)
        return note
    }

    /// The current text of a note. One that was closed is closed again, so that a search keeps
    /// nothing in memory.
    func currentText(
        of place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> String {
        if let known = known(place) { return known.note.text }
        let note = try opened(place, in: workspace)
        if !note.hasDraft, !room.attendance.watched.contains(place), open[place] === note {
            try close(note)
        }
        return note.note.text
    }

    private func use(_ note: OpenNote) {
        uses += 1
        note.usedAt = uses
    }

    /// Drops a text that cannot be updated: it is built again on demand.
    func drop(_ note: OpenNote) {
        note.isDropped = true
        open[note.place] = nil
        // Its draft is kept, and is applied again.
        if note.hasDraft { room.drafts.hasLooked = false }
        room.attendance.noteDropped(note.place)
    }

    /// Drops the texts of notes that are no longer stored.
    func forgetGone() {
        guard let gone = store.view.notes.takeGoneNotes() else {
            forgetAll()
            return room.attendance.startAnew()
        }
        guard !gone.isEmpty else { return }
        for note in open.values where gone.contains(note.place.document) { drop(note) }
    }

    /// Closes notes until there is room, those that were used longest ago first.
    private func closeSurplus(besides kept: OpenNote) throws(StorageError) {
        var bytes = open.values.reduce(0) { $0 + $1.bytes }
        for note in open.values.sorted(by: { $0.usedAt < $1.usedAt })
        where note !== kept && !room.attendance.watched.contains(note.place) && !note.hasDraft {
            guard open.count > Limits.notesOpenMax || bytes > Limits.notesOpenBytesMax else {
                return
            }
            bytes -= note.bytes
            try close(note)
        }
    }

    func close(_ note: OpenNote) throws(StorageError) {
        if note.unsaved >= Self.savedOnCloseMin { try save(note) }
        open[note.place] = nil
    }

    /// Fewer edits are made again sooner than a snapshot is written.
    private static let savedOnCloseMin = 64

    // MARK: The end of a turn

    /// Opens notes with very many new edits, and stores snapshots of those that have changed much.
    func openDue() throws(StorageError) {
        try openWatched()
        guard home != nil, core.mayTidy else { return }
        let due = tails.filter { $0.value >= Limits.noteTailMax }.keys.sorted()
        for place in due {
            tails[place] = nil
            guard let document = store.operations.document(numbered: place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            _ = try opened(place, in: workspace)
        }
        for note in orderedOpen where note.isSnapshotDue {
            try save(note)
        }
    }

    /// Opens what is watched and was dropped, so that what becomes of it is told on.
    func openWatched() throws(StorageError) {
        guard home != nil else { return }
        for place in room.attendance.watched.sorted() where open[place] == nil {
            guard let document = store.operations.document(numbered: place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            _ = try opened(place, in: workspace)
            room.attendance.noteReopened(place)
        }
    }

    /// Counts an edit of a note that is not open.
    func noteTail(_ place: ViewStore.NotePlace) {
        if tails.count >= Limits.noteTailsMax, tails[place] == nil { tails = [:] }
        tails[place, default: 0] += 1
    }
}
