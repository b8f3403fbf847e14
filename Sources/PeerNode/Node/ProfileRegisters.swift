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
    }

    private struct Register {
        var words: [OperationID: Word] = [:]
        /// How many words cite an id, of those that are valid or have themselves a valid one behind
        /// them. What is cited so is in the past of a valid word.
        var citations: [OperationID: Int] = [:]
        /// The valid words that are in the past of no other one.
        var heads = ProfileHeads()
        /// Citations that were followed.
        var visitCount = 0

        mutating func take(_ word: Word) {
            words[word.id] = word
            let isCovered = citations[word.id] != nil
            if word.isValid, !isCovered { heads.insert(word.id, at: word.timestamp) }
            if word.isValid || isCovered { cite(word.cited) }
        }

        mutating func remove(_ id: OperationID) -> Bool {
            guard let word = words.removeValue(forKey: id) else { return false }
            heads.remove(id)
            if word.isValid || citations[id] != nil { uncite(word.cited) }
            return true
        }

        private mutating func cite(_ ids: [OperationID]) {
            var open = ids
            while let id = open.popLast() {
                visitCount += 1
                let count = citations[id] ?? 0
                citations[id] = count + 1
                guard count == 0, let word = words[id] else { continue }
                if word.isValid { heads.remove(id) } else { open += word.cited }
            }
        }

        private mutating func uncite(_ ids: [OperationID]) {
            var open = ids
            while let id = open.popLast() {
                visitCount += 1
                guard let count = citations[id] else { continue }
                citations[id] = count > 1 ? count - 1 : nil
                guard count == 1, let word = words[id] else { continue }
                if word.isValid {
                    heads.insert(id, at: word.timestamp)
                } else {
                    open += word.cited
                }
            }
        }
    }

    private var registers: [Place: Register] = [:]

    /// Takes an operation over; one that is known with another verdict is judged anew.
    ///
    /// - Cost: what the operation cites, and what that cites as far as it is not valid.
    mutating func take(_ word: Word, at place: Place) {
        let known = registers[place]?.words[word.id]
        guard known != word else { return }
        if known != nil { remove(word.id, at: place) }
        registers[place, default: Register()].take(word)
    }

    /// Forgets an operation: it was redacted.
    ///
    /// - Cost: as for `take`.
    /// - Returns: whether it was there.
    @discardableResult
    mutating func remove(_ id: OperationID, at place: Place) -> Bool {
        guard registers[place]?.remove(id) == true else { return false }
        if registers[place]?.words.isEmpty == true { registers[place] = nil }
        return true
    }

    /// Forgets operations that are not stored any more.
    ///
    /// - Cost: all that is known is looked at, and none of it opened.
    /// - Returns: the registers in which they were, in order.
    mutating func remove(storedAt arrivals: Set<Int64>) -> [Place] {
        var gone: [Place: [OperationID]] = [:]
        for (place, register) in registers {
            let ids = register.words.values.filter { arrivals.contains($0.arrival) }.map(\.id)
            if !ids.isEmpty { gone[place] = ids.sorted() }
        }
        for (place, ids) in gone {
            for id in ids { remove(id, at: place) }
        }
        return gone.keys.sorted(by: Self.isBefore)
    }

    /// The word that counts.
    func current(_ place: Place) -> Word? {
        guard let register = registers[place] else { return nil }
        return register.heads.first.flatMap { register.words[$0] }
    }

    /// How many words were looked at to know what counts in a register.
    func visitCount(_ place: Place) -> Int {
        registers[place].map { $0.visitCount + $0.heads.visitCount } ?? 0
    }

    /// What whoever writes next cites: all that count as much as what he sees, the latest first.
    func heads(_ place: Place) -> [Word] {
        guard let register = registers[place] else { return [] }
        return register.heads.ids.compactMap { register.words[$0] }
            .sorted {
                ($0.timestamp.rawValue, $0.id) > ($1.timestamp.rawValue, $1.id)
            }
    }

    /// Every word that says something, in the order of arrival.
    func values(_ place: Place) -> [Word] {
        (registers[place]?.words.values.filter(\.hasValue) ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    /// Every register that has words, by member and field.
    var places: [Place] {
        registers.keys.sorted(by: Self.isBefore)
    }

    private static func isBefore(_ left: Place, _ right: Place) -> Bool {
        (left.member, left.field?.rawValue ?? 0) < (right.member, right.field?.rawValue ?? 0)
    }

    mutating func clear() { registers = [:] }
}
