/// Which operations are ended in a past, or rest on one that is: a revocation there hits it,
/// whether that revocation has effect or not. So former admins have no say in which ends count
/// (PROTOCOL.md, 4.0).
///
/// - Cost: `looks`: for each operation on which one of those asked about rests, once, one for each
///   revocation aimed at it.
struct EndedSupports {
    private let placed: PlacedOperations
    private let voids: PlacedOperations.Voiding
    private let record: AuthRecord
    /// For each operation asked about, and each that these rest on, whether it is ended.
    private var found: [Int: Bool] = [:]
    /// How many others were examined.
    private(set) var looks = 0

    init(_ placed: PlacedOperations, before record: AuthRecord) {
        self.placed = placed
        voids = placed.voiding(placed)
        self.record = record
    }

    mutating func contains(_ index: Int) -> Bool {
        // An operation comes after those that it rests on: in the order of arrival nothing rests on
        // itself.
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
