public import BlobStore
public import PeerNode

/// The owner's files of a node without a disk, by path.
public final class MemoryFilePlaces: FilePlaces {
    /// What lies where.
    public var files: [String: [UInt8]] = [:]
    /// Called before each read of a file that is being put, with its path.
    public var willRead: ((String) -> Void)?
    /// Bytes that may still be saved.
    public var room = Int.max

    /// No file.
    public init() {}

    /// `FilePlaces.open`.
    public func open(_ path: String) throws(BlobError) -> any OpenedFile {
        guard let bytes = files[path] else { throw .missing }
        return Opened(self, path, bytes)
    }

    /// `FilePlaces.create`.
    public func create(_ name: String, in folder: String) throws(BlobError) -> any SavedFile {
        let path = folder + "/" + name
        guard files[path] == nil else { throw .exists }
        return Saved(self, path)
    }

    private final class Opened: OpenedFile {
        let byteCount: UInt64
        private let places: MemoryFilePlaces
        private let path: String
        private let bytes: [UInt8]
        private var offset = 0

        init(_ places: MemoryFilePlaces, _ path: String, _ bytes: [UInt8]) {
            (self.places, self.path, self.bytes) = (places, path, bytes)
            byteCount = UInt64(bytes.count)
        }

        func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8] {
            places.willRead?(path)
            guard places.files[path] == bytes else { throw .changed }
            let part = bytes[offset...].prefix(byteCountMax)
            offset += part.count
            return [UInt8](part)
        }
    }

    private final class Saved: SavedFile {
        private let places: MemoryFilePlaces
        private let path: String
        private var bytes: [UInt8] = []

        init(_ places: MemoryFilePlaces, _ path: String) {
            (self.places, self.path) = (places, path)
        }

        func write(_ more: ArraySlice<UInt8>) throws(BlobError) {
            guard bytes.count + more.count <= places.room else { throw .noSpace }
            bytes += more
        }

        func finish() throws(BlobError) {
            guard places.files[path] == nil else { throw .exists }
            places.files[path] = bytes
        }

        func abandon() { bytes = [] }
    }
}

/// The files of a node without a disk: chunks, the owner's files, and the worker that has both.
public final class MemoryBlobs {
    /// The chunks, which outlive the process as far as they are claimed.
    public let chunks = ChunkMemory()
    /// The owner's files.
    public let places = MemoryFilePlaces()
    private var worker: BlobWorker

    /// Nothing.
    public init() { worker = Self.worker(chunks, places) }

    private static func worker(_ chunks: ChunkMemory, _ places: MemoryFilePlaces) -> BlobWorker {
        BlobWorker(places: places, store: { () throws(BlobError) -> any ChunkStore in chunks })
    }

    /// The process is gone, and what was not claimed is as good as gone.
    public func crash() {
        chunks.crash()
        worker = Self.worker(chunks, places)
    }

    /// Hands a job to the worker.
    public func take(_ job: BlobJob) { worker.take(job) }

    /// Whether the worker has something to do.
    public var hasWork: Bool { worker.hasWork }

    /// What the worker gave to connections, and asked of them.
    public private(set) var portions: [FilePortion] = []

    /// Has the worker go on.
    public func step() -> [NodeInput] {
        worker.step().compactMap { outcome in
            guard case .portion(let portion) = outcome else { return .blobbed(outcome) }
            portions.append(portion)
            return nil
        }
    }
}
