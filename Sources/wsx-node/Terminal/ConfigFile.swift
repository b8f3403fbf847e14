import WorkspaceModel

/// `config.toml`: a subset of TOML with sections, one setting per line, and
/// comments, edited in place.
///
/// Values are quoted strings, integers, `true` and `false`, and lists of strings. Anything else is
/// an error with its line, never ignored.
struct ConfigFile {
    /// The types of settings.
    enum Kind { case text, flag, list }

    /// Every setting of this build. Any other key is an error.
    static let known: [(name: String, kind: Kind)] = [
        ("name", .text), ("net.listen", .text), ("net.announce", .flag), ("net.peers", .list),
        ("notify.level", .text), ("notify.command", .text), ("mail.command", .text),
        ("log.level", .text),
        ("chat.typing", .flag), ("store.quota", .text), ("store.cache_keep", .text),
        ("limits.attachment_bytes", .text), ("net.metered", .text),
    ]

    /// A larger file is not a settings file.
    static let bytesMax = 1024 * 1024

    private var lines: [String]
    /// The settings in the file, in order: name and value as written.
    private(set) var settings: [(name: String, value: String)] = []
    private var lineOf: [String: Int] = [:]

    init(_ bytes: [UInt8]) throws(NodeError) {
        guard bytes.count <= Self.bytesMax, let text = String(validating: bytes, as: UTF8.self)
        else { throw .badConfiguration("the file is too large or not UTF-8") }
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        if lines.last == "" { lines.removeLast() }
        try read()
    }

    /// The file to write, with a newline at its end.
    var bytes: [UInt8] { Array((lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n")).utf8) }

    // MARK: Reading

    private mutating func read() throws(NodeError) {
        settings = []
        lineOf = [:]
        var section = ""
        for (index, line) in lines.enumerated() {
            switch try ConfigLine(line, number: index + 1) {
            case .blank: continue
            case .section(let name): section = name + "."
            case .setting(let key, let value):
                let name = section + key
                try Self.check(name, value, line: index + 1)
                guard lineOf.updateValue(index, forKey: name) == nil else {
                    throw .badConfiguration(
                        "\(NodeError.quoted(name)) is set twice", line: index + 1)
                }
                settings.append((name, value))
            }
        }
    }

    private static func check(_ name: String, _ value: String, line: Int?) throws(NodeError) {
        guard let kind = known.first(where: { $0.name == name })?.kind else {
            throw unknown(name, line: line)
        }
        let fits =
            switch kind {
            case .text: ConfigLine.text(value) != nil
            case .flag: value == "true" || value == "false"
            case .list: ConfigLine.list(value) != nil
            }
        guard fits else {
            throw .badConfiguration(
                "\(NodeError.quoted(name)) cannot be \(NodeError.quoted(value))", line: line,
                hint: Self.written(kind))
        }
    }

    /// How the values of a setting are written in the file.
    private static func written(_ kind: Kind) -> String {
        switch kind {
        case .text: "write text between quotes, such as \"0.0.0.0:29790\""
        case .flag: "write true or false"
        case .list: "write a list of texts, such as [\"10.0.0.2:29790\", \"10.0.0.3:29790\"]"
        }
    }

    /// A name typed at a command: the file is valid, so this is a mistake of the command line.
    private static func mistyped(_ name: String) -> NodeError {
        .usage(
            "unknown setting \(NodeError.quoted(name))",
            hint: unknown(name, line: nil).hint)
    }

    private static func unknown(_ name: String, line: Int?) -> NodeError {
        .badConfiguration(
            "unknown setting \(NodeError.quoted(name))", line: line,
            hint: "one of " + known.map(\.name).joined(separator: ", "))
    }

    /// The value of a setting, strings without quotes.
    func text(of name: String) throws(NodeError) -> String {
        guard Self.known.contains(where: { $0.name == name }) else {
            throw Self.mistyped(name)
        }
        guard let value = settings.first(where: { $0.name == name })?.value else {
            throw NodeError(
                .notFound, "\(NodeError.quoted(name)) is not set; the default applies",
                hint: "wsx-node config list shows what is set", reason: "setting.not_found")
        }
        return ConfigLine.text(value) ?? value
    }

    // MARK: Writing

    /// Values of switches on the command line, and in the file.
    private static let switches = ["on": "true", "off": "false"]

    /// Changes a setting in its line, keeping the comment, or adds it to its section.
    mutating func set(_ name: String, to given: String) throws(NodeError) {
        guard let kind = Self.known.first(where: { $0.name == name })?.kind else {
            throw Self.mistyped(name)
        }
        let value =
            switch kind {
            case .text: JSONValue.string(ConfigLine.text(given) ?? given).text
            case .flag: Self.switches[given] ?? given
            case .list: given
            }
        try Self.check(name, value, line: nil)
        if let index = lineOf[name] {
            lines[index] = ConfigLine.replacing(lines[index], by: value)
        } else {
            insert(name, value)
        }
        try read()
    }

    private mutating func insert(_ name: String, _ value: String) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            let firstSection = lines.firstIndex { $0.utf8.first == UInt8(ascii: "[") }
            return lines.insert("\(name) = \(value)", at: firstSection ?? lines.count)
        }
        let header = lines.firstIndex { line in
            if case .section(parts[0])? = try? ConfigLine(line, number: 0) { true } else { false }
        }
        if let header {
            lines.insert("\(parts[1]) = \(value)", at: header + 1)
        } else {
            if !lines.isEmpty { lines.append("") }
            lines += ["[\(parts[0])]", "\(parts[1]) = \(value)"]
        }
    }
}
