import PeerNode
import WorkspaceModel

/// Events of a watched note, for people.
extension Rendering {
    /// One event of a watched note: who changed what, at which scalar of the text.
    func noteEvent(_ event: JSONValue) -> String {
        if !isJSON, !isPlain, let line = presenceEvent(event) { return line }
        guard !isJSON, !isPlain, EventName(of: event) == .passing(.notePatch) else {
            return self.event(event)
        }
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

    /// Cursors and lock requests in a watched note, but not cursor movements caused by edits. `nil`
    /// for other events.
    private func presenceEvent(_ event: JSONValue) -> String? {
        let data = event["data"]
        let words: String
        switch EventName(of: event) {
        case .passing(.noteLock):
            let holder = data?["lock"]?["by"]?["name"]
            words = holder.map { "\(shown($0))  asks others to wait" } ?? "nobody has to wait now"
        case .passing(.noteCursor):
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
}
