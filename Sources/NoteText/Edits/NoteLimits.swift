/// Every bound on the text of a note that comes from outside, each with its reason.
public enum NoteLimits {
    // MARK: One operation

    /// Bytes of the body of one edit: a page of a book fits ten times. Longer pastes are split.
    public static let editBytesMax = 64 * 1024
    /// Changes in one edit: the shortest takes 5 bytes, a change of a whole text some hundred.
    public static let changesMax = 8_192
    /// Operations that one edit refers to, each 16 bytes: half of the body.
    public static let sourcesMax = 2_048
    /// Scalars that one edit inserts, which is what an offset stays below: one byte each at least.
    public static let offsetsMax = editBytesMax
    /// The address of a link, in bytes of UTF-8: browsers take 2,000 everywhere.
    public static let linkBytesMax = 2_048
    /// Bytes of a local draft that is to become an operation: a few sentences, and a quarter of
    /// what its signature and header would cost by themselves no longer matters.
    public static let draftBytesMax = 2 * 1024

    // MARK: One note

    /// Text of a note that is taken from somebody who edits here, in bytes of UTF-8.
    public static let textBytesMax = 16 * 1024 * 1024
    /// Text that was ever written into one note, in bytes of UTF-8: what comes beyond waits. A note
    /// of the largest size may be written anew 31 times.
    public static let historyBytesMax = 32 * textBytesMax
    /// Operations that wait for one that they refer to. More are not kept; the note has to be made
    /// anew for them.
    public static let waitingMax = 4_096
    /// Bytes of their bodies.
    public static let waitingBytesMax = 8 * 1024 * 1024

    /// Changes of what somebody else has not published that are shown; further ones are when they are
    /// published. Each is carried past those before it.
    public static let overlayPatchesMax = 64
    /// Runs of text that are looked at for what it deletes, most of which may be gone already.
    public static let overlayRunsMax = 1_024

    // MARK: Work

    /// Runs of text that are looked at one after the other before the order is searched instead.
    public static let scanMax = 48
    /// Steps of the exact comparison of two texts, 8 MB of memory; beyond them whole lines are
    /// compared.
    public static let differenceStepsMax = 1_000_000
}
