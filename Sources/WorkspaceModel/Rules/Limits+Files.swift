/// Files in the node; the bounds of blobs are in `BlobLimits`.
extension Limits {
    // MARK: Files

    /// An image of at most this size is fetched automatically: it is seen as soon as its message
    /// is, and a thousand of them take a tenth of the default quota.
    public static let fetchedImageBytesMax: UInt64 = 1024 * 1024
    /// How long the readers of the messages that name a blob are cached, milliseconds.
    public static let blobReadersMilliseconds: UInt64 = 2_000
    /// How long a device's statement that it holds a blob may wait for a COMMIT, milliseconds.
    public static let holderWordMilliseconds: UInt64 = 1_000
    /// Such statements in memory, some 200 bytes each.
    public static let holderWordsPendingMax = 1_024
    /// How long stored chunks may wait to be claimed, milliseconds.
    public static let blobClaimMilliseconds: UInt64 = 2_000
    /// The same for a complete blob, milliseconds: somebody waits for it, and others may complete
    /// with it.
    public static let blobGatherMilliseconds: UInt64 = 20
    /// Complete blobs that wait for others at most: a quarter of the concurrent fetches.
    public static let blobsGatheredMax = 16
    /// How long a transfer waits on a full disk before it tries again, milliseconds.
    public static let blobRetryMilliseconds: UInt64 = 30_000
    /// Between two scans for blobs that no message names, milliseconds. A blob is removed after two
    /// such scans in a row: a conversation that is being rebuilt names nothing for a moment.
    public static let blobCollectMilliseconds: UInt64 = 600_000
    /// How long nobody sends a wanted file before `doctor` reports it, milliseconds.
    public static let fileWaitTellMilliseconds: UInt64 = 24 * 3_600_000
    /// How long a call waits for a file that a connected device has but does not send,
    /// milliseconds.
    public static let fileWaitMilliseconds: UInt64 = 60_000
    /// The same where no connected device says that it has any of it: enough to connect and to
    /// answer.
    public static let fileAloneMilliseconds: UInt64 = 5_000
    /// Files that were added and are not in a message yet: each may hold 16 KiB of memory.
    public static let fileDraftsMax = 1_000
    /// How long such a file is kept, milliseconds.
    public static let fileDraftMilliseconds: UInt64 = 24 * 3_600_000
    /// Messages checked to find out who may read a blob: a popular file is sent again and again.
    public static let blobReferencesReadMax = 16
    /// Proofs of leaves that one link may wait for: each may cost a tree.
    public static let blobProofsPerLinkMax = 4
    /// Unrequested pieces after which a link is closed: a few can result from a race.
    public static let unaskedPiecesMax = 16
    /// Files in a message written here, unless the workspace's policy says otherwise.
    public static let filesPerMessageUsual = 5
    /// Files accepted in a message, and the most that a policy may allow.
    public static let filesPerMessageMax = 20
    /// Bytes of a file that is embedded in its message: it arrives with it, and needs no blob.
    public static let inlineFileBytesMax = 16 * 1024
    /// The same for all files of one message: a quarter of a payload.
    public static let inlineFileBytesInAllMax = 64 * 1024
    /// Bytes of a file added here, unless the settings say otherwise.
    public static let fileBytesUsual: UInt64 = 5 << 30
    /// Bytes of the picture of a person, a workspace or a channel: it is fetched automatically.
    public static let pictureBytesMax: UInt64 = 1024 * 1024
    /// Between two checks of which pictures are shown, milliseconds.
    public static let picturesMilliseconds: UInt64 = 1_000
    /// Bytes of the text that names a picture.
    public static let pictureTextBytesMax = 256
    /// Copies of its files that a channel may ask for.
    public static let fileCopiesMax = 16
    /// How long devices have to answer whether they hold a file, milliseconds.
    public static let holdersAskedMilliseconds: UInt64 = 1_500
    /// How long devices have to state what they hold of a file before the node decides who keeps a
    /// copy.
    public static let copyDecisionMilliseconds: UInt64 = 3_000
    /// Files under such a decision at a time.
    public static let copyChecksMax = 256
    /// The newest files that are reviewed repeatedly in each channel that requires copies.
    public static let copiesReviewedMax = 256
    /// The newest files of each channel that are fetched after a metered network held them back.
    public static let filesMissedMax = 100
    /// The smallest quota that may be set: a few of the smallest chunks, and one of the images that
    /// are fetched automatically.
    public static let quotaBytesMin: Int64 = 4 << 20
    /// Messages stored by an earlier version whose files are indexed in one turn: some 10
    /// milliseconds.
    public static let earlierMessagesPerTurnMax = 256
    /// Files that a listing considers, the newest of each channel.
    public static let filesListedMax = 10_000
    /// Long jobs on files at a time; each may hold a chunk of 16 MiB.
    public static let fileTasksMax = 256
    /// An offset in a file, or a length, given by a caller: what every JSON reader represents
    /// exactly.
    public static let filePositionMax: Int64 = (1 << 53) - 1
    /// Bytes of files in memory for all connections that read or send files: a chunk each, so 256
    /// of the smallest, or four of the largest.
    public static let fileStreamsBytesMax = 64 * 1024 * 1024
    /// Bytes of a file that may wait for a connection before the next chunk is opened: two of the
    /// smallest, so that opening and writing overlap.
    public static let fileUnsentBytesMax = 512 * 1024
    /// Bytes of a file read from a connection and not yet consumed; above it reading pauses.
    public static let fileUntakenBytesMax = 512 * 1024
    /// Bytes of a refused file that a line connection still reads and discards; a longer one ends
    /// the connection.
    public static let fileUnwantedBytesMax: Int64 = 16 * 1024 * 1024
    /// Between two progress events of a transfer, milliseconds.
    public static let transferProgressMilliseconds: UInt64 = 500
}
