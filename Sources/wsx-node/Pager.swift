import Glibc
import WorkspaceModel

/// Long answers on a terminal, page by page.
enum Pager {
    /// What shows them: `WSX_NODE_PAGER`, then `PAGER`, then `less`. Empty means none.
    static func command(_ environment: [String: String]) -> String? {
        let command = environment["WSX_NODE_PAGER"] ?? environment["PAGER"] ?? "less -FIRX"
        return command.isEmpty || command == "cat" ? nil : command
    }

    /// Gives `bytes` to a command of the shell on its standard input, and waits for its end.
    ///
    /// - Returns: `false` where the command could not be run at all, as the shell says by 126
    ///   and 127; then nothing was shown.
    static func run(_ command: String, _ bytes: [UInt8]) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        let process = start(command, input: ends[0], notKeeping: ends[1])
        close(ends[0])
        guard let process else {
            close(ends[1])
            return false
        }
        // A reader that has seen enough closes its end: SIGPIPE is ignored, the rest is dropped.
        _ = SystemIO.write(bytes, to: ends[1])
        close(ends[1])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let code = (status >> 8) & 0xFF
        return !(status & 0x7F == 0 && (code == 126 || code == 127))
    }

    /// - Parameter other: the end that the command must not hold, or its input never ends.
    private static func start(
        _ command: String, input: Int32, notKeeping other: Int32
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
        var words: [UnsafeMutablePointer<CChar>?] = []
        for word in ["/bin/sh", "-c", command] { words.append(strdup(word)) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        return posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, environ) == 0
            ? process : nil
    }
}
