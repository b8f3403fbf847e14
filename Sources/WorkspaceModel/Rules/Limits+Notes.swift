/// Notes: documents that several people write at once. What bounds their text is in
/// `NoteText.NoteLimits`.
extension Limits {
    // MARK: What others write

    /// What a note is called, in bytes of UTF-8: a line of a list.
    public static let noteTitleBytesMax = 256
    /// The body of one edit, in bytes (`NoteLimits.editBytesMax`). A longer paste is several.
    public static let noteEditBytesMax = 64 * 1024

    // MARK: What is written here

    /// Notes that one channel has when another is made here, deleted ones included: more than anybody
    /// looks through, and each costs every member a row.
    public static let notesPerChannelMax = 10_000
    /// Changes that one call makes in a note.
    public static let noteChangesPerCallMax = 1_024
    /// Operations that one call deletes with a note; the rest by the next call. They are signed in
    /// redactions of 256 each, about 0.2 s in all.
    public static let notePurgedPerCallMax = 65_536

    /// The pause after which what is being written in a note becomes an operation.
    public static let noteDraftPauseMilliseconds: UInt64 = 2_000
    /// How long after it was begun it becomes one at the latest.
    public static let noteDraftMillisecondsMax: UInt64 = 10_000
    /// When that is tried again where this device may not write any more.
    public static let noteDraftRetryMilliseconds: UInt64 = 60_000
    /// Bytes of the text of a note in which it is looked whether a mention is new, about 5 ms. In a longer
    /// one an edit mentions nobody.
    public static let noteMentionBytesMax = 1024 * 1024
    /// Scalars of a line on each side of a change in which mentions are looked for.
    public static let noteMentionScalarsMax = 256

    /// Logs of which one edit cites operations that it refers to. What others of more logs wrote is cited
    /// by the next edits.
    public static let noteCitationsMax = 12
    /// Logs of which it is known what was cited; of more it is cited again.
    public static let noteCitedLogsMax = 65_536

    // MARK: What passes

    /// The time between two words of this node on what happens in its open notes: ten a second.
    public static let noteWordMilliseconds: UInt64 = 100
    /// Notes of which one such word tells; of more, the others are told of with the next.
    public static let noteWordsAtOnceMax = 4
    /// Words on notes that a peer may say at once; what is too much is dropped.
    public static let noteWordsMax = 64
    /// And as many more as time goes by, one in this many milliseconds: half of it is what the busiest
    /// honest peer says.
    public static let noteWordRefillMilliseconds: UInt64 = 12
    /// What is written and not published, in a word, in bytes: twice what becomes an operation at once.
    /// With more the word says where somebody is alone.
    public static let noteWordDraftBytesMax = 4_096
    /// How long others are asked to wait without a word of who asked.
    public static let noteLockMilliseconds: UInt64 = 1_500
    /// Others in one note of whom an editor is told where they are.
    public static let notesGuestsToldMax = 64
    /// Notes in which the other end of a link asks others to wait, as far as it is heeded, and those in
    /// which this node asks for it: in the time that one lasts no peer can say so of more than 60.
    public static let noteClaimsMax = 64

    // MARK: What is looked at

    /// Notes among which one of a title is looked for, the newest: each is opened for that, about 40 ms
    /// in all. The others are named by their ids.
    public static let notesNamedMax = 4_096
    /// Notes of one channel that are looked through for a list, the newest.
    public static let notesListedMax = 20_000
    /// Bytes that the text of a note takes in one answer, as JSON: the rest of its line is for lines,
    /// marks and names.
    public static let noteTextPerAnswerBytesMax = 384 * 1024

    // MARK: What is held in memory

    /// Notes that are open at once. Another one takes the place of the one that was used longest ago.
    public static let notesOpenMax = 16
    /// Bytes of open notes together, about, above which those used longest ago are closed.
    public static let notesOpenBytesMax = 64 * 1024 * 1024
    /// Notes whose text programs here watch; each stays open for as long.
    public static let notesWatchedMax = 16
    /// Versions of an open note that an edit may rest on.
    public static let noteVersionsMax = 256
    /// Bytes of text that came and went between them, above which the oldest are forgotten.
    public static let noteVersionBytesMax = 4 * 1024 * 1024
    /// Edits of a note that is not open after which it is opened to keep a snapshot, about 10 ms of
    /// reading: so nobody who opens it later has to wait for very many.
    public static let noteTailMax = 1_024
    /// Notes of which it is counted how many edits came while they were not open. Of more it is
    /// counted anew.
    public static let noteTailsMax = 4_096
}
