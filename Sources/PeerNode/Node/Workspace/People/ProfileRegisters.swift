import WorkspaceModel

/// What members said about themselves and call their devices: for each member and subject the
/// operations, and which of them counts (PROTOCOL.md, 3.2).
///
/// The one that counts is valid and cited by no other valid one; of several it is the one with the
/// largest (hlc, id). So it is a function of the set of operations and their verdicts. No text is
/// stored here: a value is decrypted from the operation that counts.
struct ProfileRegisters {
    /// The subject of a member's assertion.
    enum Subject: Hashable {
        case name
        case field(ProfileChange.Field)
        /// The name of a device. Whose it is shows only when that is looked up.
        case device(DeviceID)

        /// The one that is named; `nil` of what is about the member.
        var device: DeviceID? {
            if case .device(let device) = self { device } else { nil }
        }
    }

    /// One register.
    struct Place: Hashable {
        let member: MemberID
        let subject: Subject
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
        /// How many valid words cite an id.
        var citations: [OperationID: Int] = [:]
        /// The valid words that no other one cites.
        var heads = ProfileHeads()
        private var latest = LatestWords()
        /// Citations that were followed.
        var visitCount = 0

        mutating func take(_ word: Word) {
            words[word.id] = word
            guard word.isValid else { return }
            if word.hasValue { latest.insert(word) }
            if citations[word.id] == nil { heads.insert(word.id, at: word.timestamp) }
            for id in word.cited { cite(id) }
        }

        mutating func remove(_ word: Word) {
            words[word.id] = nil
            heads.remove(word.id)
            guard word.isValid else { return }
            latest.remove(word.id)
            for id in word.cited { uncite(id) }
        }

        /// The latest that count and say something.
        mutating func latestWords() -> LatestWords {
            if latest.isShort {
                visitCount += words.count
                latest.refill(from: words.values)
            }
            return latest
        }

        private mutating func cite(_ id: OperationID) {
            visitCount += 1
            citations[id, default: 0] += 1
            heads.remove(id)
        }

        private mutating func uncite(_ id: OperationID) {
            visitCount += 1
            guard let count = citations[id] else { return }
            citations[id] = count > 1 ? count - 1 : nil
            guard count == 1, let word = words[id], word.isValid else { return }
            heads.insert(id, at: word.timestamp)
        }
    }

    private var registers: [Place: Register] = [:]
    /// Where the operation with an arrival number is.
    private var stored: [Int64: (place: Place, id: OperationID)] = [:]

    /// Folds an operation; one that is known with another verdict is judged again.
    ///
    /// - Cost: what the operation cites.
    mutating func take(_ word: Word, at place: Place) {
        let known = registers[place]?.words[word.id]
        guard known != word else { return }
        if known != nil { remove(word.id, at: place) }
        registers[place, default: Register()].take(word)
        stored[word.arrival] = (place, word.id)
    }

    /// Forgets an operation: it was redacted.
    ///
    /// - Cost: as for `take`.
    /// - Returns: whether it was there.
    @discardableResult
    mutating func remove(_ id: OperationID, at place: Place) -> Bool {
        guard let word = registers[place]?.words[id] else { return false }
        registers[place]?.remove(word)
        stored[word.arrival] = nil
        if registers[place]?.words.isEmpty == true { registers[place] = nil }
        return true
    }

    /// Forgets what an operation said.
    ///
    /// - Returns: the register in which it was.
    mutating func remove(storedAt arrival: Int64) -> Place? {
        guard let (place, id) = stored[arrival] else { return nil }
        remove(id, at: place)
        return place
    }

    /// Drops operations that are no longer stored.
    ///
    /// - Returns: the registers in which they were, in order.
    mutating func remove(storedAt arrivals: Set<Int64>) -> [Place] {
        var places: Set<Place> = []
        for arrival in arrivals.sorted() {
            if let place = remove(storedAt: arrival) { places.insert(place) }
        }
        return places.sorted(by: Self.isBefore)
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

    /// What the next assertion cites: all heads, the latest first, at most
    /// `Limits.dependenciesMax`. When these are few, it also cites what they cite, so that an older
    /// value is overwritten even if one of the heads loses its effect.
    func whatToCite(_ place: Place) -> [Word] {
        guard let words = registers[place]?.words else { return [] }
        var found = Array(heads(place).prefix(Limits.dependenciesMax))
        var next = 0
        while found.count < Limits.overwrittenMin, next < found.count {
            for id in found[next].cited where found.count < Limits.overwrittenMin {
                guard let word = words[id], !found.contains(word) else { continue }
                found.append(word)
            }
            next += 1
        }
        return found
    }

    /// The valid words that no other one cites, the latest first.
    func heads(_ place: Place) -> [Word] {
        guard let register = registers[place] else { return [] }
        return register.heads.ids.compactMap { register.words[$0] }
            .sorted {
                ($0.timestamp.rawValue, $0.id) > ($1.timestamp.rawValue, $1.id)
            }
    }

    /// The latest valid words that say something.
    ///
    /// - Cost: as many as former names are taken; after one of them was taken out, once all.
    mutating func latest(_ place: Place) -> LatestWords {
        registers[place]?.latestWords() ?? LatestWords()
    }

    /// Every word that says something, in the order of arrival.
    func values(_ place: Place) -> [Word] {
        (registers[place]?.words.values.filter(\.hasValue) ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    /// Every register that has words, by member and subject.
    var places: [Place] {
        registers.keys.sorted(by: Self.isBefore)
    }

    private static func isBefore(_ left: Place, _ right: Place) -> Bool {
        (left.member, left.subject) < (right.member, right.subject)
    }

    mutating func clear() {
        registers = [:]
        stored = [:]
    }
}

extension ProfileRegisters.Subject: Comparable {
    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    /// The name, the fields, the devices.
    private var rank: (UInt64, DeviceID) {
        switch self {
        case .name: (0, .lowest)
        case .field(let field): (field.rawValue, .lowest)
        case .device(let device): (.max, device)
        }
    }
}

extension DeviceID {
    fileprivate static let lowest = DeviceID([UInt8](repeating: 0, count: 32))
}
