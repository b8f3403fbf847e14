import WorkspaceModel

/// What one author has said in one register.
struct AuthorAttestations {
    private(set) var assertions: [OperationID: AttestationBook.Assertion] = [:]
    /// The valid ones that may have standing, in ascending order, which is that of their times, too.
    private var rows: [AttestationBook.VerdictRange: [(sequence: UInt64, id: OperationID)]] = [:]
    /// Whether `rows` says something else than `assertions`.
    private var isStale = false

    private static func mayStand(_ assertion: AttestationBook.Assertion) -> Bool {
        assertion.isValid
            && (assertion.author != assertion.said.member || assertion.said.proof == nil)
    }

    mutating func take(_ assertion: AttestationBook.Assertion) {
        let known = assertions.updateValue(assertion, forKey: assertion.id)
        guard known == nil else { return isStale = isStale || known != assertion }
        guard Self.mayStand(assertion) else { return }
        let last = rows[assertion.range]?.last?.sequence
        if last.map({ $0 < assertion.sequence }) ?? true {
            rows[assertion.range, default: []].append((assertion.sequence, assertion.id))
        } else {
            isStale = true
        }
    }

    mutating func remove(_ id: OperationID) {
        if assertions.removeValue(forKey: id) != nil { isStale = true }
    }

    mutating func settle() {
        guard isStale else { return }
        isStale = false
        rows = Dictionary(grouping: assertions.values.filter(Self.mayStand), by: \.range)
            .mapValues { row in
                row.map { (sequence: $0.sequence, id: $0.id) }.sorted { $0.sequence < $1.sequence }
            }
    }

    /// The valid ones with the largest (hlc, id), up to a number.
    ///
    /// - Parameter bound: up to which place of its range an assertion like this one is valid, if
    ///   anywhere.
    func standing<Failure: Error>(
        max: Int, bound: (AttestationBook.Assertion) throws(Failure) -> UInt64?
    ) throws(Failure) -> [AttestationBook.Assertion] {
        var found: [AttestationBook.Assertion] = []
        for row in rows.values {
            guard let first = row.first.flatMap({ assertions[$0.id] }), let last = try bound(first)
            else { continue }
            found += Self.prefix(row, through: last).suffix(max).compactMap { assertions[$0.id] }
        }
        guard found.count > max else { return found }
        return Array(found.sorted { AttestationBook.Assertion.isEarlier($1, $0) }.prefix(max))
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
    /// range is examined.
    func latestValue(max: Int) -> AttestationBook.Assertion? {
        rows.values.compactMap { row in
            row.suffix(max).reversed().lazy.compactMap { assertions[$0.id] }
                .first { $0.said.proof != nil }
        }.max(by: AttestationBook.Assertion.isEarlier)
    }
}
