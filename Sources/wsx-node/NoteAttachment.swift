import PeerNode
import WorkspaceModel

/// A note in an editor of its own: lines of JSON on standard input and output, which
/// docs/EDITORS.md describes.
///
/// The daemon may go and come back meanwhile. What the editor wrote is kept until it is there.
final class NoteAttachment {
    private let session: NoteEditing
    private let live: any LiveInput
    private var client: ControlClient?
    /// How the note is named, and once it was found, its id.
    private var named: JSONObject
    private var text: AttachedText?
    /// What the editor has said of a line so far.
    private var partial: [UInt8] = []
    /// Whole lines that were not looked at.
    private var waiting: [[UInt8]] = []
    private var isOver = false
    /// When the daemon is looked for again, and how long after that.
    private var retry: (due: Int64, delay: Int64)?
    private let end: Int64?

    /// How long the daemon may think about a call, if nobody said otherwise.
    private static let patience: Int64 = 15_000
    /// Bytes of one line of the editor: the largest note, with a sign before each of its letters.
    private static let lineBytesMax = 32 * 1024 * 1024

    /// - Parameters:
    ///   - named: the note, as calls name it.
    ///   - end: when it ends, milliseconds since 1970; `nil` for never.
    init(_ session: NoteEditing, _ live: any LiveInput, named: JSONObject, until end: Int64?) {
        self.session = session
        self.live = live
        self.named = named
        self.end = end
    }

    private var io: any ProgramIO { session.io }

    /// Carries changes until the editor has nothing more to say.
    ///
    /// - Returns: the exit status.
    func run() throws(NodeError) -> Int32 {
        try connect()
        while true {
            do throws(NodeError) { try settle() } catch {
                guard Self.isAway(error), !isOver else { throw error }
                lose()
            }
            guard tell() else { return 141 }
            if isOver, waiting.isEmpty, text?.isSettled ?? true { return 0 }
            if let end, io.now >= end { return 0 }
            for wake in live.wait(for: client?.transport, within: patience) {
                switch wake {
                case .typed(let bytes): try hear(bytes)
                case .endOfInput:
                    isOver = true
                    try hear([UInt8(ascii: "\n")])
                case .endAsked(let number): return 128 + number
                case .answered, .resized, .resumed, .suspendAsked: break
                }
            }
        }
    }

    /// How long nothing has to be done, in milliseconds.
    private var patience: Int64? {
        // Nobody is woken for what has come already.
        if client?.hasMore == true { return 0 }
        return [end, retry?.due].compactMap { $0 }.min().map { max(0, $0 - io.now) }
    }

    // MARK: The daemon

    private static func isAway(_ error: NodeError) -> Bool {
        [.notRunning, .stopping, .locked, .sessionExpired, .busy, .timeout].contains(error.kind)
    }

    /// Opens the connection and the stream, and reads the note.
    private func connect() throws(NodeError) {
        var fresh = ControlClient(
            try io.connect(session.paths().socket),
            timeoutMilliseconds: session.answerMilliseconds ?? Self.patience)
        fresh.tellsFormer = { _ in }
        // Watched before it is read, so that no change is missed between the two.
        _ = try fresh.call("note.watch", named)
        client = fresh
        do throws(NodeError) { try read() } catch {
            client = nil
            throw error
        }
        retry = nil
    }

    private func lose() {
        client = nil
        if retry == nil, !session.globals.quiet {
            io.printError("wsx-node: the daemon does not answer; what you write is kept\n")
        }
        let delay = min(2_000, (retry?.delay ?? 125) * 2)
        retry = (io.now + delay, delay)
    }

    /// Reads the whole text, again where it changes meanwhile.
    private func read() throws(NodeError) {
        guard var client else { throw ControlClient.ended }
        defer { self.client = client }
        var left = Self.readingsMax
        while true {
            let note: JSONValue
            do throws(NodeError) { note = try NoteEditing.wholeNote(named, &client) } catch {
                left -= 1
                guard error.reason == "note.changed", left > 0 else { throw error }
                continue
            }
            let (now, version) = (
                note["text"]?.stringValue ?? "", note["version"]?.stringValue ?? ""
            )
            // From here on the note is meant, whatever it is called by then.
            named = ["note": note["id"] ?? .null, "workspace": note["workspace"] ?? .null]
            if text == nil {
                text = AttachedText(text: now, version: version)
            } else {
                try text?.reread(text: now, version: version)
            }
            text?.hearParticipants(note["participants"])
            return
        }
    }

