import CRDTStore
import NoteText
import WorkspaceModel

/// A part of the room of notes.
typealias NotePart = RoomPartOf<Notes>

/// Notes: operations about them, and the texts of open ones.
///
/// The store has the edits of each note. The text is built from them on demand, and stays in memory
/// while there is room. A note that is not open uses no memory.
final class Notes: Component {
    // A part asks those before it in this list, and none behind it.

    /// What the store says of notes.
    private(set) lazy var facts = NoteFacts(self)
    /// Reports about notes, and those that search has to index again.
    private(set) lazy var news = NoteNews(self)
    /// Who has notes open, here and elsewhere.
    private(set) lazy var attendance = NoteAttendance(self)
    /// What edits cite.
    private(set) lazy var citing = NoteCiting(self)
    /// The stored drafts of this home.
    private(set) lazy var drafts = NoteDrafts(self)
    /// The texts that are in memory.
    private(set) lazy var texts = NoteTexts(self)
    /// Finding notes.
    private(set) lazy var finding = NoteFinding(self)
    /// Notes as people see them.
    private(set) lazy var objects = NotePresenting(self)
    /// Changing texts here.
    private(set) lazy var writing = NoteWriter(self)
    /// Making operations of what is being written.
    private(set) lazy var publishing = NotePublishing(self)
    /// Updates between this home and others who have a note open.
    private(set) lazy var presenceSender = NotePresenceSender(self)

    override func forgetSecrets() { texts.forgetAll() }

    override func forgetWorkspaces() { texts.forgetAll() }

    // MARK: When time passes

    override var nextDeadline: UInt64? {
        guard home != nil else { return nil }
        var first = Earliest(attendance.presence.updateDue, attendance.presence.claimEnd)
        if mayWrite { first.take(drafts.hasLooked ? publishing.draftDue : time.monotonic) }
        return first.moment
    }

    override func tick() throws(StorageError) {
        guard home != nil, mayWrite else { return }
        if !drafts.hasLooked { try publishing.findDrafts() }
        try publishing.publishDue()
    }

    /// Keeps what would have to be made again, before the keys go that seal it.
    func closeAll() throws(StorageError) {
        texts.forgetGone()
        try publishing.publishAll()
        presenceSender.withdrawFromAll()
        for note in texts.orderedOpen { try texts.close(note) }
    }

    /// Opens watched notes at the end of the turn, and stores those that have changed much.
    func endTurn() throws(StorageError) {
        news.endTurn()
        try texts.openDue()
    }
}
