/// A first name, or the beginning of a name, for the whole of it.
public enum PartOfName {
    /// Whether `part` is the first word of `name`, or at least two characters that it begins with,
    /// however both are written.
    public static func `is`(_ part: String, in name: String) -> Bool {
        guard let short = NameFolding.key(of: part), let long = NameFolding.key(of: name),
            !short.isEmpty
        else { return false }
        if firstWord(of: name).map({ NameFolding.matches($0, part) }) == true { return true }
        return short.count >= 2 && long.hasPrefix(short)
    }

    /// What stands before the first blank of a name of several words; `nil` where it is one.
    public static func firstWord(of name: String) -> String? {
        let words = name.split(separator: " ", maxSplits: 1)
        return words.count > 1 ? String(words[0]) : nil
    }
}
