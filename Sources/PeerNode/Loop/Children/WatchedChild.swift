private import CLinux
private import Glibc

/// A shell command that runs beside the loop, which is told of its end and kills it when its time
/// is over.
///
/// Of this process's descriptors it gets only the one for its answer, and its input is in no
/// argument. It leads a process group, which is killed as a whole.
///
/// - Not thread-safe: it belongs to the loop's thread.
struct WatchedChild {
    /// Its process id, and that of its group.
    let process: Int32
    /// The token under which the poller reports its end.
    let token: UInt64
    /// When it is killed, on the monotonic clock; `nil` once it was.
    private(set) var deadline: UInt64?
    /// Readable once the process has ended.
    private let descriptor: FileDescriptor

    /// Variables that are useless for a command: they are about the daemon's own start.
    private static let dropped: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
        "LISTEN_FDNAMES", "JOURNAL_STREAM", "INVOCATION_ID",
    ]

    /// Starts a command, and has the poller watch it.
    ///
    /// - Parameters:
    ///   - input: what it reads.
    ///   - output: where it writes; `nil` for nowhere.
    ///   - variables: what its environment has besides ours, and in its place.
    ///   - deadline: when it is killed, on the monotonic clock, milliseconds.
    static func start(
        _ command: String, input: [UInt8] = [], output: FileDescriptor? = nil,
        variables: [Notice.Variable] = [], until deadline: UInt64, on driver: NodeDriver
    ) throws(SystemError) -> WatchedChild {
        let process = try ShellProcess.start(
            command, input: input, output: output?.number,
            environment: ShellProcess.environment(
                with: variables.map { ($0.name, $0.value) }, without: dropped),
            as: .background)
        do throws(SystemError) {
            let descriptor = try FileDescriptor.result(of: "pidfd_open") {
                wsx_process_descriptor(process)
            }
            let token = driver.newToken()
            try driver.poller.watch(descriptor, token: token, interest: .readable)
            return WatchedChild(
                process: process, token: token, deadline: deadline, descriptor: descriptor)
        } catch {
            killGroup(of: process)
            _ = try? DetachedProcess.wait(for: process)
            throw error
        }
    }

    /// Kills it once its time is over. The poller then reports its end as usual.
    mutating func passTime(now: UInt64) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        Self.killGroup(of: process)
    }

    /// Handles its end, which the poller has reported.
    ///
    /// - Parameter killsRest: whether what it has started ends with it.
    /// - Returns: its status, as of `DetachedProcess.wait`; `nil` where there is none.
    func takeEnd(on driver: NodeDriver, killsRest: Bool = false) -> Int32? {
        driver.poller.forget(descriptor)
        // Until somebody waits for it, the number of its group cannot be another's.
        if killsRest { Self.killGroup(of: process) }
        return try? DetachedProcess.wait(for: process)
    }

    /// Ends it now, with all that it has started.
    func end(on driver: NodeDriver) { _ = takeEnd(on: driver, killsRest: true) }

    /// Kills the whole group: the shell's children would keep running without it. Until somebody
    /// waits for the process, its id, and so that of its group, cannot be another's.
    private static func killGroup(of process: Int32) {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
    }
}
