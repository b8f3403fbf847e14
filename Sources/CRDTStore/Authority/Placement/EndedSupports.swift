/// Which operations are ended in a past, or rest on something that is: a revocation there hits it, whether
/// that has effect or not. Who was an admin says nothing of which ends count (PROTOCOL.md, 4.0).
///
/// - Cost: `looks`: for each operation that one of those asked for rests on, once, one for each revocation
///   aimed at it.
struct EndedSupports {
    private let placed: PlacedOperations
    private let voids: PlacedOperations.Voiding
    private let record: AuthRecord
    /// Whether it is ended, of each that was asked for and of what these rest on.
    private var found: [Int: Bool] = [:]
    /// How many others were looked at.
    private(set) var looks = 0

    init(_ placed: PlacedOperations, before record: AuthRecord) {
        self.placed = placed
        voids = placed.voiding(placed)
        self.record = record
    }

    mutating func contains(_ index: Int) -> Bool {
        // What rests on others comes behind them: in the order of arrival nothing rests on itself.
        var open = [(index: index, isEntered: false)]
        while let (next, isEntered) = open.popLast() {
            guard found[next] == nil else { continue }
            let supports = placed.records[next].supports
            if isEntered {
                found[next] = supports.contains { found[$0] == true }
            } else if isHit(next) {
                found[next] = true
            } else {
                open.append((next, true))
                open += supports.map { ($0, false) }
            }
        }
        return found[index] == true
    }

    private mutating func isHit(_ index: Int) -> Bool {
        let aimed = (placed.exposure(of: index)?.targets ?? []).map {
            placed.reach.revocations[$0] ?? []
        }
        looks &+= aimed.reduce(1) { $0 &+ $1.count }
        return aimed.contains {
            $0.contains { end in
                !placed.records[end].operation.action.isConfirmation
                    && record.knows(placed.records[end].place) && voids(end, index)
            }
        }
    }
}
