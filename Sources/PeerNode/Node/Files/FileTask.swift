import BlobStore
import WorkspaceModel

/// A long-running job on a file, or a planned one.
struct FileTask {
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
    /// How long it waits while nobody sends the blob, milliseconds; `nil` where the call left that open.
    var patience: UInt64?
    /// The blob that is waited for, and when that ends unless somebody sends it; `nil` once the worker has
    /// the job.
    var waitsFor: BlobRoot?
    var waitsUntil: UInt64?
    /// Since when it waits, on the monotonic clock like that.
    var waitsSince: UInt64?
    /// Whether the call is answered although the job continues.
    var isAnswered = false
}

/// What a job on a file needs before it can run.
extension FileTask.Purpose {
    /// The blob that has to be here first, all of it or `chunks`.
    var blob: BlobName? {
        switch self {
        case .save(.blob(let blob, _), _), .fetch(let blob, _), .read(.blob(let blob, _), _, _):
            blob
        case .put, .save, .verify, .check, .read, .receive: nil
        }
    }

    /// The chunks that are needed, `nil` for all.
    var chunks: Range<Int>? {
        guard case .read(.blob(let blob, _), _, let range) = self else { return nil }
        let chunkRanges = blob.shape.chunkRanges(of: range)
        guard let first = chunkRanges.first, let last = chunkRanges.last else { return 0..<0 }
        return first.chunk..<last.chunk + 1
    }

    /// Whether what is held of the blob is enough.
    func isReady(with held: HaveMap) -> Bool {
        guard let chunks else { return held.isWhole }
        guard !chunks.isEmpty, let gap = held.first(from: chunks.lowerBound, held: false) else {
            return true
        }
        return gap >= chunks.upperBound
    }

    /// Bytes of a file that it may buffer until its connection continues.
    var bufferBytes: Int {
        switch self {
        case .read(.blob(let blob, _), _, _): blob.shape.ciphertextByteCount(of: 0)
        case .receive(_, let byteCount, _):
            BlobShape(byteCount: byteCount)?.ciphertextByteCount(of: 0) ?? 0
        case .put, .save, .fetch, .verify, .check, .read: 0
        }
    }

    /// A file to add: its name, its key, and its path; `nil` where a connection uploads it.
    var put: (name: FileName, key: BlobKey, path: String?)? {
        switch self {
        case .put(let path, let key, _): (FileName(fitting: [UInt8](path.utf8)), key, path)
        case .receive(let name, _, let key): (name, key, nil)
        case .save, .fetch, .verify, .check, .read: nil
        }
    }

    /// Whether it is to become a picture.
    var isPicture: Bool {
        if case .put(_, _, let bounds) = self { bounds.isPicture } else { false }
    }

    /// What people call the file.
    var title: String {
        switch self {
        case .put(let path, _, _): path
        case .save(_, let place): place.title
        case .fetch(_, let object), .verify(let object), .read(_, let object, _): object.title
        case .receive(let name, _, _): name.text
        case .check: "a file"
        }
    }
}

extension PutContents {
    /// What a manifest says of it.
    func contents(under key: BlobKey) -> Manifest.Item.Contents {
        switch place {
        case .blob(let blob): .blob(blob.root, blob.shape, key)
        case .inline(let bytes): .inline(bytes)
        }
    }
}

extension SavedContents {
    /// What a manifest says of a file.
    init(_ item: Manifest.Item) {
        switch item.contents {
        case .blob(let root, let shape, let key):
            self = .blob(BlobName(root: root, shape: shape), key)
        case .inline(let bytes): self = .inline(bytes)
        }
    }
}
