import Glibc
import WorkspaceModel

/// Starts a detached daemon: its own session, no descriptor of the caller, its log in a file.
struct DaemonStarter {
    let paths: Paths
    /// Words for `daemon run`.
    let options: [String]

    /// The log is kept once more when it has grown beyond this, in bytes.
    private static let logBytesMax = 10 * 1024 * 1024
    /// How long a daemon may take until it answers, in steps of 10 ms.
    private static let stepsMax = 1_500
    /// `POSIX_SPAWN_SETSID`, which the module map of the C library leaves out.
    private static let newSession: Int16 = 0x80

    /// Returns when the daemon's socket answers.
    func start() throws(NodeError) {
        try SystemIO.makeFolder(paths.data)
        try rotateLog()
        keepDescriptors()
        let process = try spawn()
        for _ in 0..<Self.stepsMax {
            if (try? UnixTransport(paths.socket)) != nil { return }
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process { throw ended(status) }
            usleep(10_000)
        }
        throw NodeError(
            .timeout, "the daemon has started and does not answer",
            hint: "read \(paths.log)", reason: "node.start")
    }

    private func ended(_ status: Int32) -> NodeError {
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        let kind: NodeError.Kind =
            switch code {
            case 6: .inUse
            case 78: .badConfiguration
            default: .internal
            }
        return NodeError(
            kind, "the daemon ended at once, with status \(code)", hint: "read \(paths.log)",
            reason: "node.start")
    }

    private func rotateLog() throws(NodeError) {
        var information = stat()
        guard stat(paths.log, &information) == 0, information.st_size > Self.logBytesMax else {
            return
        }
        guard rename(paths.log, paths.log + ".1") == 0 else {
            throw SystemIO.fileFailure("cannot keep the old log", paths.log)
        }
    }

    /// Marks everything but the standard streams as not for the daemon, also what this process
    /// was itself given by its caller.
    private func keepDescriptors() {
        for descriptor in 3..<Int32(clamping: min(max(sysconf(Int32(_SC_OPEN_MAX)), 3), 65_536)) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private var words: [String] {
        var words = ["wsx-node"]
        if let home = paths.home { words += ["--home", home] }
        return words + ["--socket", paths.socket, "daemon", "run"] + options
    }

    private func spawn() throws(NodeError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, paths.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        posix_spawnattr_setflags(&attributes, Self.newSession)
        var arguments = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var process: pid_t = 0
        let result = posix_spawn(
            &process, "/proc/self/exe", &actions, &attributes, arguments, environ)
        guard result == 0 else {
            errno = result
            throw SystemIO.fileFailure("cannot start", "/proc/self/exe")
        }
        return process
    }
}
