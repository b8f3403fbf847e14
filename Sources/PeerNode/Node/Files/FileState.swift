import BlobStore
import WorkspaceModel

/// A blob that is being fetched, besides what the scheduler knows of it.
struct FileTransfer {
    /// Its short number.
    let number: Int64
    let blob: BlobName
    /// The devices that may know of it, and when that was found out, on the monotonic clock.
    var readers: Set<DeviceID> = []
    var readersAt: UInt64?
    /// The short number of a workspace in which a message names it.
    var workspace: Int64?
    /// Whether the desk keeps the hashes of all chunks.
    var hasTree = false
    /// Whether only some chunks are fetched, which somebody waits for.
    var isPart = false
    /// What was told of its progress, and when.
    var told: (state: TransferState, at: UInt64)?

    init(number: Int64, blob: BlobName) {
        self.number = number
        self.blob = blob
    }
}

/// What goes over one link.
struct FileService {
    /// The blobs that the other end was asked about.
    var asked: Set<BlobRoot> = []
    /// The blobs of which the other end wants word of what is held here.
    var watched: Set<BlobRoot> = []
    /// The pieces that it asked for.
    var queue = PieceQueue()
    /// Of which blobs.
    var blobs: [BlobRoot: BlobName] = [:]
    /// Bytes of pieces that the session had when it was looked at last.
    var unsentBytes = 0
    /// Bytes of a piece of which the rest is still to come.
    var unfinishedBytes = 0
    /// Proofs that the desk makes.
    var proofs = 0
    /// Pieces that came and that nobody had asked for.
    var unasked = 0
}

/// A file that was put and that no message names yet. It holds a key, and is not stored.
struct FileDraft {
    let name: FileName
    let type: MediaType
    let contents: Manifest.Item.Contents
    /// Where it was read; `nil` where a connection handed it in.
    let path: String?
    /// When it was put, on the monotonic clock.
    let putAt: UInt64

    var item: Manifest.Item { Manifest.Item(name: name, type: type, contents: contents) }
}

/// A long job, or what will be one.
struct FileErrand {
    enum Purpose {
        /// Reads a file of the owner's.
        case put(path: String, key: BlobKey, PutBounds)
        /// Writes one, once all of it is here.
        case save(SavedContents, Destination)
        /// Answers once all of it is here.
        case fetch(BlobName, FileObject)
        /// Looks whether what is held is right.
        case verify(FileObject)
        /// The same for `check`, which goes through all of them.
        case check(Int64)
        /// Hands some bytes to the connection of the call, once they are here.
        case read(SavedContents, FileObject, Range<UInt64>)
        /// Takes a file that the connection of the call hands in.
        case receive(name: FileName, byteCount: UInt64, key: BlobKey)
    }

    /// Where somebody wants a file, and how they know it.
    struct Destination {
        let folder: String
        let name: String
        /// What it is called in its message.
        let title: String
    }

    let call: CallID
    let work: Purpose
    /// The blob that is waited for, and when that ends unless somebody sends it; `nil` once the desk has
    /// the job.
    var waitsFor: BlobRoot?
    var waitsUntil: UInt64?
    /// Whether the call is answered although the job goes on.
    var isAnswered = false
}
