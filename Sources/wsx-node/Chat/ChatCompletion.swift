import WorkspaceModel

/// What the tab key puts behind an `@`, a `#` or the first `/`.
enum ChatCompletion {
    /// What can be asked for.
    enum Kind: Equatable { case words, channels, people }

    /// What stands before the cursor and may be the beginning of a name.
    struct Start: Equatable {
        let kind: Kind
        /// Where the name begins, behind its sign.
        let place: Int
        /// What of it is typed.
        let typed: String
    }

    /// What came of it.
    enum Outcome: Equatable {
        case nothing
        /// Put this in the place of what is typed.
        case replace(String)
        /// There are several, and nothing more that they share.
        case choose([String])
    }

    /// The beginnings before the cursor, the nearest first: names may contain blanks.
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

    /// What follows a word that takes a name, which needs no sign there.
    private static func bare(_ before: ArraySlice<Character>) -> [Start] {
        let words: [(word: String, kind: Kind)] = [("/join ", .channels), ("/dm ", .people)]
        return words.compactMap { word, kind in
            guard before.starts(with: word) else { return nil }
            let typed = before.dropFirst(word.count)
            guard let first = typed.first, !"@# ".contains(first) else { return nil }
            return Start(kind: kind, place: word.count, typed: String(typed))
        }
    }

    /// What completes `typed`. Names that a terminal cannot show as they are, are left out: nobody
    /// could see what was put into their line.
    ///
    /// - Parameter ending: what follows a whole name.
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
