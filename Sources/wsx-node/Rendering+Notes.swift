import PeerNode
import WorkspaceModel

/// Notes as people read them.
extension Rendering {
    /// The text of a note as it stands, and who wrote what where that was asked for. The end of its last
    /// line is added, also to an empty one, as in the file of an editor: `note edit --from` takes it off.
    func noteText(_ note: JSONValue) -> String {
        let text = note["text"]?.stringValue ?? ""
        guard let blame = note["blame"]?.arrayValue else {
            guard !text.isEmpty else { return "" }
            // What goes into a file or a program is the text itself, and no note holds controls.
            return (isPiped ? text : TerminalText.escaped(text, for: .body)) + "\n"
        }
        let scalars = Array(text.unicodeScalars)
        return blame.map { part in
            let start = min(max(Int(clamping: part["at"]?.integerValue ?? 0), 0), scalars.count)
            let count = max(Int(clamping: part["length"]?.integerValue ?? 0), 0)
            var words = String.UnicodeScalarView()
            words.append(contentsOf: scalars.dropFirst(start).prefix(count))
            let who = "\(shown(part["by"]?["name"]))  \(moment(part["edited_at"]))"
            return isPlain
                ? "\(who)\t\(sanitised(String(words)))\n"
                : "\(dim(who))  \(sanitised(String(words)))\n"
        }.joined()
    }

    /// One event of a note that is watched: who changed what, at which scalar of the text.
    func noteEvent(_ event: JSONValue) -> String {
        if !isJSON, !isPlain, let line = companyEvent(event) { return line }
        guard !isJSON, !isPlain, event["type"] == "note.patch" else { return self.event(event) }
        let data = event["data"]
        let who = data?["by"]?["name"]?.stringValue.map(sanitised) ?? "-"
        guard let patch = data?["patch"]?.arrayValue else {
            return flowed("\(who)  read the text again\n", indent: 2, isOwn: false)
        }
        return patch.map { change in
            let deleted = change[1]?.integerValue ?? 0
            let inserted = change[2]?.stringValue ?? ""
            let words = [
                "at \(change[0]?.integerValue ?? 0)", deleted > 0 ? "-\(deleted)" : nil,
                inserted.isEmpty ? nil : "+\(sanitised(inserted))",
            ].compactMap { $0 }
            return flowed("\(who)  \(words.joined(separator: "  "))\n", indent: 2, isOwn: false)
        }.joined()
    }

    /// Who is where in a note that is watched, or asks others to wait; nothing of what only moves with the
    /// text. `nil` of other events.
    private func companyEvent(_ event: JSONValue) -> String? {
        let data = event["data"]
        let words: String
        switch event["type"]?.stringValue {
        case "note.lock":
            let holder = data?["lock"]?["by"]?["name"]
            words = holder.map { "\(shown($0))  asks others to wait" } ?? "nobody has to wait now"
        case "note.cursor":
            let who = shown(data?["by"]?["name"])
            guard data?["there"] == true else {
                words = "\(who)  has closed the note"
                break
            }
            let draft = (data?["patch"]?.arrayValue ?? []).compactMap { $0[2]?.stringValue }
                .filter { !$0.isEmpty }.map(sanitised)
            guard !draft.isEmpty else { return "" }
            words = "\(who)  is writing  +\(draft.joined(separator: "  +"))"
        default: return nil
        }
        return flowed(words + "\n", indent: 2, isOwn: false)
    }

    /// The line about a note that was made or changed.
    func changedNote(_ note: JSONValue) -> String {
        let id = shown(note["id"])
        // Who asked for the versions alone wants nothing else.
        if note["title"] == nil { return "\(id)\t\(shown(note["version"]))\n" }
        if isPlain { return "\(id)\t\(shown(note["title"]))\t\(shown(note["version"]))\n" }
        var state = note["deleted"] == true ? "  (deleted)" : ""
        if let holder = note["lock"]?["by"]?["name"] { state += "  (locked by \(shown(holder)))" }
        return flowed("\(id)  \(shown(note["title"]))\(state)\n", indent: 2, isOwn: false)
    }
}
