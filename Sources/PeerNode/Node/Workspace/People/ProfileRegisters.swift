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
    struct Assertion: Equatable {
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
        var assertions: [OperationID: Assertion] = [:]
        /// How many valid assertions cite an id.
        var citations: [OperationID: Int] = [:]
        /// The valid assertions that no other one cites.
        var heads = ProfileHeads()
        private var latest = LatestAssertions()
        /// Citations that were followed.
        var visitCount = 0

        mutating func take(_ assertion: Assertion) {
            assertions[assertion.id] = assertion
            guard assertion.isValid else { return }
            if assertion.hasValue { latest.insert(assertion) }
            if citations[assertion.id] == nil {
                heads.insert(assertion.id, at: assertion.timestamp)
            }
            for id in assertion.cited { cite(id) }
        }

        mutating func remove(_ assertion: Assertion) {
            assertions[assertion.id] = nil
            heads.remove(assertion.id)
            guard assertion.isValid else { return }
            latest.remove(assertion.id)
            for id in assertion.cited { uncite(id) }
        }

        /// The latest that count and say something.
        mutating func latestAssertions() -> LatestAssertions {
            if latest.isShort {
                visitCount += assertions.count
                latest.refill(from: assertions.values)
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
            guard count == 1, let assertion = assertions[id], assertion.isValid else { return }
            heads.insert(id, at: assertion.timestamp)
        }
    }

    private var registers: [Place: Register] = [:]
    /// Where the operation with an arrival number is.
    private var stored: [Int64: (place: Place, id: OperationID)] = [:]

    /// Folds an operation; one that is known with another verdict is judged again.
    ///
    /// - Cost: what the operation cites.
    mutating func take(_ assertion: Assertion, at place: Place) {
        let known = registers[place]?.assertions[assertion.id]
        guard known != assertion else { return }
        if known != nil { remove(assertion.id, at: place) }
        registers[place, default: Register()].take(assertion)
        stored[assertion.arrival] = (place, assertion.id)
    }

    /// Forgets an operation: it was redacted.
    ///
    /// - Cost: as for `take`.
    /// - Returns: whether it was there.
    @discardableResult
    mutating func remove(_ id: OperationID, at place: Place) -> Bool {
        guard let assertion = registers[place]?.assertions[id] else { return false }
        registers[place]?.remove(assertion)
        stored[assertion.arrival] = nil
        if registers[place]?.assertions.isEmpty == true { registers[place] = nil }
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

    /// The assertion that counts.
    func current(_ place: Place) -> Assertion? {
        guard let register = registers[place] else { return nil }
        return register.heads.first.flatMap { register.assertions[$0] }
    }

    /// How many assertions were looked at to know what counts in a register.
    func visitCount(_ place: Place) -> Int {
        registers[place].map { $0.visitCount + $0.heads.visitCount } ?? 0
    }

    /// What the next assertion cites: all heads, the latest first, at most
    /// `Limits.dependenciesMax`. When these are few, it also cites what they cite, so that an older
    /// value is overwritten even if one of the heads loses its effect.
    func whatToCite(_ place: Place) -> [Assertion] {
        guard let assertions = registers[place]?.assertions else { return [] }
        var found = Array(heads(place).prefix(Limits.dependenciesMax))
        var next = 0
        while found.count < Limits.overwrittenMin, next < found.count {
            for id in found[next].cited where found.count < Limits.overwrittenMin {
                guard let assertion = assertions[id], !found.contains(assertion) else { continue }
                found.append(assertion)
            }
            next += 1
        }
        return found
    }

    /// The valid assertions that no other one cites, the latest first.
    func heads(_ place: Place) -> [Assertion] {
        guard let register = registers[place] else { return [] }
        return register.heads.ids.compactMap { register.assertions[$0] }
            .sorted {
                ($0.timestamp.rawValue, $0.id) > ($1.timestamp.rawValue, $1.id)
            }
    }

    /// The latest valid assertions that say something.
    ///
    /// - Cost: as many as former names are taken; after one of them was taken out, once all.
    mutating func latest(_ place: Place) -> LatestAssertions {
        registers[place]?.latestAssertions() ?? LatestAssertions()
    }

    /// Every assertion that says something, in the order of arrival.
    func values(_ place: Place) -> [Assertion] {
        (registers[place]?.assertions.values.filter(\.hasValue) ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    /// Every register that has assertions, by member and subject.
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
