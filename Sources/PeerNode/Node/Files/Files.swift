import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Files: which blobs the messages name that this node can open, what is fetched from whom, what is
/// served, and what the cache drops. It never sees a byte of a blob: a desk beside the loop has those.
final class Files: Component {
    var scheduler = PieceScheduler()
    var transfers: [BlobRoot: FileTransfer] = [:]
    /// What each link was told, and asks for.
    var services: [LinkID: FileService] = [:]
    /// Files that were put and that no message names yet, by the ids that people see.
    var drafts: [String: FileDraft] = [:]
    /// Long jobs under way, and what waits for a transfer before it becomes one.
    var errands: [ErrandID: FileErrand] = [:]
    /// Whether the desk has had its first job.
    var hasDesk = false
    /// Blobs of which more or less is held since peers were told.
    var changed: Set<BlobRoot> = []
    /// When that is told, when stored chunks are claimed, when a full disk is tried again, and when blobs
    /// that no message names are looked for; on the monotonic clock.
    var wordsDue: UInt64?
    var claimDue: UInt64?
    var retryDue: UInt64?
    var collectDue: UInt64 = 0
    /// The pictures that are shown now, and what told so, by workspace. They hold keys.
    var pictures: [BlobRoot: ShownPicture] = [:]
    var pictureMarks: [Int64: PictureMark] = [:]
    /// When they were looked for last, and when they are again, on the monotonic clock.
    var picturesNotedAt: UInt64?
    var picturesDue: UInt64?
    /// When files of a kind come by themselves, as far as that was read.
    var mediaRules: [MediaKind: MediaRule] = [:]
    /// Whether the network is metered, as far as that was found out.
    var meter: Bool?
    /// The check of chunks that is under way.
    var chunkCheck: ChunkCheck?
    /// Questions who has a file that are not answered.
    var holderQuestions: [HolderQuestion] = []
    /// When it is decided whether a copy of a blob is kept here, by its number.
    var copyChecks: [Int64: UInt64] = [:]
    /// The blobs that somebody has dropped here, and that are not fetched for a channel again.
    var copiesDeclined: Set<Int64> = []
    /// Since when no message names a blob, by its number.
    var orphans: [Int64: UInt64] = [:]
    private var peerNumbers: [DeviceID: PieceScheduler.PeerID] = [:]
    private var peerDevices: [PieceScheduler.PeerID: DeviceID] = [:]
    /// The blob from which on others are begun to be fetched, by its number.
    var nextWanted: Int64 = 0
    private var lastErrand: UInt64 = 0

    /// The room that files take.
    var cache: FileCache { FileCache(core) }

    override var nextDeadline: UInt64? {
        var first = Earliest(wordsDue, claimDue, retryDue, picturesDue)
        if !transfers.isEmpty { first.take(scheduler.nextDeadline(after: time.monotonic)) }
        for errand in errands.values { first.take(errand.waitsUntil) }
        for question in holderQuestions { first.take(question.due) }
        for check in copyChecks.values { first.take(check) }
        if mayWrite, home != nil, store.blobs.isInUse { first.take(collectDue) }
        return first.moment
    }

    override func tick() throws(StorageError) {
        let now = time.monotonic
        if let due = claimDue, due <= now { askForClaim() }
        if let due = retryDue, due <= now {
            retryDue = nil
            for root in transfers.keys.sorted() { scheduler.resume(root) }
        }
        if let due = wordsDue, due <= now { try tellHeld() }
        endVainErrands()
        try answerDueQuestions()
        try decideCopies()
        try collectWhenDue()
    }

    override func forgetSecrets() {
        // They hold keys. What was put and is in no message has to be put again.
        drafts = [:]
        (pictures, pictureMarks, picturesDue) = ([:], [:], nil)
        endErrands(because: .locked(.relaying))
    }

    override func forgetWorkspaces() {
        for root in transfers.keys.sorted() { _ = scheduler.end(root) }
        transfers = [:]
        services = [:]
        (pictures, pictureMarks, picturesDue) = ([:], [:], nil)
    }

