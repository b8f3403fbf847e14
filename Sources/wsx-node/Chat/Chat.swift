import PeerNode
import WorkspaceModel

/// `chat`: one conversation, line by line, on a terminal or between two pipes.
///
/// It waits in one place, for keys, the daemon and signals. Everything between two waits is short:
/// calls go to a daemon on the same machine, and time out.
final class Chat {
    let session: Session
    let live: any LiveInput
    /// Whether there is a terminal with a prompt; otherwise it reads and writes plain lines.
    let isLive: Bool
    /// Whether a person reads along: at a prompt, or at a terminal that can only print lines.
    let hasReader: Bool
    var client: ControlClient?
    var room: ChatRoom

    var decoder = KeyDecoder()
    var editor = LineEditor()
    var view = LineView()
    var screen: LiveScreen
    /// The beginning of an unfinished line from a pipe.
    var partialLine: [UInt8] = []

    /// The event stream, and the state of the daemon.
    var link = Link()
    /// Messages sent here and not confirmed by an event.
    var outbox = Outbox()
    /// The last message on the screen, and its tick.
    var bottom = Bottom()
    /// The state of our typing indicator.
    var typing = Typing()
    /// Names of other conversations and people.
    var names = Names()
    /// The exit status, once it ends.
    var status: Int32?
    var hasFailed = false

    /// The value of `trouble` while the daemon is locked.
    static let locked = "locked"
    /// The default timeout of a call.
    static let patience: Int64 = 15_000

    init(_ session: Session, _ live: any LiveInput, isLive: Bool) {
        self.session = session
        self.live = live
        self.isLive = isLive
        hasReader =
            isLive
            || session.io.isInputTerminal && session.io.isOutputTerminal
                && !session.globals.json && !session.globals.plain
        room = ChatRoom([:])
        let size = live.size
        screen = LiveScreen(columns: size.columns, rows: size.rows)
    }

    var io: any ProgramIO { session.io }

    var rendering: Rendering {
        var rendering = session.rendering
        rendering.ownNames = names.ownNames
        if isLive {
            rendering.columns = screen.columns
            rendering.rowsMax = max(8, screen.rows / 2)
        }
        return rendering
    }

    // MARK: The loop

    /// Runs until the user leaves, or a signal ends it.
    ///
    /// - Parameter channel: the first conversation; the default channel without one.
    /// - Returns: the exit status.
    func run(in channel: String?) throws(NodeError) -> Int32 {
        try connect()
        if let channel { try open(channel) } else { try open(defaultChannel()) }
        live.enter()
        defer { live.leave() }
        while true {
            try settle()
            if let status { return status }
            draw()
            // After drawing, so that no key waits for the daemon to become visible.
            if tellTyping() { continue }
            for wake in live.wait(for: client?.transport, within: patience()) {
                try handle(wake)
                if status != nil { break }
            }
        }
    }

    /// Handles events, and does what is due. More events may arrive meanwhile.
    private func settle() throws(NodeError) {
        repeat {
            try trying { () throws(NodeError) in
                try drain()
                try keepUp()
            }
        } while client?.hasMore == true
        guard status != nil else { return }
        // Your last line stays, like all others.
        if isLive { write(screen.print("")) }
        tellUnsent()
    }

    /// Prints unsent messages, so that they can be copied.
    private func tellUnsent() {
        guard !outbox.unsent.isEmpty else { return }
        let lines = outbox.unsent.count == 1 ? "1 line was" : "\(outbox.unsent.count) lines were"
        remark("! \(lines) not sent, because the daemon did not answer:")
        for given in outbox.unsent {
            print("  " + sanitised(given["text"]?.stringValue ?? "") + "\n")
        }
        outbox.unsent = []
        if status == 0 { status = 1 }
    }

    /// Runs what may fail: on a terminal, waits for a daemon that has gone;
    /// reports any other failure.
    func trying(_ body: () throws(NodeError) -> Void) throws(NodeError) {
        do throws(NodeError) { try body() } catch {
            guard Self.isAway(error) else { return complain(error) }
            guard isLive else { throw error }
            lose(error)
        }
    }

