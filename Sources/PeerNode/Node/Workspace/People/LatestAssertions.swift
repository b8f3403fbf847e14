import WorkspaceModel

/// The latest non-empty values of one register that count: the current one, and as many as former
/// names are shown.
///
/// A member may write any number of them, so nothing here scans all of them, except once after one
/// of the latest was removed.
struct LatestAssertions {
    /// The latest last.
    private(set) var assertions: [ProfileRegisters.Assertion] = []
    /// Whether one was removed that an earlier one may replace.
    private(set) var isShort = false

    /// Whether every assertion of the register is here.
    var isWhole: Bool { !isShort && assertions.count < Self.countMax }

    private static let countMax = Limits.formerNamesMax + 1

    /// Takes an assertion up that counts and says something.
    mutating func insert(_ assertion: ProfileRegisters.Assertion) {
        let place = assertions.firstIndex { Self.isBefore(assertion, $0) } ?? assertions.count
        guard assertions.count >= Self.countMax else {
            return assertions.insert(assertion, at: place)
        }
        guard place > 0 else { return }
        assertions.insert(assertion, at: place)
        assertions.removeFirst()
    }

    mutating func remove(_ id: OperationID) {
        guard let place = assertions.firstIndex(where: { $0.id == id }) else { return }
        if assertions.count >= Self.countMax { isShort = true }
        assertions.remove(at: place)
    }

    /// Finds the latest among all.
    mutating func refill(from all: some Sequence<ProfileRegisters.Assertion>) {
        self = LatestAssertions()
        for assertion in all where assertion.isValid && assertion.hasValue { insert(assertion) }
    }

    private static func isBefore(
        _ one: ProfileRegisters.Assertion, _ other: ProfileRegisters.Assertion
    ) -> Bool {
        (one.timestamp.rawValue, one.id) < (other.timestamp.rawValue, other.id)
    }
}
