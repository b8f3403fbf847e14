import Glibc
import PeerNode

/// Reading secrets: from a terminal that shows nothing, and from commands.
enum SecretInput {
    /// Asks on standard error for one line of the terminal, which does not show it.
    ///
    /// Signals of the keyboard are off meanwhile, or an interrupted question would leave the
    /// terminal without its echo.
    static func ask(_ question: String) -> String? {
        try? ProcessHardening.forbidDumps()
        var usual = termios()
        guard tcgetattr(0, &usual) == 0 else { return nil }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(0, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(0, TCSAFLUSH, &usual) }
        _ = SystemIO.write(Array(question.utf8), to: 2)
        let answer = readLine(strippingNewline: true)
        _ = SystemIO.write([UInt8(ascii: "\n")], to: 2)
        return answer
    }

    /// What a command prints on its standard output; `nil` when it fails.
    static func output(of command: String, limit: Int) -> [UInt8]? {
        try? ProcessHardening.forbidDumps()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        let process = start(command, output: ends[1], notKeeping: ends[0])
        close(ends[1])
        defer { close(ends[0]) }
        guard let process else { return nil }
        let bytes = SystemIO.readAll(ends[0], limit: limit)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? bytes : nil
    }

    private static func start(
        _ command: String, output: Int32, notKeeping other: Int32
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addclose(&actions, output)
        posix_spawn_file_actions_addclose(&actions, other)
        var words: [UnsafeMutablePointer<CChar>?] = []
        for word in ["/bin/sh", "-c", command] { words.append(strdup(word)) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        return posix_spawn(&process, "/bin/sh", &actions, nil, &words, environ) == 0
            ? process : nil
    }
}
