/// A few threads for work that would block the loop: hashing, long queries, key derivation, name
/// resolution.
///
/// A job takes values and returns a value; it touches no state of the node. The loop submits jobs,
/// is woken when one is done, and takes the results in the order of completion. The loop decides by
/// the job's id whether a result is still wanted.
public final class JobPool<Output: Sendable>: Sendable {
    /// A job that has ended.
    public struct Finished: Sendable {
        /// The number it was submitted under.
        public let id: UInt64
        /// Its result.
        public let output: Output
    }

    private struct Waiting: Sendable {
        let id: UInt64
        let work: @Sendable () -> Output
    }

    private struct State: Sendable {
        var waiting: [Waiting] = []
        var finished: [Finished] = []
        var threads: [WorkerThread] = []
        var isClosed = false
    }

    private let state = Lock(State())

    /// - Parameters:
    ///   - threadCount: how many jobs run at a time.
    ///   - wakeup: called on a thread of the pool after each job.
    /// - Throws: `SystemError` when the machine has no thread left; then none is left running.
    public init(threadCount: Int = 2, wakeup: Wakeup) throws(SystemError) {
        precondition(threadCount > 0, "a pool that would never run a job")
        let state = state
        for _ in 0..<threadCount {
            do throws(SystemError) {
                let thread = try WorkerThread(name: "wsx-job") {
                    Self.runJobs(of: state, wakeup: wakeup)
                }
                state.withLock { $0.threads.append(thread) }
            } catch {
                close()
                throw error
            }
        }
    }

    deinit { close() }

    /// Runs `work` on one of the threads, after the jobs that were submitted earlier have begun.
    ///
    /// - Returns: whether it will run; not after `close`.
    @discardableResult
    public func submit(id: UInt64, _ work: @escaping @Sendable () -> Output) -> Bool {
        let isAccepted = state.withLock { state in
            if !state.isClosed { state.waiting.append(Waiting(id: id, work: work)) }
            return !state.isClosed
        }
        state.wakeWaiters()
        return isAccepted
    }

    /// The results since the last call, in the order in which the jobs ended.
    public func takeFinished() -> [Finished] {
        state.withLock { state in
            let finished = state.finished
            state.finished = []
            return finished
        }
    }

    /// Drops the jobs that have not begun and waits for those that have. Their results can still be
    /// taken. Closing twice is closing once.
    public func close() {
        let threads = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            let threads = state.threads
            state.threads = []
            return threads
        }
        state.wakeWaiters()
        for thread in threads { thread.join() }
    }

    private static func runJobs(of state: Lock<State>, wakeup: Wakeup) {
        while true {
            let job = state.waitUntil({ !$0.waiting.isEmpty || $0.isClosed }) { state in
                state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            guard let job else { return }
            let output = job.work()
            state.withLock { $0.finished.append(Finished(id: job.id, output: output)) }
            wakeup.wake()
        }
    }
}
