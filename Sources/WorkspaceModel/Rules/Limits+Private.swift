/// Private documents, and the keys of all.
extension Limits {
    // MARK: Private documents

    /// People of one direct conversation besides whoever opens it: more are a channel.
    public static let directPeopleMax = 31
    /// The name of a setting in the own document.
    public static let preferenceNameBytesMax = 64
    /// The value of one: what a program keeps for all devices is small.
    public static let preferenceBytesMax = 16 * 1_024
    /// Of one conversation at most one read marker is written in this time: who reads a busy
    /// channel must not fill everybody's store with it.
    public static let readMarkerMilliseconds: UInt64 = 60_000
    /// Operations that an author looks at to see what is in the past of what it cites, while
    /// somebody's clock is ahead.
    public static let causalStepsMax = 64
    /// Between two words on one conversation to the own devices, of what is not written yet.
    public static let readWordMilliseconds: UInt64 = 1_000
    /// Logs that one read marker names: about 12 KiB. Where there are more, several are written.
    public static let readFrontierLogsMax = 1_024
    /// How many of the newest messages of a conversation are looked at to count those that were not
    /// read, so that a list of channels costs the same after a year away.
    public static let unreadScanMax: Int64 = 10_000
    /// Keys under one name that cannot prove themselves: members who hand on a wrong one must not
    /// make others try thousands.
    public static let unprovenKeysMax = 8
    /// Notices of one document that are kept: anybody who was ever in can leave any, eight at most.
    public static let privateNoticesMax = 64
    /// Notices of documents that are not here yet, of one sender: as many as there may be private channels
    /// from which one person has taken somebody while that one was away.
    public static let earlyNoticesOfOneMax = 256
    /// The same of all together: 80 KB.
    public static let earlyNoticesMax = 1_024
    /// People whom a device tells that an addition to one document gives them nothing: anybody who was
    /// put out can name as many as there are.
    public static let vainAdditionsToldMax = 1_024
    /// Members that one operation seats: as many as a workspace is made for, in 42 KB.
    public static let privateSeatsMax = 2_000
    /// Names that one addition tells to guests, in at most 140 KB.
    public static let namesToldMax = 500
    /// Cuts in one removal from a private document: logs of one person in one document, in 210 KB,
    /// so that the whole operation stays below a payload's size.
    public static let privateCutsMax = 2_000
    /// Removals from the workspace that one new key answers; further ones take a further key.
    public static let privateAnswersMax = 512
    /// A topic or a description inside a private document, in bytes of UTF-8.
    public static let privateTextBytesMax = 16 * 1024

    /// Keys of private documents that one link asks for, or is given: what is missing still then
    /// is asked for on the next one.
    public static let keysAskedPerLinkMax = 4_096
    /// A private document of so many membership operations, citations and seats, each seat for six,
    /// is judged anew in each turn in which something of it came; a larger one waits.
    public static let judgedAtOnceMax = 1_024
    /// As many of the larger ones of one size class are judged for each millisecond that passes. One
    /// takes some 3 us, so that is a twentieth of the time, whoever writes how much.
    public static let judgedPerMillisecond = 16
    /// And so many of all documents in one turn, a fifth of a second, before others are heard.
    public static let judgedPerTurnMax = 65_536
    /// Private documents of which it stays in memory who may do what, those that were asked about last: in
    /// a MiB. Of any other one it is worked out when it is asked for.
    public static let privateJudgementsMax = 64
    /// One of more than so much to judge, as for `judgedAtOnceMax`, is no such document and stays in memory:
    /// to work it out again would take more than half a millisecond.
    public static let judgedOnceMoreMax = 128

    /// Keys of epochs, and what they give for single documents, that are in memory at a time: more
    /// than a week of anybody's reading asks for, in 256 KiB of locked memory. All others lie sealed
    /// in the store.
    public static let keysInMemoryMax = 4_096
    /// Discovery secrets of one workspace under which links are answered, the newest: whoever opens
    /// one makes a node try them all. An older one leads nowhere any more, as a lost address does.
    public static let discoverySecretsMax = 256
    /// Names of keys that are in memory with their numbers: more than anybody writes under in a year, in
    /// a MiB.
    public static let keyNamesInMemoryMax = 8_192
    /// Group keys of one workspace under which links are answered, the newest: who was away for longer
    /// comes under a discovery secret.
    public static let linkEpochsMax = 16
    /// Operations that name one of them and do not know of each other, the newest: honest ones are one.
    public static let linkEpochIntroductionsMax = 4
}
