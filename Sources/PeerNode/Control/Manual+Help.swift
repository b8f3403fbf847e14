public import WorkspaceModel

extension Command {
    /// The usage line without the program's name: words, positions, then flags.
    public var usage: String {
        guard let line else { return name }
        var parts = line.words
        for position in line.positions {
            guard let parameter = parameters.first(where: { $0.name == position }) else { continue }
            parts.append(Self.positional(parameter))
        }
        for parameter in flags {
            let short = parameter.shortFlag.map { "-\($0)|" } ?? ""
            parts.append("[\(short)\(Self.flagForm(parameter))]")
        }
        return parts.joined(separator: " ")
    }

    /// Parameters that are given by a flag of this command, in order.
    public var flags: [ParameterDefinition] {
        let positions = line?.positions ?? []
        return parameters.filter { !$0.isGlobal && !positions.contains($0.name) }
    }

    private static func positional(_ parameter: ParameterDefinition) -> String {
        var word = parameter.positionWord
        if parameter.readsStandardInput { word += "|-" }
        if case .list(_, let count) = parameter.shape {
            return count.lowerBound == 0 ? "[\(word)...]" : "\(word)..."
        }
        return parameter.isRequired ? word : "[\(word)]"
    }

    static func flagForm(_ parameter: ParameterDefinition) -> String {
        let flag = "--" + parameter.flag
        if parameter.takesNoValue { return flag }
        // Whatever else stands there, others on the machine can read.
        if parameter.isSecret { return "\(flag) -" }
        let value = parameter.shape.placeholder
        if case .list = parameter.shape { return "\(flag) \(value)..." }
        return "\(flag) \(value)"
    }
}

extension ParameterDefinition {
    /// Whether its flag stands for a value by itself.
    public var takesNoValue: Bool {
        if flagValue != nil { return true }
        if case .flag = shape { return true }
        return false
    }

    /// What the flag stands for when it takes no value itself.
    public var impliedValue: JSONValue { flagValue ?? true }

    /// The word that stands for it in a usage line.
    public var positionWord: String {
        switch shape {
        case .channel, .member, .workspace: return shape.placeholder
        case .list(.channel, _): return shape.placeholder
        case .duration: return shape.placeholder
        default: return String(name.uppercased().map { $0 == "_" ? "-" : $0 })
        }
    }
}

extension Manual {
    /// The flags that stand before or after any command.
    public static let globalFlags: [(form: String, summary: String)] = [
        ("--home DIR", "Keep this node's files in one folder."),
        ("--socket PATH", "Talk to the daemon on this socket."),
        ("-w, --workspace NAME", "Act in this workspace."),
        ("--json", "Print one JSON object per line."),
        ("--plain", "Print tab-separated columns without a header."),
        ("--color WHEN", "auto, always or never."),
        ("--no-input", "Never ask questions."),
        ("--no-pager", "Print long answers without a pager."),
        ("-y, --yes", "Answer yes to every question."),
        ("-q, --quiet", "Print no progress."),
        ("-v, --verbose", "Show message ids; log more."),
        ("--timeout DUR", "Give up after this time."),
        ("--exit-code", "Exit with 9 if a list or a search finds nothing."),
        ("-h, --help", "Explain the command."),
        ("--version", "Print the version."),
    ]

    /// What the program prints when it is called bare: examples first.
    public static var shortHelp: String {
        """
        wsx-node: a workspace without a server

          wsx-node up --name Mina --workspace acme    start, and create what is missing
          wsx-node invite create                      print a link for someone else
          wsx-node send general 'hello'               send a message
          wsx-node log general                        read a channel
          wsx-node tail                               follow new messages

        'wsx-node help' lists every command, 'wsx-node help COMMAND' explains one.

        """
    }

    /// Every command with a line, by group.
    public static var fullHelp: String {
        var text = shortHelp
        for group in Command.groups {
            let lines = group.commands.compactMap { command in
                command.line.map { ($0.words.joined(separator: " "), command.summary) }
            }
            text += "\n\(group.title)\n" + table(lines)
        }
        return text + "\nflags for every command\n"
            + table(globalFlags.map { ($0.form, $0.summary) })
            + "\ntopics for 'wsx-node help': \(topics.map(\.word).joined(separator: ", "))\n"
    }

    /// What `--help` after a command prints: examples, usage, parameters.
    public static func help(for command: Command) -> String {
        var text = wrapped(command.summary, indent: 0) + "\n\n"
        let examples = command.line?.examples ?? []
        for example in examples {
            text +=
                example.utf8.starts(with: "uptime".utf8)
                ? "  \(example)\n" : "  wsx-node \(example)\n"
        }
        if !examples.isEmpty { text += "\n" }
        text += wrapped("usage: wsx-node \(command.usage)", indent: 16, atBrackets: true) + "\n"
        let positions = command.line?.positions ?? []
        let positional = command.parameters.filter { positions.contains($0.name) }
            .map { ($0.positionWord, explained($0)) }
        let flags = command.flags.map { parameter in
            let short = parameter.shortFlag.map { "-\($0), " } ?? ""
            return (short + Command.flagForm(parameter), explained(parameter))
        }
        if !(positional + flags).isEmpty { text += "\n" + table(positional + flags) }
        for isAhead in [false, true] where command.flags.contains(where: { $0.isTime(isAhead) }) {
            text += "\n" + wrapped("T is \(times(ahead: isAhead)).", indent: 0) + "\n"
        }
        return text + "\n'wsx-node help' lists the flags that every command takes.\n"
    }

    /// The commands that start with these words, or `nil` when none does.
    public static func help(under words: [String]) -> String? {
        let lines = Command.all.compactMap { command -> (String, String)? in
            guard let line = command.line, line.words.starts(with: words) else { return nil }
            return (command.usage, command.summary)
        }
        return lines.isEmpty ? nil : table(lines)
    }

    private static func explained(_ parameter: ParameterDefinition) -> String {
        guard !parameter.isRequired, let value = parameter.defaultText,
            !parameter.takesNoValue, value != "[]"
        else { return parameter.summary }
        if case .duration = parameter.shape, let milliseconds = Int64(value) {
            return "\(parameter.summary) Default \(DurationText.text(milliseconds))."
        }
        return "\(parameter.summary) Default \(value)."
    }

    /// What the command line takes where a point in time is asked for.
    ///
    /// - Parameter ahead: whether it is one to come.
    public static func times(ahead: Bool) -> String {
        """
        2h or 1h30m (\(ahead ? "from now" : "ago")), 14:03 (the \(ahead ? "next" : "last")), \
        today, yesterday, tomorrow, monday, 'monday 14:03', 2026-11-20, \
        '2026-11-20 14:03', 2026-11-20T14:03:00Z, 2026-11-20T14:03:00+09:00, or milliseconds \
        since 1970
        """
    }

    // MARK: Lines that fit

    /// Columns of the narrowest terminal that is reckoned with.
    private static let columns = 80
    private static let leftColumnsMax = 34

    /// Two columns; a left side that is too wide gets lines of its own.
    private static func table(_ rows: [(String, String)]) -> String {
        let widest = min(leftColumnsMax, rows.map(\.0.count).max() ?? 0)
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

    /// One line in as many as it takes, broken at blanks.
    ///
    /// - Parameters:
    ///   - indent: blanks before every line but the first.
    ///   - atBrackets: whether what stands in brackets stays together.
    private static func wrapped(_ line: String, indent: Int, atBrackets: Bool = false) -> String {
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
