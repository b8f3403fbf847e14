import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A blob that is being fetched: the state that the scheduler does not hold.
struct FileTransfer {
    /// Its short number.
    let number: Int64
    let blob: BlobName
    /// The devices that may know of it.
    var readers: Set<DeviceID> = []
    /// The short number of a workspace in which a message names it.
    var workspace: Int64?
    /// Whether the worker keeps the hashes of all chunks.
    var hasTree = false
    /// Whether only some chunks are fetched, which somebody waits for.
    var isPart = false
    /// The last reported progress, if any.
    var told: TransferState?
    /// The earliest time of the next report, on the monotonic clock.
    var tellDue: UInt64
}

/// Blobs that are being fetched from other devices, and their sources.
final class FileTransfers: FilePart {
    /// Which piece is requested from whom.
    var scheduler = PieceScheduler()
    var transfers: [BlobRoot: FileTransfer] = [:]
    /// The requests to each link.
    var sources: [LinkID: BlobSource] = [:]
    var numbers = DeviceNumbers()
    /// Which transfers to report, and to whom.
    var rounds = TransferRounds()
    /// When stored chunks are claimed, and when a full disk is tried again, on the monotonic clock.
    var claimDue: UInt64?
    /// Blobs that are stored completely, without a claim since then.
    var gathered: Set<BlobRoot> = []
    var retryDue: UInt64?
    /// The minimum number of blobs that are read when others are started while some are under way
    /// already.
    private static let resumedAtOnceMin = 16

    /// The blob from which on others are begun to be fetched, by its number.
    private var nextWanted: Int64 = 0

    var nextDeadline: UInt64? {
        var first = Earliest(claimDue, retryDue)
        if !transfers.isEmpty {
            first.take(scheduler.nextDeadline(after: time.monotonic))
            if core.events.subscriptions.wantPassing { first.take(rounds.firstWordDue) }
        }
        return first.moment
    }

    /// Whether nothing is fetched, and nobody was asked for anything.
    var isIdle: Bool { transfers.isEmpty && sources.isEmpty }

    func tick() {
        let now = time.monotonic
        if let due = claimDue, due <= now { askForClaim() }
        if let due = retryDue, due <= now {
            retryDue = nil
            for root in transfers.keys.sorted() { scheduler.resume(root) }
        }
    }

    func forgetWorkspaces() {
        for root in transfers.keys.sorted() { _ = scheduler.end(root) }
        transfers = [:]
        sources = [:]
        gathered = []
        rounds = TransferRounds()
    }

    /// Devices keep their numbers, by which they are trusted or not.
    func goOn(after former: FileTransfers) { numbers = former.numbers }

    // MARK: Beginning

    /// Fetches a whole blob until it is here, also after a restart.
    func want(_ number: Int64, isUrgent: Bool = false) throws(StorageError) {
        guard let row = try store.blobs.row(number), !row.held.isWhole else { return }
        if !row.isWanted {
            try room.blobs.setWanted(true, of: number)
        }
        try fetch(row, isUrgent: isUrgent)
    }

    /// Goes on with what was being fetched when the process ended.
    ///
    /// It goes round through all that is wanted, so that blobs which nobody has keep none from coming.
    func resume() throws(StorageError) {
        var isAgain = false
        while transfers.count < BlobLimits.transfersMax {
            // Mostly one has ended, and one begins.
            let limit = max(Self.resumedAtOnceMin, BlobLimits.transfersMax - transfers.count)
            let rows = try store.blobs.wanted(from: nextWanted, limit: limit)
            for row in rows where transfers.count < BlobLimits.transfersMax {
                try fetch(row)
                nextWanted = row.number + 1
            }
            guard rows.isEmpty else { continue }
            if isAgain { return }
            isAgain = true
            nextWanted = 0
        }
    }

    /// Makes room for other transfers, if one has waited in vain for a long time.
    func leaveIdle() throws(StorageError) {
        guard transfers.count >= BlobLimits.transfersMax else { return }
        guard time.monotonic >= Limits.fileWaitMilliseconds else { return }
        let idle = scheduler.idle(since: time.monotonic - Limits.fileWaitMilliseconds)
        guard !idle.isEmpty else { return }
        for root in idle { end(root) }
        try resume()
    }

