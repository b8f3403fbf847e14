/// Files, as far as they are the node's; what blobs are bound by stands in `BlobLimits`.
extension Limits {
    // MARK: Files

    /// An image of at most so many bytes is fetched without being asked for: it is looked at as soon as
    /// its message is, and a thousand of them take a tenth of the default quota.
    public static let fetchedImageBytesMax: UInt64 = 1024 * 1024
    /// How long it is remembered who may read the messages that name a blob, milliseconds.
    public static let blobReadersMilliseconds: UInt64 = 2_000
    /// How long it may wait for a COMMIT that a device said to hold a blob, milliseconds.
    public static let holderWordMilliseconds: UInt64 = 1_000
    /// Such words in memory, of some 200 bytes each.
    public static let holderWordsPendingMax = 1_024
    /// Between two words to a peer on what is held of a blob, milliseconds.
    public static let blobWordsMilliseconds: UInt64 = 2_000
    /// How long chunks that are stored may wait for their claim, milliseconds.
    public static let blobClaimMilliseconds: UInt64 = 2_000
    /// The same where all of a blob is here, milliseconds: it is waited for, and others may come with it.
    public static let blobGatherMilliseconds: UInt64 = 20
    /// Blobs that are here and wait for others at most: a quarter of those that are fetched at a time.
    public static let blobsGatheredMax = 16
    /// How long a transfer waits for room on a disk that is full before it tries again, milliseconds.
    public static let blobRetryMilliseconds: UInt64 = 30_000
    /// Between two looks at blobs that no message names, milliseconds. One goes when two looks in a row
    /// found it so: a conversation that is read anew names nothing for a moment.
    public static let blobCollectMilliseconds: UInt64 = 600_000
    /// How long nobody sends a file that is wanted before `doctor` says so, milliseconds.
    public static let fileWaitTellMilliseconds: UInt64 = 24 * 3_600_000
    /// How long a call waits for a file that a connected device has and does not send, milliseconds.
    public static let fileWaitMilliseconds: UInt64 = 60_000
    /// The same where no connected device says that it has any of it: time to connect, and to answer.
    public static let fileAloneMilliseconds: UInt64 = 5_000
    /// Files that were put and that no message names yet: each may hold 16 KiB of memory.
    public static let fileDraftsMax = 1_000
    /// How long such a file stays, milliseconds.
    public static let fileDraftMilliseconds: UInt64 = 24 * 3_600_000
    /// Messages that are looked at to find out who may read a blob: it is sent again now and then.
    public static let blobReferencesReadMax = 16
    /// Proofs of leaves that one link may wait for: each may cost a tree.
    public static let blobProofsPerLinkMax = 4
    /// Pieces that nobody asked for, after which a link ends: some may come because of a race.
    public static let unaskedPiecesMax = 16
    /// Files in one message that is written here, unless the policy of the workspace says otherwise.
    public static let filesPerMessageUsual = 5
    /// Files in one message that are read, and as many as a policy may allow.
    public static let filesPerMessageMax = 20
    /// Bytes of a file that lies in the message itself: it arrives with it, and costs no blob.
    public static let inlineFileBytesMax = 16 * 1024
    /// The same of all files of one message, a quarter of what a payload may have.
    public static let inlineFileBytesInAllMax = 64 * 1024
    /// Bytes of a file that is put here, unless the settings say otherwise.
    public static let fileBytesUsual: UInt64 = 5 << 30
    /// Bytes of a picture of a person, a workspace or a channel: it comes without being asked for.
    public static let pictureBytesMax: UInt64 = 1024 * 1024
    /// Between two looks at which pictures are shown, milliseconds.
    public static let picturesMilliseconds: UInt64 = 1_000
    /// Bytes of the text that names a picture.
    public static let pictureTextBytesMax = 256
    /// Copies of its files that a channel may ask for.
    public static let fileCopiesMax = 16
    /// How long devices have to answer who has a file, milliseconds.
    public static let holdersAskedMilliseconds: UInt64 = 1_500
    /// How long devices have to say what they hold of a file before it is decided who keeps a copy.
    public static let copyDecisionMilliseconds: UInt64 = 3_000
    /// Files about which that is under way at a time.
    public static let copyChecksMax = 256
    /// Of each channel that asks for copies so many of the newest files are looked at again and again.
    public static let copiesReviewedMax = 256
    /// Of each channel so many of the newest files are fetched that did not come while that cost.
    public static let filesMissedMax = 100
    /// The smallest quota that may be set: a few of the smallest chunks, and one of the images that come
    /// without being asked for.
    public static let quotaBytesMin: Int64 = 4 << 20
    /// Messages of an earlier version whose files are noted in one turn: some 10 milliseconds.
    public static let earlierMessagesPerTurnMax = 256
    /// Files that a list looks at, the newest of each channel.
    public static let filesListedMax = 10_000
    /// Long jobs on files at a time; each may hold a chunk of 16 MiB.
    public static let fileErrandsMax = 256
    /// A place in a file, or a length, that somebody names: what every JSON reader takes exactly.
    public static let filePositionMax: Int64 = (1 << 53) - 1
    /// Bytes of files in memory of all connections that read or hand in files: a chunk each, so 256 of
    /// the smallest, or four of the largest.
    public static let fileStreamsBytesMax = 64 * 1024 * 1024
    /// Bytes of a file that may wait for a connection to take them before the next chunk is opened: two
    /// of the smallest, so that opening and writing go on side by side.
    public static let fileUnsentBytesMax = 512 * 1024
    /// Bytes of a file that were read from a connection and not handed on; then it is not read.
    public static let fileUntakenBytesMax = 512 * 1024
    /// Bytes of a file that was refused and that a connection of lines still takes, to throw them away:
    /// with more to come it ends.
    public static let fileUnwantedBytesMax: Int64 = 16 * 1024 * 1024
    /// Between two words on a transfer's progress, milliseconds.
    public static let transferProgressMilliseconds: UInt64 = 500
}
