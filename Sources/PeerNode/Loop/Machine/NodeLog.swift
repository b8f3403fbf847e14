private import Glibc

/// The node's log: one line per event, on standard error.
///
/// `2026-11-21T00:37:22.123Z info word key=value`; under a service manager that adds the time
/// itself, `<6>word key=value` (sd-daemon(3)). Losing a line is better than blocking the node on
/// the reader of its log, so nothing here blocks for long and nothing fails.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class NodeLog {
    /// Less important lines are dropped.
    public let level: LogLevel
    private let output: Int32
    private let isJournal: Bool
    /// The file behind standard error, if it is the home's log; it may be reopened.
    private let path: String?
    private let byteCountMax: Int64
    private var writtenByteCount: Int64 = 0

    /// A pipe takes a line of at most this many bytes as a whole (PIPE_BUF).
    private static let lineByteCountMax = 4_096

    /// - Parameters:
    ///   - path: the home's log. It counts only where standard error is that very file.
    ///   - journal: the value of `JOURNAL_STREAM`, "device:inode" of what the service manager reads.
    ///   - byteCountMax: a longer file is put aside, and a new one begun.
    ///   - output: the descriptor to write to, which stays the caller's.
    public init(
        level: LogLevel = .info, path: String? = nil, journal: String? = nil,
        byteCountMax: Int64 = 10 * 1024 * 1024, output: Int32 = 2
    ) {
        self.level = level
        self.byteCountMax = byteCountMax
        self.output = output
        var own = stat()
        let isKnown = fstat(output, &own) == 0
        isJournal = isKnown && journal == "\(own.st_dev):\(own.st_ino)"
        let found = path.flatMap { try? FileSystem.status(of: $0) }
        let isOurs =
            isKnown && found?.device == UInt64(own.st_dev)
            && found?.inode == UInt64(own.st_ino)
        self.path = isOurs ? path : nil
        if isOurs { writtenByteCount = found?.byteCount ?? 0 }
    }

    /// Writes one line.
    ///
    /// - Parameter text: `word key=value`; never text, names or keys of anybody.
    public func write(_ level: LogLevel, _ text: String) {
        guard level <= self.level else { return }
        var line = [UInt8]((prefix(level) + text).utf8.prefix(Self.lineByteCountMax - 1))
        for index in line.indices where line[index] < 0x20 { line[index] = UInt8(ascii: " ") }
        line.append(UInt8(ascii: "\n"))
        var waiting = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        guard poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLOUT) != 0 else { return }
        let count = uninterrupted { Glibc.write(output, line, line.count) }
        writtenByteCount += Int64(max(0, count))
        if path != nil, writtenByteCount > byteCountMax { reopen() }
    }

    /// Reopens the log file after it was moved away. Without a file it does nothing.
    public func reopen() {
        guard let path,
            let file = try? DetachedProcess.openLog(path, byteCountMax: byteCountMax)
        else { return }
        dup2(file.number, output)
        // A detached node has both in one file.
        if output == STDERR_FILENO { dup2(file.number, STDOUT_FILENO) }
        writtenByteCount = (try? FileSystem.status(of: path))?.byteCount ?? 0
    }

    private func prefix(_ level: LogLevel) -> String {
        isJournal
            ? "<\(level.journalNumber)>"
            : "\(UTCText.of(WallClock.milliseconds())) \(level.word) "
    }
}

extension LogLevel {
    /// Its form in a line of the log.
    public var word: String {
        switch self {
        case .error: "error"
        case .warning: "warn"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// The level that `word` names, as in `log.level`; `warning` is understood as well.
    public init?(word: String) {
        switch word {
        case "error": self = .error
        case "warn", "warning": self = .warning
        case "info": self = .info
        case "debug": self = .debug
        default: return nil
        }
    }

    /// The number of syslog(3).
    fileprivate var journalNumber: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}

/// A point in time as RFC 3339 spells it, in UTC and in every locale the same.
enum UTCText {
    /// `1970-01-01T00:00:00.000Z` and so on, for milliseconds since then.
    static func of(_ milliseconds: UInt64) -> String {
        var seconds = time_t(clamping: milliseconds / 1_000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "?" }
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let date = [
            padded(Int(parts.tm_year) + 1_900, 4), padded(Int(parts.tm_mon) + 1, 2),
            padded(Int(parts.tm_mday), 2),
        ]
        let time = [
            padded(Int(parts.tm_hour), 2), padded(Int(parts.tm_min), 2),
            padded(Int(parts.tm_sec), 2),
        ]
        let fraction = padded(Int(milliseconds % 1_000), 3)
        return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(fraction)Z"
    }
}