    override func goOn(after former: Component) {
        guard let former = former as? Files else { return }
        // Only what the desk has done counts, and that is in the store.
        hasDesk = former.hasDesk
        drafts = former.drafts
        // Their calls are answered, and a lock has to end them.
        errands = former.errands.filter { $0.value.isAnswered }
        lastErrand = former.lastErrand
        (meter, copiesDeclined) = (former.meter, former.copiesDeclined)
        (peerNumbers, peerDevices) = (former.peerNumbers, former.peerDevices)
    }

    // MARK: The desk

    /// Hands a job to the desk.
    func ask(_ job: BlobJob) throws(StorageError) {
        if !hasDesk {
            hasDesk = true
            var held: [BlobName: HaveMap] = [:]
            for row in try store.blobs.rows() {
                if let blob = row.blob, !row.held.isEmpty { held[blob] = row.held }
            }
            turn.emit(.blob(.begin(held: held)))
        }
        turn.emit(.blob(job))
    }

    func nextErrand() -> ErrandID {
        lastErrand += 1
        return ErrandID(number: lastErrand)
    }

    /// Has what is stored so far count.
    func askForClaim() {
        claimDue = nil
        turn.emit(.blob(.claim))
    }

    // MARK: Peers

    /// The number of a device, by which it is trusted or not for as long as the process runs.
    func number(of device: DeviceID) -> PieceScheduler.PeerID {
        if let known = peerNumbers[device] { return known }
        let number = PieceScheduler.PeerID(peerNumbers.count + 1)
        peerNumbers[device] = number
        peerDevices[number] = device
        return number
    }

    /// The bit of a handshake that says that a node knows blobs.
    static let feature: UInt64 = 1

    /// Whether blobs may go over a link: the other end knows of them, and is a member of something here.
    func mayTransfer(on link: PeerLink) -> Bool {
        guard let peer = link.peer, peer.features & Self.feature != 0, !link.isClosing else {
            return false
        }
        return link.syncs.values.contains { $0.standing == .full }
    }

    /// Sends what the scheduler wants. To a device without a link nothing can be sent, nor is owed.
    func send(_ messages: [PieceScheduler.Message]) {
        for message in messages {
            guard let device = peerDevices[message.peer],
                let link = network.links(to: device).last(where: mayTransfer)
            else { continue }
            link.session.send(raw: message.message.encoded(), in: .control)
        }
    }

    /// A link is gone.
    func left(_ link: PeerLink) {
        services[link.id] = nil
        guard let device = link.peer?.device, let number = peerNumbers[device],
            !network.links(to: device).contains(where: { $0 !== link })
        else { return }
        scheduler.leave(number)
    }

    // MARK: The turn

    /// What follows from the turn, before links are flushed: who is asked for what, and what is sent.
    func planTransfers() throws(StorageError) {
        try notePictures()
        guard !transfers.isEmpty || !services.isEmpty else { return }
        try askHolders()
        send(scheduler.plan(at: time.monotonic))
        for forgotten in scheduler.takeForgotten() {
            try ask(.forget(chunk: forgotten.chunk, of: forgotten.blob))
        }
        try serve()
        tellProgress()
    }
}

extension BlobTable {
    /// What is known of a blob.
    func row(_ blob: BlobName) throws(StorageError) -> Row? {
        try row(root: blob.root.bytes, size: Int64(clamping: blob.shape.byteCount))
    }

    /// Enters a blob of which nothing is held, unless it is there.
    ///
    /// - Parameter time: milliseconds since 1970.
    /// - Returns: its number.
    func enter(_ blob: BlobName, at time: UInt64) throws(StorageError) -> Int64 {
        try enter(
            root: blob.root.bytes, size: Int64(clamping: blob.shape.byteCount),
            map: HaveMap(blob.shape).encoded, at: Int64(clamping: time)
        ).number
    }
}

extension BlobTable.Row {
    /// The blob, `nil` where the row makes no sense.
    var blob: BlobName? {
        guard let root = BlobRoot(untrusted: root), size >= 0,
            let shape = BlobShape(byteCount: UInt64(size))
        else { return nil }
        return BlobName(root: root, shape: shape)
    }

    /// Which chunks are held; none where the row makes no sense.
    var held: HaveMap {
        guard let shape = blob?.shape else { return HaveMap(chunkCount: 0) }
        return (try? HaveMap(chunkCount: shape.chunkCount, decoding: map)) ?? HaveMap(shape)
    }
}
