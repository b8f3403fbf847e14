import PeerNode
import WorkspaceModel

/// Translates failures about socket parameters into the words of the command line.
struct ArgumentWords {
    let command: Command
    /// How parameters were given, by name: `-n`, or the word for a position.
    let typed: [String: String]

    /// What the user typed for a parameter, or would type.
    func word(_ parameter: ParameterDefinition) -> String {
        if let word = typed[parameter.name] { return word }
        // `policy set join open` is another way to say `policy set --join open`.
        if typed["setting"] != nil,
            command.parameters.contains(where: { $0.isChoice(parameter.name) })
        {
            return parameter.name
        }
        let isPosition = command.line?.positions.contains(parameter.name) == true
        return isPosition ? parameter.positionWord : "--" + parameter.flag
    }

    /// The question for a missing positional word; `nil` for a parameter with a flag.
    private func question(for parameter: ParameterDefinition) -> String? {
        guard command.line?.positions.contains(parameter.name) == true else { return nil }
        var shape = parameter.shape
        if case .list(let element, _) = shape { shape = element }
        return switch shape {
        case .channel: "which channel?"
        case .member: "who?"
        case .workspace: "which workspace?"
        case .time: "when?"
        case .duration: "for how long?"
        case .byteCount: "how much?"
        case .identifier("m_"): "which message?"
        case .identifier("r_"): "which request?"
        case .identifier("i_"): "which invite?"
        case .identifier("y_"): "which reminder?"
        case .identifier("b_"): "which file?"
        case .note: "which note?"
        default: Self.questions[parameter.name]
        }
    }

    /// The questions for texts, by parameter name.
    private static let questions = [
        "text": "which text?", "query": "search for what?", "name": "which name?",
        "link": "which link?", "device": "which device?", "emoji": "which emoji?",
        "role": "which role?", "address": "which address?", "peer": "which peer?",
        "path": "which file?", "level": "which level?", "state": "which status?",
        "setting": "which setting?", "value": "which value?", "subject": "who or what?",
        "title": "which title?", "period": "for how long?",
    ]

    /// The same failure for people. Programs get the names of the method's parameters.
    func told(_ error: NodeError) -> NodeError {
        let failing = error.fields.compactMap { field in
            command.parameters.first { $0.name == field.name }
        }
        var message = error.message
        if let first = failing.first,
            message == "'\(first.name)' must be \(first.shape.words)"
        {
            message = "'\(word(first))' must be \(Self.words(first.shape))"
        }
        if let first = failing.first, message == "'\(first.name)' is missing" {
            message = question(for: first) ?? message
        }
        var hint = error.hint
        // In other failures, quoted words are names that someone chose.
        for parameter in failing where [.badRequest, .tooLarge].contains(error.kind) {
            message = message.replacing("'\(parameter.name)'") { _, _ in
                "'\(word(parameter))'"
            }
        }
        if hint?.utf8.starts(with: "see 'wsx-node rpc --describe".utf8) == true {
            let isMissing = error.fields.first?.reason == ParameterMismatch.missing.rawValue
            let words = command.line?.words.joined(separator: " ") ?? command.name
            hint = isMissing ? "usage: wsx-node \(command.usage)" : "wsx-node help \(words)"
        }
        let fields = error.fields.map { field in
            let parameter = failing.first { $0.name == field.name }
            return NodeError.Field(
                name: parameter.map(word) ?? field.name, reason: field.reason)
        }
        return NodeError(
            error.kind, message, hint: hint, reason: error.reason, fields: fields,
            details: error.details)
    }

    /// What is wrong with a field, for people; an unknown reason is returned unchanged.
    static func words(for reason: String) -> String {
        switch reason {
        case "form": "not in the right form"
        case "missing": "missing"
        case "unknown": "not known"
        case "type": "not of the right type"
        case "empty": "empty"
        case "range": "out of range"
        case "too_long": "too long"
        case "too_short": "too short"
        case "weak": "too easy to guess"
        case "duplicate": "taken"
        case "not_found": "not found"
        case "ambiguous": "could be several"
        default: reason
        }
    }

    /// What a parameter takes, as it is typed.
    static func words(_ shape: ParameterShape) -> String {
        switch shape {
        case .duration(let range):
            "a duration, \(DurationText.text(range.lowerBound)) to "
                + "\(DurationText.text(range.upperBound)), such as 30s, 10m, 24h or 7d"
        case .byteCount(let range):
            "a size of at least \(ByteText.text(range.lowerBound)), such as 500MB, 20GB or 1TiB"
        case .list(let element, let count):
            words(element) + (count.upperBound > 1 ? ", at most \(count.upperBound)" : "")
        case .identifier(let prefix):
            "an id, `\(prefix)…`, or at least its first 6 letters, or its last 4"
        case .time: "a time such as 2h, 2026-11-20 or '2026-11-20 14:03'"
        default: shape.words
        }
    }
}

extension ParameterDefinition {
    /// Whether it is the word that chooses a setting, and this one is among them.
    fileprivate func isChoice(_ setting: String) -> Bool {
        guard name == "setting", isLocal, case .choice(let settings) = shape else { return false }
        return settings.contains(setting)
    }
}
