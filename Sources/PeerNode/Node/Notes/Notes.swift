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
    /// Notes whose title or text is another one since search took them, and whether what they said has to
    /// go.
    private var changed: [ViewStore.NotePlace: Bool] = [:]
    /// Words by which notes were made, of which some may not count any more, by arrival number.
    private var madeAnew: Set<Int64> = []
    /// Edits of this turn that mention the owner, the latest last.
    var mentioned: [NoteMention] = []
    /// The last place of each log that an edit written here has cited since the start.
    var cited: [LogName: UInt64] = [:]
    /// The notes whose text somebody here watches: they stay open.
    var watched: Set<ViewStore.NotePlace> = []
    /// Who else is in these.
    var company = NoteCompany()
    /// What changed in these since it was told.
    private(set) var moves: [NoteMove] = []
    /// The note into which an own edit is being written, which is in its text already.
    var publishing: OpenNote?
    /// Whether it is known which notes somebody wrote in when the node was last stopped by force.
    var hasLookedForDrafts = false

    /// Somebody who has changed a note.
    struct Telling: Hashable {
        let place: ViewStore.NotePlace
        let member: MemberID
        let isBackfill: Bool
    }

    override func forgetSecrets() { forgetAll() }

    override func forgetWorkspaces() { forgetAll() }

    private func forgetAll() {
        (open, tails, told, moves, cited) = ([:], [:], [], [], [:])
        (changed, madeAnew, mentioned) = ([:], [], [])
        company = NoteCompany()
        hasLookedForDrafts = false
    }

    // MARK: When time passes

    override var nextDeadline: UInt64? {
        guard home != nil else { return nil }
        var first = Earliest(company.wordDue, company.claimEnd)
        if mayWrite { first.take(hasLookedForDrafts ? draftDue : time.monotonic) }
        return first.moment
    }

    override func tick() throws(StorageError) {
        guard home != nil, mayWrite else { return }
        if !hasLookedForDrafts { try findDrafts() }
        try publishDue()
    }

    /// Those that are open, in an order that does not depend on the table.
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

    /// The text of a note as of now. One that is closed is closed again: who looks for words keeps
    /// nothing in memory.
    func currentText(
        of place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> String {
        if let known = known(place) { return known.note.text }
        let note = try opened(place, in: workspace)
        if !note.hasDraft, !watched.contains(place), open[place] === note { try close(note) }
        return note.note.text
    }

    private func use(_ note: OpenNote) {
        uses += 1
        note.usedAt = uses
    }

    /// Forgets the text of a note that cannot be taken further: it is made anew when it is asked for.
    func drop(_ note: OpenNote) {
        note.isDropped = true
        open[note.place] = nil
        // What was being written in it is kept, and taken up again.
        if note.hasDraft { hasLookedForDrafts = false }
        guard watched.contains(note.place) else { return }
        moves.append(NoteMove(place: note.place))
        company.own[note.place]?.selection = nil
        company.moved(note.place)
    }

    /// Notes that the text of a note has become another one.
    ///
    /// - Parameter patches: what changed, one after the other.
    func noteMove(
        of note: OpenNote, from before: NoteVersion, _ patches: [NotePatch], by member: MemberID?
    ) {
        guard watched.contains(note.place) else { return }
        moves.append(
            NoteMove(
                place: note.place, change: (before, note.version, patches), member: member))
        moveCompany(in: note.place, past: patches)
    }

    /// What whoever watches is to be told.
    func takeMoves() -> [NoteMove] {
        defer { moves = [] }
        return moves
    }

    /// What the store has forgotten is in no text any more.
    private func forgetGone() {
        guard let gone = store.view.notes.takeGoneNotes() else {
            forgetAll()
            return moves = watched.sorted().map { NoteMove(place: $0) }
        }
        guard !gone.isEmpty else { return }
        for note in open.values where gone.contains(note.place.document) { drop(note) }
    }

    /// Closes notes until there is room, those that were used longest ago first.
    private func closeSurplus(besides kept: OpenNote) throws(StorageError) {
        var bytes = open.values.reduce(0) { $0 + $1.bytes }
        for note in open.values.sorted(by: { $0.usedAt < $1.usedAt })
        where note !== kept && !watched.contains(note.place) && !note.hasDraft {
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
        try publishAll()
        leaveCompany()
        for note in orderedOpen { try close(note) }
    }

    // MARK: Search

    /// Notes that what search knows of a note is not so any more.
    ///
    /// - Parameter isGone: whether that may not be found anywhere any more.
    func noteChanged(_ place: ViewStore.NotePlace, isGone: Bool = false) {
        changed[place] = (changed[place] ?? false) || isGone
    }

    /// The same for the words by which a note was made.
    func noteMadeAnew(_ words: ViewStore.Annotation?...) {
        for word in words { if let word { madeAnew.insert(word.arrival) } }
    }

    /// What search has to look at again, each note once.
    func takeChanged() -> (
        notes: [(place: ViewStore.NotePlace, isGone: Bool)], words: [Int64]
    ) {
        defer { (changed, madeAnew) = ([:], []) }
        let notes = changed.sorted { $0.key < $1.key }.map { (place: $0.key, isGone: $0.value) }
        return (notes, madeAnew.sorted())
    }

    // MARK: The end of a turn

    /// Opens notes of which very much came, and keeps snapshots of those that have changed much.
    func endTurn() throws(StorageError) {
        told = []
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
        for place in watched.sorted() where open[place] == nil {
            guard let document = store.operations.document(numbered: place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            _ = try opened(place, in: workspace)
            // It may have changed while it was not open, as behind a lock.
            if !moves.contains(where: { $0.place == place && $0.change == nil }) {
                moves.append(NoteMove(place: place))
            }
        }
    }

    /// Counts an edit of a note that is not open.
    func noteTail(_ place: ViewStore.NotePlace) {
        if tails.count >= Limits.noteTailsMax, tails[place] == nil { tails = [:] }
        tails[place, default: 0] += 1
    }
}
