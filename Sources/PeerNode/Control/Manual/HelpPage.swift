/// The text of `help`, wrapped at words for the terminal's width.
public struct HelpPage: Sendable {
    /// Columns of most terminals, and of what is read elsewhere. Longer lines are hard to read.
    private static let columnsMax = 80
    /// With fewer columns, explanations are put below what they explain.
    private static let besideColumnsMin = 60
    /// The left side of a table at most.
    private static let leftColumnsMax = 34

    private let columns: Int
    /// Columns for what people copy; `nil` without a terminal.
    private let copiedColumns: Int?
    private var isNarrow: Bool { columns < Self.besideColumnsMin }

    /// - Parameter columns: the width of the terminal; `nil` without one.
    public init(columns: Int? = nil) {
        self.columns = min(max(columns ?? Self.columnsMax, 20), Self.columnsMax)
        copiedColumns = columns.map { max($0, 20) }
    }

    // MARK: Texts

    private static let firstSteps = [
        ("wsx-node up --name Mina --workspace acme", "start, and create what is missing"),
        ("wsx-node invite create", "print a link for someone else"),
        ("wsx-node send general 'hello'", "send a message"),
        ("wsx-node log general", "read a channel"),
        ("wsx-node tail", "follow new messages"),
    ]

    /// The text for a call without arguments: examples first.
    public var short: String {
        let steps = Self.firstSteps
        let widest = steps.map(\.0.count).max() ?? 0
        let lines = steps.map { command, what in
            if columns < Self.columnsMax { return below(command, what) }
            let gap = String(repeating: " ", count: widest - command.count + 4)
            return "  \(command)\(gap)\(what)\n"
        }
        let more = "'wsx-node help' lists every command, 'wsx-node help COMMAND' explains one."
        return "wsx-node: a workspace without a server\n\n" + lines.joined() + "\n"
            + wrapped(more, indent: 0) + "\n"
    }

    /// Every command with a line, by group.
    public var full: String {
        var text = short
        for group in Command.groups {
            let lines = group.commands.compactMap { command in
                command.line.map { ($0.words.joined(separator: " "), command.summary) }
            }
            text += "\n\(group.title)\n" + table(lines)
        }
        let topics = Manual.topics.map(\.word).joined(separator: ", ")
        return text + "\nflags for every command\n"
            + table(Manual.globalFlags.map { ($0.form, $0.summary) })
            + "\n" + wrapped("topics for 'wsx-node help': \(topics)", indent: 0) + "\n"
    }

    /// What `--help` after a command prints: examples, usage, parameters.
    public func text(for command: Command) -> String {
        var text = wrapped(command.summary, indent: 0) + "\n\n"
        let examples = command.line?.examples ?? []
        for example in examples {
            let isWhole = example.utf8.starts(with: "uptime".utf8)
            text += copied("  " + (isWhole ? example : "wsx-node \(example)")) + "\n"
        }
        if !examples.isEmpty { text += "\n" }
        text += wrapped(
            "usage: wsx-node \(command.usage)", indent: isNarrow ? 4 : 16, atBrackets: true)
        text += "\n"
        let positions = command.line?.positions ?? []
        let positional = command.parameters.filter { positions.contains($0.name) }
            .map { ($0.positionWord, explained($0)) }
        let flags = command.flags.map { parameter in
            let short = parameter.shortFlag.map { "-\($0), " } ?? ""
            return (short + Command.flagForm(parameter), explained(parameter))
        }
        if !(positional + flags).isEmpty { text += "\n" + table(positional + flags) }
        for isAhead in [false, true] where command.flags.contains(where: { $0.isTime(isAhead) }) {
            text += "\n" + wrapped("T is \(Manual.times(ahead: isAhead)).", indent: 0) + "\n"
        }
        let more = "'wsx-node help' lists the flags that every command takes."
        return text + "\n" + wrapped(more, indent: 0) + "\n"
    }

    /// The commands that start with these words, or `nil` when none does.
    public func list(under words: [String]) -> String? {
        let lines = Command.all.compactMap { command -> (String, String)? in
            guard let line = command.line, line.words.starts(with: words) else { return nil }
            return (command.usage, command.summary)
        }
        return lines.isEmpty ? nil : table(lines)
    }

    private func explained(_ parameter: ParameterDefinition) -> String {
        guard !parameter.isRequired, let value = parameter.defaultText,
            !parameter.takesNoValue, value != "[]"
        else { return parameter.summary }
        if case .duration = parameter.shape, let milliseconds = Int64(value) {
            return "\(parameter.summary) Default \(DurationText.text(milliseconds))."
        }
        return "\(parameter.summary) Default \(value)."
    }

    // MARK: Topics

