private import Glibc
import WorkspaceModel

/// Runs the owner's commands that answer a question, a few at a time, each beside the loop.
///
/// The output of a command stays in a pipe until it has ended: one that prints more than the pipe
/// holds blocks, and is killed when its time is over. So an answer uses no memory of this process,
/// and only the end of a command wakes the loop.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class QuestionRunner {
    private struct Running {
        let question: UInt64
        var child: WatchedChild
        /// The pipe with its output.
        let output: FileDescriptor
    }

    private let driver: NodeDriver
    /// By the token of the process.
    private var running: [UInt64: Running] = [:]
    private var waiting: [(question: UInt64, notice: Notice)] = []
    private var inputs: [NodeInput] = []
    private var isClosed = false

    init(driver: NodeDriver) { self.driver = driver }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty }
    /// When the next command is killed.
    var nextDeadline: UInt64? { running.values.compactMap(\.child.deadline).min() }

    /// The inputs for the core.
    func takeInputs() -> [NodeInput] {
        defer { inputs = [] }
        return inputs
    }

    /// Asks a command, now or as soon as there is room.
    func ask(_ question: UInt64, _ notice: Notice, now: UInt64) {
        guard !isClosed, waiting.count < Limits.receiptChecksMax else {
            return inputs.append(.noticed(.answered(question: question, nil)))
        }
        waiting.append((question, notice))
        startNext(now: now)
    }

    /// Drops waiting questions: the answers are no longer needed.
    func forgetWaiting() { waiting = [] }

    /// Drops waiting questions and kills running commands, because their questions must not be
    /// kept. Each counts as unanswered, whatever it has printed.
    func forgetAll() {
        var questions: [UInt64] = []
        for case .noticed(.answered(let question, _)) in inputs { questions.append(question) }
        questions += waiting.map(\.question)
        for command in running.values {
            command.child.end(on: driver)
            questions.append(command.question)
        }
        (running, waiting) = ([:], [])
        inputs = questions.sorted().map { .noticed(.answered(question: $0, nil)) }
    }

    /// Takes the end of a command.
    ///
    /// - Returns: whether the descriptor is of one.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        guard let ended = running.removeValue(forKey: ready.token) else { return false }
        let status = ended.child.takeEnd(on: driver, killsRest: true)
        let printed =
            status == 0 && ended.child.deadline != nil ? Self.output(ended.output) : nil
        inputs.append(.noticed(.answered(question: ended.question, printed)))
        startNext(now: now)
        return true
    }

    /// Kills commands whose time is over.
    func passTime(now: UInt64) {
        for token in running.keys { running[token]?.child.passTime(now: now) }
    }

    /// Kills running commands, and starts no more.
    func close() {
        isClosed = true
        waiting = []
        for command in running.values { command.child.end(on: driver) }
        running = [:]
    }

    /// The content of a pipe, or `nil` where that is longer than an answer may be.
    private static func output(_ pipe: FileDescriptor) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Limits.receiptAnswerBytesMax + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                uninterrupted {
                    read(
                        pipe.number, buffer.baseAddress?.advanced(by: count), buffer.count - count)
                }
            }
            guard more > 0 else { break }
            count += more
        }
        return count <= Limits.receiptAnswerBytesMax ? Array(bytes.prefix(count)) : nil
    }

    // MARK: Starting

    private func startNext(now: UInt64) {
        while running.count < Limits.receiptProcessesMax, !waiting.isEmpty {
            let (question, notice) = waiting.removeFirst()
            do throws(SystemError) {
                try start(question, notice, now: now)
            } catch { inputs.append(.noticed(.answered(question: question, nil))) }
        }
    }

    private func start(
        _ question: UInt64, _ notice: Notice, now: UInt64
    ) throws(SystemError) {
        let (reading, writing) = try Self.pipe()
        let child = try WatchedChild.start(
            notice.command, input: notice.input, output: writing, variables: notice.variables,
            until: now &+ Limits.receiptCheckMilliseconds, on: driver)
        // Ours goes with this function: the pipe then ends with the command.
        withExtendedLifetime(writing) {}
        running[child.token] = Running(question: question, child: child, output: reading)
    }

    /// Both ends of a pipe, above the three standard descriptors; reading never waits.
    private static func pipe() throws(SystemError) -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw SystemError("pipe") }
        let (first, second) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let reading = try first.duplicatedAboveStandard()
        let writing = try second.duplicatedAboveStandard()
        guard fcntl(reading.number, F_SETFL, O_NONBLOCK) == 0 else { throw SystemError("fcntl") }
        return (reading, writing)
    }
}
