/// What people say, show of themselves, and take back.
extension Limits {
    // MARK: Messages

    /// Signs that are shown under one message, those that most people gave.
    public static let reactionsShownMax = 64
    /// Signs that one person may leave under one message when they are written here.
    public static let reactionsPerMemberMax = 32
    /// Rows of one person's reactions to one message that are looked at: what two devices wrote
    /// apart fits, and nobody can make showing a message slow for everybody.
    public static let reactionRowsPerMemberMax = 64
    /// Newest messages of a conversation among which the one is looked for that stands for it in a
    /// list: more deletions in a row show as a deletion.
    public static let previewScanMax = 32
    /// Own messages that others do not take which the home screen counts.
    public static let refusedCountMax: Int64 = 10_000
    /// `@` in one text that are looked up among the names.
    public static let mentionSignsMax = 256

    // MARK: Profiles and presence

    /// One field of a profile, in bytes of UTF-8: a page of members has them all in one line.
    public static let profileFieldBytesMax = 1_024
    /// What somebody is busy with, in bytes of UTF-8: one line under a name.
    public static let presenceTextBytesMax = 256
    /// Between two words on the own presence to one workspace: of a program that changes it all
    /// the time the latest counts.
    public static let presenceMilliseconds: UInt64 = 2_000
    /// What passes and is not stored that a peer may say at once; what is too much is dropped.
    public static let passingWordsMax = 32
    /// And as many more as time goes by, one in this many milliseconds.
    public static let passingWordMilliseconds: UInt64 = 500
    /// Between two words on somebody's typing in one channel, which is shown for as long.
    public static let typingMilliseconds: UInt64 = 10_000
    /// Passing events that one stream keeps until its reader takes them; more are dropped, and
    /// counted.
    public static let passingEventsMax = 256
    /// Own messages of one log of which one turn tells who holds them, the newest: whoever was
    /// away for long hears of those that somebody still looks at.
    public static let messagesToldHeldMax = 32
    /// How old a message may be of which is told that everybody holds it: later it is a new
    /// device that has it too, which nobody waits for.
    public static let heldToldMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Between two words about how far a transfer has come.
    public static let progressMilliseconds: UInt64 = 500
    /// Rows of the event table that are looked at in one go, about 5 ms: a narrow filter over a
    /// long table holds up nobody.
    public static let eventsLookedAtMax = 4_096

    // MARK: Deleted messages

    /// Operations that one redaction names: a message with all its edits, in 20 KB.
    public static let redactTargetsMax = 256
    /// Edits that are deleted with their message, the newest: 16 redactions, also for somebody's
    /// message that a program changes without end.
    public static let editsErasedMax = 16 * redactTargetsMax - 1
    /// How long a message that somebody else deleted is kept, hidden, on each node: until then
    /// the deletion can be taken back.
    public static let redactionUndoMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Payloads that are erased in one turn before the next input gets its turn.
    public static let erasedPayloadsPerTurnMax = 512
    /// Operations about whose deletion is decided anew in one turn before the next input gets its
    /// turn: those that one admin ever deleted, when the right to it ends.
    public static let redactionsJudgedPerTurnMax = 1_024
    /// People of whom words about following are read in one turn: 35 microseconds each at worst.
    public static let followersHeardPerTurnMax = 2_048
    /// Words about one person in one channel that a command overwrites, `dependenciesMax` by each
    /// operation.
    public static let followingHeadsMax = 256
    /// Words of own devices about one thing that a command overwrites, likewise.
    public static let ownWordsMax = 4_096
    /// How soon the write-ahead log is emptied after something was erased: deletions that come
    /// together cost one copy.
    public static let erasedLogMilliseconds: UInt64 = 2_000
    /// Missing payloads that one message asks for.
    public static let payloadsPerWantMax = 64
    /// Missing payloads that one link asks for, or is given; the rest on the next one.
    public static let payloadsAskedPerLinkMax = 4_096
    /// Rows of missing payloads that are looked at in one go, also those of other workspaces.
    public static let missingLookedAtMax = 16_384
    /// How long a peer is not asked again for what it did not have when it was asked twice; each
    /// time twice as long, up to a day.
    public static let payloadRoundMilliseconds: UInt64 = 60 * 1_000
    /// The longest such time.
    public static let payloadRoundMillisecondsMax: UInt64 = 24 * 60 * 60 * 1_000

    // MARK: Deleted channels

    /// How long the operations of a deleted channel are kept: a deletion that loses its effect,
    /// because its author is removed, brings the channel back as it was.
    public static let deletedChannelMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Operations that are erased in one turn before the next input gets its turn.
    public static let erasedPerTurnMax: Int64 = 2_000
    /// How long the contents of a deleted workspace are kept, for the same reason; it is more,
    /// because more is lost.
    public static let deletedWorkspaceMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000
}
