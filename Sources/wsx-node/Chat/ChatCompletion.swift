import WorkspaceModel

/// Completes names after `@` or `#`, and commands after the first `/`.
enum ChatCompletion {
    /// Kinds of completions.
    enum Kind: Equatable { case words, channels, people }

    /// Text before the cursor that may be the beginning of a name.
    struct Start: Equatable {
        let kind: Kind
        /// Where the name begins, after its sign.
        let place: Int
        /// The part typed so far.
        let typed: String
    }

    /// The result of a completion.
    enum Outcome: Equatable {
        case nothing
        /// Replace the typed part with this.
        case replace(String)
        /// There are several, without a longer common prefix.
        case choose([String])
    }

    /// The possible beginnings before the cursor, the nearest first: names may contain blanks.
    static func starts(_ line: LineEditor) -> [Start] {
        let before = line.characters[..<line.cursor]
        if before.first == "/", !before.contains(" ") {
            return [Start(kind: .words, place: 1, typed: String(before.dropFirst()))]
        }
        var found: [Start] = []
        for place in before.indices.reversed() {
            let sign = before[place]
            guard sign == "@" || sign == "#", place == 0 || before[place - 1] == " " else {
                continue
            }
            // A name has no more characters than this.
            guard before.count - place <= Limits.nameCharactersMax + 1 else { break }
            found.append(
                Start(
                    kind: sign == "@" ? .people : .channels, place: place + 1,
                    typed: String(before[(place + 1)...])))
        }
        return found + bare(before)
    }

    /// The argument of a command that takes a name, where no sign is needed.
    private static func bare(_ before: ArraySlice<Character>) -> [Start] {
        let words: [(word: String, kind: Kind)] = [("/join ", .channels), ("/dm ", .people)]
        return words.compactMap { word, kind in
            guard before.starts(with: word) else { return nil }
            let typed = before.dropFirst(word.count)
            guard let first = typed.first, !"@# ".contains(first) else { return nil }
            return Start(kind: kind, place: word.count, typed: String(typed))
        }
    }

    /// Completes `typed`. Leaves out names that a terminal cannot show as they are: the user could
    /// not see what was inserted.
    ///
    /// - Parameter ending: appended to a complete name.
    static func complete(_ typed: String, among names: [String], ending: String = " ") -> Outcome {
        guard let key = NameFolding.key(of: typed) else { return .nothing }
        let fitting = names.filter { name in
            sanitised(name) == name && NameFolding.key(of: name)?.hasPrefix(key) == true
        }
        var unique: [String] = []
        for name in fitting where !unique.contains(name) { unique.append(name) }
        guard let first = unique.first else { return .nothing }
        guard unique.count > 1 else { return .replace(first + ending) }
        var shared = Array(first)
        for name in unique.dropFirst() {
            let letters = Array(name)
            var count = 0
            while count < min(shared.count, letters.count),
                NameFolding.matches(String(shared[count]), String(letters[count]))
            {
                count += 1
            }
            shared = Array(shared[..<count])
        }
        return shared.count > typed.count ? .replace(String(shared)) : .choose(unique.sorted())
    }
}
