import BlobStore
import WorkspaceCrypto

/// The thread for blobs, the only one that reads, writes, hashes and seals their files.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class BlobThread {
    private let shared = Lock(Shared())
    private let worker: Worker
    private let wakeup: Wakeup
    private var thread: WorkerThread?
    /// Hashing and sealing of a large file take a processor for long, and the loop has to answer: it
    /// then gets three times as much of one.
    private static let niceness: Int32 = 5

    private struct Shared: Sendable {
        var jobs: [BlobJob] = []
        var outcomes: [BlobOutcome] = []
        var isClosed = false
    }

    init(home: HomeFolder, wakeup: Wakeup) {
        let folder = home.blobs
        // Leftovers are removed with the first job.
        if (try? FileSystem.status(of: folder)) != nil {
            try? ChunkFiles.removeUnfinished(on: KernelDisk(folder: folder))
        }
        worker = Worker(
            BlobWorker(
                places: SystemFilePlaces(random: SystemRandom()),
                store: { () throws(BlobError) -> any ChunkStore in
                    try ChunkFiles(KernelDisk(folder: folder))
                }))
        self.wakeup = wakeup
    }

    /// Begins a job, behind those that were begun before. Where there can be no thread it waits for one.
    func begin(_ job: BlobJob) {
        shared.withLock { $0.jobs.append(job) }
        if thread == nil {
            let (shared, worker, wakeup) = (shared, worker, wakeup)
            thread = try? WorkerThread(name: "wsx-blobs", niceness: Self.niceness) {
                Self.run(shared, worker, wakeup)
            }
        }
        shared.wakeWaiters()
    }

    /// The outcomes of jobs since the last call, in order.
    ///
    /// - Returns: what the core has to know, and, past it, what connections get. Both at once: the
    ///   bytes of a file come behind the answer which they belong to.
    func takeFinished() -> (inputs: [NodeInput], portions: [FilePortion]) {
        let outcomes = shared.withLock { shared in
            defer { shared.outcomes = [] }
            return shared.outcomes
        }
        var inputs: [NodeInput] = []
        var portions: [FilePortion] = []
        for outcome in outcomes {
            if case .portion(let portion) = outcome {
                portions.append(portion)
            } else {
                inputs.append(.blobbed(outcome))
            }
        }
        return (inputs, portions)
    }

    /// Waits for the step under way, and drops the rest.
    func close() {
        shared.withLock { shared in
            shared.isClosed = true
            shared.jobs = []
        }
        shared.wakeWaiters()
        thread?.join()
        thread = nil
    }

    private static func run(_ shared: Lock<Shared>, _ worker: Worker, _ wakeup: Wakeup) {
        while true {
            let hasWork = worker.worker.hasWork
            let (jobs, isClosed) = shared.waitUntil(
                { hasWork || !$0.jobs.isEmpty || $0.isClosed },
                then: { shared in
                    let jobs = shared.jobs
                    shared.jobs = []
                    return (jobs, shared.isClosed)
                })
            guard !isClosed else { return worker.worker.leave() }
            for job in jobs { worker.worker.take(job) }
            let outcomes = worker.worker.step()
            guard !outcomes.isEmpty else { continue }
            shared.withLock { $0.outcomes += outcomes }
            wakeup.wake()
        }
    }

    /// `@unchecked Sendable` is true because only the one thread that is made here ever touches it.
    private final class Worker: @unchecked Sendable {
        let worker: BlobWorker

        init(_ worker: BlobWorker) { self.worker = worker }
    }
}
