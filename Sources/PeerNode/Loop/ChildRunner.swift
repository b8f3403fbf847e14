private import CLinux
private import Glibc
import WorkspaceModel

/// Runs the owner's command for notices, or the one for letters: for one after the other.
///
/// A command has so much time, and is then killed with all that it started. While one runs others
/// wait, the oldest dropped first. Nothing wakes the loop but the end of a command. It gets none of our
/// descriptors, and what it reads is in no argument. Those that answer a question do not wait for these
/// (`QuestionRunner`).
///
/// - Not thread-safe: it belongs to the loop's thread.
final class ChildRunner {
    /// What is run, and what the core is told of it.
    struct Job {
        let command: String
        let input: [UInt8]
        let variables: [Notice.Variable]
        /// How long it may take, milliseconds.
        let milliseconds: UInt64
        /// What its end means: its status, `nil` where it could not be run.
        let ended: (Int32?) -> NodeInput
        /// What it means that it is dropped.
        let dropped: NodeInput
    }

    private struct Running {
        let process: Int32
        /// Readable once the process has ended.
        let descriptor: FileDescriptor
        let token: UInt64
        /// When it is killed, `nil` once it was.
        var deadline: UInt64?
        let ended: (Int32?) -> NodeInput
    }

    private let driver: NodeLoop.Driver
    private let questions: QuestionRunner
    private var running: Running?
    private let waitingMax: Int
    private var waiting: [Job] = []
    private var inputs: [NodeInput] = []
    private var isClosed = false

    /// What a command of the owner's has no use for: it is about the daemon's own start.
    static let dropped: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
        "LISTEN_FDNAMES", "JOURNAL_STREAM", "INVOCATION_ID",
    ]

    /// - Parameter waitingMax: jobs that wait behind the one that runs.
    init(driver: NodeLoop.Driver, waitingMax: Int = Limits.noticesWaitingMax) {
        (self.driver, self.waitingMax) = (driver, waitingMax)
        questions = QuestionRunner(driver: driver)
    }

    /// The process that runs, for tests.
    var process: Int32? { running?.process }
    /// How many wait behind it.
    var waitingCount: Int { waiting.count }
    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty || questions.hasInputs }
    /// When a command that runs is killed.
    var nextDeadline: UInt64? {
        [running?.deadline, questions.nextDeadline].compactMap { $0 }.min()
    }

    /// What the core is to be told.
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

    /// Drops those that wait: their texts are nobody's to show any more.
    func forgetWaiting() {
        waiting = []
        questions.forgetWaiting()
    }

    /// Takes the end of a command.
    ///
    /// - Returns: whether the descriptor is of one.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        guard let running, running.token == ready.token else {
            return questions.handle(ready, now: now)
        }
        driver.poller.forget(running.descriptor)
        inputs.append(running.ended(try? DetachedProcess.wait(for: running.process)))
        self.running = nil
        startNext(now: now)
        return true
    }

    /// Kills a command whose time is over.
    func passTime(now: UInt64) {
        questions.passTime(now: now)
        guard let deadline = running?.deadline, deadline <= now else { return }
        running?.deadline = nil
        endRunning()
    }

    /// Kills what runs, and starts nothing any more.
    func close() {
        isClosed = true
        waiting = []
        questions.close()
        guard let running else { return }
        endRunning()
        driver.poller.forget(running.descriptor)
        _ = try? DetachedProcess.wait(for: running.process)
        self.running = nil
    }

    private func endRunning() {
        guard let running else { return }
        // The whole group: the shell's children would go on without it. It is its own first, as
        // long as nobody has waited for it, so the number is no other's.
        kill(-running.process, SIGKILL)
        kill(running.process, SIGKILL)
    }

    private func startNext(now: UInt64) {
        while running == nil, !waiting.isEmpty {
            let job = waiting.removeFirst()
            do throws(SystemError) {
                running = try start(job, now: now)
            } catch { inputs.append(job.ended(nil)) }
        }
    }

    private func start(_ job: Job, now: UInt64) throws(SystemError) -> Running {
        let process = try ShellProcess.start(
            job.command, input: job.input,
            environment: ShellProcess.environment(
                with: job.variables.map { ($0.name, $0.value) }, without: Self.dropped),
            as: .background)
        do throws(SystemError) {
            let descriptor = try FileDescriptor.result(of: "pidfd_open") {
                wsx_process_descriptor(process)
            }
            let token = driver.newToken()
            try driver.poller.watch(descriptor, token: token, interest: .readable)
            return Running(
                process: process, descriptor: descriptor, token: token,
                deadline: now &+ job.milliseconds, ended: job.ended)
        } catch {
            kill(-process, SIGKILL)
            kill(process, SIGKILL)
            _ = try? DetachedProcess.wait(for: process)
            throw error
        }
    }
}
