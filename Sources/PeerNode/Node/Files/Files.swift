import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A part of the room of files.
typealias FilePart = RoomPartOf<Files>

/// Files: which blobs are named by messages that this node can open, what is fetched from whom,
/// what is served, and what the cache evicts. It never sees a byte of a blob: a worker beside the
/// loop handles those.
///
/// The room holds the parts, each with its own state, and coordinates what involves several of
/// them.
final class Files: Component {
    // A part asks those before it in this list, and none behind it. First those of `Transfers`.

    /// Jobs for the worker.
    private(set) lazy var jobs = BlobJobs(self)
    /// Files that were put and that no message names yet.
    private(set) lazy var drafts = FileDrafts(self)
    /// The pictures that are shown now.
    private(set) lazy var pictures = ShownPictures(self)
    /// What messages and pictures say of blobs.
    var mentions: FileMentions { FileMentions(self) }
    /// Finding the files that calls name.
    var names: FileNames { FileNames(self) }
    /// Pictures that somebody chooses.
    var pictureChoice: PictureChoice { PictureChoice(self) }
    /// Which chunks are held.
    private(set) lazy var blobs = HeldBlobs(self)
    /// Which devices said to hold all of a blob.
    private(set) lazy var heldElsewhere = KnownHolders(self)
    /// Blobs that are fetched.
    private(set) lazy var transfers = FileTransfers(self)
    /// Files as people see them.
    var objects: FileObjects { FileObjects(self) }
    /// Serving blobs to peers.
    private(set) lazy var serving = FileServing(self)
    /// The room that files take.
    private(set) lazy var cache = FileCache(self)
    /// Files that come with their messages.
    private(set) lazy var media = MediaFetching(self)
    /// Copies that channels ask for.
    private(set) lazy var copies = FileCopies(self)
    /// Questions who has a file.
    private(set) lazy var holders = HolderQuestions(self)
    /// Jobs that calls wait for.
    private(set) lazy var tasks = FileTasks(self)
    /// A check of chunks.
    private(set) lazy var checks = ChunkChecks(self)
    /// What `doctor` says.
    var findings: FileFindings { FileFindings(self) }

    override var nextDeadline: UInt64? {
        var first = Earliest(blobs.wordsDue, pictures.due, copies.deadline, transfers.nextDeadline)
        first.take(heldElsewhere.due)
        first.take(tasks.nextDeadline)
        first.take(holders.nextDeadline)
        first.take(cache.nextDeadline)
        return first.moment
    }

    override func tick() throws(StorageError) {
        transfers.tick()
        if let due = blobs.wordsDue, due <= time.monotonic { try serving.tellHeld() }
        try tasks.endUnserved()
        try holders.answerDue()
        try copies.decide()
        try collectWhenDue()
    }

    override func forgetSecrets() {
        drafts.forget()
        pictures.forget()
        let error = NodeError.locked(.relaying)
        holders.endAll(because: error)
        checks.forget()
        tasks.endAll(because: error)
    }

    override func forgetWorkspaces() {
        transfers.forgetWorkspaces()
        serving.forgetWorkspaces()
        pictures.forget()
    }

    override func goOn(after former: Component) {
        guard let former = former as? Files else { return }
        jobs.goOn(after: former.jobs)
        drafts.goOn(after: former.drafts)
        tasks.goOn(after: former.tasks)
        media.goOn(after: former.media)
        copies.goOn(after: former.copies)
        transfers.goOn(after: former.transfers)
    }

    /// A client's jobs are no longer awaited.
    func forgetTasks(of connection: UInt64) {
        holders.forget(of: connection)
        checks.forget(of: connection)
        tasks.forget(of: connection)
    }

    // MARK: The turn

    /// Plans requests and sends at the end of the turn, before links are flushed.
    func planTransfers() throws(StorageError) {
        try notePictures()
        try heldElsewhere.flushWhereDue()
        guard !transfers.isIdle || !serving.isIdle else { return }
        try transfers.plan()
        try serving.serve()
        transfers.tellProgress()
    }

    /// Updates which pictures are displayed now, if that may have changed. Missing ones are
    /// fetched, also those that were here once, or did not fit.
    private func notePictures() throws(StorageError) {
        guard pictures.look(), mayWrite else { return }
        for blob in pictures.blobs {
            if let known = try store.blobs.row(blob), known.isWanted || known.held.isWhole {
                continue
            }
            try write()
            let number = try store.blobs.enter(blob, at: time.wall)
            if let row = try store.blobs.row(number), try cache.fits(row) {
                try transfers.want(number)
            }
        }
    }

    /// Finds blobs that no message names any more, and frees space where the quota is used up.
    private func collectWhenDue() throws(StorageError) {
        guard cache.beginCollection() else { return }
        try transfers.leaveIdle()
        try media.lookAtMeter()
        // A home that was restored may have fewer files than its store says: the first job looks.
        try jobs.begin()
        // Views that are not built yet, or are sealed, name nothing so far.
        guard !turn.isBuilding, !turn.session.lock.isLocked,
            try store.registry.value(StoreSalvage.unbuilt) == nil,
            try store.registry.value(BlobTable.unreadFiles) == nil
        else { return }
        drafts.dropOld()
        try notePictures()
        try cache.dropOrphans(besides: Set(drafts.roots + pictures.blobs.map(\.root.bytes)))
        try cache.dropOutdated()
        try cache.keepWithinQuota(besides: 0)
        try copies.review()
    }
}
