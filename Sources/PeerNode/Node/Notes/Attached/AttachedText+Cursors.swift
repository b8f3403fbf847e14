import NoteText
public import WorkspaceModel

// Cursors of other people in the text.
extension AttachedText {
    /// Hears where somebody else is, and what they have not published.
    ///
    /// - Parameter event: the data of a `note.cursor`.
    public mutating func hearCursor(_ event: JSONValue) {
        guard let device = event["device"]?.stringValue else { return }
        if event["there"] == true {
            guard others.count < Limits.notesGuestsToldMax || others[device] != nil else { return }
            others[device] = event
        } else if others.removeValue(forKey: device) == nil {
            return
        }
        hasNewOthers = true
    }

    /// Takes the list of participants as it was read: anybody who is not in it has left.
    ///
    /// - Parameter list: `participants` of `note.get`.
    public mutating func hearParticipants(_ list: JSONValue?) {
        let (before, wasNew) = (others, hasNewOthers)
        others = [:]
        for event in list?.arrayValue ?? [] { hearCursor(event) }
        hasNewOthers = wasNew || others != before
    }

    /// A line about them, where there is something new and the editor's own changes are at the node: the
    /// places are in the text that the editor has then.
    mutating func cursorLine() -> JSONValue? {
        guard hasNewOthers, writing == nil else { return nil }
        hasNewOthers = false
        // All cursors are reported again after each change of the text, so others are outdated.
        let known = others.sorted { $0.key < $1.key }.filter {
            $0.value["version"] == .string(version)
        }
        return [
            "version": [.integer(Int64(taken + unseen.count)), .integer(Int64(received))],
            "cursors": .array(
                known.map { _, event in
                    [
                        "by": event["by"] ?? .null, "device": event["device"] ?? .null,
                        "at": event["at"] ?? .null, "length": event["length"] ?? .null,
                        "patch": event["patch"] ?? [],
                    ]
                }),
        ]
    }

    /// Where the editor's cursor is, as `note.cursor` takes it, once its changes are at the node; `nil`
    /// where it has said nothing new.
    public mutating func takeCursor() -> JSONObject? {
        guard writing == nil, let (at, length) = cursor else { return nil }
        cursor = nil
        let patches = unseen.flatMap(\.patches)
        let start = patches.reduce(at) { $1.moved($0, keeping: .behind) }
        let end = patches.reduce(at + length) { $1.moved($0, keeping: .behind) }
        return [
            "base": .string(version), "at": .integer(Int64(start)),
            "length": .integer(Int64(max(0, end - start))),
        ]
    }
}