    private func handle(_ wake: LiveWake) throws(NodeError) {
        switch wake {
        case .typed(let bytes):
            if isLive { try press(bytes) } else { try takeLines(bytes) }
        case .endOfInput:
            if !isLive, !partialLine.isEmpty { try takeLines([UInt8(ascii: "\n")]) }
            // A person was told at once.
            status = status ?? (hasFailed && !hasReader ? 1 : 0)
        case .answered: break
        case .resized, .resumed: resize(isBack: wake == .resumed)
        case .suspendAsked: suspend()
        case .endAsked(let number): status = 128 + number
        }
    }

    /// How long there is nothing to do, in milliseconds.
    private func patience() -> Int64? {
        // While the daemon is away nothing can be requested, and anything due would be due at once.
        let due =
            client == nil
            ? [link.retry?.due, room.typing.due]
            : [bottom.watch?.due, link.retry?.due, bottom.tickDue, room.typing.due]
        return due.compactMap { $0 }.min().map { max(0, $0 - io.now) }
    }

    // MARK: Keys

    private func press(_ bytes: [UInt8]) throws(NodeError) {
        for key in decoder.take(bytes) {
            guard status == nil else { return }
            // A number refers to the message that had it when the line was begun.
            if editor.text.isEmpty { room.begunAt = room.shownCount }
            noteTyping(key)
            switch editor.press(key) {
            case nil: break
            case .submit(let line):
                // After sending, the user no longer counts as typing.
                typing.hasTyped = false
                try submit(ChatLine(line))
                try trying(drain)
            case .complete: try trying { () throws(NodeError) in try complete() }
            case .clearScreen: write(screen.clear())
            case .suspend: suspend()
            case .leave: status = 0
            case .interrupt: status = 128 + 2
            case .ring: write("\u{7}")
            case .warnOfEnd: remark("press ctrl-C again or ctrl-D to quit")
            case .refusePaste: remark("! too long: at most \(Self.mostText); nothing was pasted")
            case .warnOfFullLine:
                remark("! too long: at most \(Self.mostText); the end was cut off")
            case .refuseLine:
                remark("! not sent: part of the line is missing. ctrl-C clears the line")
            }
        }
    }

    /// The maximum size of a message.
    private static let mostText = "\(Limits.messageTextBytesMax / 1024) KiB"
    /// The maximum of a line that the terminal edits itself; it drops the rest of a longer one.
    private static let terminalLineBytesMax = 4_095

    /// Carries out a line. A message is kept while the daemon is away; any other action that needs
    /// the daemon is reported as not done.
    private func submit(_ line: ChatLine) throws(NodeError) {
        guard line.asksDaemon else {
            return try trying { () throws(NodeError) in try obey(line) }
        }
        guard client != nil else { return complain(notDone) }
        try trying { () throws(NodeError) in try obey(line) }
        if client == nil { complain(notDone) }
    }

    private var notDone: NodeError {
        link.trouble == Self.locked
            ? NodeError(.locked, "the node is locked; try again when it is unlocked", hint: nil)
            : NodeError(.stopping, "the daemon does not answer; try again later", hint: nil)
    }

    private func suspend() {
        write(screen.erase())
        live.suspend()
        resize(isBack: true)
    }

    private func resize(isBack: Bool) {
        if isBack { live.enter() }
        let size = live.size
        screen.columns = size.columns
        screen.rows = size.rows
    }

