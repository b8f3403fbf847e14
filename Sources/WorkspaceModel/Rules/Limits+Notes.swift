/// Notes: documents that several people edit at once. The bounds of their text are in
/// `NoteText.NoteLimits`.
extension Limits {
    // MARK: What others write

    /// A note's title, in bytes of UTF-8: a line of a list.
    public static let noteTitleBytesMax = 256
    /// The body of one edit, in bytes (`NoteLimits.editBytesMax`). A longer paste becomes several.
    public static let noteEditBytesMax = 64 * 1024

    // MARK: What is written here

    /// Notes of one channel above which none is created here, deleted ones included: more than
    /// anybody looks through, and each costs every member a row.
    public static let notesPerChannelMax = 10_000
    /// Changes that one call makes in a note.
    public static let noteChangesPerCallMax = 1_024
    /// Operations that one call deletes with a note; the next call continues. They are signed in
    /// redactions of 256 each, about 0.2 s in all.
    public static let notePurgedPerCallMax = 65_536

    /// The pause after which a draft in a note becomes an operation.
    public static let noteDraftPauseMilliseconds: UInt64 = 2_000
    /// How long after its start it becomes one at the latest.
    public static let noteDraftMillisecondsMax: UInt64 = 10_000
    /// When that is retried where this device may not write at present.
    public static let noteDraftRetryMilliseconds: UInt64 = 60_000
    /// Bytes of a note's text up to which new mentions are detected, about 5 ms. In a longer one an
    /// edit mentions nobody.
    public static let noteMentionBytesMax = 1024 * 1024
    /// Scalars of a line on each side of a change that are searched for mentions.
    public static let noteMentionScalarsMax = 256

    /// Logs whose operations one edit cites because it refers to them. The next edits cite those of
    /// further logs.
    public static let noteCitationsMax = 12
    /// Logs whose cited operations are remembered; for others they are cited again.
    public static let noteCitedLogsMax = 65_536

    // MARK: Ephemeral updates

    /// Between two updates of this node about its open notes: ten a second.
    public static let noteWordMilliseconds: UInt64 = 100
    /// Notes in one such update; the others follow with the next.
    public static let noteWordsAtOnceMax = 4
    /// Note updates that a peer may send at once; more are dropped.
    public static let noteWordsMax = 64
    /// The budget grows by one in this many milliseconds: twice the rate of the busiest honest
    /// peer.
    public static let noteWordRefillMilliseconds: UInt64 = 12
    /// Bytes of unpublished text in an update: twice what becomes an operation at once. A longer
    /// draft is announced by its place only.
    public static let noteWordDraftBytesMax = 4_096
    /// How long others are asked to wait without a further update from the peer that asked.
    public static let noteLockMilliseconds: UInt64 = 1_500
    /// Other people in one note whose cursors an editor is told.
    public static let notesGuestsToldMax = 64
    /// Notes in which a peer may ask others to wait, as far as it is heeded, and in which this node
    /// asks: while one request lasts, no peer can make more than 60.
    public static let noteClaimsMax = 64

    /// A text behind the line of the call that writes it, in bytes: a whole note
    /// (`NoteLimits.textBytesMax`), and the line break that ends it in a file.
    public static let noteTextPerCallBytesMax = 16 * 1024 * 1024 + 1
    /// Bytes of texts that come so, of all connections together: four of the largest.
    public static let noteTextsComingBytesMax = 4 * noteTextPerCallBytesMax

    // MARK: Reads

    /// Notes that are searched for a title, the newest: each is opened for that, about 40 ms in
    /// all. The others are reachable by id.
    public static let notesNamedMax = 4_096
    /// Notes of one channel that a listing considers, the newest.
    public static let notesListedMax = 20_000
    /// Bytes of a note's text in one answer, as JSON: the rest of its line is for lines, marks and
    /// names.
    public static let noteTextPerAnswerBytesMax = 384 * 1024

    // MARK: Memory

    /// Open notes. Another one replaces the least recently used.
    public static let notesOpenMax = 16
    /// Bytes of open notes together, about, above which the least recently used are closed.
    public static let notesOpenBytesMax = 64 * 1024 * 1024
    /// Notes whose text is watched by local programs; each stays open meanwhile.
    public static let notesWatchedMax = 16
    /// Versions of an open note that an edit may be based on.
    public static let noteVersionsMax = 256
    /// Bytes of text inserted and removed between them, above which the oldest are forgotten.
    public static let noteVersionBytesMax = 4 * 1024 * 1024
    /// Edits of a closed note after which it is opened to store a snapshot, about 10 ms of reading:
    /// so nobody who opens it later waits for very many.
    public static let noteTailMax = 1_024
    /// Closed notes whose edits are counted. For others they are counted again.
    public static let noteTailsMax = 4_096
}
