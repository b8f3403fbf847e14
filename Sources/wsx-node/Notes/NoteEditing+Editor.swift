import PeerNode
import WorkspaceModel

/// `note edit --editor`: edits a note in the user's editor.
extension NoteEditing {
    /// Opens the text of a note in an editor, and writes the changes into the note. Concurrent
    /// changes of others are kept, and shown. If the text cannot be written, its file remains.
    func editNote(_ command: Command) throws(NodeError) -> Int32 {
        for other in ["from", "text", "ops", "base"] where scan.values[other] != nil {
            throw .usage(
                "--editor and --\(other) cannot be combined", hint: "use only one of them")
        }
        guard io.isInputTerminal, io.isOutputTerminal, !globals.noInput else {
            throw .usage(
                globals.noInput
                    ? "--editor cannot be used with --no-input" : "--editor needs a terminal",
                hint: "--from FILE reads a file, --from - a pipe")
        }
        var given = try parameters(for: command)
        let (format, strict) = (given["format"], given["strict"])
        for name in ["format", "strict", "brief"] { given[name] = nil }
        var view = given
        if format == "markdown" { view["markdown"] = true }
        let shown = try wholeNote(view)
        try refuseDeleted(shown)
        // From here on the note is named by its id, so a new title does not matter.
        view["note"] = shown["id"]
        view["in"] = nil
        let file = try EditedFile(
            shown["text"]?.stringValue ?? "", name: format == "markdown" ? "note.md" : "note.txt",
            environment, io)
        guard let text = try edited(file) else {
            file.remove()
            io.tell("nothing changed\n")
            return 0
        }
        let (now, result): (JSONValue, JSONValue)
        do throws(NodeError) {
            now = try wholeNote(view)
            try refuseDeleted(now)
            // The node ignores one final line break, which the file has.
            let isOpen = text.utf8.last == UInt8(ascii: "\n")
            var edit = JSONObject()
            let behind = Self.put(isOpen ? text + "\n" : text, into: &edit)
            edit["workspace"] = view["workspace"]
            edit["note"] = view["note"]
            edit["base"] = shown["version"]
            edit["format"] = format
            edit["strict"] = strict
            var client = try client()
            result = try client.call(command.name, edit, file: behind)
        } catch { throw file.kept(error) }
        file.remove()
        show(rendering.text(result, of: command.name))
        tellMeanwhile(from: shown, to: now)
        return 0
    }

    /// The edited text; `nil` if it is unchanged.
    private func edited(_ file: EditedFile) throws(NodeError) -> String? {
        let command = TextEditor.command(environment)
        let status = io.edit(file.path, with: command)
        guard status == 0 else {
            // A shell exits with 126 or 127 if it cannot run the program.
            let isRun = status != nil && status != 126 && status != 127
            let error = NodeError(
                .badRequest,
                isRun
                    ? "the editor ended with status \(status ?? 0), so the note is unchanged"
                    : "the editor \(NodeError.quoted(command)) could not be run",
                hint: isRun ? nil : "set EDITOR to an editor that is installed",
                reason: "note.editor")
            guard try file.changed(limit: Limits.noteTextPerCallBytesMax) != nil else {
                file.remove()
                throw error
            }
            throw file.kept(error)
        }
        return try file.changed(limit: Limits.noteTextPerCallBytesMax)
    }

    private func refuseDeleted(_ note: JSONValue) throws(NodeError) {
        guard note["deleted"] == true else { return }
        throw NodeError(
            .conflict, "that note was deleted",
            hint: "to bring it back: wsx-node note delete \(note["id"]?.stringValue ?? "") --undo",
            reason: "note.deleted")
    }

    /// Shows what others changed since the note was opened, which is easily missed.
    private func tellMeanwhile(from shown: JSONValue, to now: JSONValue) {
        let changes = LineChanges.lines(
            from: shown["text"]?.stringValue ?? "", to: now["text"]?.stringValue ?? "")
        guard !changes.isEmpty, !globals.quiet else { return }
        io.tell(
            "changed by others meanwhile, last by \(rendering.shown(now["edited_by"]?["name"])):\n")
        for line in changes { io.printError("  \(sanitised(line))\n") }
    }
}
