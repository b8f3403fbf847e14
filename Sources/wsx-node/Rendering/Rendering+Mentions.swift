import WorkspaceModel

/// Emphasis in the text of messages, and highlighting of mentions of the reader.
extension Rendering {
    /// The escaped `line` with `**bold**` in bold and `_italic_` in italics on a terminal with
    /// colours. Elsewhere the signs say it. Code stays as it is.
    func emphasised(_ line: String, of message: JSONValue) -> String {
        guard hasColour, message["format"] != "code" else { return line }
        return Emphasis.shown(line)
    }

    /// The escaped `line` with the reader's mentions highlighted: their own name, if the message
    /// mentions them, and `@channel` and `@everyone`.
    func highlighted(_ line: String, of message: JSONValue) -> String {
        guard hasColour, line.utf8.contains(UInt8(ascii: "@")), message["format"] != "code" else {
            return line
        }
        let meant = (message["mentions"]?.arrayValue ?? []).compactMap(\.stringValue)
            .compactMap { ownNames[$0] }
        // The longest first: `@Mina Park` must win over `@Mina`.
        let names = (meant.map(sanitised) + ["channel", "everyone"])
            .sorted { $0.count > $1.count }
        var made = ""
        var rest = Substring(line)
        var before: Character?
        while let first = rest.first {
            // A sequence of this program, for emphasis, is no text.
            if first == "\u{1B}" {
                let sequence = rest.prefix(rest.prefix { $0 != "m" }.count + 1)
                made += String(sequence)
                rest = rest.dropFirst(sequence.count)
                continue
            }
            let found =
                first == "@" && before.map(Self.isWord) != true
                ? names.first { Self.begins(rest.dropFirst(), with: $0) } : nil
            let count = found.map { $0.count + 1 } ?? 1
            let part = String(rest.prefix(count))
            made += found == nil ? part : "\u{1B}[1;33m\(part)\u{1B}[0m"
            before = part.last
            rest = rest.dropFirst(count)
        }
        return made
    }

    /// Whether the text begins with a name, in any case, that is not part of a longer word.
    private static func begins(_ text: Substring, with name: String) -> Bool {
        let part = text.prefix(name.count)
        guard part.count == name.count, part.lowercased() == name.lowercased() else { return false }
        guard let next = text.dropFirst(name.count).first, let last = part.last else { return true }
        return !(isWord(next) && isWord(last))
    }

    /// Whether a character continues an address or a longer word.
    private static func isWord(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, scalar.value < 0x250 else {
            return false
        }
        return character.isLetter || character.isNumber || character == "_"
    }
}
