private import CLinux
private import Glibc
import WorkspaceModel

/// Runs commands of the owner's that answer a question, a few at a time, each beside the loop.
///
/// What a command prints waits in a pipe until it has ended: one that prints more than the kernel keeps
/// there waits too, and is killed when its time is over. So an answer costs no memory of ours, and
/// nothing wakes the loop but the end of a command.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class QuestionRunner {
    private struct Running {
        let question: UInt64
        let process: Int32
        /// Readable once the process has ended.
        let descriptor: FileDescriptor
        /// What it has printed.
        let output: FileDescriptor
        /// When it is killed; `nil` once it was.
        var deadline: UInt64?
    }

    private let driver: NodeLoop.Driver
    /// By the token of the process.
    private var running: [UInt64: Running] = [:]
    private var waiting: [(question: UInt64, notice: Notice)] = []
    private var inputs: [NodeInput] = []
    private var isClosed = false

    init(driver: NodeLoop.Driver) { self.driver = driver }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty }
    /// When the next command is killed.
    var nextDeadline: UInt64? { running.values.compactMap(\.deadline).min() }
    /// The processes that run, for tests.
    var processes: [Int32] { running.values.map(\.process).sorted() }

    /// What the core is to be told.
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

    /// Drops those that wait: nobody wants to know any more.
    func forgetWaiting() { waiting = [] }

    /// Takes the end of a command.
    ///
    /// - Returns: whether the descriptor is of one.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        guard let ended = running.removeValue(forKey: ready.token) else { return false }
        driver.poller.forget(ended.descriptor)
        // What it has started ends with it, while the number of its group is nobody else's.
        kill(-ended.process, SIGKILL)
        let status = try? DetachedProcess.wait(for: ended.process)
        let printed = status == 0 && ended.deadline != nil ? Self.output(ended.output) : nil
        inputs.append(.noticed(.answered(question: ended.question, printed)))
        startNext(now: now)
        return true
    }

    /// Kills commands whose time is over.
    func passTime(now: UInt64) {
        for (token, command) in running {
            guard let deadline = command.deadline, deadline <= now else { continue }
            running[token]?.deadline = nil
            Self.end(command.process)
        }
    }

    /// Kills what runs, and starts nothing any more.
    func close() {
        isClosed = true
        waiting = []
        for command in running.values {
            Self.end(command.process)
            driver.poller.forget(command.descriptor)
            _ = try? DetachedProcess.wait(for: command.process)
        }
        running = [:]
    }

    private static func end(_ process: Int32) {
        // The whole group, which it leads as long as nobody has waited for it.
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
    }

    /// What lies in a pipe, or `nil` where that is more than an answer may have.
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
        let process = try ShellProcess.start(
            notice.command, input: notice.input, output: writing.number,
            environment: ShellProcess.environment(
                with: notice.variables.map { ($0.name, $0.value) }, without: ChildRunner.dropped),
            as: .background)
        // Ours goes with this function: the pipe then ends with the command.
        withExtendedLifetime(writing) {}
        do throws(SystemError) {
            let descriptor = try FileDescriptor.result(of: "pidfd_open") {
                wsx_process_descriptor(process)
            }
            let token = driver.newToken()
            try driver.poller.watch(descriptor, token: token, interest: .readable)
            running[token] = Running(
                question: question, process: process, descriptor: descriptor, output: reading,
                deadline: now &+ Limits.receiptCheckMilliseconds)
        } catch {
            Self.end(process)
            _ = try? DetachedProcess.wait(for: process)
            throw error
        }
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
