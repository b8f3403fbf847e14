import BlobStore
import WorkspaceModel

/// A long job of the worker.
protocol BlobTask: AnyObject {
    var id: TaskID { get }
    /// Goes on by one chunk.
    func step(on worker: BlobWorker) -> TaskStep
    /// Throws away what was done.
    func abandon(on worker: BlobWorker)
    /// Its connection has taken what it was given, or hands in bytes.
    func take(_ bytes: [UInt8])
}

extension BlobTask {
    func take(_ bytes: [UInt8]) {}
}

/// The result of one step of a long job.
enum TaskStep {
    case goesOn
    /// It waits for its connection.
    case rests([BlobOutcome])
    case ended([BlobOutcome])
}

/// Reads one of the owner's files and seals it.
final class PutTask: BlobTask {
    let id: TaskID
    private let path: String
    private let key: BlobKey
    private let bounds: PutBounds
    private var work: Work?

    private struct Work {
        let source: any OpenedFile
        var sealer: BlobSealer
        let ticket: PutTicket
        var start: [UInt8]
    }

    init(_ id: TaskID, path: String, key: BlobKey, _ bounds: PutBounds) {
        self.id = id
        self.path = path
        self.key = key
        self.bounds = bounds
    }

    func step(on worker: BlobWorker) -> TaskStep {
        do throws(BlobError) {
            guard let work else { return try begin(on: worker) }
            return try goOn(work, on: worker)
        } catch {
            abandon(on: worker)
            return .ended([.put(id, .failure(error))])
        }
    }

    func abandon(on worker: BlobWorker) {
        if let ticket = work?.ticket { try? worker.store().abandonPut(ticket) }
        work = nil
    }

    private func begin(on worker: BlobWorker) throws(BlobError) -> TaskStep {
        let source = try worker.places.open(path)
        guard source.byteCount <= bounds.byteCountMax else { throw .tooLarge }
        let inline = min(bounds.inlineByteCountMax, BlobLimits.inlineBytesMax)
        // A blob has at least one byte, so an empty file is always stored in its message.
        if source.byteCount <= UInt64(max(inline, 0)) {
            var bytes: [UInt8] = []
            while true {
                let more = try source.read(BlobLimits.inlineBytesMax + 1)
                guard !more.isEmpty else { break }
                bytes += more
                guard bytes.count <= inline else { throw .changed }
            }
            let start = [UInt8](bytes.prefix(BlobLimits.magicBytesMax))
            guard !bounds.isPicture else { throw .notPicture }
            return .ended([.put(id, .success(PutContents(place: .inline(bytes), start: start)))])
        }
        guard let shape = BlobShape(byteCount: source.byteCount) else { throw .tooLarge }
        work = Work(
            source: source, sealer: BlobSealer(shape: shape, key: key),
            ticket: try worker.store().beginPut(shape), start: [])
        return .goesOn
    }

    private func goOn(_ former: Work, on worker: BlobWorker) throws(BlobError) -> TaskStep {
        var work = former
        // So that the chunk under way is in one place alone, and grows there.
        self.work = nil
        defer { self.work = work }
        let bytes = try work.source.read(
            min(work.sealer.wantedByteCount, BlobLimits.pieceBytesMax))
        guard !bytes.isEmpty else { throw .changed }
        if work.start.isEmpty {
            work.start = [UInt8](bytes.prefix(BlobLimits.magicBytesMax))
            guard !bounds.isPicture || MagicType.type(of: work.start).isPicture else {
                throw .notPicture
            }
        }
        let store = try worker.store()
        for chunk in try work.sealer.append(bytes[...]) { try store.put(chunk, work.ticket) }
        guard work.sealer.isWhole else { return .goesOn }
        guard try work.source.read(1).isEmpty else { throw .changed }
        return try worker.finish(id, &work.sealer, work.ticket, start: work.start)
    }
}

extension BlobWorker {
    /// Ends adding a completely sealed file: its blob counts only once it would survive a power
    /// cut.
    func finish(
        _ id: TaskID, _ sealer: inout BlobSealer, _ ticket: PutTicket, start: [UInt8]
    ) throws(BlobError) -> TaskStep {
        let (tree, _) = try sealer.finish()
        try store().finishPut(ticket, tree: tree)
        let blob = BlobName(root: tree.root, shape: tree.shape)
        hold(SealedPut(id: id, contents: PutContents(place: .blob(blob), start: start)))
        return .ended([])
    }
}

/// Writes a file into one of the owner's folders.
final class SaveTask: BlobTask {
    let id: TaskID
    private let contents: SavedContents
    private let folder: String
    private let name: String
    private var file: (any SavedFile)?
    private var next = 0
    private var byteCount: UInt64 = 0

    init(_ id: TaskID, _ contents: SavedContents, folder: String, name: String) {
        self.id = id
        self.contents = contents
        self.folder = folder
        self.name = name
    }

    func step(on worker: BlobWorker) -> TaskStep {
        do throws(BlobError) {
            if try goOn(on: worker) { return .goesOn }
            return .ended([.saved(id, .success(byteCount))])
        } catch {
            abandon(on: worker)
            return .ended([.saved(id, .failure(error))])
        }
    }

    func abandon(on worker: BlobWorker) {
        file?.abandon()
        file = nil
    }

    /// - Returns: whether there is more to do.
    private func goOn(on worker: BlobWorker) throws(BlobError) -> Bool {
        guard let file else {
            do throws(BlobError) { file = try worker.places.create(name, in: folder) } catch {
                // The missing part is the folder, not the file.
                throw error == .missing ? .badName : error
            }
            return true
        }
        switch contents {
        case .inline(let bytes): try write(bytes[...], to: file)
        case .blob(let blob, let key):
            if next < blob.shape.chunkCount {
                let sealed = try worker.store().chunk(next, of: blob)
                let opener = BlobOpener(shape: blob.shape, key: key)
                try write(try opener.open(sealed, chunk: next)[...], to: file)
                next += 1
                return true
            }
        }
        try file.finish()
        return false
    }

    private func write(
        _ bytes: ArraySlice<UInt8>, to file: any SavedFile
    ) throws(BlobError) {
        try file.write(bytes)
        byteCount += UInt64(bytes.count)
    }
}

/// Compares chunks with their hashes.
final class VerifyTask: BlobTask {
    let id: TaskID
    private let blob: BlobName
    private let chunks: HaveMap
    private var next = 0
    private var wrong: HaveMap

    init(_ id: TaskID, _ blob: BlobName, _ chunks: HaveMap) {
        self.id = id
        self.blob = blob
        self.chunks = chunks
        wrong = HaveMap(blob.shape)
    }

    func step(on worker: BlobWorker) -> TaskStep {
        guard let chunk = chunks.first(from: next, held: true) else {
            return .ended([.verified(id, blob, .success(wrong))])
        }
        next = chunk + 1
        do throws(BlobError) {
            if try !worker.store().verify(chunk: chunk, of: blob) { wrong.insert(chunk) }
            return .goesOn
        } catch { return .ended([.verified(id, blob, .failure(error))]) }
    }

    func abandon(on worker: BlobWorker) {}
}
