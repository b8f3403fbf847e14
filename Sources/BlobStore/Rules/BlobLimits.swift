import WorkspaceModel

/// Every bound on files, each with its reason. Tests read the same constants.
public enum BlobLimits {
    // MARK: Blobs

    /// The smallest chunk is 2^18 bytes of ciphertext: one piece, so one message.
    public static let chunkBitsMin = 18
    /// The largest is 2^24: it is sealed and opened in memory, and 32 MiB are all there is for that.
    public static let chunkBitsMax = 24
    /// Chunks of one blob: their leaves take 512 KiB, a map of those that are held 2 KiB.
    public static let chunkCountMax = 16_384
    /// Plaintext bytes of one blob: what so many of the largest chunks hold, 256 GiB.
    public static let blobBytesMax = UInt64(chunkCountMax) * ((1 << UInt64(chunkBitsMax)) - 16)
    /// Bytes of ciphertext in one piece: what one message carries, and what a transfer asks for.
    public static let pieceBytesMax = 1 << chunkBitsMin

    // MARK: Manifests

    /// Files of one message. How many may be written is a policy, and less.
    public static let attachmentsMax = Limits.filesPerMessageMax
    /// Bytes of a file that lies in the message itself: it arrives with it, and costs no blob.
    public static let inlineBytesMax = Limits.inlineFileBytesMax
    /// The same of all files of one message, a quarter of what a payload may have.
    public static let inlineBytesInAllMax = Limits.inlineFileBytesInAllMax
    /// A file's name, in bytes of UTF-8: what file systems take.
    public static let fileNameBytesMax = 255
    /// The same of a name under which something is saved: a number fits behind it.
    public static let savedNameBytesMax = 240
    /// A media type, in bytes: those of office documents have 73.
    public static let mediaTypeBytesMax = 100
    /// Bytes of a file's beginning by which its type is told.
    public static let magicBytesMax = 512

    // MARK: Messages

    /// One message: a piece with what stands before it.
    public static let messageBytesMax = 257 * 1024
    /// Leaves in one message: 128 KiB.
    public static let leavesPerMessageMax = 4_096
    /// Hashes of a proof beside them: two for each level of the tree.
    public static let proofHashesMax = 28
    /// Ranges of pieces that one message names.
    public static let rangesPerMessageMax = 256
    /// Pieces that one link may have asked for and not been given: 32 MiB, four times what a window
    /// may be.
    public static let wantedPiecesPerLinkMax = 128
    /// Blobs about which one link may ask at a time, with pieces or for word of what is held.
    public static let wantedBlobsPerLinkMax = 256

    // MARK: Transfers

    /// Pieces that wait in one link's send buffer: a message that becomes urgent overtakes them, and
    /// what is more in it is memory without use.
    public static let queuedPieceBytesPerLinkMax = 1024 * 1024
    /// Bytes of pieces in memory, of all links and both directions, and those asked for. A disk that is
    /// slower than the links fills it, and with what surrounds the pieces a process has to stay within
    /// 32 MiB of what it takes at rest.
    public static let bufferBytesMax = 24 * 1024 * 1024
    /// Bytes that a peer is asked for at least: one piece on its way while the next is asked for.
    public static let windowBytesMin = 2 * pieceBytesMax
    /// And at most: 1 Gbit/s round half the world.
    public static let windowBytesMax = 8 * 1024 * 1024
    /// How long a peer may deliver nothing, besides four times what a piece should take.
    public static let stallMilliseconds: UInt64 = 3_000
    /// The longest patience with any peer.
    public static let stallMillisecondsMax: UInt64 = 60_000
    /// How long a peer that stalled is asked for nothing, while others have it or not.
    public static let stalledRestMilliseconds: UInt64 = 10_000
    /// Transfers at a time; the others wait their turn. A turn goes through all of them.
    public static let transfersMax = 64
    /// Blobs of which it is remembered who sent something wrong: who would fill it has to send a wrong
    /// piece of each.
    public static let liarBlobsMax = 1_024
    /// Peers that one transfer knows to hold something: as many as a node has links.
    public static let sourcesMax = 256

    // MARK: Disk

    /// Bytes on the disk that no fdatasync has covered, so what a kill costs at most.
    public static let unclaimedBytesMax = 64 * 1024 * 1024
    /// Bytes that the disk is given to write at a time: a message's COMMIT may have to wait for them.
    public static let writtenAheadBytesMax = 1024 * 1024
    /// Files of one claim from which on the whole file system is synced once, and not each of them.
    public static let syncedAtOnceMin = 3
    /// Puts that are claimed together at most: their callers wait for each other.
    public static let putsClaimedTogetherMax = 16
    /// Blob files that are open at a time.
    public static let openFilesMax = 32
    /// Chunks that are being put together from pieces at a time: as many as windows can hold.
    public static let assembliesMax = 128
    /// The default quota: a tenth of the disk, and no more than this.
    public static let quotaBytesDefaultMax: UInt64 = 10 * 1024 * 1024 * 1024
}
