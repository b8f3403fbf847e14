import NoteText
public import WorkspaceModel

/// A parsed line from an editor.
struct AttachedLine {
    /// Lines that it has taken of the node.
    let node: Int
    /// Lines that it has written before.
    let editor: Int
    /// Whether it is one of changes, and counted, be they none.
    let hasPatch: Bool
    /// Each deletes, or inserts.
    var patches: [NotePatch] = []
    /// Where its cursor is afterwards, if it says so.
    var cursor: (at: Int, length: Int)?

    /// - Parameter line: comes from outside.
    init(_ line: JSONValue) throws(NodeError) {
        guard let count = line["version"]?.arrayValue, count.count == 2,
            let node = Self.number(count[0]), let editor = Self.number(count[1])
        else { throw .attached("'version' must be two numbers of lines: [node, editor]") }
        (self.node, self.editor) = (node, editor)
        hasPatch = line["patch"] != nil
        guard let list = (line["patch"] ?? []).arrayValue else {
            throw .attached("'patch' must be a list of changes: [[at, deleted, \"inserted\"]]")
        }
        if let place = line["cursor"], !place.isNull {
            guard let parts = place.arrayValue, parts.count == 2, let at = Self.number(parts[0]),
                let length = Self.number(parts[1])
            else { throw .attached("'cursor' must be [at, length]") }
            cursor = (at, length)
        }
        for item in list {
            let patch = try Self.patch(item)
            if patch.deleted > 0 {
                patches.append(NotePatch(at: patch.at, deleted: patch.deleted, inserted: ""))
            }
            // A line of the control socket holds this much of any text.
            var (at, rest) = (patch.at, Array(patch.inserted.unicodeScalars)[...])
            while !rest.isEmpty {
                var part = String.UnicodeScalarView()
                part.append(contentsOf: rest.prefix(Self.partScalars))
                patches.append(NotePatch(at: at, deleted: 0, inserted: String(part)))
                at += part.count
                rest = rest.dropFirst(Self.partScalars)
            }
        }
    }

    private static let partScalars = 16_384

    /// `[at, deleted, inserted]`, from outside.
    static func patch(_ value: JSONValue) throws(NodeError) -> NotePatch {
        guard let parts = value.arrayValue, parts.count == 3, let at = number(parts[0]),
            let deleted = number(parts[1]), let inserted = parts[2].stringValue
        else { throw .attached("a change is [at, deleted, \"inserted\"]") }
        return NotePatch(at: at, deleted: deleted, inserted: inserted)
    }

    private static func number(_ value: JSONValue) -> Int? {
        guard let number = value.integerValue, (0...Int64(UInt32.max)).contains(number) else {
            return nil
        }
        return Int(number)
    }
}

extension NodeError {
    /// The error for an invalid line from an editor.
    static func attached(_ sentence: String) -> NodeError {
        NodeError(
            .badRequest, sentence, hint: "docs/EDITORS.md says what a line is",
            reason: "note.line")
    }
}

extension AttachedText {
    /// Takes a line of the editor as it came, without its end.
    ///
    /// - Throws: `bad_request` for an invalid line, `conflict` where too much has changed since.
    public mutating func take(line bytes: [UInt8]) throws(NodeError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw .attached("the line is not JSON: byte \(error.offset): \(error.reason.rawValue)")
        }
        try take(value)
    }

    /// The text as the editor has it, as far as its lines were taken.
    public var editorText: String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: shown)
        return String(view)
    }

    /// Whether the node has taken everything that the editor wrote, even if it has not been
    /// reported yet.
    public var isAtNode: Bool {
        guard let writing else { return true }
        return writing.rest.isEmpty && (writing.asked.isEmpty || writing.answer != nil)
    }
}
