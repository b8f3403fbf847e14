/// Messages, profiles and presence, and deletion.
extension Limits {
    // MARK: Messages

    /// Reactions shown under one message, the most frequent.
    public static let reactionsShownMax = 64
    /// Reactions of one person to one message, when they are written here.
    public static let reactionsPerMemberMax = 32
    /// Rows of one person's reactions to one message that are considered: enough for two devices
    /// that wrote while offline, and nobody can make showing a message slow for everybody.
    public static let reactionRowsPerMemberMax = 64
    /// Newest messages of a conversation that are considered for its preview in a list: more
    /// deletions in a row show as a deletion.
    public static let previewScanMax = 32
    /// Own messages rejected by others that the home screen counts.
    public static let refusedCountMax: Int64 = 10_000
    /// `@` signs in one text that are looked up as names.
    public static let mentionSignsMax = 256

    // MARK: Profiles and presence

    /// One field of a profile, in bytes of UTF-8: a page of members has all fields in one line.
    public static let profileFieldBytesMax = 1_024
    /// A presence text, in bytes of UTF-8: one line under a name.
    public static let presenceTextBytesMax = 256
    /// Between two presence updates to one workspace: of a program that changes it all the time,
    /// the latest counts.
    public static let presenceMilliseconds: UInt64 = 2_000
    /// Ephemeral messages that a peer may send at once; more are dropped.
    public static let passingWordsMax = 32
    /// The budget grows by one in this many milliseconds.
    public static let passingWordMilliseconds: UInt64 = 500
    /// Between two typing indications in one channel, which are shown for as long.
    public static let typingMilliseconds: UInt64 = 10_000
    /// Ephemeral events that one stream buffers until its reader takes them; more are dropped, and
    /// counted.
    public static let passingEventsMax = 256
    /// The newest own messages of one log whose receipts one turn reports: after a long time
    /// offline, older messages no longer interest anyone.
    public static let messagesToldHeldMax = 32
    /// The age up to which complete receipt of a message is reported: later it is only a new device
    /// that has it too.
    public static let heldToldMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Between two progress events of a transfer.
    public static let progressMilliseconds: UInt64 = 500
    /// Rows of the event table scanned at once, about 5 ms: a narrow filter over a long table must
    /// not delay others.
    public static let eventsLookedAtMax = 4_096

    // MARK: Deleted messages

    /// Operations that one redaction names: a message with all its edits, in 20 KB.
    public static let redactTargetsMax = 256
    /// Edits that are deleted with their message, the newest: 16 redactions, even for a message
    /// that a program edits without end.
    public static let editsErasedMax = 16 * redactTargetsMax - 1
    /// How long a message that somebody else deleted is kept, hidden, on each node: until then the
    /// deletion can be undone.
    public static let redactionUndoMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Payloads that are erased in one turn before the next input is handled.
    public static let erasedPayloadsPerTurnMax = 512
    /// Operations whose deletion is judged again in one turn before the next input is handled: all
    /// that one admin ever deleted, when the right to it ends.
    public static let redactionsJudgedPerTurnMax = 1_024
    /// People whose follow and unfollow operations are read in one turn: 35 microseconds each at
    /// worst.
    public static let followersHeardPerTurnMax = 2_048
    /// Register heads for one person in one channel that a command overwrites, `dependenciesMax` by
    /// each operation.
    public static let followingHeadsMax = 256
    /// Register heads of own devices for one subject that a command overwrites, likewise.
    public static let ownWordsMax = 4_096
    /// How soon the write-ahead log is truncated after an erasure: deletions that come together
    /// cost one checkpoint.
    public static let erasedLogMilliseconds: UInt64 = 2_000
    /// Missing payloads that one message requests.
    public static let payloadsPerWantMax = 64
    /// Missing payloads that one link requests or delivers; the rest on the next one.
    public static let payloadsAskedPerLinkMax = 4_096
    /// Rows of missing payloads scanned at once, including those of other workspaces.
    public static let missingLookedAtMax = 16_384
    /// How long a peer is not asked again for what it lacked twice; each time twice as long, up to
    /// a day.
    public static let payloadRoundMilliseconds: UInt64 = 60 * 1_000
    /// The longest such time.
    public static let payloadRoundMillisecondsMax: UInt64 = 24 * 60 * 60 * 1_000

    // MARK: Deleted channels

    /// How long the operations of a deleted channel are kept: a deletion that loses its effect,
    /// because its author is removed, restores the channel.
    public static let deletedChannelMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Operations that are erased in one turn before the next input is handled.
    public static let erasedPerTurnMax: Int64 = 2_000
    /// How long the contents of a deleted workspace are kept, for the same reason; longer, because
    /// more is lost.
    public static let deletedWorkspaceMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000
}
