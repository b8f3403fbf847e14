import PeerNode
import WorkspaceModel

/// The connection to the daemon, which may go and come back.
extension NoteAttachment {
    static func isAway(_ error: NodeError) -> Bool {
        [.notRunning, .stopping, .locked, .sessionExpired, .busy, .timeout].contains(error.kind)
    }

    /// Opens the connection and the stream, and reads the note.
    func connect() throws(NodeError) {
        var fresh = ControlClient(
            try io.connect(session.paths().socket),
            timeoutMilliseconds: session.answerMilliseconds ?? Self.patience)
        fresh.tellsFormer = { _ in }
        // Watched before it is read, so that no change in between is missed.
        _ = try fresh.call("note.watch", named)
        client = fresh
        do throws(NodeError) { try read() } catch {
            client = nil
            throw error
        }
        retry = nil
    }

    func lose(_ reason: NodeError) {
        client = nil
        if retry == nil, !session.globals.quiet {
            io.printError("wsx-node: the daemon does not answer; what you write is kept\n")
        }
        let delay = min(2_000, (retry?.delay ?? 125) * 2)
        retry = (io.now + delay, delay, reason)
    }

    /// Reads the whole text, starting over if it changes meanwhile.
    private func read() throws(NodeError) {
        guard var client else { throw ControlClient.ended }
        defer { self.client = client }
        var left = Self.readingsMax
        while true {
            let note: JSONValue
            do throws(NodeError) { note = try NoteEditing.wholeNote(named, &client) } catch {
                left -= 1
                guard error.isBecause(of: .changedNote), left > 0 else { throw error }
                continue
            }
            let (now, version) = (
                note["text"]?.stringValue ?? "", note["version"]?.stringValue ?? ""
            )
            // From here on the note is named by its id, so a new title does not matter.
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

    /// A note in several parts can change while they are read.
    private static let readingsMax = 50

    /// Handles input from the daemon and the editor, and writes the results.
    func settle() throws(NodeError) {
        if client == nil {
            guard retry.map({ $0.due <= io.now }) ?? true else { return }
            try connect()
        }
        repeat {
            try drain()
            takeWaiting()
            while let edit = text?.takeEdit() { try write(edit) }
            if let cursor = text?.takeCursor() { try tell(cursor) }
            // Input before an invalid line, or before the end, is still written.
            while ending != nil, text?.isSettled == false {
                try awaitEvent()
                while let edit = text?.takeEdit() { try write(edit) }
            }
        } while client?.hasMore == true
    }

    private func write(_ edit: JSONObject) throws(NodeError) {
        var given = edit
        for member in named.members { given[member.key] = member.value }
        given["brief"] = true
        let answer: JSONValue
        do throws(NodeError) { answer = try call("note.edit", given) } catch {
            if error.isBecause(of: .unknownNoteBase) { return try read() }
            // A change that the note cannot hold is undone; a forbidden one ends the session, and
            // the editor keeps the text.
            guard error.kind == .badRequest || error.kind == .tooLarge else { throw error }
            text?.refused(error)
            return
        }
        try text?.written(
            from: answer["from"]?.stringValue ?? "", to: answer["version"]?.stringValue ?? "")
    }

    /// Sends the editor's cursor to others. A concurrent change is no failure.
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

    /// Handles all events that have arrived.
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

    /// How long to wait for a certain event after the time is over, milliseconds.
    private static let lastWait: Int64 = 1_000

    private func awaitEvent() throws(NodeError) {
        guard var current = client else { throw ControlClient.ended }
        let left = (ending?.until ?? 0) - io.now
        let event = try current.nextEvent(within: min(max(left, Self.lastWait), Self.patience))
        client = current
        guard let event else { throw ControlClient.ended }
        try take(event)
    }

    private func take(_ event: JSONValue) throws(NodeError) {
        switch EventName(of: event) {
        case .passing(.notePatch):
            if try text?.hear(event["data"] ?? .null) == false { try read() }
        case .passing(.noteCursor): text?.hearCursor(event["data"] ?? .null)
        case .made(.dropped): try read()
        case .kept(.noteDeleted):
            if !session.globals.quiet { io.printError("wsx-node: this note was deleted\n") }
        default: break
        }
    }
}