    /// Wraps a text that was written for 80 columns. Indented lines are meant for copying, and stay
    /// unchanged.
    public func topic(_ text: String) -> String {
        guard columns < Self.columnsMax else { return text }
        var lines: [String] = []
        var rows: [(String, String)] = []
        var prose = ""
        func endProse() {
            if !prose.isEmpty { lines.append(wrapped(prose, indent: 0)) }
            prose = ""
        }
        func endRows() {
            if !rows.isEmpty { lines.append(String(table(rows).dropLast())) }
            rows = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let lead = line.prefix { $0 == " " }.count
            let row = lead == 0 ? Self.row(line) : nil
            // A line below a row continues its text.
            if lead > 8, let last = rows.indices.last {
                rows[last].1 += " \(line.dropFirst(lead))"
            } else if let row {
                endProse()
                rows.append(row)
            } else if lead > 0 || line.isEmpty {
                endProse()
                endRows()
                lines.append(String(line))
            } else {
                prose += prose.isEmpty ? String(line) : " \(line)"
            }
        }
        endProse()
        endRows()
        return lines.joined(separator: "\n")
    }

    /// Both sides of a line that has two: its last run of several blanks parts them.
    private static func row(_ line: Substring) -> (String, String)? {
        var gap: Range<Substring.Index>?
        var begin: Substring.Index?
        for index in line.indices {
            if line[index] == " " {
                begin = begin ?? index
                continue
            }
            if let begin, line.index(after: begin) < index { gap = begin..<index }
            begin = nil
        }
        return gap.map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
    }

    // MARK: Lines that fit

    /// Two columns; a left side that is too wide gets lines of its own.
    private func table(_ rows: [(String, String)]) -> String {
        guard !isNarrow else { return rows.map { below($0.0, $0.1) }.joined() }
        let widest = min(Self.leftColumnsMax, rows.map(\.0.count).max() ?? 0)
        return rows.map { left, right in
            let indent = widest + 4
            let gap = String(repeating: " ", count: indent)
            let lines = wrapped(gap + right, indent: indent) + "\n"
            guard left.count <= widest else {
                return wrapped("  " + left, indent: 6, atBrackets: true) + "\n" + lines
            }
            return "  \(left)" + lines.dropFirst(2 + left.count)
        }.joined()
    }

    /// One side, and below it the other one.
    private func below(_ left: String, _ right: String) -> String {
        // A row that just fits without leading blanks gets none.
        let lead = left.count <= columns && left.count + 2 > columns ? "" : "  "
        return wrapped(lead + left, indent: 6, atBrackets: true) + "\n"
            + wrapped("      " + right, indent: 6) + "\n"
    }

    /// A line for the shell in as many as it takes. It is broken between words, outside quotes, and
    /// each line but the last ends with the sign by which the shell goes on.
    private func copied(_ line: String) -> String {
        guard let room = copiedColumns, line.count > room else { return line }
        let gap = String(repeating: " ", count: 6)
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in line.drop(while: { $0 == " " }) {
            if character == " ", quote == nil {
                words.append(word)
                word = ""
                continue
            }
            if quote == character {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            }
            word.append(character)
        }
        words.append(word)
        var lines: [String] = []
        var current = String(line.prefix { $0 == " " }) + words[0]
        for (place, next) in words.enumerated().dropFirst() {
            let end = place == words.count - 1 ? 0 : 2
            if current.count + 1 + next.count + end > room {
                lines.append(current + " \\")
                current = gap + next
            } else {
                current += " " + next
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// One line in as many as it takes, broken at blanks.
    ///
    /// - Parameters:
    ///   - indent: blanks before every line but the first.
    ///   - atBrackets: whether what stands in brackets stays together.
    private func wrapped(_ line: String, indent: Int, atBrackets: Bool = false) -> String {
        var lines: [String] = []
        var current = ""
        var depth = 0
        var word = ""
        func endWord() {
            let isFirst = current.allSatisfy { $0 == " " }
            if !isFirst, current.count + 1 + word.count > columns {
                lines.append(current)
                current = String(repeating: " ", count: indent) + word
            } else {
                current += (isFirst ? "" : " ") + word
            }
            word = ""
        }
        var rest = Substring(line)
        current = String(rest.prefix { $0 == " " })
        rest = rest.dropFirst(current.count)
        for character in rest {
            if atBrackets, character == "[" { depth += 1 }
            if atBrackets, character == "]" { depth -= 1 }
            if character == " ", depth == 0 { endWord() } else { word.append(character) }
        }
        endWord()
        return (lines + [current]).joined(separator: "\n")
    }
}

extension ParameterDefinition {
    /// Whether it is a point in time, to come or gone by.
    fileprivate func isTime(_ isAhead: Bool) -> Bool {
        if case .time = shape { self.isAhead == isAhead } else { false }
    }
}
