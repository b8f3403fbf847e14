import WorkspaceModel

/// The latest non-empty values of one register that count: the current one, and as many as former
/// names are shown.
///
/// A member may write any number of them, so nothing here scans all of them, except once after one
/// of the latest was removed.
struct LatestWords {
    /// The latest last.
    private(set) var words: [ProfileRegisters.Word] = []
    /// Whether one was removed that an earlier one may replace.
    private(set) var isShort = false

    /// Whether every word of the register is here.
    var isWhole: Bool { !isShort && words.count < Self.countMax }

    private static let countMax = Limits.formerNamesMax + 1

    /// Takes a word up that counts and says something.
    mutating func insert(_ word: ProfileRegisters.Word) {
        let place = words.firstIndex { Self.isBefore(word, $0) } ?? words.count
        guard words.count >= Self.countMax else { return words.insert(word, at: place) }
        guard place > 0 else { return }
        words.insert(word, at: place)
        words.removeFirst()
    }

    mutating func remove(_ id: OperationID) {
        guard let place = words.firstIndex(where: { $0.id == id }) else { return }
        if words.count >= Self.countMax { isShort = true }
        words.remove(at: place)
    }

    /// Finds the latest among all.
    mutating func refill(from all: some Sequence<ProfileRegisters.Word>) {
        self = LatestWords()
        for word in all where word.isValid && word.hasValue { insert(word) }
    }

    private static func isBefore(
        _ one: ProfileRegisters.Word, _ other: ProfileRegisters.Word
    ) -> Bool {
        (one.timestamp.rawValue, one.id) < (other.timestamp.rawValue, other.id)
    }
}
