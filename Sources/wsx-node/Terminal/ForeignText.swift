import WorkspaceModel

/// Foreign text made safe for a terminal, in one line.
///
/// Every text from an answer or a file must pass through here, or through `foreignBody`.
func sanitised(_ text: String) -> String { TerminalText.escaped(text, for: .line) }

/// Foreign text in one line, with blanks in place of line breaks.
func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x09 || $0 == 0x0D }) else {
        return sanitised(text)
    }
    let words = text.utf8.split { $0 == 0x0A || $0 == 0x09 || $0 == 0x0D || $0 == 0x20 }
    return sanitised(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))
}

/// The lines of a message, each safe for a terminal. Tabs become blanks, so that columns align.
func foreignBody(_ text: String) -> [String] {
    TerminalText.escaped(text, for: .body).utf8
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { line in
            withoutTowers(
                String(decoding: line.flatMap { $0 == 0x09 ? [0x20, 0x20] : [$0] }, as: UTF8.self))
        }
}

/// `text` without the excess of characters longer than 64 bytes: higher stacks of
/// marks cover other lines.
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

/// The beginning of a text in one line, for recognising it.
func excerpt(_ text: String, columns: Int = 40) -> String {
    let first = foreignBody(text).first { !$0.isEmpty } ?? ""
    return TerminalText.truncated(first, toColumns: columns)
}

/// The escaped `line` in pieces of at most `columns` columns, wrapped at blanks. A word wider than
/// a piece is split; it begins on the previous line if half a piece is free there.
///
/// The program wraps lines itself because a terminal would begin the next row at its edge, where
/// text can look like someone else's message.
func wrapped(_ line: String, columns: Int) -> [String] {
    guard columns > 1, line.utf8.count > columns else { return [line] }
    var pieces: [String] = []
    var piece = ""
    var width = 0
    // Where the piece may end: after the last blank that follows a word.
    var breakable: String.Index?
    var hasWord = false
    // Inside an escape sequence of this program for bold text, which takes no columns.
    var isInsideSequence = false
    for index in line.indices {
        let character = line[index]
        if character == "\u{1B}" || isInsideSequence {
            isInsideSequence = character != "m"
            piece.append(character)
            continue
        }
        // Terminals disagree about composed emoji: assume the widest.
        let emoji = character.unicodeScalars.count { $0.properties.isEmojiPresentation }
        let own = max(columnWidth(String(character)), emoji * 2)
        if width + own > columns {
            var rest = ""
            // Before a blank the word is complete.
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

/// Whether the word that spans `begin` and `rest` fits into a piece.
private func isWordWithin(_ columns: Int, _ begin: Substring, _ rest: Substring) -> Bool {
    // A longer text is wider, whatever it consists of.
    let end = rest.prefix(columns + 1).prefix { $0 != " " }
    let word = LiveScreen.bare(String(begin) + String(end))
    let emoji = word.unicodeScalars.count { $0.properties.isEmojiPresentation }
    return columnWidth(word) + emoji <= columns
}

/// The number of columns of escaped text.
func columnWidth(_ text: String) -> Int { TerminalText.displayWidth(text) }
