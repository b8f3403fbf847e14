/// A command line as bash hands it over, cut into words up to the cursor.
struct CompletionLine {
    /// The words before the one at the cursor, the program's name among them.
    private(set) var words: [String] = []
    /// The word at the cursor, without its quotes.
    private(set) var current = ""
    /// The word at the cursor as it is typed.
    private(set) var typed = ""
    /// The quote that the cursor is inside of.
    private(set) var quote: Unicode.Scalar?

    /// Reads quotes and backslashes as a shell does, and expands nothing.
    init(_ line: String) {
        var isEscaped = false
        var isWord = false
        for scalar in line.unicodeScalars {
            let isBlank = scalar == " " || scalar == "\t" || scalar == "\n"
            if isBlank, quote == nil, !isEscaped {
                if isWord { words.append(current) }
                (current, typed, isWord) = ("", "", false)
                continue
            }
            isWord = true
            typed.unicodeScalars.append(scalar)
            if isEscaped {
                if quote == "\"", scalar != "\"", scalar != "\\", scalar != "$", scalar != "`" {
                    current.unicodeScalars.append("\\")
                }
                current.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                isEscaped = true
            } else if scalar == quote {
                quote = nil
            } else if quote == nil, scalar == "'" || scalar == "\"" {
                quote = scalar
            } else {
                current.unicodeScalars.append(scalar)
            }
        }
    }

    /// The word that a shell hands over as it is typed, without its quotes.
    static func unquoted(_ word: String) -> String {
        let line = CompletionLine(word)
        // Between words of a line there are none.
        return line.words.isEmpty ? line.current : word
    }

    /// What bash has to put in the place of `word`, the part of `typed` that it completes.
    ///
    /// Bash breaks words at signs such as `=`, so a candidate may be longer than what it replaces.
    /// Returns `nil` for what cannot be written there.
    func replacement(of word: String, by candidate: String) -> String? {
        let rest = candidate.unicodeScalars.dropFirst(stays(before: word, of: candidate))
        switch quote {
        case "'"?:
            return rest.reduce(into: "") { made, scalar in
                if scalar == "'" { made += "'\\'" }
                made.unicodeScalars.append(scalar)
            }
        // The shell looks for its history between these, whatever stands before the sign.
        case "\""?:
            return candidate.utf8.contains(UInt8(ascii: "!"))
                ? nil : String(String.UnicodeScalarView(rest))
        default: return Self.escaped(String(String.UnicodeScalarView(rest)))
        }
    }

    /// So many signs of a candidate stand before `word` already, and stay there.
    private func stays(before word: String, of candidate: String) -> Int {
        let kept = typed.unicodeScalars.count - word.unicodeScalars.count
        guard kept > 0, typed.hasSuffix(word) else { return 0 }
        let part = Self.unquoted(String(typed.unicodeScalars.prefix(kept).map(Character.init)))
        return candidate.unicodeScalars.starts(with: part.unicodeScalars)
            ? part.unicodeScalars.count : 0
    }

    /// A word of which no sign means anything to a shell.
    private static func escaped(_ word: String) -> String {
        var made = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "@", "+", ",", "/", "=", ":":
                break
            case _ where scalar.isASCII: made += "\\"
            default: break
            }
            made.unicodeScalars.append(scalar)
        }
        return made
    }
}
