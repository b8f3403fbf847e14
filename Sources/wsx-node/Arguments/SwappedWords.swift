import PeerNode
import WorkspaceModel

/// Detects two words of a command line in the wrong order: `message react 👍 last`.
///
/// It reports only an order that cannot be meant, with the right one.
struct SwappedWords {
    /// The positional parameters, in order.
    let parameters: [ParameterDefinition]
    /// The words typed for them, as far as given.
    let texts: [String]

    /// The index of the first of two swapped words, if there are any.
    var place: Int? {
        let count = min(parameters.count, texts.count)
        return (1..<max(count, 1)).map { $0 - 1 }.first { first in
            let (here, next) = (parameters[first], parameters[first + 1])
            let isMeant = Self.may(texts[first], here) && Self.may(texts[first + 1], next)
            return !isMeant && Self.fits(texts[first + 1], here) && Self.fits(texts[first], next)
        }
    }

    /// Whether a text can be meant for a parameter at all. If not, the call fails.
    private static func may(_ text: String, _ parameter: ParameterDefinition) -> Bool {
        if case .identifier = parameter.shape, ReferenceResolver.resolves(text, parameter) {
            return true
        }
        return fits(text, parameter)
    }

    /// Whether a text looks like a value of a parameter. The last letters of an id do not:
    /// they may be any word.
    private static func fits(_ text: String, _ parameter: ParameterDefinition) -> Bool {
        switch parameter.shape {
        case .identifier(let prefix):
            prefix == "m_" && text == "last" || text.hasPrefix(prefix)
        case .duration: DurationText.milliseconds(text) != nil
        case .byteCount: SizeText.bytes(text) != nil
        case .choice(let words):
            ArgumentText.value(text, parameter.shape)?.stringValue.map(words.contains) == true
        case .list: false
        default: !text.isEmpty
        }
    }

    /// The failure that shows the right order.
    ///
    /// - Parameter line: the right words, without the name of the program.
    static func failure(_ first: ParameterDefinition, line: [String]) -> NodeError {
        .usage(
            "these words are in the wrong order: the \(first.noun) comes first",
            hint: (["wsx-node"] + line.map(NodeError.shellWord)).joined(separator: " "))
    }
}