    /// A note that is in several parts can change while they are read.
    private static let readingsMax = 50

    /// Takes what the daemon has said and what the editor wrote, and writes it.
    private func settle() throws(NodeError) {
        if client == nil {
            guard retry.map({ $0.due <= io.now }) ?? true else { return }
            try connect()
        }
        repeat {
            try drain()
            var failure: NodeError?
            do throws(NodeError) { try takeWaiting() } catch { failure = error }
            while let edit = text?.takeEdit() { try write(edit) }
            if let cursor = text?.takeCursor() { try tell(cursor) }
            // What came before a line that is none, or before the end, is written nevertheless.
            while isOver || failure != nil, text?.isSettled == false {
                try awaitEvent()
                while let edit = text?.takeEdit() { try write(edit) }
            }
            if let failure { throw failure }
        } while client?.hasMore == true
    }

    private func write(_ edit: JSONObject) throws(NodeError) {
        var given = edit
        for member in named.members { given[member.key] = member.value }
        given["brief"] = true
        let answer: JSONValue
        do throws(NodeError) { answer = try call("note.edit", given) } catch {
            if error.reason == "note.base" { return try read() }
            // What the note cannot hold is taken back; what one may not do ends it, and the editor
            // has the text.
            guard error.kind == .badRequest || error.kind == .tooLarge else { throw error }
            text?.refused(error)
            return
        }
        try text?.written(
            from: answer["from"]?.stringValue ?? "", to: answer["version"]?.stringValue ?? "")
    }

    /// Tells others where the editor's cursor is. What has changed by then is no failure.
    private func tell(_ cursor: JSONObject) throws(NodeError) {
        var given = cursor
        for member in named.members { given[member.key] = member.value }
        do throws(NodeError) { _ = try call("note.cursor", given) } catch {
            guard error.kind == .conflict || error.kind == .badRequest else { throw error }
        }
    }

    private func call(_ method: String, _ given: JSONObject) throws(NodeError) -> JSONValue {
        guard var current = client else { throw ControlClient.ended }
        defer { client = current }
        return try current.call(method, given)
    }

    /// Takes all events that have come.
    private func drain() throws(NodeError) {
        while var current = client {
            let event: JSONValue?
            do throws(NodeError) { event = try current.nextEvent(within: 0) } catch {
                guard error.kind == .timeout else { throw error }
                client = current
                return
            }
            client = current
            guard let event else { throw ControlClient.ended }
            try take(event)
        }
    }

    private func awaitEvent() throws(NodeError) {
        guard var current = client else { throw ControlClient.ended }
        let event = try current.nextEvent(within: Self.patience)
        client = current
        guard let event else { throw ControlClient.ended }
        try take(event)
    }

    private func take(_ event: JSONValue) throws(NodeError) {
        switch event["type"]?.stringValue {
        case "note.patch":
            if try text?.hear(event["data"] ?? .null) == false { try read() }
        case "note.cursor": text?.hearCursor(event["data"] ?? .null)
        case "events.dropped": try read()
        case "note.deleted":
            if !session.globals.quiet { io.printError("wsx-node: this note was deleted\n") }
        default: break
        }
    }

    // MARK: The editor

    private func hear(_ bytes: [UInt8]) throws(NodeError) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                partial.append(byte)
                continue
            }
            if !partial.isEmpty { waiting.append(partial) }
            partial = []
        }
        guard partial.count <= Self.lineBytesMax else { throw .lineTooLong }
    }

    private func takeWaiting() throws(NodeError) {
        let lines = waiting
        waiting = []
        for line in lines {
            let value: JSONValue
            do { value = try JSONValue(parsing: line) } catch { throw .badJSON(error) }
            try text?.take(value)
        }
    }

    /// - Returns: whether somebody reads it.
    private func tell() -> Bool {
        for line in text?.takeLines() ?? [] where !live.write(line.text + "\n") { return false }
        return true
    }
}

extension NoteEditing {
    /// `note attach`: changes between a note and an editor.
    func attachNote(_ command: Command) throws(NodeError) -> Int32 {
        var named = try parameters(for: command)
        named["workspace"] = workspace.map { .string($0) }
        guard !io.isInputTerminal, let live = io.openLive(isRaw: false) else {
            throw .usage(
                "'note attach' talks to an editor, not to a terminal",
                hint: "wsx-node note edit NOTE --editor opens your editor")
        }
        return try NoteAttachment(self, live, named: named, until: Streaming(self).streamEnd).run()
    }
}
