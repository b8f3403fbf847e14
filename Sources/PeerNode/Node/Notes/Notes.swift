import CRDTStore
import NoteText
import WorkspaceModel

/// Notes: what is said of them, and the texts of those that are open.
///
/// Which edits a note is made of stands in the store. Its text is made of them when somebody asks for
/// it, and stays in memory while there is room. A note that is not open costs no memory.
final class Notes: Component {
    /// The notes whose text is in memory.
    private(set) var open: [ViewStore.NotePlace: OpenNote] = [:]
    /// Rises with each use of a note.
    private var uses: UInt64 = 0
    /// Of notes that are not open: how many edits came since it was counted first.
    var tails: [ViewStore.NotePlace: Int] = [:]
    /// Whose edits of what were told of in this turn.
    var told: Set<Telling> = []
    /// The last place of each log that an edit written here has cited since the start.
    var cited: [LogName: UInt64] = [:]
    /// The note into which an own edit is being written, which is in its text already.
    var publishing: OpenNote?

    /// Somebody who has changed a note.
    struct Telling: Hashable {
        let place: ViewStore.NotePlace
        let member: MemberID
        let isBackfill: Bool
    }

    override func forgetSecrets() { forgetAll() }

    override func forgetWorkspaces() { forgetAll() }

    private func forgetAll() {
        (open, tails, told, cited) = ([:], [:], [], [:])
    }

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

    private func use(_ note: OpenNote) {
        uses += 1
        note.usedAt = uses
    }

    /// Forgets the text of a note that cannot be taken further: it is made anew when it is asked for.
    func drop(_ note: OpenNote) {
        note.isDropped = true
        open[note.place] = nil
    }

    /// What the store has forgotten is in no text any more.
    private func forgetGone() {
        guard let gone = store.view.takeGoneNotes() else { return forgetAll() }
        guard !gone.isEmpty else { return }
        for note in open.values where gone.contains(note.place.document) { drop(note) }
    }

    /// Closes notes until there is room, those that were used longest ago first.
    private func closeSurplus(besides kept: OpenNote) throws(StorageError) {
        var bytes = open.values.reduce(0) { $0 + $1.bytes }
        for note in open.values.sorted(by: { $0.usedAt < $1.usedAt }) where note !== kept {
            guard open.count > Limits.notesOpenMax || bytes > Limits.notesOpenBytesMax else {
                return
            }
            bytes -= note.bytes
            try close(note)
        }
    }

    private func close(_ note: OpenNote) throws(StorageError) {
        if note.unsaved >= Self.savedOnCloseMin { try save(note) }
        open[note.place] = nil
    }

    /// Fewer edits are made again sooner than a snapshot is written.
    private static let savedOnCloseMin = 64

    /// Keeps what would have to be made again, before the keys go that seal it.
    func closeAll() throws(StorageError) {
        forgetGone()
        for note in open.values.sorted(by: { $0.place < $1.place }) { try close(note) }
    }

    // MARK: The end of a turn

    /// Opens notes of which very much came, and keeps snapshots of those that have changed much.
    func endTurn() throws(StorageError) {
        told = []
        guard home != nil, core.mayTidy else { return }
        let due = tails.filter { $0.value >= Limits.noteTailMax }.keys.sorted()
        for place in due {
            tails[place] = nil
            guard let document = store.operations.document(numbered: place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            _ = try opened(place, in: workspace)
        }
        for note in open.values.sorted(by: { $0.place < $1.place }) where note.isSnapshotDue {
            try save(note)
        }
    }

    /// Counts an edit of a note that is not open.
    func noteTail(_ place: ViewStore.NotePlace) {
        if tails.count >= Limits.noteTailsMax, tails[place] == nil { tails = [:] }
        tails[place, default: 0] += 1
    }
}
