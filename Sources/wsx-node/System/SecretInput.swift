import Glibc
import PeerNode

/// Reads secrets: from a terminal without echo, and from commands.
enum SecretInput {
    /// Asks on standard error for one line from the terminal, without echo.
    ///
    /// Keyboard signals are disabled meanwhile, or an interrupted question would leave the
    /// terminal without echo.
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

    /// The standard output of a command; `nil` if it fails.
    static func output(of command: String, limit: Int) -> [UInt8]? {
        try? ProcessHardening.forbidDumps()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let environment = ShellProcess.environment(with: [])
        let process = try? ShellProcess.start(
            command, input: nil, output: ends[1], environment: environment, as: .foreground)
        close(ends[1])
        let bytes = process == nil ? [] : SystemIO.readAll(ends[0], limit: limit)
        // A command that keeps writing would wait for a reader, and we for the command.
        close(ends[0])
        guard let process, (try? DetachedProcess.wait(for: process)) == 0 else { return nil }
        return bytes
    }
}
