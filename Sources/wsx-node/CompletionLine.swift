/// A command line as bash hands it over, cut into words up to the cursor.
struct CompletionLine {
    /// The words before the one at the cursor, the program's name among them.
    private(set) var words: [String] = []
    /// The word at the cursor, without its quotes.
    private(set) var current = ""
    /// The word at the cursor as it is typed.
    private(set) var typed = ""
    /// Whether the cursor is inside quotes.
    private(set) var isQuoted = false

    /// Reads quotes and backslashes as a shell does, and expands nothing.
    init(_ line: String) {
        var quote: Unicode.Scalar?
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
        isQuoted = quote != nil
    }

    /// What bash has to put in the place of `word`, the part of `typed` that it completes.
    ///
    /// Bash breaks words at signs such as `=`, so a candidate may be longer than what it replaces.
    func replacement(of word: String, by candidate: String) -> String {
        let kept = typed.unicodeScalars.count - word.unicodeScalars.count
        let whole = isQuoted ? candidate : Self.escaped(candidate)
        guard kept > 0, typed.hasSuffix(word), !isQuoted,
            whole.unicodeScalars.starts(with: typed.unicodeScalars.prefix(kept))
        else { return whole }
        return String(String.UnicodeScalarView(whole.unicodeScalars.dropFirst(kept)))
    }

    private static func escaped(_ word: String) -> String {
        var made = ""
        for scalar in word.unicodeScalars {
            if scalar == " " { made += "\\" }
            made.unicodeScalars.append(scalar)
        }
        return made
    }
}
