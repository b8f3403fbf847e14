import PeerNode
import WorkspaceModel

/// The flags that may precede or follow any command.
struct GlobalFlags: Equatable {
    var home: String?
    var socket: String?
    var workspace: String?
    var color: String?
    var timeoutMilliseconds: Int64?
    var json = false
    var plain = false
    var noInput = false
    var noPager = false
    var yes = false
    var quiet = false
    var verbose = 0
    var help = false
    var version = false
    /// Whether the exit status reports an empty answer.
    var exitCode = false
}

/// The parsed command line.
struct ArgumentScan {
    var globals = GlobalFlags()
    /// The words of the command, as far as given.
    var words: [String] = []
    /// `nil` if the words are only the beginning of commands.
    var command: Command?
    /// Values by parameter name, parsed by type and checked.
    var values = JSONObject()
    /// How each of them was given: `-n`, `--limit`, or `the channel` for a position.
    var typed: [String: String] = [:]
}

/// Parses a command line by the table of commands. Nothing may be abbreviated.
struct ArgumentScanner {
    private var tokens: ArraySlice<String>
    private let commands: [Command]
    private var scan = ArgumentScan()
    private var positional: [String] = []
    /// The words after the command, and the indexes of those without a flag.
    private var typed: [String] = []
    private var places: [Int] = []

    /// - Parameter arguments: without the program's own name.
    static func scan(_ arguments: [String], against commands: [Command]) throws(NodeError)
        -> ArgumentScan
    {
        var scanner = ArgumentScanner(tokens: arguments[...], commands: commands)
        try scanner.takeWords()
        try scanner.takeArguments()
        try scanner.place()
        return scanner.scan
    }

    private init(tokens: ArraySlice<String>, commands: [Command]) {
        self.tokens = tokens
        self.commands = commands
    }

    // MARK: Words

    /// Familiar names from other programs, for the words of a command.
    static let aliases: [String: [String]] = [
        "ls": ["channel", "list"], "channels": ["channel", "list"],
        "whoami": ["identity", "show"], "members": ["member", "list"],
        "kick": ["member", "remove"], "ban": ["member", "remove"],
    ]

    /// Aliases of words that follow another one.
    static let innerAliases: [String: [String: String]] = ["profile": ["image": "picture"]]

    private mutating func takeWords() throws(NodeError) {
        while let token = tokens.first {
            if Self.isFlag(token) {
                guard try takeGlobal() else { break }
                continue
            }
            if scan.words.isEmpty, let meant = Self.aliases[token] {
                tokens = ArraySlice(meant + tokens.dropFirst())
                continue
            }
            let meant = scan.words.last.flatMap { Self.innerAliases[$0]?[token] }
            let words = scan.words + [meant ?? token]
            guard commands.contains(where: { $0.line?.words.starts(with: words) == true }) else {
                break
            }
            scan.words = words
            tokens.removeFirst()
        }
        scan.command = commands.first { $0.line?.words == scan.words }
        if scan.command == nil, let token = tokens.first {
            if Self.isFlag(token) { throw unknownFlag(token) }
            throw Self.unknownCommand(scan.words + [token], commands)
        }
    }

    /// A failure that names the nearest command.
    ///
    /// - Parameter topics: other words that could have been meant.
    static func unknownCommand(
        _ words: [String], _ commands: [Command], topics: [String] = []
    ) -> NodeError {
        let name = words.joined(separator: " ")
        let lines = commands.compactMap { $0.line?.words }
        let groups = lines.filter { $0.count > 1 }.compactMap(\.first)
        let names = topics + lines.map { $0.joined(separator: " ") } + groups
        let similar = Similarity.nearest(to: name, in: names)
        return .usage(
            "unknown command \(NodeError.quoted(name))",
            hint: similar.map { "did you mean '\($0)'?" } ?? "wsx-node help")
    }

    // MARK: Flags

