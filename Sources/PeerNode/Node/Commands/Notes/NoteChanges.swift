import NoteText
import WorkspaceModel

/// Parses the changes of `note.edit`, which come from outside.
enum NoteChanges {
    /// - Throws: `bad_request`, which says which change is invalid.
    static func steps(_ value: JSONValue) throws(NodeError) -> [NoteStep] {
        guard let list = value.arrayValue, !list.isEmpty,
            list.count <= Limits.noteChangesPerCallMax
        else {
            throw refusal(
                "'ops' is a list of 1 to \(Limits.noteChangesPerCallMax) changes")
        }
        var steps: [NoteStep] = []
        for (index, item) in list.enumerated() {
            guard let step = step(item) else {
                throw refusal(
                    "change \(index + 1) is not an insert, delete, format or line, or lacks a field"
                )
            }
            steps.append(step)
        }
        return steps
    }

    private static func refusal(_ sentence: String) -> NodeError {
        NodeError(
            .badRequest, sentence, hint: "see 'wsx-node rpc --describe note.edit'",
            reason: "note.ops", fields: [.init(name: "ops", reason: "form")])
    }

    private static func step(_ value: JSONValue) -> NoteStep? {
        guard let members = value.objectValue?.members, members.count == 1,
            let (word, given) = members.first.map({ ($0.key, $0.value) }),
            let at = place(given["at"])
        else { return nil }
        switch word {
        case "insert":
            guard let text = given["text"]?.stringValue, !text.isEmpty else { return nil }
            return .patch(NotePatch(at: at, deleted: 0, inserted: text))
        case "delete":
            guard let length = place(given["length"]), length > 0 else { return nil }
            return .patch(NotePatch(at: at, deleted: length, inserted: ""))
        case "format":
            guard let length = place(given["length"]), length > 0,
                let mark = given["mark"]?.stringValue.flatMap({
                    NoteLooks.mark($0, given["value"])
                })
            else { return nil }
            return .format(at..<at + length, mark)
        case "line":
            return given["kind"]?.stringValue.flatMap(NoteLooks.kind).map { .line(at, $0) }
        default: return nil
        }
    }

    /// A place or a length: no text is longer than the largest note.
    private static func place(_ value: JSONValue?) -> Int? {
        guard let number = value?.integerValue,
            (0...Int64(NoteLimits.textBytesMax)).contains(number)
        else { return nil }
        return Int(number)
    }
}
