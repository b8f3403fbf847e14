import Glibc
import PeerNode

/// The process's terminal, read key by key, or its pipes, read as they fill.
final class SystemLiveInput: LiveInput {
    private let isRaw: Bool
    /// The terminal's original settings.
    private var usual: termios?
    private let signals: SignalQueue?
    private var isOver = false

    private static let watched: [Int32] = [
        SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH,
    ]

    init(isRaw: Bool) {
        self.isRaw = isRaw
        // With pipes there is nothing to restore, so signals keep their default action.
        signals = isRaw ? try? SignalQueue(Self.watched) : nil
    }

    deinit { leave() }

    var size: (columns: Int, rows: Int) { Self.size(of: 1) ?? (80, 24) }

    /// The size of a terminal; `nil` if it is none, or has no size.
    static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else {
            return nil
        }
        return (Int(window.ws_col), max(Int(window.ws_row), 2))
    }

    func write(_ text: String) -> Bool { SystemIO.write(Array(text.utf8), to: 1) }

    // MARK: The terminal

    /// Switches to key by key input, with pasted text marked.
    func enter() {
        guard isRaw, var found = usual ?? current else { return }
        // Only once: after a suspension the settings may be those that we or a shell left behind.
        usual = found
        found.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        found.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        withUnsafeMutableBytes(of: &found.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        // Keeps what was typed before.
        tcsetattr(0, TCSADRAIN, &found)
        _ = write("\u{1B}[?2004h")
    }

    /// The terminal's current settings; `nil` without one.
    private var current: termios? {
        var found = termios()
        return tcgetattr(0, &found) == 0 ? found : nil
    }

    func leave() {
        guard var found = usual else { return }
        _ = write("\u{1B}[?2004l")
        // In the background, changing the terminal would stop us with SIGTTOU.
        signal(SIGTTOU, SIG_IGN)
        tcsetattr(0, TCSADRAIN, &found)
        signal(SIGTTOU, SIG_DFL)
        usual = nil
    }

    func suspend() {
        leave()
        // The kernel ignores it if nobody could continue us.
        signals?.raiseUsually(SIGTSTP)
        enter()
    }

    // MARK: Waiting

    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        var watched = [
            pollfd(fd: isOver ? -1 : 0, events: Int16(POLLIN), revents: 0),
            pollfd(fd: transport?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let limit = milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
        // A signal can end the wait early, which does no harm.
        guard poll(&watched, nfds_t(watched.count), limit) > 0 else { return [] }
        var wakes: [LiveWake] = []
        if watched[2].revents != 0 { takeSignals(&wakes) }
        if watched[0].revents != 0 { takeInput(&wakes) }
        if watched[1].revents != 0 { wakes.append(.answered) }
        return wakes
    }

    private func takeInput(_ wakes: inout [LiveWake]) {
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        let count = read(0, &chunk, chunk.count)
        if count > 0 {
            wakes.append(.typed(Array(chunk[..<count])))
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            isOver = true
            wakes.append(.endOfInput)
        }
    }

    private func takeSignals(_ wakes: inout [LiveWake]) {
        while let number = signals?.next() {
            switch number {
            case SIGWINCH: wakes.append(.resized)
            case SIGCONT: wakes.append(.resumed)
            case SIGTSTP: wakes.append(.suspendAsked)
            default: wakes.append(.endAsked(number))
            }
        }
    }
}
