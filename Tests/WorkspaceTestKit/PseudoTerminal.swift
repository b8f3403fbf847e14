import Glibc

/// A program on its own terminal, as a user at a keyboard runs it.
///
/// The program leads a session with this controlling terminal, so that keyboard signals and size
/// changes reach it. It is killed when the object is released.
public final class PseudoTerminal: @unchecked Sendable {
    /// Everything that the program wrote, byte by byte.
    public private(set) var captured: [UInt8] = []
    /// What stands on the screen.
    public private(set) var screen: VirtualScreen
    /// The number of the program.
    public let pid: Int32
    private let master: Int32
    private var ended: Int32?
    private var isHungUp = false

    /// TIOCSPTLCK, TIOCGPTN and TIOCSWINSZ, the first two of which the Glibc module lacks.
    private static let (unlock, number, setSize): (UInt, UInt, UInt) =
        (0x4004_5431, 0x8004_5430, 0x5414)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: its path, and its arguments.
    ///   - environment: all that it gets, but for `TERM`, which is `xterm`.
    ///   - columns: of the terminal.
    ///   - rows: of the terminal.
    public init?(
        _ command: [String], environment: [String: String], columns: Int = 80, rows: Int = 24
    ) {
        screen = VirtualScreen(columns: columns, rows: rows)
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, place): (Int32, UInt32) = (0, 0)
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard master >= 0, ioctl(master, Self.unlock, &isLocked) == 0,
            ioctl(master, Self.number, &place) == 0, ioctl(master, Self.setSize, &size) == 0
        else { return nil }
        let full = ["TERM": "xterm"].merging(environment) { _, new in new }
        guard let started = Self.spawn(command, full, on: "/dev/pts/\(place)") else {
            close(master)
            return nil
        }
        pid = started
    }

    deinit {
        if ended == nil {
            kill(pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        }
        close(master)
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], on path: String
    ) -> Int32? {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // 0x80 is POSIX_SPAWN_SETSID: the leader of a session gets the first terminal that it opens. No
        // signal is blocked, and none ignored, as a shell has its background jobs ignore some.
        posix_spawnattr_setflags(
            &attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var words = command.map { strdup($0) } + [nil]
        var variables =
            environment.sorted { $0.key < $1.key }
            .map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var process = pid_t()
        guard posix_spawn(&process, command[0], &actions, &attributes, &words, &variables) == 0
        else { return nil }
        return process
    }

    // MARK: Using it

    /// Hits keys.
    public func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(master, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the terminal another size, which the program is told by a signal.
    public func resize(columns: Int, rows: Int) {
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        screen.resize(columns: columns, rows: rows)
        _ = ioctl(master, Self.setSize, &size)
    }

    /// Reads what the program writes until `condition` holds, for as long as a slow machine needs.
    public func wait(
        within seconds: Int = LongestWait.seconds, until condition: (PseudoTerminal) -> Bool
    ) -> Bool {
        var left = seconds * 10
        while !condition(self) {
            guard left > 0 else { return false }
            if !read(within: 100) {
                left -= 1
                if hasEnded() { return condition(self) }
                if isHungUp { poll(nil, 0, 100) }
            }
        }
        return true
    }

    /// Reads until a line of the screen contains `text`.
    public func shows(_ text: String, within seconds: Int = LongestWait.seconds) -> Bool {
        wait(within: seconds) { $0.screen.text.contains(text) }
    }

    /// Takes what is there. Returns whether there was anything.
    @discardableResult
    public func read(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, milliseconds) > 0 else { return false }
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Glibc.read(master, &chunk, chunk.count)
        isHungUp = count <= 0
        guard count > 0 else { return false }
        captured += chunk[..<count]
        screen.take(chunk[..<count])
        return true
    }

    private func hasEnded() -> Bool {
        if ended != nil { return true }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return false }
        ended = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        while read(within: 0) {}
        return true
    }

    /// The exit status, once the program has ended; 128 and more for a signal. `nil` when it goes
    /// on for too long.
    public func end(within seconds: Int = LongestWait.seconds) -> Int32? {
        var left = seconds * 10
        while !hasEnded(), left > 0 {
            if read(within: 100) { continue }
            left -= 1
            // A terminal that nobody holds any more answers at once, and its program is ending.
            if isHungUp { poll(nil, 0, 100) }
        }
        return ended
    }

    /// Whether the terminal shows what is typed and keeps it until Return, as shells want it.
    public var isCooked: Bool {
        var flags = termios()
        guard tcgetattr(master, &flags) == 0 else { return false }
        let wanted = tcflag_t(ECHO | ICANON | ISIG)
        return flags.c_lflag & wanted == wanted
    }

    /// Makes the terminal what shells want it to be, whatever the program made of it.
    public func cook() {
        var flags = termios()
        guard tcgetattr(master, &flags) == 0 else { return }
        flags.c_iflag |= tcflag_t(ICRNL)
        flags.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(master, TCSANOW, &flags)
    }

    /// The text that the program wrote, with what it tells the terminal.
    public var text: String { String(decoding: captured, as: UTF8.self) }
}
