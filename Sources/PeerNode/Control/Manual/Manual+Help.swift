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
            let form = (parameter.shortFlag.map { "-\($0)|" } ?? "") + Self.flagForm(parameter)
            parts.append(parameter.isRequired ? form : "[\(form)]")
        }
        return parts.joined(separator: " ")
    }

    /// Parameters that are given by a flag of this command, in order.
    public var flags: [ParameterDefinition] {
        let positions = line?.positions ?? []
        return parameters.filter {
            !$0.isGlobal && !$0.isForPrograms && !positions.contains($0.name)
        }
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
        // Other users of the machine can read everything on a command line.
        if parameter.isSecret { return "\(flag) -" }
        let value = parameter.shape.placeholder
        if case .list = parameter.shape { return "\(flag) \(value)..." }
        return "\(flag) \(value)"
    }
}

extension ParameterDefinition {
    /// Whether its flag is a value by itself.
    public var takesNoValue: Bool {
        if flagValue != nil { return true }
        if case .flag = shape { return true }
        return false
    }

    /// The value of the flag when it takes none itself.
    public var impliedValue: JSONValue { flagValue ?? true }

    /// Its placeholder in a usage line.
    public var positionWord: String {
        switch shape {
        case .channel, .member, .workspace: return shape.placeholder
        case .list(.channel, _): return shape.placeholder
        case .duration, .byteCount: return shape.placeholder
        default: return String(name.uppercased().map { $0 == "_" ? "-" : $0 })
        }
    }
}

extension Manual {
    /// The flags that may come before or after any command.
    public static let globalFlags: [(form: String, summary: String)] = [
        ("--home DIR", "Keep this node's files in one folder."),
        ("--socket PATH", "Talk to the daemon on this socket."),
        ("-w, --workspace NAME", "Act in this workspace."),
        ("--json", "Print one JSON object per line."),
        ("--plain", "Print tab-separated columns without a header."),
        ("--color WHEN", "auto, always or never."),
        ("--no-input", "Never ask; what needs a yes then needs --yes."),
        ("--no-pager", "Print long answers without a pager."),
        ("-y, --yes", "Answer yes to every question."),
        ("-q, --quiet", "Print no progress."),
        ("-v, --verbose", "Show message ids; log more."),
        ("--timeout DUR", "Give up after this time."),
        ("--exit-code", "Exit with 9 if a list or a search finds nothing."),
        ("-h, --help", "Explain the command."),
        ("--version", "Print the version."),
    ]

    /// The text for a call without arguments: examples first.
    public static var shortHelp: String { HelpPage().short }

    /// Every command with a line, by group.
    public static var fullHelp: String { HelpPage().full }

    /// What `--help` after a command prints: examples, usage, parameters.
    public static func help(for command: Command) -> String { HelpPage().text(for: command) }

    /// The commands that start with these words, or `nil` when none does.
    public static func help(under words: [String]) -> String? { HelpPage().list(under: words) }

    /// The forms of a point in time that the command line accepts.
    ///
    /// - Parameter ahead: whether it is one to come.
    public static func times(ahead: Bool) -> String {
        """
        2h or 1h30m (\(ahead ? "from now" : "ago")), '\(ahead ? "in " : "")5 minutes', \
        14:03 or 2pm (the \(ahead ? "next" : "last")), today, yesterday, tomorrow, monday, \
        'monday 14:03', 2026-11-20, '2026-11-20 14:03', 2026-11-20T14:03:00Z, \
        2026-11-20T14:03:00+09:00, or milliseconds since 1970
        """
    }
}
