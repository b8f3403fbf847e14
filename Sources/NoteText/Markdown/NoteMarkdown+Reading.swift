extension NoteMarkdown {
    /// Parses Markdown into lines. Every text is valid, and the work is linear in its length.
    public static func lines(of text: String) -> [NoteLine] {
        var isFenced = false
        return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .compactMap { part in
                let line = Array(part.last == "\r" ? part.dropLast() : part)
                if isFence(line) {
                    isFenced.toggle()
                    return nil
                }
                if isFenced {
                    let text = string(line[...])
                    let runs = text.isEmpty ? [] : [NoteLine.Run(text, [.code(true)])]
                    return NoteLine(.paragraph, runs)
                }
                let (kind, start) = kind(of: line)
                var reader = MarkdownLineReader(Array(line[start...]))
                return NoteLine(kind, reader.runs())
            }
    }

    /// Whether a line begins or ends a block of code.
    private static func isFence(_ line: [Unicode.Scalar]) -> Bool {
        let ticks = line.prefix { $0 == "`" }.count
        return ticks >= 3 && !line[ticks...].contains("`")
    }

    /// The kind of a line, and where its text begins.
    private static func kind(of line: [Unicode.Scalar]) -> (NoteBlockKind, Int) {
        let indent = line.prefix { $0 == " " || $0 == "\t" }.count
        guard indent < line.count else { return (.paragraph, 0) }
        func isSpace(_ index: Int) -> Bool {
            index >= line.count || line[index] == " " || line[index] == "\t"
        }
        func start(_ index: Int) -> Int { min(index, line.count) }
        switch line[indent] {
        case "#":
            let level = line[indent...].prefix { $0 == "#" }.count
            guard level <= 6, isSpace(indent + level) else { return (.paragraph, 0) }
            return (level == 1 ? .heading1 : .heading2, start(indent + level + 1))
        case ">": return (.quote, start(indent + (isSpace(indent + 1) ? 2 : 1)))
        case "-", "+", "*":
            return isSpace(indent + 1) ? (.bulleted, start(indent + 2)) : (.paragraph, 0)
        case "0"..."9":
            let digits = line[indent...].prefix { ("0"..."9").contains($0) }.count
            let end = indent + digits
            guard digits <= 9, end < line.count, line[end] == "." || line[end] == ")",
                isSpace(end + 1)
            else { return (.paragraph, 0) }
            return (.numbered, start(end + 2))
        default: return (.paragraph, 0)
        }
    }

    /// A text of the scalars that a note allows; others are dropped.
    static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars.filter { NoteCharacters.isAllowed($0) && $0 != "\n" })
        return String(view)
    }
}
