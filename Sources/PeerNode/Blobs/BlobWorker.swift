public import BlobStore
import WorkspaceModel

/// Runs the jobs on blobs, one after the other, on the thread that calls it.
///
/// It has exclusive access to the chunks. A long job is done a chunk at a time, and before each
/// chunk all short jobs that arrived meanwhile: so pieces of a transfer never wait while a file of
/// 1 GiB is added.
///
/// - Not thread-safe: one thread at a time.
public final class BlobWorker {
    private let makeStore: () throws(BlobError) -> any ChunkStore
    let places: any FilePlaces
    private var opened: (any ChunkStore)?
    private var jobs: [BlobJob] = []
    /// Long jobs, the next one first.
    private var tasks: [any BlobTask] = []
    /// Long jobs that wait for their connections.
    private var resting: [TaskID: any BlobTask] = [:]
    /// Puts that the next claim ends.
    private var sealed: [SealedPut] = []
    /// Steps until that claim: one round of the long jobs, so that others may end in it as well.
    private var stepsToClaim = 0
    /// The tree that a proof was made of last: who asks for one asks for the next soon.
    private var recentTree: BlobTree?

    /// A worker over a store that is opened with the first job.
    public init(
        places: any FilePlaces, store: @escaping () throws(BlobError) -> any ChunkStore
    ) {
        self.places = places
        makeStore = store
    }

    /// Whether there is something to do.
    public var hasWork: Bool { !jobs.isEmpty || !tasks.isEmpty || !sealed.isEmpty }

    /// Takes a job, to be done by `step`.
    public func take(_ job: BlobJob) { jobs.append(job) }

    /// Does the short jobs that wait, or, if there are none, a step of a long one.
    ///
    /// - Returns: what came of it, in order.
    public func step() -> [BlobOutcome] {
        guard jobs.isEmpty else { return runJobs() }
        guard !tasks.isEmpty else { return claimIfMuch() }
        let task = tasks.removeFirst()
        stepsToClaim -= 1
        switch task.step(on: self) {
        case .goesOn: tasks.append(task)
        case .rests(let outcomes):
            resting[task.id] = task
            return outcomes + claimIfMuch()
        case .ended(let outcomes): return outcomes + claimIfMuch()
        }
        return claimIfMuch()
    }

    /// Throws away what is not finished.
    public func leave() {
        for task in tasks { task.abandon(on: self) }
        for task in resting.values { task.abandon(on: self) }
        (tasks, resting, jobs, sealed, opened) = ([], [:], [], [], nil)
    }

    func store() throws(BlobError) -> any ChunkStore {
        if let opened { return opened }
        let store = try makeStore()
        opened = store
        return store
    }

    /// Does all short jobs that wait. However many ask for a claim, one comes of all of them, behind the
    /// rest: each costs the disk a flush.
    private func runJobs() -> [BlobOutcome] {
        let taken = jobs
        jobs = []
        var (outcomes, isClaimed) = ([BlobOutcome](), false)
        for job in taken {
            if case .claim = job { isClaimed = true } else { outcomes += run(job) }
        }
        return isClaimed ? outcomes + claim() : outcomes
    }