    /// - Parameter part: the chunks that somebody waits for; `nil` for all there are.
    func fetch(
        _ row: BlobTable.Row, chunks part: Range<Int>? = nil, isUrgent: Bool = false
    ) throws(StorageError) {
        guard let blob = row.blob, !row.held.isWhole else { return }
        // Of two sizes that messages claim for one root only one is true, and the other never
        // arrives.
        if isUrgent, let other = transfers[blob.root], other.blob != blob,
            scheduler.state(of: blob.root)?.byteCount == 0
        {
            end(blob.root)
        }
        if isUrgent, transfers[blob.root] == nil { try leaveIdle() }
        guard
            scheduler.fetch(
                blob, held: row.held, chunks: part ?? 0..<blob.shape.chunkCount,
                isUrgent: isUrgent, at: time.monotonic)
        else { return }
        guard transfers[blob.root] == nil else {
            if part == nil { transfers[blob.root]?.isPart = false }
            return
        }
        // A file of one piece is mostly here before anybody could read that it is coming.
        let wait = blob.shape.pieceCount > 1 ? 0 : Limits.transferProgressMilliseconds
        let tellDue = time.monotonic &+ wait
        transfers[blob.root] = FileTransfer(number: row.number, blob: blob, tellDue: tellDue)
        transfers[blob.root]?.isPart = part != nil
        rounds.begin(blob.root, tellDue: tellDue)
        if !row.held.isEmpty, blob.shape.chunkCount > 1 {
            try room.jobs.ask(.tree(of: blob))
        }
    }

    // MARK: Ending

    /// Ends a transfer; what is here of it stays.
    func end(_ root: BlobRoot) {
        send(scheduler.end(root))
        transfers[root] = nil
        rounds.end(root)
        for link in sources.keys { sources[link]?.asked.remove(root) }
    }

    /// Ends the transfer of a blob whose row goes.
    func end(_ root: BlobRoot, numbered number: Int64) {
        if transfers[root]?.number == number { end(root) }
    }

    /// Ends the transfer of some chunks, which nobody waits for any more.
    func endPart(_ root: BlobRoot) {
        if transfers[root]?.isPart == true { end(root) }
    }

    // MARK: What is lost

    /// Whether a file that was put or is kept here is not here, or not all of it, and nobody fetches it.
    func isLost(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard row.isOwn || row.isKept, !row.isWanted, row.blob != nil, !row.held.isWhole else {
            return false
        }
        return try room.mentions.isNamed(row)
    }

    /// Less is held than the tables said. Files that were added or kept here are fetched from other
    /// devices.
    func lost(_ less: [BlobName: HaveMap]) throws(StorageError) {
        for (blob, held) in less.sorted(by: { $0.key.root < $1.key.root }) where mayWrite {
            if let (row, known) = try room.blobs.heldRow(blob.root), known == blob {
                try room.blobs.setHeld(held, of: row)
                guard let row = try store.blobs.row(row.number), try isLost(row) else { continue }
                try want(row.number)
            }
        }
    }

    /// Takes back that chunks are held, and fetches them again where something names the blob.
    func forget(_ wrong: HaveMap, of row: BlobTable.Row) throws(StorageError) {
        var held = row.held
        for chunk in wrong.runs.joined() { held.remove(chunk) }
        try room.blobs.setHeld(held, of: row)
        if try room.mentions.isNamed(row) { try want(row.number) }
    }

    // MARK: States

    /// The progress of a blob's transfer.
    func state(of root: BlobRoot) -> TransferState? { scheduler.state(of: root) }

    /// How long a call waits for a blob that nobody sends, unless it says so itself, milliseconds.
    ///
    /// Longer where somebody who is connected says that they hold some of it, and may only be busy, and
    /// where others are fetched first.
    func patience(with root: BlobRoot) -> UInt64 {
        let isQueued = transfers[root] == nil && transfers.count >= BlobLimits.transfersMax
        return isQueued || scheduler.isOffered(root)
            ? Limits.fileWaitMilliseconds : Limits.fileAloneMilliseconds
    }

    /// The progress of all blobs that are fetched completely.
    var states: [TransferState] {
        transfers.values.filter { !$0.isPart }.compactMap { scheduler.state(of: $0.blob.root) }
    }

    /// Bytes of pieces that are in memory, with those that wait to be sent.
    var bufferBytes: Int { scheduler.bufferBytes }

    /// So many bytes of pieces wait to be sent.
    func noteSending(_ byteCount: Int) { scheduler.otherBufferBytes = byteCount }
}
