import WorkspaceModel

/// Every bound on files, each with its reason. Tests read the same constants.
public enum BlobLimits {
    // MARK: Blobs

    /// The smallest chunk is 2^18 bytes of ciphertext: one piece, so one message.
    public static let chunkBitsMin = 18
    /// The largest is 2^24: it is sealed and opened in memory, which has a budget of 32 MiB.
    public static let chunkBitsMax = 24
    /// Chunks of one blob: the leaves take 512 KiB, a map 2 KiB.
    public static let chunkCountMax = 16_384
    /// Plaintext bytes of one blob: this many of the largest chunks, 256 GiB.
    public static let blobBytesMax = UInt64(chunkCountMax) * ((1 << UInt64(chunkBitsMax)) - 16)
    /// Bytes of ciphertext in one piece: what one message carries, and the unit of requests.
    public static let pieceBytesMax = 1 << chunkBitsMin

    // MARK: Manifests

    /// Files of one message. A policy sets a lower limit for writing.
    public static let attachmentsMax = Limits.filesPerMessageMax
    /// Bytes of a file embedded in its message: it arrives with it, and needs no blob.
    public static let inlineBytesMax = Limits.inlineFileBytesMax
    /// The same for all files of one message: a quarter of a payload.
    public static let inlineBytesInAllMax = Limits.inlineFileBytesInAllMax
    /// A file's name, in bytes of UTF-8: the limit of file systems.
    public static let fileNameBytesMax = 255
    /// The same for saving, which leaves room for a number.
    public static let savedNameBytesMax = 240
    /// A media type, in bytes: those of office documents have 73.
    public static let mediaTypeBytesMax = 100
    /// Bytes of a file's beginning used to detect its type.
    public static let magicBytesMax = 512

    // MARK: Messages

    /// One message: a piece with its head.
    public static let messageBytesMax = 257 * 1024
    /// Leaves in one message: 128 KiB.
    public static let leavesPerMessageMax = 4_096
    /// Hashes of a proof beside them: two for each level of the tree.
    public static let proofHashesMax = 28
    /// Ranges of pieces that one message names.
    public static let rangesPerMessageMax = 256
    /// Requested pieces that one link may still owe: 32 MiB, four times the largest window.
    public static let wantedPiecesPerLinkMax = 128
    /// Blobs that one link may ask about at a time, for pieces or updates.
    public static let wantedBlobsPerLinkMax = 256

    // MARK: Transfers

    /// Pieces that wait in one link's send buffer: urgent messages overtake them, and more would
    /// only use memory.
    public static let queuedPieceBytesPerLinkMax = 1024 * 1024
    /// Bytes of pieces in memory, of all links in both directions, requested ones included. A disk
    /// slower than the links fills it, and with overhead a process must stay within 32 MiB of its
    /// memory at rest.
    public static let bufferBytesMax = 24 * 1024 * 1024
    /// The minimum a peer is asked for: one piece in flight while the next is requested.
    public static let windowBytesMin = 2 * pieceBytesMax
    /// The maximum: 1 Gbit/s round half the world.
    public static let windowBytesMax = 8 * 1024 * 1024
    /// How much longer than the way itself a requested piece may take, because of others before it: the
    /// link is never idle then, and a message waits little behind them.
    public static let queueMilliseconds: UInt64 = 16
    /// How long a peer may deliver nothing, in addition to four times the expected time of a piece.
    public static let stallMilliseconds: UInt64 = 3_000
    /// The upper bound of that time.
    public static let stallMillisecondsMax: UInt64 = 60_000
    /// How long a stalled peer is asked for nothing, even if no other has the blob.
    public static let stalledRestMilliseconds: UInt64 = 10_000
    /// Concurrent transfers; others wait. A turn visits all of them.
    public static let transfersMax = 64
    /// Blobs for which senders of wrong data are remembered: filling this takes a
    /// wrong piece for each.
    public static let liarBlobsMax = 1_024
    /// Sources of one transfer: as many as a node has links.
    public static let sourcesMax = 256

    // MARK: Disk

    /// Bytes on disk that no fdatasync has covered, which is the most that a kill can lose.
    public static let unclaimedBytesMax = 64 * 1024 * 1024
    /// Bytes in the disk's write queue at a time: a message's COMMIT may have to wait for them.
    public static let writtenAheadBytesMax = 1024 * 1024
    /// Bytes of arriving files that stay in the kernel's cache: what is opened at once is read there,
    /// and what follows uses the memory of what came before.
    public static let cachedBehindBytesMax = 64 * 1024 * 1024
    /// Files that are kept open only for that.
    public static let leavingFilesMax = 128
    /// Files in one claim from which on the file system is synced as a whole.
    public static let syncedAtOnceMin = 3
    /// Puts that are claimed together at most: their callers wait for each other.
    public static let putsClaimedTogetherMax = 16
    /// Blob files that are open at a time.
    public static let openFilesMax = 32
    /// Chunks being assembled at a time: as many as the windows can hold.
    public static let assembliesMax = 128
    /// The default quota: a tenth of the disk, and no more than this.
    public static let quotaBytesDefaultMax: UInt64 = 10 * 1024 * 1024 * 1024
}
