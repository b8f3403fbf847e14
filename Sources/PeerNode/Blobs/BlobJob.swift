public import BlobStore
public import WorkspaceModel

/// Work on the files of blobs, done beside the loop, so that neither a file's bytes wait for a turn
/// nor a turn for the disk.
///
/// Short jobs run in the order of submission. Long ones, which process a whole file, run a chunk at
/// a time between them.
public enum BlobJob: Sendable {
    /// Comes first: removes files of no blob, and looks whether the others are as long as they must be.
    case begin(held: [BlobName: HaveMap])
    /// Stores a piece that came.
    case store(BlobPiece, of: BlobName, leaf: TreeHash?)
    /// Forgets what came of a chunk that is not whole.
    case forget(chunk: Int, of: BlobName)
    /// Keeps the hashes of a blob's chunks.
    case keep(BlobTree)
    /// Reads them.
    case tree(of: BlobName)
    /// Makes what was stored outlast a power cut, so that it counts.
    case claim
    /// Removes a blob.
    case remove(BlobRoot)
    /// Reads a piece for the link of this number.
    case read(piece: Int, of: BlobName, for: UInt64)
    /// Makes the proof of some leaves for the link of this number.
    case prove(Range<Int>, of: BlobName, for: UInt64)
    /// Long: reads a file of the owner's and seals it under a key that is drawn for it.
    case put(TaskID, path: String, key: BlobKey, PutBounds)
    /// Long: writes a file into a folder of the owner's, under a name that nothing has there.
    case save(TaskID, SavedContents, folder: String, name: String)
    /// Long: compares chunks with their hashes.
    case verify(TaskID, BlobName, HaveMap)
    /// Long: decrypts a range of a file and hands it to the connection of this number, the first
    /// chunk at once and one more each time it is told to continue.
    case stream(TaskID, SavedContents, Range<UInt64>, for: UInt64)
    /// Long: seals a file of a given size under a fresh key, as the connection of this number
    /// uploads it.
    case receive(TaskID, byteCount: UInt64, key: BlobKey, for: UInt64)
    /// Goes on with one of these two: the connection has taken what it was given, or hands in bytes.
    case goOn(TaskID, [UInt8])
    /// Ends a long job; it reports nothing more.
    case abandon(TaskID)
}

/// The size limit of an added file, and where it is stored.
public struct PutBounds: Sendable {
    /// Larger ones are refused before they are read.
    let byteCountMax: UInt64
    /// Up to this size its bytes are in the message that names it; larger files become a blob.
    let inlineByteCountMax: Int
    /// Whether it is refused, unless it begins like a picture.
    var isPicture = false
}

/// The number of a long job.
public struct TaskID: Hashable, Comparable, Sendable {
    let number: UInt64

    /// By age.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// What is written into a file.
public enum SavedContents: Sendable {
    /// A blob that is held completely.
    case blob(BlobName, BlobKey)
    /// These bytes.
    case inline([UInt8])
}

/// What was read from an added file.
public struct PutContents: Sendable {
    /// Where its bytes are now.
    public enum Place: Sendable {
        /// In a blob, which does not count before its claim.
        case blob(BlobName)
        /// Here: it is small enough for a message.
        case inline([UInt8])
    }

    /// Where its bytes are now.
    public let place: Place
    /// How it begins, at most `BlobLimits.magicBytesMax` bytes.
    public let start: [UInt8]
}

/// The outcome of a job, given to the core as an input.
public enum BlobOutcome: Sendable {
    /// The first job is done. Less of these blobs is there than the tables say.
    case began(less: [BlobName: HaveMap])
    /// A piece was stored, or could not be.
    case stored(piece: Int, of: BlobName, Result<PieceOutcome, BlobError>)
    /// These chunks count from now on.
    case claimed([ChunkClaim])
    /// What was stored since the last claim is void.
    case unclaimed(BlobError)
    /// The hashes of a blob's chunks.
    case tree(BlobTree)
    /// A piece as a whole message, or why it cannot be sent.
    case read(piece: Int, of: BlobName, for: UInt64, Result<[UInt8], BlobError>)
    /// The proof of leaves, or why there is none.
    case proved(BlobName, for: UInt64, Result<TreeProof, BlobError>)
    /// A file was put, or nothing of it.
    case put(TaskID, Result<PutContents, BlobError>)
    /// A file was saved: how many bytes it has.
    case saved(TaskID, Result<UInt64, BlobError>)
    /// Chunks were looked at: which of them are wrong or not there.
    case verified(TaskID, BlobName, Result<HaveMap, BlobError>)
    /// The first bytes of a file are ready for their connection, or cannot be read.
    case opened(TaskID, Result<Void, BlobError>)
    /// Nothing more comes of a file that was opened.
    case streamed(TaskID)
    /// Data for a connection. It bypasses the core.
    case portion(FilePortion)
}

/// A part of a file on its way between the worker and a connection, bypassing the core, so that no
/// byte of a file waits for a turn.
public struct FilePortion: Sendable {
    /// What the connection has to do.
    public enum Step: Sendable {
        /// Send these bytes on, and say so when there is room for more.
        case give([UInt8])
        /// Hand in more bytes.
        case take
        /// Hang up: the rest cannot be read.
        case cut
    }

    /// The long job.
    public let task: TaskID
    /// The number of the connection for which it is done.
    public let connection: UInt64
    /// What the connection is to do.
    public let step: Step
}
