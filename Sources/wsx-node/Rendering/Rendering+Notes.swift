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
