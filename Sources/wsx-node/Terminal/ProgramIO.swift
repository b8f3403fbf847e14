import WorkspaceModel

/// The command line's view of the system. Tests replace it by an in-memory one.
protocol ProgramIO: AnyObject {
    /// Writes to standard output. If nobody reads it, the process exits with 141, silently.
    func print(_ text: String)
    /// Writes raw bytes to standard output.
    func printBytes(_ bytes: [UInt8])
    /// Standard input as an upload.
    ///
    /// - Parameter folder: where the temporary file for a pipe is created.
    func inputFile(folder: String) throws(NodeError) -> any UploadSource
    /// Writes to standard error, ignoring failures.
    func printError(_ text: String)
    /// Shows `text` through a shell command, and waits for it.
    ///
    /// - Returns: whether the command could be run; otherwise nothing was shown.
    func page(_ text: String, through command: String) -> Bool
    /// Opens a file in an editor, and waits for it.
    ///
    /// - Parameter command: a shell command, to which the path is appended.
    /// - Returns: its exit status, 128 and more for a signal; `nil` if it could not be run.
    func edit(_ path: String, with command: String) -> Int32?
    /// Creates a new folder that only this account can enter.
    ///
    /// - Parameter folder: the parent folder.
    /// - Returns: its path.
    func makePrivateFolder(in folder: String) throws(NodeError) -> String
    /// Removes such a folder with its files; does nothing on failure.
    func removePrivateFolder(_ path: String)
    /// All of standard input, at most `limit` bytes and one more.
    func readInput(limit: Int) -> [UInt8]
    /// Asks on standard error for one line of standard input; `nil` at its end.
    func ask(_ question: String) -> String?
    /// Asks like `ask`, without echo.
    func askSecret(_ question: String) -> String?
    /// The output of a shell command; `nil` if it fails.
    func output(of command: String, limit: Int) -> [UInt8]?
    /// Runs a shell command with `input` on its standard input, and waits for it.
    ///
    /// - Parameter environment: variables added to those of this process, or replacing them.
    /// - Returns: its exit status, 128 and more for a signal; `nil` if it could not be run.
    func handle(_ command: String, input: [UInt8], environment: [String: String]) -> Int32?
    /// The absolute form of a path.
    func absolutePath(_ path: String) -> String
    /// The permission bits of `path`, or `nil` if unknown.
    func permissions(of path: String) -> UInt32?
    /// Bytes that can still be written at `path`, or `nil` if unknown.
    func freeBytes(at path: String) -> Int64?
    /// Whether standard input is a terminal.
    var isInputTerminal: Bool { get }
    /// Whether standard output is a terminal.
    var isOutputTerminal: Bool { get }
    /// Milliseconds since 1970.
    var now: Int64 { get }
    /// Sleeps.
    func pause(milliseconds: Int64)
    /// Minutes that local time is ahead of UTC at `milliseconds` since 1970.
    func zoneMinutes(at milliseconds: Int64) -> Int64
    /// Columns of the terminal on standard output, if known.
    var outputColumns: Int? { get }
    /// Rows of that terminal, if known.
    var outputRows: Int? { get }
    /// Columns of the terminal on standard error; `nil` if it is none.
    var errorColumns: Int? { get }
    /// Keyboard and screen, or a pair of pipes, for a conversation.
    func openLive(isRaw: Bool) -> (any LiveInput)?
    /// The system's host name; empty if unknown.
    var hostName: String { get }
    /// The account's home folder, used without `HOME`.
    var accountHome: String? { get }
    /// Lets the user log in at a provider in a browser.
    ///
    /// - Parameters:
    ///   - claim: the answer of `account.link`.
    ///   - port: of the redirect; `nil` for any.
    ///   - opens: receives the address to open.
    /// - Returns: the token.
    func logIn(_ claim: JSONValue, port: UInt16?, opens: (String) -> Void) throws(NodeError)
        -> String
    /// Opens a connection to a control socket.
    func connect(_ path: String) throws(NodeError) -> any ControlTransport
    /// Whether `path` exists.
    func exists(_ path: String) -> Bool
    /// The bytes of a file, or `nil` if there is none.
    func readFile(_ path: String) throws(NodeError) -> [UInt8]?
    /// The same for a possibly larger file, at most `limit` bytes and one more.
    func readFile(_ path: String, limit: Int) throws(NodeError) -> [UInt8]?
    /// The bytes of a regular file of at most `limit` bytes; `nil` if there is none, if it is larger, a
    /// link or of another kind, or if it cannot be read.
    func smallFile(_ path: String, limit: Int) -> [UInt8]?
    /// Replaces a file atomically, mode 0600.
    func replaceFile(_ path: String, with bytes: [UInt8]) throws(NodeError)
    /// Starts a daemon for a home and returns when it answers.
    func startDaemon(_ paths: Paths, options: [String]) throws(NodeError)
    /// Waits until no process holds the home any more, or for the given time.
    func waitUntilGone(_ paths: Paths, milliseconds: Int64) -> Bool
}

extension ProgramIO {
    /// Columns of the terminal on standard output, if known.
    var outputColumns: Int? { nil }
    /// Rows of that terminal, if known.
    var outputRows: Int? { nil }
    /// Columns of the terminal on standard error; `nil` if it is none.
    var errorColumns: Int? { nil }
    /// The system's host name; empty if unknown.
    var hostName: String { "" }
    /// Keyboard and screen, or a pair of pipes, for a conversation.
    ///
    /// - Parameter isRaw: whether each key is read as it is pressed, without the terminal's own
    ///   line editing. Returns `nil` if there is neither.
    func openLive(isRaw: Bool) -> (any LiveInput)? { nil }
}

/// A byte stream to a daemon.
protocol ControlTransport: AnyObject {
    /// The descriptor to poll; `nil` for a stream in memory.
    var descriptor: Int32? { get }
    /// Writes all of `bytes`.
    func send(_ bytes: [UInt8]) throws(NodeError)
    /// The next bytes; empty at the end of the stream.
    ///
    /// - Parameter milliseconds: the timeout, after which it throws `timeout`; `nil` for none.
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

    func smallFile(_ path: String, limit: Int) -> [UInt8]? { nil }
}

/// Standard input in memory.
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
