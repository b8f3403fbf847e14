/// Wraps this program's sentences at words for the terminal.
///
/// What people copy stays in one piece if possible: a command, an id, a link. Further lines are
/// indented, so that no part of a name begins a line.
enum FlowedText {
    /// `text` with every line wrapped that is wider than `columns`. Other lines are unchanged.
    ///
    /// - Parameters:
    ///   - indent: columns before further lines; `nil` derives it from the line.
    ///   - isOwn: whether no part of it is foreign. Only then a command wider than the terminal is
    ///     left for the terminal to wrap.
    static func text(
        _ text: String, columns: Int, indent: Int? = nil, isOwn: Bool = true
    ) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            lines(of: String(line), columns: columns, indent: indent, isOwn: isOwn)
        }.joined(separator: "\n")
    }

    /// The lines that one line is wrapped into; at least one.
    static func lines(
        of line: String, columns: Int, indent: Int? = nil, isOwn: Bool = true
    ) -> [String] {
        guard columns > 8, columnWidth(LiveScreen.bare(line)) > columns else { return [line] }
        let lead = line.prefix { $0 == " " }.count
        let wanted = indent ?? hang(of: line, after: lead)
        var flow = Flow(
            columns: columns, lead: lead, indent: wanted > columns / 2 ? 2 : wanted, isOwn: isOwn)
        for unit in Unit.units(of: line) { flow.take(unit) }
        // A question keeps its final blank, since an answer is typed after it.
        return flow.end(with: line.utf8.last == 0x20 ? " " : "")
    }

    /// The indentation of further lines: at the text after a title, which two blanks end, or at the
    /// beginning of the line's text, and never zero.
    private static func hang(of line: String, after lead: Int) -> Int {
        var place = 0
        var blanks = 0
        for character in line.dropFirst(lead) {
            if character == " " {
                blanks += 1
            } else if blanks > 1 {
                return lead + place
            } else {
                blanks = 0
            }
            place += columnWidth(String(character))
        }
        return max(lead, 2)
    }
}

/// A part of a line that stays in one piece if possible.
private struct Unit {
    enum Kind {
        case word
        /// A shell command.
        case command
        /// An id, a link or a path, without blanks.
        case copied
    }

    let text: String
    let kind: Kind
    /// Blanks between it and the previous unit.
    let gap: Int
    var width: Int { columnWidth(LiveScreen.bare(text)) }

    /// How shell commands in hints begin.
    private static let programs = ["wsx-node ", "sudo ", "chmod ", "loginctl ", "timedatectl "]

    static func units(of line: String) -> [Unit] {
        // A usage line is no command: it is wrapped between its brackets.
        let isUsage = ["usage: ", "hint: usage: "].contains { line.utf8.starts(with: $0.utf8) }
        var units: [Unit] = []
        var rest = Substring(line)
        while true {
            let gap = rest.prefix { $0 == " " }.count
            rest = rest.dropFirst(gap)
            guard !rest.isEmpty else { return units }
            let length = isUsage ? bracketed(rest) : command(rest) ?? word(rest)
            let text = String(rest.prefix(length))
            rest = rest.dropFirst(length)
            units.append(Unit(text: text, kind: kind(of: text), gap: units.isEmpty ? 0 : gap))
        }
    }

    private static func kind(of text: String) -> Kind {
        if text.utf8.contains(0x20), text.utf8.first != UInt8(ascii: "[") { return .command }
        let bytes = Array(text.utf8)
        let isID =
            (28...30).contains(bytes.count) && bytes[1] == UInt8(ascii: "_")
            && bytes[2..<28].allSatisfy(isLetter)
        // A link, or a path.
        let isPlace =
            bytes.contains(UInt8(ascii: "/")) && bytes.allSatisfy { (0x21...0x7E).contains($0) }
        return isID || isPlace ? .copied : .word
    }

    /// Whether a byte can be part of an id or a link.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func word(_ text: Substring) -> Int { text.prefix { $0 != " " }.count }

    /// The length of a word, or of a bracketed part.
    private static func bracketed(_ text: Substring) -> Int {
        var depth = 0
        return text.prefix { character in
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            return character != " " || depth > 0
        }.count
    }

    /// The length of the command at the beginning of a text, with its terminator; `nil` for none.
    private static func command(_ text: Substring) -> Int? {
        let opening = text.first.map { "'\"(".contains($0) } == true ? text.first : nil
        let inside = text.dropFirst(opening == nil ? 0 : 1)
        guard programs.contains(where: { inside.utf8.starts(with: $0.utf8) }) else { return nil }
        let closing = opening == "(" ? ")" : opening
        var isQuoted = false
        var length = opening == nil ? 0 : 1
        var before: Character = " "
        for character in inside {
            if let closing, character == closing {
                // Anything attached to it without a blank belongs to it.
                return length + word(text.dropFirst(length))
            }
            if opening == nil, character == "'" { isQuoted.toggle() }
            if !isQuoted, opening == nil, character == " " {
                if ",;:".contains(before) { return length }
                let rest = text.dropFirst(length)
                if ["  ", " (", " · "].contains(where: { rest.utf8.starts(with: $0.utf8) }) {
                    return length
                }
            }
            before = character
            length += 1
        }
        return length
    }
}

/// Arranges units in lines.
private struct Flow {
    let columns: Int
    let indent: Int
    let isOwn: Bool
    private var lines: [String] = []
    private var line: String
    private var width: Int
    /// Units in the line.
    private var count = 0
    /// Whether the line so far is only a title such as `hint:`.
    private var isTitle = false

    init(columns: Int, lead: Int, indent: Int, isOwn: Bool) {
        (self.columns, self.indent, self.isOwn) = (columns, indent, isOwn)
        line = String(repeating: " ", count: lead)
        width = lead
    }

    mutating func take(_ unit: Unit) {
        let gap = count == 0 ? 0 : unit.gap
        let staysBehindTitle = isTitle && unit.kind == .command && isOwn
        if width + gap + unit.width <= columns || staysBehindTitle {
            return add(unit.text, unit.width, gap: gap)
        }
        if count > 0 { breakLine(indent) }
        if unit.width <= columns - indent { return add(unit.text, unit.width) }
        let small = min(indent, 2)
        let staysWhole = unit.kind == .copied || unit.kind == .command && isOwn
        if staysWhole || unit.kind == .command && unit.width <= columns - small {
            if !lines.isEmpty { (line, width) = (String(repeating: " ", count: small), small) }
            return add(unit.text, unit.width)
        }
        let pieces = wrapped(unit.text, columns: max(columns - indent, 8))
        for (index, piece) in pieces.enumerated() {
            if index > 0 { breakLine(indent) }
            add(piece, columnWidth(LiveScreen.bare(piece)))
        }
    }

    private mutating func add(_ text: String, _ columns: Int, gap: Int = 0) {
        line += String(repeating: " ", count: gap) + text
        width += gap + columns
        count += 1
        isTitle = lines.isEmpty && count == 1 && text.utf8.last == UInt8(ascii: ":")
    }

    private mutating func breakLine(_ indent: Int) {
        lines.append(line)
        (line, width) = (String(repeating: " ", count: indent), indent)
        count = 0
        isTitle = false
    }

    func end(with tail: String) -> [String] { lines + [line + tail] }
}

extension ProgramIO {
    /// Writes sentences to standard error, wrapped at words on a terminal.
    func tell(_ text: String, indent: Int? = nil, isOwn: Bool = true) {
        printError(
            errorColumns.map {
                FlowedText.text(text, columns: $0, indent: indent, isOwn: isOwn)
            } ?? text)
    }
}
