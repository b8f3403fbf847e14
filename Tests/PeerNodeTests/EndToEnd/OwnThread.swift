import Foundation
import Testing

/// Runs a suite on threads of its own, beside all others.
///
/// The pool that runs tests has a thread for each core. A test that waits there for another process
/// leaves a core idle, and the next test of a serialized suite is queued behind all others.
struct OwnThread: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadForEachJob()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    /// For suites of tests that mostly wait for other processes.
    static var ownThread: Self { Self() }
}

/// Starts a thread for each job: a test consists of few.
private final class ThreadForEachJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
