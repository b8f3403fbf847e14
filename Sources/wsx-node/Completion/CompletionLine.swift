/// A command line from bash, split into words up to the cursor.
struct CompletionLine {
    /// The words before the one at the cursor, including the program's name.
    private(set) var words: [String] = []
    /// The word at the cursor, without its quotes.
    private(set) var current = ""
    /// The word at the cursor as it is typed.
    private(set) var typed = ""
    /// The open quote at the cursor.
    private(set) var quote: Unicode.Scalar?

    /// Parses quotes and backslashes as a shell does, without expansion.
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

    /// A word without the quotes with which a shell passes it on.
    static func unquoted(_ word: String) -> String {
        let line = CompletionLine(word)
        // An unquoted blank would have split it; such a word is returned as it is.
        return line.words.isEmpty ? line.current : word
    }

    /// The text with which bash must replace `word`, the part of `typed` that it completes.
    ///
    /// Bash breaks words at characters such as `=`, so a candidate may be longer than what it
    /// replaces. Returns `nil` for what cannot be written there.
    func replacement(of word: String, by candidate: String) -> String? {
        let rest = candidate.unicodeScalars.dropFirst(stays(before: word, of: candidate))
        switch quote {
        case "'"?:
            return rest.reduce(into: "") { made, scalar in
                if scalar == "'" { made += "'\\'" }
                made.unicodeScalars.append(scalar)
            }
        // Inside double quotes the shell expands history at `!`, whatever precedes it.
        case "\""?:
            return candidate.utf8.contains(UInt8(ascii: "!"))
                ? nil : String(String.UnicodeScalarView(rest))
        default: return Self.escaped(String(String.UnicodeScalarView(rest)))
        }
    }

    /// How many characters of a candidate are before `word` already, and stay there.
    private func stays(before word: String, of candidate: String) -> Int {
        let kept = typed.unicodeScalars.count - word.unicodeScalars.count
        guard kept > 0, typed.hasSuffix(word) else { return 0 }
        let part = Self.unquoted(String(typed.unicodeScalars.prefix(kept).map(Character.init)))
        return candidate.unicodeScalars.starts(with: part.unicodeScalars)
            ? part.unicodeScalars.count : 0
    }

    /// A word with every character escaped that is special to a shell.
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
