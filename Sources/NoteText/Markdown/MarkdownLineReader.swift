/// Parses the inline marks of one line.
struct MarkdownLineReader {
    private enum Token {
        case text(Unicode.Scalar)
        case code(String)
        /// Toggles a mark; plain text if the delimiter has no partner.
        case toggle(NoteMark.Kind, isStart: Bool?, String)
        case linkStart(String)
        case linkEnd
    }

    let line: [Unicode.Scalar]
    private var index = 0
    private var tokens: [Token] = []
    /// By the start of a link: the end of its text, the end of all of it, and its address.
    var links: [Int: (textEnd: Int, end: Int, address: String)] = [:]
    /// The ends of code spans by number of backticks, ascending.
    var fences: [Int: [Int]] = [:]

    /// For each index the next closing parenthesis at or after it.
    var closings: [Int] = []

    init(_ line: [Unicode.Scalar]) {
        self.line = line
        closings = [Int](repeating: line.count, count: line.count + 1)
        for index in line.indices.reversed() {
            closings[index] = line[index] == ")" ? index : closings[index + 1]
        }
        findFences()
        findLinks()
    }

    /// The parts of the line.
    mutating func runs() -> [NoteLine.Run] {
        tokenize()
        let literal = unpaired()
        var runs: [(text: String, marks: Set<NoteMark>)] = []
        var marks: Set<NoteMark> = []
        func add(_ text: String, _ more: Set<NoteMark>) {
            // Nothing else may reference the text, or each append would copy it.
            if let index = runs.indices.last, runs[index].marks == more {
                runs[index].text += text
            } else if !text.isEmpty {
                runs.append((text, more))
            }
        }
        for (place, token) in tokens.enumerated() {
            switch token {
            case .text(let scalar):
                if NoteCharacters.isAllowed(scalar) { add(String(scalar), marks) }
            case .code(let text): add(text, marks.union([.code(true)]))
            case .toggle(let kind, _, let text):
                guard !literal.contains(place) else {
                    add(text, marks)
                    continue
                }
                let mark = Self.mark(kind)
                if marks.remove(mark) == nil { marks.insert(mark) }
            case .linkStart(let address): marks.insert(.link(address))
            case .linkEnd: marks = marks.filter { $0.kind != .link }
            }
        }
        return runs.map { run in
            NoteLine.Run(run.text, run.marks.sorted { $0.kind < $1.kind })
        }
    }

    private static func mark(_ kind: NoteMark.Kind) -> NoteMark {
        switch kind {
        case .bold: .bold(true)
        case .italic: .italic(true)
        default: .underline(true)
        }
    }

    /// The delimiters without a partner in the line, which are plain text.
    private func unpaired() -> Set<Int> {
        var literal: Set<Int> = []
        var open: [NoteMark.Kind: Int] = [:]
        for (place, token) in tokens.enumerated() {
            guard case .toggle(let kind, let isStart, _) = token else { continue }
            if isStart == true && open[kind] != nil || isStart == false && open[kind] == nil {
                literal.insert(place)
            } else if open.removeValue(forKey: kind) == nil {
                open[kind] = place
            }
        }
        return literal.union(open.values)
    }

    // MARK: Tokens

    private mutating func tokenize() {
        var ends: [Int: Int] = [:]
        while index < line.count {
            if let end = ends[index] {
                tokens.append(.linkEnd)
                index = end
                continue
            }
            let scalar = line[index]
            switch scalar {
            case "\\":
                guard index + 1 < line.count else { return }
                let isSign = line[index + 1].isASCIIPunctuation
                tokens.append(.text(isSign ? line[index + 1] : "\\"))
                index += isSign ? 2 : 1
            case "`": code()
            case "*", "_": emphasis(scalar)
            case "[":
                if let link = links[index] {
                    tokens.append(.linkStart(link.address))
                    ends[link.textEnd] = link.end
                } else {
                    tokens.append(.text(scalar))
                }
                index += 1
            case "<": underline()
            case "&": entity()
            default:
                tokens.append(.text(scalar))
                index += 1
            }
        }
    }

    private mutating func code() {
        let count = run(of: "`", at: index)
        let start = index + count
        guard let end = fence(of: count, from: start) else {
            for _ in 0..<count { tokens.append(.text("`")) }
            index = start
            return
        }
        var inner = line[start..<end]
        if inner.count > 1, inner.first == " ", inner.last == " ",
            inner.contains(where: { $0 != " " })
        {
            inner = inner.dropFirst().dropLast()
        }
        tokens.append(.code(NoteMarkdown.string(inner)))
        index = end + count
    }

    /// Asterisks, and underscores outside of words, that are adjacent to text.
    private mutating func emphasis(_ sign: Unicode.Scalar) {
        let count = run(of: sign, at: index)
        let before = index > 0 ? line[index - 1] : " "
        let behind = index + count < line.count ? line[index + count] : " "
        let isLoose = before.properties.isWhitespace && behind.properties.isWhitespace
        let isInWord =
            sign == "_" && before.properties.isAlphabetic && behind.properties.isAlphabetic
        var left = count
        while left > 0 {
            let width = left >= 2 ? 2 : 1
            let text = String(repeating: String(sign), count: width)
            if isLoose || isInWord {
                for _ in 0..<width { tokens.append(.text(sign)) }
            } else {
                tokens.append(.toggle(width == 2 ? .bold : .italic, isStart: nil, text))
            }
            left -= width
        }
        index += count
    }

    private mutating func underline() {
        for (text, isStart) in [("<u>", true), ("</u>", false)] {
            let scalars = Array(text.unicodeScalars)
            if line[index...].starts(with: scalars) {
                tokens.append(.toggle(.underline, isStart: isStart, text))
                index += scalars.count
                return
            }
        }
        tokens.append(.text("<"))
        index += 1
    }

    /// A numeric character reference, the encoding of some spaces and tabs.
    private mutating func entity() {
        for (text, scalar) in [("&#32;", " " as Unicode.Scalar), ("&#9;", "\t")]
        where line[index...].starts(with: text.unicodeScalars) {
            tokens.append(.text(scalar))
            index += text.unicodeScalars.count
            return
        }
        tokens.append(.text("&"))
        index += 1
    }

    func run(of sign: Unicode.Scalar, at index: Int) -> Int {
        line[index...].prefix { $0 == sign }.count
    }
}

extension Unicode.Scalar {
    /// A character that a backslash escapes.
    var isASCIIPunctuation: Bool {
        switch value {
        case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }
}
