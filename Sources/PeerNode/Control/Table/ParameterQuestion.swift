/// What people call a parameter, and what they are asked where it is missing.
///
/// Nobody has to know what parameters are called on the socket, or how a usage line writes them.
extension ParameterDefinition {
    /// What a sentence calls it, such as `channel`.
    public var noun: String {
        givenNoun ?? shape.noun
            ?? name.split(separator: "_").filter { $0 != "ms" }.joined(separator: " ")
    }

    /// The question for a value that is missing, such as `which channel?`. If there are few
    /// values, it lists them.
    public var question: String {
        let question = givenQuestion ?? usualQuestion
        guard case .choice(let words) = shape else { return question }
        return "\(question) \(Self.listed(words.map(ParameterShape.spoken)))"
    }

    private var usualQuestion: String {
        switch shape {
        case .member, .list(.member, _): "who?"
        case .time: "when?"
        case .duration: "for how long?"
        case .byteCount: "how much?"
        case .integer: "how many \(noun)?"
        default: "which \(noun)?"
        }
    }

    /// Words in a sentence: `a, b or c`.
    private static func listed(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension ParameterShape {
    /// A choice as people say it: the socket has another word for some.
    public static func spoken(_ word: String) -> String { word == "absent" ? "away" : word }

    /// What people call a value of this shape; `nil` if that depends on the parameter.
    fileprivate var noun: String? {
        switch self {
        case .channel: "channel"
        case .member: "person"
        case .workspace: "workspace"
        case .note: "note"
        case .time: "time"
        case .duration: "duration"
        case .byteCount: "size"
        case .location: "place"
        case .identifier(let prefix): Self.nouns[prefix]
        case .list(let element, _): element.noun
        default: nil
        }
    }

    /// What the ids with a prefix belong to.
    private static let nouns = [
        "m_": "message", "r_": "request", "i_": "invite", "y_": "reminder", "b_": "file",
        "p_": "order", "s_": "spend", "d_": "device", "n_": "note",
    ]
}