    /// No flag begins with a digit, so that `-5` and `-33.8,151.2` are values.
    static func isFlag(_ token: String) -> Bool {
        guard token.utf8.first == UInt8(ascii: "-"), let next = token.utf8.dropFirst().first else {
            return false
        }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next)
    }

    private mutating func takeArguments() throws(NodeError) {
        typed = Array(tokens)
        while let token = tokens.first {
            let place = typed.count - tokens.count
            if token == "--" {
                positional += tokens.dropFirst()
                places += (place + 1)..<typed.count
                tokens = []
            } else if !Self.isFlag(token) {
                positional.append(token)
                places.append(place)
                tokens.removeFirst()
            } else if try !takeOwn(), try !takeGlobal() {
                throw unknownFlag(token)
            }
        }
    }

    private func unknownFlag(_ token: String) -> NodeError {
        let name = String(token.prefix { $0 != "=" })
        let own = (scan.command?.flags ?? []).map(\.flag)
        let bare = String(name.drop { $0 == "-" })
        let similar = Similarity.nearest(
            to: bare, in: own + Self.globalNames.map { String($0.dropFirst(2)) })
        let command = scan.words.joined(separator: " ")
        return .usage(
            "unknown flag \(NodeError.quoted(name))",
            hint: similar.map { "did you mean '--\($0)'?" } ?? textHint
                ?? "wsx-node help" + (command.isEmpty ? "" : " " + command))
    }

    /// What to type if the word at the front is the beginning of a text; `nil` for a command that
    /// takes no text.
    private var textHint: String? {
        let last = scan.command?.line?.positions.last
        guard scan.command?.parameters.first(where: { $0.name == last })?.joinsWords == true else {
            return nil
        }
        var words = scan.words
        words += typed.prefix(typed.count - tokens.count)
        words.append("--")
        words += tokens
        return "if it is text, put -- before it: wsx-node "
            + words.map(NodeError.shellWord).joined(separator: " ")
    }

    private func frontFlag() -> (name: String, value: String?) {
        Self.parts(tokens.first ?? "", of: scan.command)
    }

    /// A flag split into its name and its attached value: after `=`, or after the single letter of
    /// a flag that takes a value, as in `-n5`.
    ///
    /// - Parameter command: its flags are recognised besides those of every command.
    static func parts(_ token: String, of command: Command?) -> (name: String, value: String?) {
        let bytes = Array(token.utf8.prefix(3))
        if bytes.count == 3, bytes[2] != UInt8(ascii: "="),
            takesValue(shortFlag: bytes[1], of: command)
        {
            let end = token.utf8.index(token.startIndex, offsetBy: 2)
            return (String(token[..<end]), String(token[end...]))
        }
        guard let equals = token.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (token, nil) }
        return (String(token[..<equals]), String(token[token.utf8.index(after: equals)...]))
    }

    private static func takesValue(shortFlag letter: UInt8, of command: Command?) -> Bool {
        guard Unicode.Scalar(letter).isASCII else { return false }
        let letter = Character(Unicode.Scalar(letter))
        return letter == "w"
            || command?.flags.contains { $0.shortFlag == letter && !$0.takesNoValue } == true
    }

    private mutating func takeValue(of name: String, _ attached: String?) throws(NodeError)
        -> String
    {
        tokens.removeFirst()
        if let attached { return attached }
        guard let value = tokens.popFirst() else {
            throw .usage("\(NodeError.quoted(name)) needs a value")
        }
        return value
    }

    private mutating func takeOwn() throws(NodeError) -> Bool {
        let (name, attached) = frontFlag()
        let found = scan.command?.flags.first { parameter in
            name == "--" + parameter.flag || parameter.shortFlag.map { name == "-\($0)" } == true
        }
        guard let parameter = found else { return false }
        if parameter.takesNoValue {
            tokens.removeFirst()
            let value = attached == nil ? parameter.impliedValue : nil
            guard
                let value = value ?? (attached == "true" ? true : attached == "false" ? false : nil)
            else { throw .usage("\(NodeError.quoted(name)) takes no value") }
            try store(value, parameter, name)
        } else {
            let text = try takeValue(of: name, attached)
            let shown = NodeError.quoted(name)
            try store(try ArgumentText.value(text, parameter, shownAs: shown), parameter, name)
        }
        return true
    }

    private mutating func store(
        _ value: JSONValue, _ parameter: ParameterDefinition, _ shown: String
    ) throws(NodeError) {
        if scan.typed[parameter.name] == nil { scan.typed[parameter.name] = shown }
        if case .list = parameter.shape {
            let list = scan.values[parameter.name]?.arrayValue ?? []
            scan.values[parameter.name] = .array(list + [value])
        } else if scan.values[parameter.name] == nil {
            scan.values[parameter.name] = value
        } else {
            throw .usage("\(NodeError.quoted(shown)) is given twice")
        }
    }

    static let globalNames = [
        "--home", "--socket", "--workspace", "--color", "--timeout", "--json", "--plain",
        "--no-input", "--no-pager", "--yes", "--quiet", "--verbose", "--exit-code", "--help",
        "--version",
    ]

    private mutating func takeGlobal() throws(NodeError) -> Bool {
        let (name, attached) = frontFlag()
        switch name {
        case "--home": scan.globals.home = try takePlace(of: name, "a folder", attached)
        case "--socket": scan.globals.socket = try takePlace(of: name, "a path", attached)
        case "-w", "--workspace":
            scan.globals.workspace = try takePlace(of: name, "a name or an id", attached)
        case "--color": scan.globals.color = try color(try takeValue(of: name, attached))
        case "--timeout":
            let text = try takeValue(of: name, attached)
            guard let milliseconds = DurationText.milliseconds(text) else {
                throw .usage("'--timeout' takes a duration such as 30s")
            }
            scan.globals.timeoutMilliseconds = milliseconds
        default: return attached == nil ? takeSwitch(name) : false
        }
        return true
    }

    /// The value of a flag that says where to act. An empty one, such as of a variable that is not
    /// set, would mean another place than was meant.
    private mutating func takePlace(
        of name: String, _ what: String, _ attached: String?
    ) throws(NodeError) -> String {
        let value = try takeValue(of: name, attached)
        guard !value.isEmpty else { throw .usage("\(NodeError.quoted(name)) needs \(what)") }
        return value
    }

    private func color(_ word: String) throws(NodeError) -> String {
        guard ["auto", "always", "never"].contains(word) else {
            throw .usage("'--color' takes auto, always or never")
        }
        return word
    }

    /// Whether every command takes a flag of this name without a value.
    static func isSwitch(_ name: String) -> Bool {
        var scanner = ArgumentScanner(tokens: [name], commands: [])
        return scanner.takeSwitch(name)
    }

    private mutating func takeSwitch(_ name: String) -> Bool {
        switch name {
        case "--json": scan.globals.json = true
        case "--plain": scan.globals.plain = true
        case "--no-input": scan.globals.noInput = true
        case "--no-pager": scan.globals.noPager = true
        case "-y", "--yes": scan.globals.yes = true
        case "-q", "--quiet": scan.globals.quiet = true
        case "-v", "--verbose": scan.globals.verbose += 1
        case "--exit-code": scan.globals.exitCode = true
        case "-h", "--help": scan.globals.help = true
        case "--version": scan.globals.version = true
        default: return false
        }
        tokens.removeFirst()
        return true
    }

    // MARK: Positions

    /// Assigns the words without a flag to the positional parameters, and checks all values.
    private mutating func place() throws(NodeError) {
        guard let command = scan.command, let line = command.line, !scan.globals.help else {
            return
        }
        try refuseSwapped(command, line)
        var rest = positional[...]
        for name in line.positions {
            guard let parameter = command.parameters.first(where: { $0.name == name }) else {
                continue
            }
            if case .list = parameter.shape {
                while let text = rest.popFirst() {
                    try take(text, parameter)
                }
            } else if name == line.positions.last, parameter.joinsWords, !rest.isEmpty {
                try take(rest.joined(separator: " "), parameter)
                rest = []
            } else if let text = rest.popFirst() {
                try take(text, parameter)
            }
        }
        if let extra = rest.first {
            let takesText = command.parameters.contains { parameter in
                guard case .text = parameter.shape else { return false }
                return line.positions.contains(parameter.name)
            }
            throw .usage(
                "unexpected word \(NodeError.quoted(extra))",
                hint: (takesText ? "put text with spaces in quotes: " : "usage: ")
                    + "wsx-node \(command.usage)")
        }
        if let timeout = scan.globals.timeoutMilliseconds,
            let own = command.parameters.first(where: { $0.flag == "timeout" }),
            scan.values[own.name] == nil
        {
            scan.values[own.name] = .integer(timeout)
        }
    }

    /// Explains what to type if two words are in the wrong order.
    private func refuseSwapped(_ command: Command, _ line: CommandLineForm) throws(NodeError) {
        let parameters = line.positions.compactMap { name in
            command.parameters.first { $0.name == name }
        }
        let swapped = SwappedWords(parameters: parameters, texts: positional)
        guard let first = swapped.place else { return }
        var meant = typed
        meant.swapAt(places[first], places[first + 1])
        throw SwappedWords.failure(parameters[first], line: scan.words + meant)
    }

    /// Parses the word at a position.
    private mutating func take(
        _ text: String, _ parameter: ParameterDefinition
    ) throws(NodeError) {
        let shown = "the \(parameter.noun)"
        try store(
            try ArgumentText.value(text, parameter, shownAs: shown), parameter, shown)
    }
}

extension ParameterDefinition {
    /// Whether it is free text, so that several words need no quotes.
    fileprivate var joinsWords: Bool { isMessageText || name == "query" }
}
