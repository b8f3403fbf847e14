import PeerNode
import WorkspaceModel

/// Resolves references by the last letters of an id. Message ids begin with the time, so the end
/// distinguishes messages of the same minute.
extension ReferenceResolver {
    /// The minimum number of last letters.
    private static let endLengthMin = 4
    /// How many of the newest messages of the named conversation are searched: no index
    /// covers the ends of ids.
    private static let endingsMax = 1_000
    /// The same for each conversation if none was named.
    private static let endingsPerConversation = 100
    /// How many conversations are searched then.
    private static let conversationsMax = 50

    /// The form of an id in lists: its letter, an ellipsis, and the last letters.
    ///
    /// - Returns: those last letters, `nil` for any other text.
    static func ending(ofShown text: String) -> String? {
        for sign in ["…", "..."] {
            guard let first = text.first, text.dropFirst().hasPrefix("_" + sign) else { continue }
            let letters = text.dropFirst(2 + sign.count)
            return isEnding(String(letters), first) ? String(letters) : nil
        }
        return nil
    }

    /// The same without the ellipsis, as people type it.
    static func whole(_ text: String) -> String {
        ending(ofShown: text).map { text.prefix(2) + $0 } ?? text
    }

    /// Whether `text` may be the last letters of an id, with or without the type's letter.
    static func isEnding(_ text: String, _ letter: Character) -> Bool {
        guard letter == "m" || listing(letter) != nil else { return false }
        let letters = letters(of: text, letter).utf8
        return (endLengthMin..<idLength).contains(letters.count)
            && letters.allSatisfy(Base32Letters.contains)
    }

    /// Whether `text` has the type's letter, and may be the beginning or the end of an id.
    static func isPart(_ text: String, _ letter: Character) -> Bool {
        isShort(text, letter) || text.hasPrefix("\(letter)_") && isEnding(text, letter)
    }

    private static func letters(of text: String, _ letter: Character) -> Substring {
        text.hasPrefix("\(letter)_") ? text.dropFirst(2) : text[...]
    }

    private static func ends(_ id: String, with letters: Substring) -> Bool {
        id.utf8.count > letters.utf8.count + 1
            && id.utf8.reversed().starts(with: letters.utf8.reversed())
    }

    /// The items whose ids begin with `text`, or if none does, end with it. An item with that name
    /// has precedence, which the daemon handles.
    static func meant(_ text: String, _ letter: Character, among all: [Found]) -> [Found] {
        if isShort(text, letter) {
            let found = all.filter { $0.id.utf8.starts(with: text.utf8) }
            if !found.isEmpty { return found }
        }
        let isName = all.contains { $0.name.map { NameFolding.matches($0, text) } == true }
        guard !isName, isEnding(text, letter) else { return [] }
        let letters = letters(of: text, letter)
        return all.filter { ends($0.id, with: letters) }
    }

    /// The failure for last letters without a match that cannot be anything else.
    static func noEnding(
        _ text: String, _ letter: Character, _ parameter: ParameterDefinition
    ) -> NodeError? {
        var shape = parameter.shape
        if case .list(let element, _) = shape { shape = element }
        guard case .identifier = shape, isEnding(text, letter), !isShort(text, letter) else {
            return nil
        }
        let (what, hint) =
            switch letter {
            case "m": ("message", "add --in CHANNEL, or give the id from its beginning")
            case "i": ("invite", "wsx-node invite list")
            case "r": ("request", "wsx-node request list")
            case "y": ("reminder", "wsx-node remind list")
            case "p": ("order", "wsx-node store orders")
            case "s": ("spend", "wsx-node coin spends --all")
            case "b": ("file", "wsx-node file list")
            default: ("device", "wsx-node peer list")
            }
        return .notFound(what, text, field: parameter.name, hint: hint)
    }

    /// The newest messages whose ids end with the text: of one conversation, or fewer of each.
    mutating func messages(
        ending text: String, in channel: JSONValue?
    ) throws(NodeError) -> [Found] {
        let letters = Self.letters(of: text, "m")
        var channels: [JSONValue] = []
        if let channel { channels = [channel] } else { channels = try allChannels() }
        let count = channel == nil ? Self.endingsPerConversation : Self.endingsMax
        var found: [Found] = []
        for channel in channels.prefix(Self.conversationsMax) {
            found += try messages(["channel": channel, "limit": 100], pages: count / 100) {
                Self.ends($0, with: letters)
            }
        }
        return found
    }
}
