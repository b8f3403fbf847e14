import Glibc
import PeerNode

/// Shows long answers on a terminal page by page.
enum Pager {
    /// The pager: `WSX_NODE_PAGER`, then `PAGER`, then `less`. Empty means none.
    static func command(_ environment: [String: String]) -> String? {
        let command = environment["WSX_NODE_PAGER"] ?? environment["PAGER"] ?? "less -FIRX"
        return command.isEmpty || command == "cat" ? nil : command
    }

    /// The command that starts at the end of a text, if we know its flag; only for `less`, and only
    /// if the text exceeds the screen: a shorter one would be padded.
    static func atEnd(_ command: String) -> String {
        let isLess = command == "less" || command.utf8.starts(with: "less ".utf8)
        return isLess ? command + " +G" : command
    }

    /// Pipes `bytes` into a shell command, and waits for it.
    ///
    /// - Returns: `false` if the command could not be run, which the shell reports as 126 or 127;
    ///   then nothing was shown.
    static func run(_ command: String, _ bytes: [UInt8]) -> Bool {
        // The interrupt key is for the pager. If it ended us, the shell and the pager would both
        // read from the terminal.
        let former = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0, SIG_IGN)) }
        defer { for (number, handler) in former { signal(number, handler) } }
        // As git does: otherwise `less` shows our colours as letters, and pages a single line.
        let usual = getenv("LESS") == nil ? ["LESS": "FRX"] : [:]
        guard let status = ShellProcess.run(command, input: bytes, environment: usual) else {
            return false
        }
        return status != 126 && status != 127
    }
}
