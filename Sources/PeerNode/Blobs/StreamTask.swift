import BlobStore

/// Decrypts a range of a file for a connection, chunk by chunk.
///
/// After each chunk it waits until the connection has room, so for a file of any size one chunk is
/// in memory.
final class StreamTask: BlobTask {
    let id: TaskID
    private let connection: UInt64
    private let contents: SavedContents
    private let range: Range<UInt64>
    /// The parts of chunks that are still to be opened; `nil` before the first step.
    private var rest: ArraySlice<BlobShape.ChunkRange>?

    /// - Parameter range: bytes of the file, all within it.
    init(
        _ id: TaskID, _ contents: SavedContents, _ range: Range<UInt64>, for connection: UInt64
    ) {
        self.id = id
        self.contents = contents
        self.range = range
        self.connection = connection
    }

    func step(on worker: BlobWorker) -> TaskStep {
        let isFirst = rest == nil
        do throws(BlobError) {
            let bytes = try next(on: worker)
            var outcomes: [BlobOutcome] = isFirst ? [.opened(id, .success(()))] : []
            if !bytes.isEmpty { outcomes.append(portion(.give(bytes))) }
            guard rest?.isEmpty != false else { return .rests(outcomes) }
            return .ended(outcomes + [.streamed(id)])
        } catch {
            // After the announcement of its bytes, a failure can only be shown by ending early.
            return .ended(
                isFirst ? [.opened(id, .failure(error))] : [portion(.cut), .streamed(id)])
        }
    }

    func abandon(on worker: BlobWorker) { rest = [] }

    private func portion(_ step: FilePortion.Step) -> BlobOutcome {
        .portion(FilePortion(task: id, connection: connection, step: step))
    }

    /// The next bytes; none where the range is empty.
    private func next(on worker: BlobWorker) throws(BlobError) -> [UInt8] {
        switch contents {
        case .inline(let bytes):
            rest = []
            guard range.upperBound <= UInt64(bytes.count) else { throw .tooLong }
            return [UInt8](bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .blob(let blob, let key):
            if rest == nil { rest = blob.shape.chunkRanges(of: range)[...] }
            guard let part = rest?.popFirst() else {
                guard range.isEmpty else { throw .tooLong }
                return []
            }
            let sealed = try worker.store().chunk(part.chunk, of: blob)
            let opener = BlobOpener(shape: blob.shape, key: key)
            let opened = try opener.open(sealed, chunk: part.chunk)
            if part.bytes == opened.indices { return opened }
            guard part.bytes.upperBound <= opened.count else { throw .badChunk(part.chunk) }
            return [UInt8](opened[part.bytes])
        }
    }
}

/// Seals a file whose bytes arrive over a connection.
///
/// It asks for more once it has sealed what arrived. An incomplete file leaves nothing behind.
final class ReceiveTask: BlobTask {
    let id: TaskID
    private let connection: UInt64
    private let byteCount: UInt64
    private let key: BlobKey
    private var work: Work?
    /// Bytes that have arrived and are not sealed yet.
    private var waiting: [UInt8] = []
    /// The start of the file; all of it where it is small enough for a message.
    private var start: [UInt8] = []

    private struct Work {
        var sealer: BlobSealer
        let ticket: PutTicket
    }

    init(_ id: TaskID, byteCount: UInt64, key: BlobKey, for connection: UInt64) {
        self.id = id
        self.byteCount = byteCount
        self.key = key
        self.connection = connection
    }

    func take(_ bytes: [UInt8]) { waiting += bytes }

    func step(on worker: BlobWorker) -> TaskStep {
        do throws(BlobError) {
            if byteCount <= UInt64(BlobLimits.inlineBytesMax) { return try goOnInline() }
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
        (waiting, start) = ([], [])
    }

    private var asksForMore: BlobOutcome {
        .portion(FilePortion(task: id, connection: connection, step: .take))
    }

    private func goOnInline() throws(BlobError) -> TaskStep {
        start += waiting
        waiting = []
        guard UInt64(start.count) <= byteCount else { throw .tooLong }
        guard UInt64(start.count) == byteCount else { return .rests([asksForMore]) }
        let beginning = [UInt8](start.prefix(BlobLimits.magicBytesMax))
        return .ended(
            [.put(id, .success(PutContents(place: .inline(start), start: beginning)))])
    }

    private func begin(on worker: BlobWorker) throws(BlobError) -> TaskStep {
        guard let shape = BlobShape(byteCount: byteCount) else { throw .tooLarge }
        work = Work(
            sealer: BlobSealer(shape: shape, key: key), ticket: try worker.store().beginPut(shape))
        return .rests([asksForMore])
    }

    private func goOn(_ former: Work, on worker: BlobWorker) throws(BlobError) -> TaskStep {
        var work = former
        // So that the chunk under way is in one place alone, and grows there.
        self.work = nil
        defer { self.work = work }
        let bytes = waiting
        waiting = []
        let missing = BlobLimits.magicBytesMax - start.count
        if missing > 0 { start += bytes.prefix(missing) }
        let store = try worker.store()
        for chunk in try work.sealer.append(bytes[...]) { try store.put(chunk, work.ticket) }
        guard work.sealer.isWhole else { return .rests([asksForMore]) }
        return try worker.finish(id, &work.sealer, work.ticket, start: start)
    }
}
