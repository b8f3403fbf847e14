/// Every bound on foreign input to the text of a note, each with its reason.
public enum NoteLimits {
    // MARK: One operation

    /// Bytes of the body of one edit: more than ten pages of a book. Longer pastes are split.
    public static let editBytesMax = 64 * 1024
    /// Changes in one edit: the shortest takes 5 bytes, a change of a whole text some hundred.
    public static let changesMax = 8_192
    /// Operations that one edit refers to, 16 bytes each: half of the body.
    public static let sourcesMax = 2_048
    /// Scalars that one edit inserts, and the bound of offsets: each takes at least one byte.
    public static let offsetsMax = editBytesMax
    /// The address of a link, in bytes of UTF-8: all browsers accept 2,000.
    public static let linkBytesMax = 2_048
    /// Bytes of a local draft from which on it becomes an operation: a few sentences, enough for
    /// the cost of signature and header no longer to matter.
    public static let draftBytesMax = 2 * 1024

    // MARK: One note

    /// Text of a note up to which local edits are accepted, in bytes of UTF-8.
    public static let textBytesMax = 16 * 1024 * 1024
    /// Text ever written into one note, in bytes of UTF-8; more waits. A note of the largest size
    /// may be rewritten 31 times.
    public static let historyBytesMax = 32 * textBytesMax
    /// Operations that wait for one that they refer to. Beyond that they are dropped, and the note
    /// has to be rebuilt for them.
    public static let waitingMax = 4_096
    /// Bytes of their bodies.
    public static let waitingBytesMax = 8 * 1024 * 1024

    /// Unpublished changes of someone else that are shown; more appear when they are published.
    /// Each is transformed over those before it.
    public static let overlayPatchesMax = 64
    /// Runs of text that are examined for its deletions, most of which may be gone already.
    public static let overlayRunsMax = 1_024

    // MARK: Work

    /// Runs that are scanned one by one before the order is searched instead.
    public static let scanMax = 48
    /// Steps of the exact comparison of two texts, 8 MB of memory; beyond them
    /// whole lines are compared.
    public static let differenceStepsMax = 1_000_000
}
