import WorkspaceModel

/// Foreign text made safe for a terminal, in one line.
///
/// Everything that an answer or a file brings goes through here, or through `foreignBody`.
func sanitised(_ text: String) -> String { TerminalText.escaped(text, for: .line) }

/// Foreign text in one line, in which blanks stand for the ends of lines.
func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x09 || $0 == 0x0D }) else {
        return sanitised(text)
    }
    let words = text.utf8.split { $0 == 0x0A || $0 == 0x09 || $0 == 0x0D || $0 == 0x20 }
    return sanitised(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))
}

/// The lines of a message, each safe for a terminal. A tab becomes blanks, so that columns hold.
func foreignBody(_ text: String) -> [String] {
    TerminalText.escaped(text, for: .body).utf8
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { line in
            withoutTowers(
                String(decoding: line.flatMap { $0 == 0x09 ? [0x20, 0x20] : [$0] }, as: UTF8.self))
        }
}

/// `text`, in which no character is made of more than 64 bytes: marks that are stacked higher run
/// over the lines of others.
private func withoutTowers(_ text: String) -> String {
    guard text.utf8.count > 64, text.unicodeScalars.contains(where: { $0.value >= 0x300 }) else {
        return text
    }
    var made = ""
    for character in text {
        guard character.utf8.count > 64 else {
            made.append(character)
            continue
        }
        var bytes = 0
        for scalar in character.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= 64 else { break }
            made.unicodeScalars.append(scalar)
        }
        made += "…"
    }
    return made
}

/// The beginning of a text in one line, for telling which one is meant.
func excerpt(_ text: String, columns: Int = 40) -> String {
    let first = foreignBody(text).first { !$0.isEmpty } ?? ""
    return TerminalText.truncated(first, toColumns: columns)
}

/// `line`, which was made safe, in pieces of at most `columns` columns: at blanks, so that words
/// stay whole. A word that is wider than a piece is broken, and begins in the line before if that has
/// room for half of a piece.
///
/// The program breaks lines itself because a terminal would begin the next row at its edge, where
/// a text can look like the beginning of somebody else's message.
func wrapped(_ line: String, columns: Int) -> [String] {
    guard columns > 1, line.utf8.count > columns else { return [line] }
    var pieces: [String] = []
    var piece = ""
    var width = 0
    // Where the piece may end: behind its last blank that stands behind a word.
    var breakable: String.Index?
    var hasWord = false
    // Inside what this program wrote to make a text bold, which takes no room.
    var isInsideSequence = false
    for index in line.indices {
        let character = line[index]
        if character == "\u{1B}" || isInsideSequence {
            isInsideSequence = character != "m"
            piece.append(character)
            continue
        }
        // Terminals disagree about emoji that are made of several: the widest is reckoned with.
        let emoji = character.unicodeScalars.count { $0.properties.isEmojiPresentation }
        let own = max(columnWidth(String(character)), emoji * 2)
        if width + own > columns {
            var rest = ""
            // Before a blank the word is whole already.
            if character != " ", let end = breakable,
                isWordWithin(columns, piece[end...], line[index...])
                    || columnWidth(LiveScreen.bare(String(piece[..<end]))) * 2 > columns
            {
                rest = String(piece[end...])
                piece = String(piece[..<end])
            }
            while piece.utf8.last == 0x20 { piece.removeLast() }
            pieces.append(piece)
            piece = rest
            hasWord = !rest.isEmpty
            width = columnWidth(LiveScreen.bare(rest))
            breakable = nil
            if character == " ", piece.isEmpty { continue }
        }
        piece.append(character)
        width += own
        if character != " " {
            hasWord = true
        } else if hasWord {
            breakable = piece.endIndex
        }
    }
    if !piece.isEmpty { pieces.append(piece) }
    return pieces
}

/// Whether the word that `begin` ends with and `rest` goes on with fits into a piece.
private func isWordWithin(_ columns: Int, _ begin: Substring, _ rest: Substring) -> Bool {
    // What is longer is wider, whatever it is made of.
    let end = rest.prefix(columns + 1).prefix { $0 != " " }
    let word = LiveScreen.bare(String(begin) + String(end))
    let emoji = word.unicodeScalars.count { $0.properties.isEmojiPresentation }
    return columnWidth(word) + emoji <= columns
}

/// How many columns text takes that was made safe.
func columnWidth(_ text: String) -> Int { TerminalText.displayWidth(text) }
