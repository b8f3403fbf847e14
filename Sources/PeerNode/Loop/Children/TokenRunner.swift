import WorkspaceModel

/// Checks tokens in processes of this program (`TokenChild`), a few at a time.
///
/// They run like commands that answer a question, with the same time limit.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class TokenRunner {
    private let runner: ChildRunner
    private let program: String?
    private var failed: [UInt64] = []

    /// - Parameter program: an absolute path; without one no token is checked.
    init(driver: NodeDriver, program: String?) {
        runner = ChildRunner(driver: driver)
        self.program = program
    }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { runner.hasInputs || !failed.isEmpty }
    /// When a process that runs is killed.
    var nextDeadline: UInt64? { runner.nextDeadline }

    /// The inputs for the core: one for each check.
    func takeInputs() -> [NodeInput] {
        defer { failed = [] }
        return failed.map { .tokenChecked($0, nil) }
            + runner.takeInputs().compactMap { input in
                guard case .noticed(.answered(let number, let verdict)) = input else { return nil }
                return .tokenChecked(number, verdict)
            }
    }

    /// Checks a token, now or as soon as there is room.
    ///
    /// - Parameter question: a line of `TokenQuestion`.
    func check(_ number: UInt64, _ question: [UInt8], now: UInt64) {
        guard let program else { return failed.append(number) }
        var notice = Notice(
            command: TokenChild.command, input: question,
            variables: [Notice.Variable(name: TokenChild.programVariable, value: program)])
        notice.question = number
        runner.show(notice, now: now)
    }

    /// Takes the end of a process.
    ///
    /// - Returns: whether the descriptor is of one.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool { runner.handle(ready, now: now) }

    /// Kills a process whose time is over.
    func passTime(now: UInt64) { runner.passTime(now: now) }

    /// Drops all tokens when the node locks: waiting ones are discarded, and the processes with
    /// others are killed. Each is reported to the core as failed.
    func forget() { runner.forgetQuestions() }

    /// Kills running checks, and starts no more.
    func close() { runner.close() }
}
