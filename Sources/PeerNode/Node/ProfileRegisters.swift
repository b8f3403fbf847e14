import WorkspaceModel

/// What members said of themselves: for each member and field the operations, and which of them
/// counts (PROTOCOL.md, 3.2).
///
/// What counts is the valid one that no other valid one has in its past, and of several the one
/// with the largest (hlc, id). So it is a function of the set of operations and of their verdicts.
/// No text is here: a value is opened from the operation that counts.
struct ProfileRegisters {
    /// One register.
    struct Place: Hashable {
        let member: MemberID
        /// `nil` is the name.
        let field: ProfileChange.Field?
    }

    /// One operation.
    struct Word: Equatable {
        let id: OperationID
        let timestamp: HybridTimestamp
        /// The number under which it is stored.
        let arrival: Int64
        /// What it cites, whatever that is.
        let cited: [OperationID]
        /// Whether it says something, rather than taking the field back.
        let hasValue: Bool
        let isValid: Bool

        func counts(before other: Word) -> Bool {
            (timestamp.rawValue, id) > (other.timestamp.rawValue, other.id)
        }
    }

    private struct Register {
        var words: [OperationID: Word] = [:]
        /// What a valid word has in its past.
        var covered: Set<OperationID> = []
        /// The valid words that are not covered.
        var heads: Set<OperationID> = []

        mutating func take(_ word: Word) {
            words[word.id] = word
            let isCovered = covered.contains(word.id)
            if word.isValid, !isCovered { heads.insert(word.id) }
            guard word.isValid || isCovered else { return }
            // Each id is covered once, so a register costs what its operations cite.
            var open = word.cited
            while let id = open.popLast() {
                guard covered.insert(id).inserted else { continue }
                heads.remove(id)
                if let next = words[id] { open += next.cited }
            }
        }
    }

    private var registers: [Place: Register] = [:]

    /// Takes an operation over; one that is known with another verdict is judged anew.
    mutating func take(_ word: Word, at place: Place) {
        let known = registers[place]?.words[word.id]
        guard known != word else { return }
        if known != nil { remove(word.id, at: place) }
        registers[place, default: Register()].take(word)
    }

    /// Forgets an operation: it was redacted.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    mutating func remove(_ id: OperationID, at place: Place) -> Bool {
        guard var left = registers[place]?.words, left.removeValue(forKey: id) != nil else {
            return false
        }
        var register = Register()
        for (_, word) in left { register.take(word) }
        registers[place] = left.isEmpty ? nil : register
        return true
    }

    /// The word that counts.
    func current(_ place: Place) -> Word? {
        guard let register = registers[place] else { return nil }
        var best: Word?
        for id in register.heads {
            guard let word = register.words[id] else { continue }
            if best.map(word.counts(before:)) ?? true { best = word }
        }
        return best
    }

    /// What whoever writes next cites: all that count as much as what he sees, the latest first.
    func heads(_ place: Place) -> [Word] {
        guard let register = registers[place] else { return [] }
        return register.heads.compactMap { register.words[$0] }
            .sorted { $0.counts(before: $1) }
    }

    /// Every word that says something, in the order of arrival.
    func values(_ place: Place) -> [Word] {
        (registers[place]?.words.values.filter(\.hasValue) ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    /// Every register that has words, by member and field.
    var places: [Place] {
        registers.keys.sorted {
            ($0.member, $0.field?.rawValue ?? 0) < ($1.member, $1.field?.rawValue ?? 0)
        }
    }

    mutating func clear() { registers = [:] }
}
