import WorkspaceModel

/// What the command line sees of the world. Tests give it one made of arrays.
protocol ProgramIO: AnyObject {
    /// Writes to standard output. A reader that went away ends the process with 141, silently.
    func print(_ text: String)
    /// Writes bytes of a file to standard output, as they are.
    func printBytes(_ bytes: [UInt8])
    /// Standard input as a file that can be handed in.
    ///
    /// - Parameter folder: where room is taken for what comes from a pipe.
    func inputFile(folder: String) throws(NodeError) -> any UploadSource
    /// Writes to standard error, and goes on when nobody reads it.
    func printError(_ text: String)
    /// Shows `text` through a command of the shell, and returns when that has ended.
    ///
    /// - Returns: whether the command could be run; otherwise nothing was shown.
    func page(_ text: String, through command: String) -> Bool
    /// Has somebody change a file in an editor, and returns when that has ended.
    ///
    /// - Parameter command: one of the shell, to which the path is added.
    /// - Returns: its exit status, 128 and more for a signal; `nil` where it could not be run.
    func edit(_ path: String, with command: String) -> Int32?
    /// Makes a new folder that only this account can enter.
    ///
    /// - Parameter folder: where.
    /// - Returns: its path.
    func makePrivateFolder(in folder: String) throws(NodeError) -> String
    /// Removes such a folder, with the files that are in it. One that cannot be removed stays.
    func removePrivateFolder(_ path: String)
    /// All of standard input, at most `limit` bytes and one more.
    func readInput(limit: Int) -> [UInt8]
    /// Asks on standard error for one line of standard input; `nil` at its end.
    func ask(_ question: String) -> String?
    /// Asks like `ask`, and shows nothing of what is typed.
    func askSecret(_ question: String) -> String?
    /// What a command of the shell prints; `nil` when it fails.
    func output(of command: String, limit: Int) -> [UInt8]?
    /// Runs a command of the shell with `input` on its standard input, and waits for its end.
    ///
    /// - Parameter environment: variables besides those of this process, and in their place.
    /// - Returns: its exit status, 128 and more for a signal; `nil` where it could not be run.
    func handle(_ command: String, input: [UInt8], environment: [String: String]) -> Int32?
    /// A path that means the same from every folder.
    func absolutePath(_ path: String) -> String
    /// The permission bits of what stands at `path`, or `nil` where that cannot be told.
    func permissions(of path: String) -> UInt32?
    /// Bytes that may still be written where `path` lies, or `nil` where that cannot be told.
    func freeBytes(at path: String) -> Int64?
    /// Whether standard input is a terminal.
    var isInputTerminal: Bool { get }
    /// Whether standard output is a terminal.
    var isOutputTerminal: Bool { get }
    /// Milliseconds since 1970.
    var now: Int64 { get }
    /// Does nothing for so long.
    func pause(milliseconds: Int64)
    /// Minutes that local time is ahead of UTC at `milliseconds` since 1970.
    func zoneMinutes(at milliseconds: Int64) -> Int64
    /// Columns of the terminal that standard output is, where that is known.
    var outputColumns: Int? { get }
    /// Rows of that terminal, where that is known.
    var outputRows: Int? { get }
    /// Columns of the terminal that standard error is; `nil` where it is none.
    var errorColumns: Int? { get }
    /// What stands for keyboard and screen, or for two pipes, in a conversation.
    func openLive(isRaw: Bool) -> (any LiveInput)?
    /// What the system calls this machine; empty where it does not say.
    var hostName: String { get }
    /// The home folder of the account, for want of `HOME`.
    var accountHome: String? { get }
    /// The number of the account.
    var userID: UInt32 { get }
    /// Has somebody log in at a provider in a browser.
    ///
    /// - Parameters:
    ///   - claim: what `account.link` answers.
    ///   - port: where the browser comes back to; `nil` for any.
    ///   - opens: is told the address that is to be opened.
    /// - Returns: the token.
    func logIn(_ claim: JSONValue, port: UInt16?, opens: (String) -> Void) throws(NodeError)
        -> String
    /// Opens a connection to a control socket.
    func connect(_ path: String) throws(NodeError) -> any ControlTransport
    /// Whether something lies at `path`.
    func exists(_ path: String) -> Bool
    /// The bytes of a file, or `nil` where there is none.
    func readFile(_ path: String) throws(NodeError) -> [UInt8]?
    /// The same of a file that may be larger, at most `limit` bytes and one more.
    func readFile(_ path: String, limit: Int) throws(NodeError) -> [UInt8]?
    /// Writes a whole file, mode 0600, so that it is never seen half written.
    func replaceFile(_ path: String, with bytes: [UInt8]) throws(NodeError)
    /// Starts a daemon for a home and returns when it answers.
    func startDaemon(_ paths: Paths, options: [String]) throws(NodeError)
    /// Waits until no process holds the home any more, at most so long.
    func waitUntilGone(_ paths: Paths, milliseconds: Int64) -> Bool
}

extension ProgramIO {
    /// Columns of the terminal that standard output is, where that is known.
    var outputColumns: Int? { nil }
    /// Rows of that terminal, where that is known.
    var outputRows: Int? { nil }
    /// Columns of the terminal that standard error is; `nil` where it is none.
    var errorColumns: Int? { nil }
    /// What the system calls this machine; empty where it does not say.
    var hostName: String { "" }
    /// What stands for keyboard and screen, or for two pipes, in a conversation.
    ///
    /// - Parameter isRaw: whether each key is wanted as it is hit, without the terminal's own
    ///   line. Returns `nil` where there is neither.
    func openLive(isRaw: Bool) -> (any LiveInput)? { nil }
}

/// A stream of bytes to a daemon.
protocol ControlTransport: AnyObject {
    /// What to poll for bytes from the daemon; `nil` for a stream in memory.
    var descriptor: Int32? { get }
    /// Writes all of `bytes`.
    func send(_ bytes: [UInt8]) throws(NodeError)
    /// The next bytes; empty at the end of the stream.
    ///
    /// - Parameter milliseconds: how long to wait, `nil` for ever. Throws `timeout`.
    func receive(within milliseconds: Int64?) throws(NodeError) -> [UInt8]
}

extension ControlTransport {
    var descriptor: Int32? { nil }
}

extension ProgramIO {
    func printBytes(_ bytes: [UInt8]) { print(String(decoding: bytes, as: UTF8.self)) }

    func inputFile(folder: String) throws(NodeError) -> any UploadSource {
        InputBytes(readInput(limit: Limits.controlLineBytesMax))
    }

    func readFile(_ path: String, limit: Int) throws(NodeError) -> [UInt8]? { try readFile(path) }
}

/// Standard input that is in memory.
final class InputBytes: UploadSource {
    private var rest: ArraySlice<UInt8>
    let byteCount: Int64

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        byteCount = Int64(bytes.count)
    }

    func read(_ byteCountMax: Int) throws(NodeError) -> [UInt8] {
        defer { rest = rest.dropFirst(byteCountMax) }
        return Array(rest.prefix(byteCountMax))
    }
}
