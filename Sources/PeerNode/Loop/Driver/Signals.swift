private import CLinux
private import Glibc

/// The signals that stop or refresh the node, read by the loop like any other input.
///
/// A signal handler could run anywhere, even in the middle of a write; this way a signal waits
/// until the loop has a turn for it, and an early one is not lost.
public final class Signals {
    /// What a signal asks of the node.
    public enum Request: Equatable, Sendable {
        /// Stop in good order: SIGTERM or SIGINT.
        case stop
        /// Reopen the log file: SIGHUP.
        case reopenLog
    }

    /// Readable while a signal waits.
    public let descriptor: FileDescriptor

    /// Blocks the signals of the loop for this thread and all it starts, and ignores those that
    /// would kill the process for a closed socket or a full quota, where the call's own error says
    /// enough.
    ///
    /// Call it before any thread starts: a thread that has not blocked them would be killed by
    /// the first. Child processes get the usual mask back in `DetachedProcess`.
    public static func prepareProcess() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var set = sigset_t()
        sigemptyset(&set)
        for number in watched { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// - Throws: `SystemError` when descriptors have run out.
    public init() throws(SystemError) {
        descriptor = try .result(of: "signalfd") {
            wsx_signalfd(Self.watched, Self.watched.count)
        }
    }

    /// The requests since the last call, in the order of the kernel. The same signal twice may
    /// arrive as one.
    public func take() -> [Request] {
        var requests: [Request] = []
        while true {
            let number = wsx_read_signal(descriptor.number)
            guard number > 0 else { return requests }
            requests.append(number == SIGHUP ? .reopenLog : .stop)
        }
    }

    private static let watched: [Int32] = [SIGTERM, SIGINT, SIGHUP]
}

/// Keeps the memory of the process from other processes.
public enum ProcessHardening {
    /// No core file and no debugger of the same user: both would see keys.
    public static func forbidDumps() throws(SystemError) {
        guard wsx_forbid_dumps() == 0 else { throw SystemError("prctl") }
    }

    /// Makes a crash end the process at once and without output.
    ///
    /// The runtime's own report of a crash prints registers and the memory they point to, which
    /// may be a key or somebody's words, into a log.
    public static func silenceCrashes() {
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            signal(number, SIG_DFL)
        }
    }

    /// Whether a core file may be written of this process.
    public static var mayBeDumped: Bool { wsx_may_be_dumped() != 0 }
}
