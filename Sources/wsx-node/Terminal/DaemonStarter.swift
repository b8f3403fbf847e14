import Glibc
import PeerNode
import WorkspaceModel

/// Starts a detached daemon: its own session, no inherited descriptors, its log in a file.
struct DaemonStarter {
    /// Absolute, since the daemon's working directory is `/`, so that it keeps no
    /// file system mounted.
    let paths: Paths
    /// Arguments of `daemon run`.
    let options: [String]

    /// How long to wait for the daemon to answer, in steps of 10 ms.
    private static let stepsMax = ControlClient.patience / 10
    /// How many lines of the log are shown if the daemon exits at once.
    private static let lastLines = 3

    /// Returns when the daemon's socket answers.
    ///
    /// - Throws: with the last lines of its log if it exits instead.
    func start() throws(NodeError) {
        let home = HomeFolder(data: paths.data, socket: paths.socket)
        try home.prepare()
        let (process, logStart) = try spawn(home)
        for _ in 0..<Self.stepsMax {
            if (try? UnixTransport(paths.socket)) != nil { return }
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process {
                throw ended(status, home, logStart)
            }
            usleep(10_000)
        }
        throw NodeError(
            .timeout, "the daemon started but does not answer",
            hint: "read \(NodeError.quotedPath(home.log))", reason: "node.start")
    }

    private func spawn(_ home: HomeFolder) throws(NodeError) -> (pid: Int32, logStart: Int64) {
        do throws(SystemError) {
            let log = try DetachedProcess.openLog(home.log)
            let logStart = try FileSystem.status(of: home.log).byteCount
            let process = try DetachedProcess.start(
                executable: Self.executable, arguments: words(home),
                environment: Self.environment, log: log)
            return (process, logStart)
        } catch { throw .badConfiguration("cannot start the daemon: \(error)") }
    }

    private func words(_ home: HomeFolder) -> [String] {
        var words: [String] = []
        if paths.home != nil { words += ["--home", home.data] }
        return words + ["--socket", home.socket, "daemon", "run"] + options
    }

    /// This program by its own path, which lists of processes show; by the kernel's link if an
    /// upgrade has removed that file.
    private static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "/proc/self/exe" }
        defer { free(path) }
        return access(path, X_OK) == 0 ? String(cString: path) : "/proc/self/exe"
    }

    /// The caller's environment, without variables that make a crash print memory into the log, and
    /// without the notification socket, on which a service manager expects the caller, not a daemon
    /// that outlives it.
    private static var environment: [String] {
        var all: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            let dropped = ["SWIFT_BACKTRACE=", "NOTIFY_SOCKET="]
            if !dropped.contains(where: { line.utf8.starts(with: $0.utf8) }) { all.append(line) }
            entry += 1
        }
        return all + ["SWIFT_BACKTRACE=enable=no"]
    }

    // MARK: Failures

    private func ended(_ status: Int32, _ home: HomeFolder, _ logStart: Int64) -> NodeError {
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        let kind: NodeError.Kind =
            switch code {
            case NodeError.Kind.inUse.exitStatus: .inUse
            case NodeError.Kind.badRequest.exitStatus: .badRequest
            case NodeError.Kind.badConfiguration.exitStatus: .badConfiguration
            case NodeError.Kind.storeFailed.exitStatus: .storeFailed
            default: .internal
            }
        let said = lastWords(home.log, after: logStart)
        if let own = Self.failure(in: said, kind) { return own }
        return NodeError(
            kind,
            "the daemon stopped right away, with status \(code)"
                + (said.isEmpty ? "" : ": " + said.joined(separator: "; ")),
            hint: "read \(NodeError.quotedPath(home.log))", reason: "node.start")
    }

    /// The daemon's own reason for exiting: a sentence, and a hint below it.
    private static func failure(in said: [String], _ kind: NodeError.Kind) -> NodeError? {
        func rest(_ line: String, _ start: String) -> String? {
            line.utf8.starts(with: start.utf8) ? String(line.dropFirst(start.count)) : nil
        }
        guard let message = said.compactMap({ rest($0, "wsx-node: ") }).last else { return nil }
        let hint = said.compactMap { rest($0, "hint: ") }.last
        return NodeError(kind, message, hint: hint, reason: "node.start")
    }

    /// What the daemon logged before it exited.
    private func lastWords(_ path: String, after start: Int64) -> [String] {
        let bytes = (try? FileSystem.read(path, byteCountMax: 16 * 1024 * 1024)) ?? []
        let own = bytes.dropFirst(Int(clamping: start))
        return own.split(separator: UInt8(ascii: "\n")).suffix(Self.lastLines)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
