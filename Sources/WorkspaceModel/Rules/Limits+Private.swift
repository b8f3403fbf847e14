/// Private documents, and all keys.
extension Limits {
    // MARK: Private documents

    /// People in a direct conversation besides the one who opens it: with more it is a channel.
    public static let directPeopleMax = 31
    /// The name of a setting in an own document.
    public static let preferenceNameBytesMax = 64
    /// The value of a setting: what a program stores for all devices is small.
    public static let preferenceBytesMax = 16 * 1_024
    /// At most one read marker per conversation is written in this time: reading a busy channel
    /// must not fill everybody's store.
    public static let readMarkerMilliseconds: UInt64 = 60_000
    /// Operations that an author examines to determine the causal past of what it cites, while
    /// somebody's clock is ahead.
    public static let causalStepsMax = 64
    /// Between two updates to the member's other devices on one conversation's read position,
    /// before it is written.
    public static let readWordMilliseconds: UInt64 = 1_000
    /// Logs in one read marker: about 12 KiB. With more, several are written.
    public static let readFrontierLogsMax = 1_024
    /// How many of the newest messages of a conversation are examined to count the unread ones, so
    /// that a list of channels costs the same after a year away.
    public static let unreadScanMax: Int64 = 10_000
    /// Keys under one name that cannot prove themselves: members who hand on wrong keys must not
    /// make others try thousands.
    public static let unprovenKeysMax = 8
    /// Notices kept for one document: every former member can leave any number, eight of each
    /// count.
    public static let privateNoticesMax = 64
    /// Notices of one sender about documents that are not here yet: as many as there may be private
    /// channels from which one person has removed somebody who was offline.
    public static let earlyNoticesOfOneMax = 256
    /// The same for all senders together: 80 KB.
    public static let earlyNoticesMax = 1_024
    /// People whose addition to one document is reported as ineffective by a device: removed
    /// members can name any number.
    public static let ineffectiveAdditionsToldMax = 1_024
    /// Members that one operation seats: as many as a workspace is designed for, in 42 KB.
    public static let privateSeatsMax = 2_000
    /// Names that one addition tells guests, in at most 140 KB.
    public static let namesToldMax = 500
    /// Cuts in one removal from a private document: logs of one person in one document, in 210 KB,
    /// so that the operation stays below the size of a payload.
    public static let privateCutsMax = 2_000
    /// Removals from the workspace that one new key answers; more take another key.
    public static let privateAnswersMax = 512
    /// A topic or a description inside a private document, in bytes of UTF-8.
    public static let privateTextBytesMax = 16 * 1024

    /// Keys of private documents that one link requests or delivers; the rest on the next one.
    public static let keysAskedPerLinkMax = 4_096
    /// A private document up to this size is judged again in each turn in which something of it
    /// arrives; a larger one waits. The size counts membership operations, citations and seats, a
    /// seat as six.
    public static let judgedAtOnceMax = 1_024
    /// The budget for larger ones of one size class, per millisecond. One operation takes some 3
    /// us, so that is a twentieth of the time, however much anybody writes.
    public static let judgedPerMillisecond = 16
    /// The same for all documents in one turn: a fifth of a second, before other input is handled.
    public static let judgedPerTurnMax = 65_536
    /// Private documents whose verdicts are cached, the most recently used: in a MiB. For others
    /// they are computed on demand.
    public static let privateJudgementsMax = 64
    /// A document larger than this, measured as for `judgedAtOnceMax`, is not counted there and
    /// stays cached: computing it again would take more than half a millisecond.
    public static let judgedOnceMoreMax = 128

    /// Epoch keys and the document keys derived from them in memory at a time: more than a week of
    /// anybody's reading needs, in 256 KiB of locked memory. All others are sealed in the store.
    public static let keysInMemoryMax = 4_096
    /// Discovery secrets of one workspace that are accepted on links, the newest: an incoming link
    /// makes a node try them all. An older one no longer works, like an outdated address.
    public static let discoverySecretsMax = 256
    /// Key names in memory with their numbers: more than anybody uses in a year, in a MiB.
    public static let keyNamesInMemoryMax = 8_192
    /// Group keys of one workspace that are accepted on links, the newest: after a longer absence a
    /// device connects under a discovery secret.
    public static let linkEpochsMax = 16
    /// Concurrent operations that name one of them, the newest: honest members write one.
    public static let linkEpochIntroductionsMax = 4
}
