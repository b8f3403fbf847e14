import Testing

/// A row of tests that wait more than they compute, beside those that compute.
///
/// All tests are begun at once, and each step of a row is put at the end of the queue of its priority.
/// So a row of the usual priority, behind thousands of other tests, really began when these had ended,
/// and what it waits for, other processes, had the machine to itself. Swift keeps a queue with as many
/// threads as there are processors for each priority: a row of a higher one goes on from the start, and
/// holds no thread that others could compute on.
struct BesideOthers: SuiteTrait, TestScoping {
    /// Higher than that of other tests, because a task that is waited for gets the priority of who
    /// waits where that is higher.
    static let priority = TaskPriority.high

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: Void.self) { row in
                row.addTask(priority: Self.priority) { try await function() }
                try await row.waitForAll()
            }
        }
    }
}

extension Trait where Self == BesideOthers {
    static var besideOthers: Self { Self() }
}
