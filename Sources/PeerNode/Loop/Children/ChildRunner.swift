import WorkspaceModel

/// Runs the owner's command for notices, or the one for letters, one at a time.
///
/// A command has limited time, and is then killed with everything it started (`WatchedChild`).
/// While one runs others wait in a queue that drops the oldest first. Only the end of a command
/// wakes the loop. Commands that answer a question do not wait for these (`QuestionRunner`).
///
/// - Not thread-safe: it belongs to the loop's thread.
final class ChildRunner {
    /// What to run, and how to report it to the core.
    struct Job {
        let command: String
        let input: [UInt8]
        let variables: [Notice.Variable]
        /// How long it may take, milliseconds.
        let milliseconds: UInt64
        /// The input for its end, with the exit status; `nil` where it could not be run.
        let ended: (Int32?) -> NodeInput
        /// The input when it is dropped from the queue.
        let dropped: NodeInput
    }

    private let driver: NodeDriver
    private let questions: QuestionRunner
    /// The command that runs, and what its end means.
    private var running: (child: WatchedChild, ended: (Int32?) -> NodeInput)?
    private let waitingMax: Int
    private var waiting: [Job] = []
    private var inputs: [NodeInput] = []
    private var isClosed = false

    /// - Parameter waitingMax: jobs that wait behind the one that runs.
    init(driver: NodeDriver, waitingMax: Int = Limits.noticesWaitingMax) {
        (self.driver, self.waitingMax) = (driver, waitingMax)
        questions = QuestionRunner(driver: driver)
    }

    /// The process that runs, for tests.
    var process: Int32? { running?.child.process }
    /// How many wait behind it.
    var waitingCount: Int { waiting.count }
    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty || questions.hasInputs }
    /// When a command that runs is killed.
    var nextDeadline: UInt64? {
        Earliest(running?.child.deadline, questions.nextDeadline).moment
    }

    /// The inputs for the core.
    func takeInputs() -> [NodeInput] {
        defer { inputs = [] }
        return inputs + questions.takeInputs()
    }

    /// Shows a notice, now or as soon as its turn comes.
    func show(_ notice: Notice, now: UInt64) {
        if let question = notice.question { return questions.ask(question, notice, now: now) }
        run(
            Job(
                command: notice.command, input: notice.input, variables: notice.variables,
                milliseconds: Limits.noticeMilliseconds,
                ended: { .noticed(.ended(status: $0)) }, dropped: .noticed(.dropped)), now: now)
    }

    /// Sends a letter, likewise.
    func send(_ letter: Letter, now: UInt64) {
        run(
            Job(
                command: letter.command, input: letter.input, variables: letter.variables,
                milliseconds: Limits.mailMilliseconds,
                ended: { .mailed(letter.number, status: $0) },
                dropped: .mailed(letter.number, status: nil)), now: now)
    }

    private func run(_ job: Job, now: UInt64) {
        guard !isClosed else { return }
        if waiting.count >= waitingMax { inputs.append(waiting.removeFirst().dropped) }
        waiting.append(job)
        startNext(now: now)
    }

    /// Drops waiting jobs: their texts must not be shown any more.
    func forgetWaiting() {
        waiting = []
        questions.forgetWaiting()
    }

    /// Drops the questions that wait, and kills those that run: each has answered nothing then.
    func forgetQuestions() { questions.forgetAll() }

    /// Takes the end of a command.
    ///
    /// - Returns: whether the descriptor is of one.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        guard let running, running.child.token == ready.token else {
            return questions.handle(ready, now: now)
        }
        // Processes that it started and left behind keep running: one may show a window.
        inputs.append(running.ended(running.child.takeEnd(on: driver)))
        self.running = nil
        startNext(now: now)
        return true
    }

    /// Kills a command whose time is over.
    func passTime(now: UInt64) {
        questions.passTime(now: now)
        running?.child.passTime(now: now)
    }

    /// Kills the running command, and starts no more.
    func close() {
        isClosed = true
        waiting = []
        questions.close()
        running?.child.end(on: driver)
        running = nil
    }

    private func startNext(now: UInt64) {
        while running == nil, !waiting.isEmpty {
            let job = waiting.removeFirst()
            do throws(SystemError) {
                let child = try WatchedChild.start(
                    job.command, input: job.input, variables: job.variables,
                    until: now &+ job.milliseconds, on: driver)
                running = (child, job.ended)
            } catch { inputs.append(job.ended(nil)) }
        }
    }
}
