import WorkspaceModel

/// What one author has said in one register.
struct AttestationVoice {
    private(set) var words: [OperationID: AttestationBook.Word] = [:]
    /// The valid ones that may have standing, in ascending order, which is that of their times, too.
    private var rows: [AttestationBook.Stretch: [(sequence: UInt64, id: OperationID)]] = [:]
    /// Whether `rows` says something else than `words`.
    private var isStale = false

    private static func mayStand(_ word: AttestationBook.Word) -> Bool {
        word.isValid && (word.author != word.said.member || word.said.proof == nil)
    }

    mutating func take(_ word: AttestationBook.Word) {
        let known = words.updateValue(word, forKey: word.id)
        guard known == nil else { return isStale = isStale || known != word }
        guard Self.mayStand(word) else { return }
        let last = rows[word.stretch]?.last?.sequence
        if last.map({ $0 < word.sequence }) ?? true {
            rows[word.stretch, default: []].append((word.sequence, word.id))
        } else {
            isStale = true
        }
    }

    mutating func remove(_ id: OperationID) {
        if words.removeValue(forKey: id) != nil { isStale = true }
    }

    mutating func settle() {
        guard isStale else { return }
        isStale = false
        rows = Dictionary(grouping: words.values.filter(Self.mayStand), by: \.stretch)
            .mapValues { row in
                row.map { (sequence: $0.sequence, id: $0.id) }.sorted { $0.sequence < $1.sequence }
            }
    }

    /// The valid ones with the largest (hlc, id), up to a number.
    ///
    /// - Parameter bound: up to which place of its stretch an assertion like this one is valid, if
    ///   anywhere.
    func standing<Failure: Error>(
        max: Int, bound: (AttestationBook.Word) throws(Failure) -> UInt64?
    ) throws(Failure) -> [AttestationBook.Word] {
        var found: [AttestationBook.Word] = []
        for row in rows.values {
            guard let first = row.first.flatMap({ words[$0.id] }), let last = try bound(first)
            else { continue }
            found += Self.prefix(row, through: last).suffix(max).compactMap { words[$0.id] }
        }
        guard found.count > max else { return found }
        return Array(found.sorted { AttestationBook.Word.isEarlier($1, $0) }.prefix(max))
    }

    private static func prefix(
        _ row: [(sequence: UInt64, id: OperationID)], through last: UInt64
    ) -> ArraySlice<(sequence: UInt64, id: OperationID)> {
        var (low, high) = (0, row.count)
        while low < high {
            let middle = low + (high - low) / 2
            if row[middle].sequence <= last { low = middle + 1 } else { high = middle }
        }
        return row[..<low]
    }

    /// The latest with a value about somebody else, valid or not. Only a bounded number of each
    /// stretch is examined.
    func latestValue(max: Int) -> AttestationBook.Word? {
        rows.values.compactMap { row in
            row.suffix(max).reversed().lazy.compactMap { words[$0.id] }
                .first { $0.said.proof != nil }
        }.max(by: AttestationBook.Word.isEarlier)
    }
}
