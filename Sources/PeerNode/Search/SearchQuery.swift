import WorkspaceModel

/// A search query: phrases that must all occur.
///
/// Words between quotation marks are one phrase, and so is a token without blanks: `build-42` also
/// finds "build 42". The last word, unless it is quoted, may be a prefix.
struct SearchQuery: Sendable, Equatable {
    /// A word, or letters of a script without blanks.
    struct Piece: Sendable, Equatable {
        let kind: SearchText.Kind
        let letters: [UInt32]
        /// Whether longer words count that begin so.
        var isPrefix = false
    }

    /// Each is found where its pieces occur one after the other.
    private(set) var phrases: [[Piece]] = []

    /// The most phrases at a time; a longer text is not a query.
    static let phrasesMax = 32

    /// - Returns: `nil` where there is nothing to look for, or too much.
    init?(_ text: String) {
        let parts = Self.parts(of: text)
        for (index, part) in parts.enumerated() {
            let folded = SearchText(part.text)
            var pieces = folded.runs.map { run in
                Piece(kind: run.kind, letters: Array(folded.folded[run.places]))
            }
            if index == parts.count - 1, !part.isQuoted, pieces.last?.kind == .word {
                pieces[pieces.count - 1].isPrefix = true
            }
            if !pieces.isEmpty { phrases.append(pieces) }
        }
        guard !phrases.isEmpty, phrases.count <= Self.phrasesMax else { return nil }
    }

    /// The parts between quotation marks, and between blanks elsewhere.
    private static func parts(of text: String) -> [(text: String, isQuoted: Bool)] {
        var parts: [(text: String, isQuoted: Bool)] = []
        var part = String.UnicodeScalarView()
        var isQuoted = false
        func end() {
            if !part.isEmpty { parts.append((String(part), isQuoted)) }
            part = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\u{201c}" || scalar == "\u{201d}" {
                end()
                isQuoted.toggle()
            } else if !isQuoted, scalar.properties.isWhitespace {
                end()
            } else {
                part.append(scalar)
            }
        }
        end()
        return parts
    }

    // MARK: For the index

    /// The question in the words of FTS5: finds every text that `matches` finds, and some more.
    ///
    /// Terms consist of folded letters and digits alone, between quotation marks, so nothing that
    /// anybody types is taken for more than a word.
    ///
    /// - Parameter tags: of each group at least one must be there.
    func expression(tags: [[String]]) -> String {
        var parts: [String] = []
        for phrase in phrases {
            var words: [Piece] = []
            for piece in phrase {
                guard piece.kind == .letters else {
                    words.append(piece)
                    continue
                }
                Self.add(words, to: &parts)
                words = []
                parts.append(Self.expression(ofLetters: piece.letters))
            }
            Self.add(words, to: &parts)
        }
        for group in tags {
            parts.append("tags : (" + group.map { "\"\($0)\"" }.joined(separator: " OR ") + ")")
        }
        return parts.joined(separator: " AND ")
    }

    private static func add(_ words: [Piece], to parts: inout [String]) {
        guard let last = words.last else { return }
        var bytes: [UInt8] = []
        for word in words {
            SearchText.append(word.letters.prefix(SearchText.wordLettersMax), to: &bytes)
        }
        let isPrefix = last.isPrefix || last.letters.count > SearchText.wordLettersMax
        parts.append(
            "text : \"" + String(decoding: bytes, as: UTF8.self) + "\"" + (isPrefix ? " *" : ""))
    }

    private static func expression(ofLetters letters: [UInt32]) -> String {
        var bytes: [UInt8] = []
        if letters.count == 1 {
            SearchText.append(letters[...], to: &bytes)
        } else {
            for place in 0..<letters.count - 1 {
                SearchText.append(letters[place...place + 1], to: &bytes)
            }
        }
        return "pairs : \"" + String(decoding: bytes, as: UTF8.self) + "\""
            + (letters.count == 1 ? " *" : "")
    }
}
