import Glibc

/// A command of the shell that gets one event.
enum HandlerProcess {
    /// What says "try again later", as `EX_TEMPFAIL` of sysexits does.
    static let again: Int32 = 75

    /// `F_SETPIPE_SZ`, which the Glibc module lacks.
    private static let setPipeSize: Int32 = 1_031

    /// Runs `command` with `input` on its standard input, and waits for its end.
    ///
    /// - Parameter given: variables of the environment besides the caller's, and in their place.
    /// - Returns: the exit status, 128 and more for a signal; `nil` where nothing could be run.
    static func run(_ command: String, input: [UInt8], environment given: [String: String])
        -> Int32?
    {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        // The whole event fits, so a command that reads nothing and goes on does not hold us up.
        if input.count > 64 * 1024 {
            _ = fcntl(ends[1], setPipeSize, Int32(clamping: input.count))
        }
        let process = start(command, input: ends[0], notKeeping: ends[1], merged(given))
        close(ends[0])
        guard let process else {
            close(ends[1])
            return nil
        }
        // Most commands look at their environment alone, and never read: SIGPIPE is ignored.
        _ = SystemIO.write(input, to: ends[1])
        close(ends[1])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// The caller's environment with other variables, those at its end and sorted.
    private static func merged(_ given: [String: String]) -> [String] {
        var all: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            let name = line.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(line[..<$0]) }
            if given[name ?? line] == nil { all.append(line) }
            entry += 1
        }
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            // A variable ends at a zero byte, and so would what was written behind it.
            all.append(name + "=" + String(decoding: value.utf8.filter { $0 != 0 }, as: UTF8.self))
        }
        return all
    }

    private static func start(
        _ command: String, input: Int32, notKeeping other: Int32, _ environment: [String]
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var usual = sigset_t()
        sigemptyset(&usual)
        sigaddset(&usual, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addclose(&actions, input)
        posix_spawn_file_actions_addclose(&actions, other)
        var words = copies(of: ["/bin/sh", "-c", command])
        var variables = copies(of: environment)
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        return posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &variables) == 0
            ? process : nil
    }

    /// Texts as C takes them, with the end of such a list.
    private static func copies(of texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        var copies: [UnsafeMutablePointer<CChar>?] = []
        for text in texts { copies.append(strdup(text)) }
        return copies + [nil]
    }
}