    /// Lines from a pipe. Each is a message as it is: the pipe may pass on other people's text,
    /// which must not become a command.
    private func takeLines(_ bytes: [UInt8]) throws(NodeError) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                partialLine.append(byte)
                guard partialLine.count <= Limits.controlLineBytesMax else { throw .lineTooLong }
                continue
            }
            let isCut = io.isInputTerminal && partialLine.count >= Self.terminalLineBytesMax
            if partialLine.last == 0x0D { partialLine.removeLast() }
            let line = String(validating: partialLine, as: UTF8.self)
            partialLine = []
            try trying { () throws(NodeError) in
                guard let line else { throw NodeError.usage("a line is not UTF-8") }
                guard !isCut else {
                    throw NodeError(
                        .tooLarge, "the line is too long for this terminal; nothing was sent",
                        hint: "wsx-node send CHANNEL - < FILE")
                }
                try obey(
                    io.isInputTerminal || line.isEmpty ? ChatLine(line) : .say(line))
                // Handles events between lines, however many lines arrive at once.
                try drain()
            }
        }
    }

    // MARK: Showing

    /// Draws the line being edited, and the changeable lines above it.
    private func draw() {
        guard isLive else { return }
        let state = link.trouble.map { " (\($0))" } ?? ""
        room.typing.expire(at: io.now)
        let typing = room.typing
        var row = view.row(
            prompt: "\(room.title)\(state)> ", editor, columns: screen.columns,
            beside: { typing.text(columns: $0) })
        if !row.aside.isEmpty { row.aside = rendering.dim(row.aside) }
        write(screen.draw(row))
    }

    func write(_ text: String) {
        guard !text.isEmpty else { return }
        if !live.write(text) { status = status ?? 141 }
    }

    /// Prints final text.
    func print(_ text: String) {
        bottom.openMessage = nil
        write(isLive ? screen.print(text) : text)
    }

    /// A remark by this program, not a message.
    func remark(_ text: String) {
        guard hasReader else { return }
        let rendering = rendering
        print(lines(text).map(rendering.dim).joined(separator: "\n  ") + "\n")
    }

    /// A remark broken into rows that fit, so that no row begins with someone else's text.
    private func lines(_ text: String) -> [String] {
        isLive ? wrapped(text, columns: max(screen.columns - 2, 8)) : [text]
    }

    /// Reports a failure.
    func complain(_ error: NodeError) {
        hasFailed = true
        var error = error
        error.hint = error.hint.map(rendering.hints.text)
        guard isLive else { return Program.report(error, json: session.globals.json, io: io) }
        print(lines("! \(sanitised(error.message))").joined(separator: "\n  ") + "\n")
        if let hint = error.hint {
            print("  " + lines(sanitised(hint)).joined(separator: "\n  ") + "\n")
        }
    }

    /// Shows a message below the others.
    func show(_ message: JSONValue) {
        let rendering = rendering
        room.note(message, nameColumns: columnWidth(rendering.author(of: message)))
        bottom.hasUnmarked = true
        if hasReader { learnRoots(of: [message]) }
        if session.globals.json { return print(message.text + "\n") }
        let today = TimeText.local(rendering.now, zone: rendering.zone).day
        let day = TimeText.local(message["at"]?.integerValue ?? 0, zone: rendering.zone).day
        if day != room.lastDay {
            print(rendering.dim("-- " + TimeText.dayLine(day, today: today) + " --") + "\n")
            room.lastDay = day
        }
        let after = room.lastThread
        let text = text(of: message, after: after, rendering)
        defer { room.lastThread = message["thread"]?.stringValue ?? message["id"]?.stringValue }
        guard message["self"] == true else { return print(text) }
        beginTick(of: message)
        guard isLive else { return print(text) }
        write(screen.printOpen(text))
        bottom.openMessage = message["id"]?.stringValue
        bottom.openAfter = after
    }

    /// - Parameter thread: the thread of the line above.
    private func text(
        of message: JSONValue, after lastThread: String?, _ rendering: Rendering
    ) -> String {
        var day = room.lastDay
        var rendering = rendering
        if let thread = message["thread"]?.stringValue {
            rendering.threadRoots[thread] = room.messages[thread]
        }
        return rendering.messages(
            [message], lastDay: &day, namesChannel: false, lastThread: lastThread,
            authorColumns: room.authorColumns,
            mark: hasReader ? room.mark : { _ in "" })
    }

    /// Redraws your last message, if nothing was printed below it.
    ///
    /// - Returns: whether that was possible.
    @discardableResult
    func redrawOpen() -> Bool {
        guard let openMessage = bottom.openMessage, let message = room.messages[openMessage],
            !screen.open.isEmpty
        else { return false }
        write(screen.replaceOpen(text(of: message, after: bottom.openAfter, rendering)))
        return true
    }
}
