/// Bold and italic text in messages: what `/me` says, and what other programs post.
///
/// Pairs of signs in a line are found in time that grows with its length. A sign counts
/// where it stands at the edge of a word, as in `snake_case` none does.
enum Emphasis {
    private struct Sign {
        let text: [Character]
        /// The sequences of the terminal before and behind what it encloses.
        let on: String
        let off: String
    }

    private static let signs = [
        Sign(text: ["*", "*"], on: "\u{1B}[1m", off: "\u{1B}[22m"),
        Sign(text: ["_"], on: "\u{1B}[3m", off: "\u{1B}[23m"),
    ]
    /// What may stand before a sign that opens, besides blanks.
    private static let openers: Set<Character> = ["(", "[", "{", "\"", "'", "“", "‘"]
    /// What may stand behind a sign that closes, besides blanks.
    private static let closers: Set<Character> = [
        ".", ",", ";", ":", "!", "?", "…", ")", "]", "}", "\"", "'", "”", "’",
    ]

    /// The line with sequences in place of the signs.
    static func shown(_ line: String) -> String {
        guard line.utf8.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "_") })
        else { return line }
        return shown(Array(line)[...], signs)
    }

    private static func shown(_ text: ArraySlice<Character>, _ signs: [Sign]) -> String {
        var made = ""
        var signs = signs
        var rest = text
        while let first = rest.first {
            let before = text[..<rest.startIndex].last
            let opened = signs.first { opens($0, rest, behind: before) }
            if let sign = opened, let end = end(of: sign, in: rest) {
                let content = rest[(rest.startIndex + sign.text.count)..<end]
                let others = signs.filter { $0.text != sign.text }
                made += sign.on + shown(content, others) + sign.off
                rest = rest[(end + sign.text.count)...]
                continue
            }
            // What closes nothing here closes nothing further on either.
            if let sign = opened { signs.removeAll { $0.text == sign.text } }
            made.append(first)
            rest = rest.dropFirst()
        }
        return made
    }

    private static func opens(
        _ sign: Sign, _ text: ArraySlice<Character>, behind before: Character?
    ) -> Bool {
        guard text.starts(with: sign.text), let next = text.dropFirst(sign.text.count).first,
            !next.isWhitespace, next != sign.text.first
        else { return false }
        return before.map { $0.isWhitespace || openers.contains($0) } ?? true
    }

    /// Where the sign closes that opens `text`; it encloses at least one character.
    private static func end(of sign: Sign, in text: ArraySlice<Character>) -> Int? {
        let content = text.dropFirst(sign.text.count)
        return content.indices.dropFirst().first { place in
            let before = text[place - 1]
            guard content[place...].starts(with: sign.text), !before.isWhitespace,
                before != sign.text.first
            else { return false }
            let next = content[place...].dropFirst(sign.text.count).first
            return next.map { $0.isWhitespace || closers.contains($0) } ?? true
        }
    }
}