    private func run(_ job: BlobJob) -> [BlobOutcome] {
        switch job {
        case .begin(let held): return begin(held)
        case .store(let piece, let blob, let leaf):
            let result = Self.result { () throws(BlobError) in
                try store().store(piece.bytes, piece: piece.number, of: blob, leaf: leaf)
            }
            return [.stored(piece: piece.number, of: blob, result)] + claimIfMuch()
        case .forget(let chunk, let blob):
            opened?.forget(chunk: chunk, of: blob)
            return []
        case .keep(let tree):
            // Without it the leaves come once more after a restart, and nothing else is lost.
            _ = Self.result { () throws(BlobError) in try store().keep(tree) }
            return []
        case .tree(let blob):
            let tree = try? Self.result { () throws(BlobError) in try store().tree(of: blob) }.get()
            return (tree ?? nil).map { [.tree($0)] } ?? []
        case .claim: return claim()
        case .remove(let root):
            if recentTree?.root == root { recentTree = nil }
            // A leftover file is removed at the next start: no row names it.
            _ = Self.result { () throws(BlobError) in try store().remove(root) }
            return []
        case .read(let piece, let blob, let link):
            let result = Self.result { () throws(BlobError) -> [UInt8] in
                try store().piece(piece, of: blob, after: BlobMessage.pieceHead(blob.root, piece))
            }
            return [.read(piece: piece, of: blob, for: link, result)]
        case .prove(let chunks, let blob, let link):
            let result = Self.result { () throws(BlobError) in try prove(chunks, of: blob) }
            return [.proved(blob, for: link, result)]
        case .put(let id, let path, let key, let bounds):
            tasks.append(PutTask(id, path: path, key: key, bounds))
        case .save(let id, let contents, let folder, let name):
            tasks.append(SaveTask(id, contents, folder: folder, name: name))
        case .verify(let id, let blob, let chunks):
            tasks.append(VerifyTask(id, blob, chunks))
        case .stream(let id, let contents, let range, let connection):
            tasks.append(StreamTask(id, contents, range, for: connection))
        case .receive(let id, let byteCount, let key, let connection):
            tasks.append(
                ReceiveTask(id, byteCount: byteCount, key: key, for: connection))
        case .goOn(let id, let bytes):
            guard let task = resting.removeValue(forKey: id) else { break }
            task.take(bytes)
            tasks.append(task)
        case .abandon(let id):
            for task in tasks where task.id == id { task.abandon(on: self) }
            tasks.removeAll { $0.id == id }
            resting.removeValue(forKey: id)?.abandon(on: self)
        }
        return []
    }

    static func result<Value>(
        _ body: () throws(BlobError) -> Value
    ) -> Result<Value, BlobError> {
        do throws(BlobError) { return .success(try body()) } catch { return .failure(error) }
    }

    private func begin(_ held: [BlobName: HaveMap]) -> [BlobOutcome] {
        var less: [BlobName: HaveMap] = [:]
        do throws(BlobError) {
            let store = try store()
            _ = try store.sweep(keeping: Set(held.keys.map(\.root)))
            for (blob, map) in held {
                let found = try store.reconcile(blob, held: map)
                if found != map { less[blob] = found }
            }
        } catch {
            // A disk error now says nothing about what is stored on it.
            return [.began(less: less), .unclaimed(error)]
        }
        return [.began(less: less)]
    }

    private func prove(_ chunks: Range<Int>, of blob: BlobName) throws(BlobError) -> TreeProof {
        if recentTree?.root != blob.root { recentTree = try store().tree(of: blob) }
        guard let proof = recentTree?.proof(of: chunks) else { throw .missing }
        return proof
    }

    // MARK: Claiming

    /// Lets a file wait for its claim, together with others that end in the same round: the disk
    /// flush costs more than everything else about a small file.
    func hold(_ put: SealedPut) {
        if sealed.isEmpty { stepsToClaim = tasks.count }
        sealed.append(put)
    }

    private func claimIfMuch() -> [BlobOutcome] {
        guard let opened else { return [] }
        let isMuch = opened.unclaimedByteCount >= BlobLimits.unclaimedBytesMax
        let isRound =
            !sealed.isEmpty
            && (tasks.isEmpty || stepsToClaim <= 0
                || sealed.count >= BlobLimits.putsClaimedTogetherMax)
        return isMuch || isRound ? claim() : []
    }

    func claim() -> [BlobOutcome] {
        guard let opened else { return [.claimed([])] }
        let puts = sealed
        sealed = []
        do throws(BlobError) {
            let claims = try opened.claim()
            return puts.map { .put($0.id, .success($0.contents)) } + [.claimed(claims)]
        } catch {
            return [.unclaimed(error)] + puts.map { .put($0.id, .failure(error)) }
        }
    }
}

/// An added file that is sealed completely and not claimed yet.
struct SealedPut {
    let id: TaskID
    let contents: PutContents
}
