import PeerNode
import WorkspaceModel

/// Notes for people.
extension Rendering {
    /// The text of a note, with authors if requested. A final line break is added, even to an empty
    /// text, as in a file of an editor: `note edit --from` removes it.
    func noteText(_ note: JSONValue) -> String {
        let text = note["text"]?.stringValue ?? ""
        guard let blame = note["blame"]?.arrayValue else {
            guard !text.isEmpty else { return "" }
            // A file or a program gets the raw text; a note contains no control characters.
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

    /// The line about a created or changed note.
    func changedNote(_ note: JSONValue) -> String {
        let id = shown(note["id"])
        // With only the version requested, nothing else is shown.
        if note["title"] == nil { return "\(id)\t\(shown(note["version"]))\n" }
        if isPlain { return "\(id)\t\(shown(note["title"]))\t\(shown(note["version"]))\n" }
        var state = note["deleted"] == true ? "  (deleted)" : ""
        if let holder = note["lock"]?["by"]?["name"] { state += "  (locked by \(shown(holder)))" }
        return flowed("\(id)  \(shown(note["title"]))\(state)\n", indent: 2, isOwn: false)
    }
}
