private import Foundation
import Testing

/// A row of tests on a thread of its own.
///
/// What Swift's threads are given waits in one queue. Each test of a row is put at its end, behind
/// the thousands of other tests that are there from the start. So the rows began when all others had
/// ended, and what they wait for, other processes, had the machine to itself. On threads of their own
/// they wait while other tests compute, and keep no thread of Swift's that could run these.
struct OwnThread: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(LaneThread()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    static var ownThread: Self { Self() }
}

/// Runs what it is given one after another, as long as the process lives.
private final class LaneThread: TaskExecutor, @unchecked Sendable {
    private let changed = NSCondition()
    private var waiting: [UnownedJob] = []

    init() {
        let thread = Thread { [self] in
            // A name that is given before the start is lost.
            Thread.current.name = "lane"
            while true { next().runSynchronously(on: executor) }
        }
        // As the main thread has, which tests may have been written for.
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        changed.withLock {
            waiting.append(job)
            changed.signal()
        }
    }

    private var executor: UnownedTaskExecutor { asUnownedTaskExecutor() }

    private func next() -> UnownedJob {
        changed.withLock {
            while waiting.isEmpty { changed.wait() }
            return waiting.removeFirst()
        }
    }
}
