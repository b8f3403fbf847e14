import CRDTStore
private import Glibc

/// The thread for the search index, the only one that opens, writes and queries it.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class SearchThread {
    private let worker: Worker
    private let wakeup: Wakeup
    /// Made with the first job, and after a failure to make it with the next one.
    private var pool: JobPool<SearchOutcome>?
    private var last: UInt64 = 0

    init(home: HomeFolder, wakeup: Wakeup) {
        worker = Worker(SearchWorker(SearchFile(path: home.searchIndex)))
        self.wakeup = wakeup
    }

    /// Begins a job, behind those that were begun before.
    ///
    /// - Returns: the input for the core, where the thread cannot be started.
    func begin(_ job: SearchJob) -> NodeInput? {
        if pool == nil { pool = try? JobPool(threadCount: 1, wakeup: wakeup) }
        last += 1
        guard let pool, pool.submit(id: last, { [worker] in worker.run(job) }) else {
            return .searched(.withoutThread(job))
        }
        return nil
    }

    /// The results of finished jobs.
    func takeFinished() -> [NodeInput] {
        pool?.takeFinished().map { .searched($0.output) } ?? []
    }

    /// Waits for the job under way, and drops the others. Nothing is done afterwards.
    func close() {
        pool?.close()
        // The process may end without freeing anything, and would leave the log of the index behind.
        worker.leave()
    }

    /// `@unchecked Sendable` is true because the only pool that is ever given jobs with it has one
    /// thread, and nobody else calls it.
    private final class Worker: @unchecked Sendable {
        private let worker: SearchWorker

        init(_ worker: SearchWorker) { self.worker = worker }

        func run(_ job: SearchJob) -> SearchOutcome { worker.run(job) }

        /// Once the pool is closed.
        func leave() { worker.leave() }
    }
}

/// The index as a file of the home.
struct SearchFile: SearchFiles {
    let path: String

    func open() throws(StorageError) -> Connection {
        do throws(SystemError) {
            // With its mode from the first moment; SQLite would use the umask.
            _ = try FileSystem.openFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        } catch {
            let kind: StorageError.Kind = error.isOutOfSpace ? .full : .cannotOpen
            throw StorageError(kind, "the index cannot be opened", statement: "open")
        }
        return try Connection(path: path, mode: .disposable)
    }

    func remove() {
        for name in [path, path + "-wal", path + "-shm"] { _ = try? FileSystem.remove(name) }
    }
}
