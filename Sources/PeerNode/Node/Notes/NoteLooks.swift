import NoteText
import WorkspaceModel

/// The look of a note's text, as values that people and scripts read and write.
enum NoteLooks {
    static let kinds: [(kind: NoteBlockKind, word: String)] = [
        (.paragraph, "paragraph"), (.heading1, "heading1"), (.heading2, "heading2"),
        (.quote, "quote"), (.bulleted, "bulleted"), (.numbered, "numbered"),
    ]

    static func word(of kind: NoteBlockKind) -> String {
        kinds.first { $0.kind == kind }?.word ?? "paragraph"
    }

    static func kind(_ word: String) -> NoteBlockKind? { kinds.first { $0.word == word }?.kind }

    /// `[{kind, text, marks: [{at, length, mark, value}]}]`; places count scalars of the line's text.
    static func blocks(_ lines: [NoteLine]) -> JSONValue {
        .array(
            lines.map { line in
                var at = 0
                var marks: [JSONValue] = []
                for run in line.runs {
                    let length = run.text.unicodeScalars.count
                    for mark in run.marks {
                        marks.append([
                            "at": .integer(Int64(at)), "length": .integer(Int64(length)),
                            "mark": .string(word(of: mark.kind)), "value": value(of: mark),
                        ])
                    }
                    at += length
                }
                return [
                    "kind": .string(word(of: line.kind)), "text": .string(line.text),
                    "marks": .array(marks),
                ]
            })
    }

    static func word(of kind: NoteMark.Kind) -> String {
        switch kind {
        case .bold: "bold"
        case .italic: "italic"
        case .underline: "underline"
        case .code: "code"
        case .link: "link"
        }
    }

    private static func value(of mark: NoteMark) -> JSONValue {
        if case .link(let address) = mark { return JSONValue(orNull: address) }
        return .bool(mark.isOn)
    }

    /// The mark that a word and a value mean; `nil` where they mean none.
    static func mark(_ word: String, _ value: JSONValue?) -> NoteMark? {
        let isOn = value?.boolValue
        switch word {
        case "bold": return isOn.map { .bold($0) }
        case "italic": return isOn.map { .italic($0) }
        case "underline": return isOn.map { .underline($0) }
        case "code": return isOn.map { .code($0) }
        case "link":
            if value?.isNull == true { return .link(nil) }
            return value?.stringValue.map { .link($0) }
        default: return nil
        }
    }
}
