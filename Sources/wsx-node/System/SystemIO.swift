import Glibc
import PeerNode
import WorkspaceModel

/// `ProgramIO` on the operating system.
final class SystemIO: ProgramIO {
    var isInputTerminal: Bool { isatty(0) == 1 }
    var isOutputTerminal: Bool { isatty(1) == 1 }

    var outputColumns: Int? {
        let columns = SystemLiveInput.size(of: 1)?.columns ?? 0
        return isOutputTerminal && columns > 0 ? columns : nil
    }

    var outputRows: Int? {
        let rows = SystemLiveInput.size(of: 1)?.rows ?? 0
        return isOutputTerminal && rows > 0 ? rows : nil
    }

    var errorColumns: Int? {
        let columns = SystemLiveInput.size(of: 2)?.columns ?? 0
        return isatty(2) == 1 && columns > 0 ? columns : nil
    }

    func openLive(isRaw: Bool) -> (any LiveInput)? { SystemLiveInput(isRaw: isRaw) }

    var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    func zoneMinutes(at milliseconds: Int64) -> Int64 {
        var seconds = time_t(milliseconds / 1_000)
        var local = tm()
        return localtime_r(&seconds, &local) == nil ? 0 : Int64(local.tm_gmtoff) / 60
    }

    var hostName: String { HostName.own }

    var accountHome: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let path = entry.pw_dir
        else { return nil }
        return String(cString: path)
    }

    // MARK: Standard streams

    func print(_ text: String) {
        guard !Self.write(Array(text.utf8), to: 1) else { return }
        let reason = errno
        guard reason != EPIPE else { exit(141) }
        // The command was carried out all the same: repeating it would do it twice.
        let words = String(cString: strerror(reason))
        printError("wsx-node: done, but the answer could not be printed: \(words)\n")
        exit(1)
    }

    func printBytes(_ bytes: [UInt8]) {
        guard !Self.write(bytes, to: 1) else { return }
        let reason = errno
        guard reason != EPIPE else { exit(141) }
        printError(
            "wsx-node: the file could not be printed: \(String(cString: strerror(reason)))\n")
        exit(1)
    }

    func inputFile(folder: String) throws(NodeError) -> any UploadSource {
        try InputFile(folder: folder)
    }

    func printError(_ text: String) { _ = Self.write(Array(text.utf8), to: 2) }

    /// Whether all of it was written. A closed descriptor counts as success, like /dev/null.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EBADF { return true }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func page(_ text: String, through command: String) -> Bool {
        Pager.run(command, Array(text.utf8))
    }

    func edit(_ path: String, with command: String) -> Int32? { TextEditor.run(command, path) }

    func readInput(limit: Int) -> [UInt8] { Self.readAll(0, limit: limit) }

    func ask(_ question: String) -> String? {
        tell(question)
        return readLine(strippingNewline: true)
    }

    func askSecret(_ question: String) -> String? {
        SecretInput.ask(errorColumns.map { FlowedText.text(question, columns: $0) } ?? question)
    }

    func output(of command: String, limit: Int) -> [UInt8]? {
        SecretInput.output(of: command, limit: limit)
    }

    func handle(_ command: String, input: [UInt8], environment: [String: String]) -> Int32? {
        ShellProcess.run(command, input: input, environment: environment)
    }

    func absolutePath(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    func permissions(of path: String) -> UInt32? { (try? FileSystem.status(of: path))?.mode }

    func freeBytes(at path: String) -> Int64? {
        (try? FileSystem.freeByteCount(at: path)).map { Int64(clamping: $0) }
    }

    func pause(milliseconds: Int64) { usleep(UInt32(clamping: milliseconds * 1_000)) }

    static func readAll(_ descriptor: Int32, limit: Int) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count <= limit {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            all += chunk[..<count]
        }
        return Array(all.prefix(limit + 1))
    }

    // MARK: Files

    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    func readFile(_ path: String) throws(NodeError) -> [UInt8]? {
        try readFile(path, limit: ConfigFile.bytesMax)
    }

    func readFile(_ path: String, limit: Int) throws(NodeError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.fileFailure("cannot read", path)
        }
        defer { close(descriptor) }
        return Self.readAll(descriptor, limit: limit)
    }

    func smallFile(_ path: String, limit: Int) -> [UInt8]? {
        // As the daemon opens it: a link is not followed, and a pipe does not wait for its writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let descriptor = open(path, flags)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= limit
        else { return nil }
        let bytes = Self.readAll(descriptor, limit: limit)
        return bytes.count <= limit ? bytes : nil
    }

    func replaceFile(_ path: String, with bytes: [UInt8]) throws(NodeError) {
        try Self.makeFolder(Self.folder(of: path))
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.fileFailure("cannot write", draft) }
        let isWritten = Self.write(bytes, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(draft, path) == 0 else {
            throw Self.fileFailure("cannot write", path)
        }
    }

    func makePrivateFolder(in folder: String) throws(NodeError) -> String {
        do throws(SystemError) {
            return try FileSystem.makeOwnFolder(at: folder + "/wsx-node")
        } catch {
            throw .badConfiguration(
                "cannot create a folder in \(NodeError.quoted(folder)): \(error)",
                hint: "set TMPDIR to a folder that you can write in")
        }
    }

    func removePrivateFolder(_ path: String) {
        for name in (try? FileSystem.names(in: path)) ?? [] { unlink(path + "/" + name) }
        rmdir(path)
    }

    static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    }

    /// Creates a folder and its parents, mode 0700.
    static func makeFolder(_ path: String) throws(NodeError) {
        if path.isEmpty || mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw fileFailure("cannot create the folder", path) }
        try makeFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw fileFailure("cannot create the folder", path)
        }
    }

    static func fileFailure(_ what: String, _ path: String) -> NodeError {
        let reason = String(cString: strerror(errno))
        return .badConfiguration("\(what) \(NodeError.quoted(path)): \(reason)")
    }

    // MARK: Daemon

    func connect(_ path: String) throws(NodeError) -> any ControlTransport {
        try UnixTransport(path)
    }

    func startDaemon(_ paths: Paths, options: [String]) throws(NodeError) {
        try DaemonStarter(paths: paths.absolute(self), options: options).start()
    }

    func waitUntilGone(_ paths: Paths, milliseconds: Int64) -> Bool {
        let deadline = now + milliseconds
        while isLocked(paths.lock) {
            if now > deadline { return false }
            usleep(10_000)
        }
        return true
    }

    /// Whether a process still holds the home. A process that exits removes its socket first; one
    /// that was killed leaves it.
    private func isLocked(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}

extension Program {
    /// Runs this process's command line and exits.
    static func runProcess() -> Never {
        // A closed pipe is reported by `write`, and we exit with 141.
        signal(SIGPIPE, SIG_IGN)
        // The parent process may have set it to ignored; then no child would have an exit status.
        signal(SIGCHLD, SIG_DFL)
        // Otherwise the connection to the daemon could get the descriptor of standard output.
        StandardDescriptors.ensureOpen()
        if TypedArguments.own == [Array(TokenChild.word.utf8)] { exit(TokenChild.run()) }
        var environment: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let pair = String(cString: text)
            if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
                environment[String(pair[..<equals])] =
                    String(pair[pair.utf8.index(after: equals)...])
            }
            entry += 1
        }
        exit(run(typed: TypedArguments.own, environment: environment, io: SystemIO()))
    }
}
