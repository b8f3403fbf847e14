import Glibc
import PeerNode

/// Long answers on a terminal, page by page.
enum Pager {
    /// What shows them: `WSX_NODE_PAGER`, then `PAGER`, then `less`. Empty means none.
    static func command(_ environment: [String: String]) -> String? {
        let command = environment["WSX_NODE_PAGER"] ?? environment["PAGER"] ?? "less -FIRX"
        return command.isEmpty || command == "cat" ? nil : command
    }

    /// The command that shows a text from its end on, where we know how to tell it; `less` alone is
    /// told, and only of a text that it does not end after at once: it would fill the screen.
    static func atEnd(_ command: String) -> String {
        let isLess = command == "less" || command.utf8.starts(with: "less ".utf8)
        return isLess ? command + " +G" : command
    }

    /// Gives `bytes` to a command of the shell on its standard input, and waits for its end.
    ///
    /// - Returns: `false` where the command could not be run at all, as the shell says by 126
    ///   and 127; then nothing was shown.
    static func run(_ command: String, _ bytes: [UInt8]) -> Bool {
        // The key that interrupts is the pager's. If we ended by it, the shell and a pager that
        // went on would both read the terminal.
        let former = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0, SIG_IGN)) }
        defer { for (number, handler) in former { signal(number, handler) } }
        // As git does: else `less` shows our colours as letters, and a page of one line by itself.
        let usual = getenv("LESS") == nil ? ["LESS": "FRX"] : [:]
        guard let status = ShellProcess.run(command, input: bytes, environment: usual) else {
            return false
        }
        return status != 126 && status != 127
    }
}
