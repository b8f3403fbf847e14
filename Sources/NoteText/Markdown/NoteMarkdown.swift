/// Converts the lines of a note to Markdown, and back.
///
/// One line of Markdown is one line of the note, so that people find their lines in an editor, and
/// unchanged text round-trips. Markdown beyond the kinds and marks of a note stays text.
public enum NoteMarkdown {
    /// The lines as Markdown, without a line break at the end.
    public static func text(of lines: [NoteLine]) -> String {
        var result: [String] = []
        var number = 0
        for line in lines {
            number = line.kind == .numbered ? number + 1 : 0
            let body = body(of: line)
            switch line.kind {
            case .paragraph: result.append(guarded(body))
            case .heading1: result.append("# " + body)
            case .heading2: result.append("## " + body)
            case .quote: result.append("> " + body)
            case .bulleted: result.append("- " + body)
            case .numbered: result.append("\(number). " + body)
            }
        }
        return result.joined(separator: "\n")
    }

    // MARK: Marks

    /// Marks with opening and closing delimiters, outermost first. Bold and italic use the same
    /// delimiter to open and close: it is written at each change, so that at most three asterisks
    /// are adjacent, and those mean both.
    private static let nesting: [NoteMark.Kind] = [.link, .underline]
    private static let toggles: [NoteMark.Kind] = [.bold, .italic]

    private static func body(of line: NoteLine) -> String {
        var text = ""
        var open: [NoteMark] = []
        for (index, run) in line.runs.enumerated() {
            let wanted = run.marks.filter { $0.isOn && $0.kind != .code }
            text += border(from: open, to: wanted)
            open = wanted
            if run.marks.contains(.code(true)) {
                text += code(run.text)
            } else {
                // Spaces next to a delimiter would turn it into plain text, and vanish
                // at the ends of a line.
                let isEdge = !wanted.isEmpty || line.runs.count > 1
                text += escaped(
                    run.text, guardsStart: isEdge || index == 0,
                    guardsEnd: isEdge || index == line.runs.count - 1)
            }
        }
        return text + border(from: open, to: [])
    }

    /// The delimiters between two parts with these marks.
    private static func border(from open: [NoteMark], to wanted: [NoteMark]) -> String {
        func nested(_ marks: [NoteMark]) -> [NoteMark] {
            nesting.compactMap { kind in marks.first { $0.kind == kind } }
        }
        func signs(in marks: [NoteMark], notIn others: [NoteMark]) -> String {
            toggles.filter { kind in
                marks.contains { $0.kind == kind } && !others.contains { $0.kind == kind }
            }
            .reduce("") { $0 + ($1 == .bold ? "**" : "*") }
        }
        let kept = zip(nested(open), nested(wanted)).prefix { $0 == $1 }.count
        var text = signs(in: open, notIn: wanted)
        for mark in nested(open).dropFirst(kept).reversed() { text += end(of: mark) }
        for mark in nested(wanted).dropFirst(kept) { text += mark.kind == .link ? "[" : "<u>" }
        return text + signs(in: wanted, notIn: open)
    }

    private static func end(of mark: NoteMark) -> String {
        guard case .link(let address?) = mark else { return "</u>" }
        var target = ""
        for scalar in address.unicodeScalars {
            if scalar == "<" || scalar == ">" || scalar == "\\" { target += "\\" }
            target.unicodeScalars.append(scalar)
        }
        return "](<\(target)>)"
    }

    /// A text between more backticks than it has in a row.
    private static func code(_ text: String) -> String {
        var longest = 0
        var run = 0
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        let isBlank = text.utf8.allSatisfy { $0 == 0x20 }
        let first = text.utf8.first ?? 0
        let last = text.utf8.last ?? 0
        let touches = [0x20, UInt8(ascii: "`")].contains { $0 == first || $0 == last }
        let pad = touches && !isBlank ? " " : ""
        return fence + pad + text + pad + fence
    }

    // MARK: Text

    /// Text with Markdown characters escaped.
    private static func escaped(_ text: String, guardsStart: Bool, guardsEnd: Bool) -> String {
        var result = String.UnicodeScalarView()
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let isFirst = index == scalars.startIndex
            index = scalars.index(after: index)
            let isLast = index == scalars.endIndex
            if scalar == " " || scalar == "\t", isFirst && guardsStart || isLast && guardsEnd {
                result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
                continue
            }
            if "\\`*_[]<&!".unicodeScalars.contains(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    /// A paragraph escaped so that it does not begin like another kind of line.
    private static func guarded(_ body: String) -> String {
        let digits = body.unicodeScalars.prefix { ("0"..."9").contains($0) }
        let rest = body.unicodeScalars.dropFirst(digits.count)
        guard let first = rest.first else { return body }
        let isMarker =
            digits.isEmpty ? "#>-+~=|".unicodeScalars.contains(first) : first == "." || first == ")"
        return isMarker ? "\(String(digits))\\\(String(rest))" : body
    }
}
