import PeerNode
import WorkspaceModel

/// `chat`: one conversation, line by line, on a terminal or between two pipes.
///
/// It waits in one place, for keys, for the daemon and for signals. Everything between two waits
/// is short: calls go to a daemon on the same machine, and give up after a while.
final class Chat {
    let session: Session
    let live: any LiveInput
    /// Whether there is a terminal with a prompt; otherwise lines come in and lines go out.
    let isLive: Bool
    /// Whether somebody sits there: at a prompt, or at a terminal that can only print lines.
    let hasReader: Bool
    var client: ControlClient?
    var room: ChatRoom

    var decoder = KeyDecoder()
    var editor = LineEditor()
    var view = LineView()
    var screen: LiveScreen
    /// The beginning of a line, in a pipe.
    var partialLine: [UInt8] = []

    /// The stream of events, and how the daemon is.
    var link = Link()
    /// What was said here, and is not told of yet.
    var outbox = Outbox()
    /// The last message on the screen, and who has it.
    var bottom = Bottom()
    /// Whether others are told that somebody writes here.
    var typing = Typing()
    /// What others are called.
    var names = Names()
    /// How it ends.
    var status: Int32?
    var hasFailed = false

    /// What `trouble` is while the daemon is there and has no keys.
    static let locked = "locked"
    /// How long the daemon may think about a call, if nobody said otherwise.
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

    /// Talks until somebody leaves, or a signal ends it.
    ///
    /// - Parameter channel: where to begin; without one, in the channel that everybody is in.
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
            // Behind the drawing, so that no key waits for the daemon to be seen.
            if tellTyping() { continue }
            for wake in live.wait(for: client?.transport, within: patience()) {
                try handle(wake)
                if status != nil { break }
            }
        }
    }

    /// Takes what the daemon has said, and does what is due. While that is done more may come.
    private func settle() throws(NodeError) {
        repeat {
            try trying { () throws(NodeError) in
                try drain()
                try keepUp()
            }
        } while client?.hasMore == true
        guard status != nil else { return }
        // One's own last line stays, as all others do.
        if isLive { write(screen.print("")) }
        tellUnsent()
    }

    /// Says what is lost with this conversation, so that it can be copied.
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

    /// Runs what may fail: a daemon that has gone is waited for on a terminal, and anything else
    /// is said.
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
            // Who sat there was told at once.
            status = status ?? (hasFailed && !hasReader ? 1 : 0)
        case .answered: break
        case .resized, .resumed: resize(isBack: wake == .resumed)
        case .suspendAsked: suspend()
        case .endAsked(let number): status = 128 + number
        }
    }

    /// How long nothing has to be done, in milliseconds.
    private func patience() -> Int64? {
        // While the daemon is away nobody can be asked, and what is due would be due at once.
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
            // A number means what stood there when its line was begun.
            if editor.text.isEmpty { room.begunAt = room.shownCount }
            noteTyping(key)
            switch editor.press(key) {
            case nil: break
            case .submit(let line):
                // Whoever has sent it writes no more.
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

    /// What one message holds at most.
    private static let mostText = "\(Limits.messageTextBytesMax / 1024) KiB"
    /// What a terminal keeps of a line that it edits itself; it drops the rest of a longer one.
    private static let terminalLineBytesMax = 4_095

    /// Does what a line asks for. What is said is kept while the daemon is away; of anything else
    /// that only the daemon can do it is told that it was not done.
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

    /// Lines of a pipe. Each is a message as it stands: whoever writes into the pipe may be
    /// passing on what others wrote, and that must not become a command.
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
                // However many lines come at once, what the stream tells of them is taken between.
                try drain()
            }
        }
    }

    // MARK: Showing

    /// The line that is being written, and what may still change above it.
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

    /// Prints what is final.
    func print(_ text: String) {
        bottom.openMessage = nil
        write(isLive ? screen.print(text) : text)
    }

    /// A remark of this program, which is nobody's message.
    func remark(_ text: String) {
        guard hasReader else { return }
        let rendering = rendering
        print(lines(text).map(rendering.dim).joined(separator: "\n  ") + "\n")
    }

    /// A remark in rows that fit, so that none of them begins with what somebody else wrote.
    private func lines(_ text: String) -> [String] {
        isLive ? wrapped(text, columns: max(screen.columns - 2, 8)) : [text]
    }

    /// Says what went wrong.
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

    /// Shows a message under the others.
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

    /// - Parameter thread: the one that the line above belongs to.
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

    /// Draws the last message of one's own anew, if nothing was printed under it.
    ///
    /// - Returns: whether it could be.
    @discardableResult
    func redrawOpen() -> Bool {
        guard let openMessage = bottom.openMessage, let message = room.messages[openMessage],
            !screen.open.isEmpty
        else { return false }
        write(screen.replaceOpen(text(of: message, after: bottom.openAfter, rendering)))
        return true
    }
}
