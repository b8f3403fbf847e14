import BlobStore

/// Decrypts a range of a file for a connection, chunk by chunk.
///
/// After each chunk it waits until the connection has room, so for a file of any size one chunk is
/// in memory.
final class StreamErrand: BlobErrand {
    let id: ErrandID
    private let connection: UInt64
    private let contents: SavedContents
    private let range: Range<UInt64>
    /// The parts of chunks that are still to be opened; `nil` before the first step.
    private var rest: ArraySlice<BlobShape.Stretch>?

    /// - Parameter range: bytes of the file, all within it.
    init(
        _ id: ErrandID, _ contents: SavedContents, _ range: Range<UInt64>, for connection: UInt64
    ) {
        self.id = id
        self.contents = contents
        self.range = range
        self.connection = connection
    }

    func step(on desk: BlobDesk) -> ErrandStep {
        let isFirst = rest == nil
        do throws(BlobError) {
            let bytes = try next(on: desk)
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

    func abandon(on desk: BlobDesk) { rest = [] }

    private func portion(_ step: FilePortion.Step) -> BlobOutcome {
        .portion(FilePortion(errand: id, connection: connection, step: step))
    }

    /// The next bytes; none where the range is empty.
    private func next(on desk: BlobDesk) throws(BlobError) -> [UInt8] {
        switch contents {
        case .inline(let bytes):
            rest = []
            guard range.upperBound <= UInt64(bytes.count) else { throw .tooLong }
            return [UInt8](bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .blob(let blob, let key):
            if rest == nil { rest = blob.shape.stretches(of: range)[...] }
            guard let stretch = rest?.popFirst() else {
                guard range.isEmpty else { throw .tooLong }
                return []
            }
            let sealed = try desk.store().chunk(stretch.chunk, of: blob)
            let opener = BlobOpener(shape: blob.shape, key: key)
            let opened = try opener.open(sealed, chunk: stretch.chunk)
            if stretch.bytes == opened.indices { return opened }
            guard stretch.bytes.upperBound <= opened.count else { throw .badChunk(stretch.chunk) }
            return [UInt8](opened[stretch.bytes])
        }
    }
}

/// Seals a file whose bytes arrive over a connection.
///
/// It asks for more once it has sealed what arrived. An incomplete file leaves nothing behind.
final class ReceiveErrand: BlobErrand {
    let id: ErrandID
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

    init(_ id: ErrandID, byteCount: UInt64, key: BlobKey, for connection: UInt64) {
        self.id = id
        self.byteCount = byteCount
        self.key = key
        self.connection = connection
    }

    func take(_ bytes: [UInt8]) { waiting += bytes }

    func step(on desk: BlobDesk) -> ErrandStep {
        do throws(BlobError) {
            if byteCount <= UInt64(BlobLimits.inlineBytesMax) { return try goOnInline() }
            guard let work else { return try begin(on: desk) }
            return try goOn(work, on: desk)
        } catch {
            abandon(on: desk)
            return .ended([.put(id, .failure(error))])
        }
    }

    func abandon(on desk: BlobDesk) {
        if let ticket = work?.ticket { try? desk.store().abandonPut(ticket) }
        work = nil
        (waiting, start) = ([], [])
    }

    private var asksForMore: BlobOutcome {
        .portion(FilePortion(errand: id, connection: connection, step: .take))
    }

    private func goOnInline() throws(BlobError) -> ErrandStep {
        start += waiting
        waiting = []
        guard UInt64(start.count) <= byteCount else { throw .tooLong }
        guard UInt64(start.count) == byteCount else { return .rests([asksForMore]) }
        let beginning = [UInt8](start.prefix(BlobLimits.magicBytesMax))
        return .ended(
            [.put(id, .success(PutContents(place: .inline(start), start: beginning)))])
    }

    private func begin(on desk: BlobDesk) throws(BlobError) -> ErrandStep {
        guard let shape = BlobShape(byteCount: byteCount) else { throw .tooLarge }
        work = Work(
            sealer: BlobSealer(shape: shape, key: key), ticket: try desk.store().beginPut(shape))
        return .rests([asksForMore])
    }

    private func goOn(_ former: Work, on desk: BlobDesk) throws(BlobError) -> ErrandStep {
        var work = former
        // So that the chunk under way is in one place alone, and grows there.
        self.work = nil
        defer { self.work = work }
        let bytes = waiting
        waiting = []
        let missing = BlobLimits.magicBytesMax - start.count
        if missing > 0 { start += bytes.prefix(missing) }
        let store = try desk.store()
        for chunk in try work.sealer.append(bytes[...]) { try store.put(chunk, work.ticket) }
        guard work.sealer.isWhole else { return .rests([asksForMore]) }
        return try desk.finish(id, &work.sealer, work.ticket, start: start)
    }
}
