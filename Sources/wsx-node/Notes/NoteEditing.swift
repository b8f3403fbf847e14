import PeerNode
import WorkspaceModel

/// Note commands: texts from files, and texts in several parts.
struct NoteEditing: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// `note create` and `note edit`: reads the text from a file, or from standard input.
    func writeNote(_ command: Command) throws(NodeError) -> Int32 {
        if scan.values["editor"]?.boolValue == true { return try editNote(command) }
        var session = self
        var behind: [UInt8] = []
        if let path = scan.values["from"]?.stringValue {
            guard scan.values["text"] == nil else {
                throw .usage("the text is given twice", hint: "use only one of --from and --text")
            }
            let text =
                path == "-"
                ? try inputText(
                    trimmed: false, limit: Limits.noteTextPerCallBytesMax, tooLong: .noteTooLarge)
                : try noteText(fromFile: path)
            behind = Self.put(text, into: &session.scan.values)
        } else if command.shape == .editedNote, scan.values["text"] == nil,
            scan.values["ops"] == nil
        {
            throw .usage(
                "what should the note say?",
                hint: "add --editor, --from FILE, or --from - for standard input")
        }
        return try callAndPrint(command, try session.parameters(for: command), file: behind)
    }

    /// Puts a text into a call: a long one behind its line, where a byte stays a byte.
    ///
    /// - Returns: what follows the line.
    static func put(_ text: String, into call: inout JSONObject) -> [UInt8] {
        guard text.utf8.count > lineTextBytesMax else {
            call["text"] = .string(text)
            return []
        }
        call["bytes"] = .integer(Int64(text.utf8.count))
        return Array(text.utf8)
    }

    /// A text of so many bytes fits into a line, although JSON writes some bytes as six.
    private static let lineTextBytesMax = Limits.controlLineBytesMax / 8

    /// The text of a file, with normalised line ends.
    private func noteText(fromFile path: String) throws(NodeError) -> String {
        let limit = Limits.noteTextPerCallBytesMax
        guard let bytes = try io.readFile(io.absolutePath(path), limit: limit) else {
            throw NodeError(
                .notFound, "there is no file \(NodeError.quoted(path))",
                hint: "--from - reads standard input", reason: "file.not_found")
        }
        guard bytes.count <= limit else { throw .noteTooLarge }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("the file \(NodeError.quoted(path)) is not UTF-8")
        }
        return text.replacing("\r\n") { _, _ in "\n" }
    }

    /// `note show`: joins all parts of a long text.
    func showNote(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard !globals.json else {
            var client = try client()
            show(rendering.text(try client.call(command.name, parameters), of: command.name))
            return 0
        }
        let note = try wholeNote(parameters)
        show(rendering.text(note, of: command.name), isLong: true)
        if note["complete"] == false {
            io.tell("wsx-node: parts of this note have not arrived yet\n")
        }
        if note["deleted"] == true {
            let id = note["id"]?.stringValue ?? ""
            let hint = rendering.hints.text("wsx-node note delete \(id) --undo")
            io.tell("wsx-node: this note was deleted\nhint: to bring it back: \(hint)\n")
        }
        return 0
    }

    /// `note lock`: once, or repeatedly until it is interrupted.
    func lockNote(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard scan.values["hold"]?.boolValue == true else {
            return try callAndPrint(command, parameters)
        }
        var client = try client()
        let end = Streaming(self).streamEnd
        show(rendering.text(try client.call(command.name, parameters), of: command.name))
        while end.map({ io.now < $0 }) ?? true {
            io.pause(milliseconds: Self.lockMilliseconds)
            _ = try client.call(command.name, parameters)
        }
        _ = try client.call("note.unlock", parameters)
        return 0
    }

    /// Three times in the time that one lasts.
    private static let lockMilliseconds = Int64(Limits.noteLockMilliseconds / 3)

    /// A note with its whole text, which may come in several parts.
    func wholeNote(_ parameters: JSONObject) throws(NodeError) -> JSONValue {
        var client = try client()
        return try Self.wholeNote(parameters, &client)
    }

    static func wholeNote(
        _ parameters: JSONObject, _ client: inout ControlClient
    ) throws(NodeError) -> JSONValue {
        let first = try client.call("note.get", parameters)
        guard var fields = first.objectValue else { return first }
        var parameters = parameters
        var text = first["text"]?.stringValue ?? ""
        var next = first["next"]
        while let cursor = next, !cursor.isNull {
            parameters["cursor"] = cursor
            let part = try client.call("note.get", parameters)
            // The rest of another version is useless.
            guard part["version"] == first["version"] else {
                throw NodeError(
                    .conflict, "the note changed while it was read", hint: "show it again",
                    reason: KnownReason.changedNote.rawValue)
            }
            text += part["text"]?.stringValue ?? ""
            next = part["next"]
        }
        fields["text"] = .string(text)
        return .object(fields)
    }
}
