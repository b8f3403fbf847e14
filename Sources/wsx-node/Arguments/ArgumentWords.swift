import PeerNode
import WorkspaceModel

/// Translates failures about socket parameters into the words of the command line.
struct ArgumentWords {
    let command: Command
    /// How parameters were given, by name: `-n`, or what a position is called.
    let typed: [String: String]

    /// What a sentence calls a parameter: the flag that was typed, else what people call the thing.
    /// Only a flag without such a word is named untyped, since it is what to type next.
    func subject(_ parameter: ParameterDefinition) -> String {
        if let word = typed[parameter.name], ArgumentScanner.isFlag(word) { return "'\(word)'" }
        // `policy set join open` is another way to say `policy set --join open`.
        if typed["setting"] != nil, settings?.isChoice(parameter.name) == true {
            return "'\(parameter.name)'"
        }
        let isPosition = command.line?.positions.contains(parameter.name) == true
        return isPosition || parameter.givenNoun != nil
            ? "the \(parameter.noun)" : "'--\(parameter.flag)'"
    }

    /// The word that chooses a setting, where a command takes one.
    private var settings: ParameterDefinition? {
        command.parameters.first { $0.name == "setting" && $0.isLocal }
    }

    /// The same failure for people. Programs get the names of the method's parameters.
    func told(_ error: NodeError) -> NodeError {
        // Someone who calls a method by its name types the names of its parameters, too.
        guard command.flow != .rpc else { return error }
        let failing = error.fields.compactMap { field in
            command.parameters.first { $0.name == field.name }.map { ($0, field.reason) }
        }
        var message = error.message
        if let (first, reason) = failing.first {
            if message == "'\(first.name)' must be \(first.shape.words)" {
                message = sentence(first, reason)
            }
            if message == "'\(first.name)' is missing" { message = first.question }
        }
        // Each sentence stands for one field. One about several names them.
        for (parameter, reason) in failing.dropFirst()
        where !Self.isNamed(parameter.name, in: message) {
            let isMissing = reason == ParameterMismatch.missing.rawValue
            guard parameter.isRequired || !isMissing else { continue }
            message += message.hasSuffix("?") ? " " : "; "
            message += isMissing ? parameter.question : sentence(parameter, reason)
        }
        var hint = error.hint
        // In other failures, quoted words are names that someone chose.
        for (parameter, _) in failing where [.badRequest, .tooLarge].contains(error.kind) {
            message = message.replacing("'\(parameter.name)'") { _, _ in subject(parameter) }
        }
        // `up` has no parameter for the workspace, and takes it by the flag of every command.
        let flags = error.fields.map(\.name).filter { name in
            ArgumentScanner.globalNames.contains("--" + name)
                && !failing.contains { $0.0.name == name }
        }
        for name in flags where [.badRequest, .tooLarge].contains(error.kind) {
            message = message.replacing("'\(name)'") { _, _ in "'--\(name)'" }
        }
        let lacks = error.fields.first?.reason == ParameterMismatch.missing.rawValue
        if hint?.utf8.starts(with: "see 'wsx-node rpc --describe".utf8) == true {
            let words = command.line?.words.joined(separator: " ") ?? command.name
            hint = lacks ? "usage: wsx-node \(command.usage)" : "wsx-node help \(words)"
        }
        if lacks, failing.count > 1, let settings, typed["setting"] == nil,
            let example = command.line?.examples.first
        {
            message = settings.question
            hint = "wsx-node \(example)"
        }
        // The message has all that is to be said about parameters.
        let others = error.fields.dropFirst().filter { field in
            !failing.contains(where: { $0.0.name == field.name })
        }
        return NodeError(
            error.kind, message, hint: hint, reason: error.reason,
            fields: Array(error.fields.prefix(1)) + others, details: error.details)
    }

    /// What is wrong with the value of a parameter, as a sentence.
    private func sentence(_ parameter: ParameterDefinition, _ reason: String) -> String {
        let name = subject(parameter)
        switch (parameter.shape, ParameterMismatch(rawValue: reason)) {
        case (.text, .empty): return "\(name) is empty"
        case (.text(let bytes), .tooLong):
            return "\(name) is too long: at most \(bytes.upperBound) bytes allowed"
        case (.list(_, let count), .tooLong):
            return "\(name) must be \(Self.words(parameter.shape)), at most \(count.upperBound)"
        case (.text, _), (_, nil): return "\(name): \(Self.words(for: reason))"
        default: return "\(name) must be \(Self.words(parameter.shape))"
        }
    }

    /// Whether a sentence names a field.
    static func isNamed(_ field: String, in sentence: String) -> Bool {
        let (bytes, name) = (Array(sentence.utf8), Array("'\(field)'".utf8))
        return bytes.indices.contains { bytes[$0...].starts(with: name) }
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
        case .list(let element, _): words(element)
        case .choice(let choices):
            "one of `" + choices.map(ParameterShape.spoken).joined(separator: "`, `") + "`"
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
