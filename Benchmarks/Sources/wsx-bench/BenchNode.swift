import Glibc
import WorkspaceModel

/// A real node in a process of its own, on a home of its own, reachable over loopback only.
final class BenchNode {
    let home: String
    private let daemon: [String]
    private(set) var process: pid_t

    /// Starts a daemon and waits until its control socket answers.
    ///
    /// - Parameters:
    ///   - workspace: made when given; otherwise the home only gets an identity.
    ///   - port: where it listens; any that is free with 0.
    ///   - hasIdentity: whether it gets an identity; without one it waits for a link to a person's device.
    ///   - namespace: the network that it is in, and to which it announces itself; without one it is heard
    ///     on loopback alone.
    init(
        _ name: String, in folder: TemporaryFolder, options: Options, workspace: String?,
        port: Int = 0, hasIdentity: Bool = true, namespace: String? = nil
    ) throws {
        home = folder.path + "/" + name
        let run = [options.node, "--home", home, "daemon", "run"]
        daemon =
            namespace.map { ["ip", "netns", "exec", $0] + run + ["--announce", "on"] }
            ?? run + ["--listen", "127.0.0.1:\(port)", "--announce", "off"]
        process = try Spawning.start(daemon)
        try waitForSocket()
        guard hasIdentity else { return }
        var up = [options.node, "--home", home, "up", "--name", name]
        if let workspace { up += ["--workspace", workspace] }
        let status = try Spawning.wait(Spawning.start(up))
        guard status == 0 else { throw BenchError("'up' of \(name) ended with \(status)") }
    }

    deinit { stop() }

    private var isStopped = false

    /// Ends the daemon, in order, and waits for it.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        kill(process, SIGTERM)
        _ = try? Spawning.wait(process)
    }

    /// Starts the daemon of a home again that was stopped.
    func start() throws {
        guard isStopped else { return }
        process = try Spawning.start(daemon)
        isStopped = false
        try waitForSocket()
    }

    func connect() throws -> ControlSocket { try ControlSocket(home + "/control.sock") }

    private func waitForSocket() throws {
        for _ in 0..<3_000 {
            if (try? connect()) != nil { return }
            usleep(10_000)
        }
        throw BenchError("no daemon on \(home) after 30 s")
    }

    /// The value of a line of `/proc/PID/FILE`, such as `Pss:` in kB.
    func kernelFigure(_ label: String, file: String) throws -> Double {
        for line in try readFile("/proc/\(process)/\(file)").split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.first.map(String.init) == label, words.count > 1 {
                return Double(words[1]) ?? 0
            }
        }
        throw BenchError("no \(label) in \(file)")
    }

    /// Processor seconds of all threads.
    func processorSeconds() throws -> Double {
        let text = try readFile("/proc/\(process)/stat")
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
        else { throw BenchError("no processor time") }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// Child processes, as cheap to start as the kernel makes them.
enum Spawning {
    static func start(_ arguments: [String], quiet: Bool = true) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if quiet {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        var pointers = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let status = posix_spawnp(&process, arguments[0], &actions, nil, pointers, environ)
        guard status == 0 else { throw BenchError("cannot start \(arguments[0]): \(status)") }
        return process
    }

    /// - Returns: the exit status, 128 and more for a signal.
    static func wait(_ process: pid_t) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw BenchError("waitpid: \(errno)") }
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }
}

/// A folder that is gone after the row.
final class TemporaryFolder {
    let path: String

    init(in parent: String) throws {
        var template = Array((parent + "/wsx-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError("no folder in \(parent)") }
        path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        if let process = try? Spawning.start(["rm", "-rf", path]) {
            _ = try? Spawning.wait(process)
        }
    }
}

/// The whole of a small file.
func readFile(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw BenchError("cannot read \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 8_192)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += chunk[..<count]
    }
}

/// The length of a file in bytes.
func fileSize(_ path: String) throws -> Double {
    var status = stat()
    guard stat(path, &status) == 0 else { throw BenchError("cannot read \(path)") }
    return Double(status.st_size)
}
