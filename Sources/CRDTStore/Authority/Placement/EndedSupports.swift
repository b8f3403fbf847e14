/// Which operations are ended in a past, or rest on something that is: a revocation there hits it, whether
/// that has effect or not. Who was an admin says nothing of which ends count (PROTOCOL.md, 4.0).
///
/// - Cost: for each operation that one of those asked for rests on, once, a look for each revocation aimed at
///   it. What was found free of that is not walked again.
struct EndedSupports {
    private let placed: PlacedOperations
    private let voids: PlacedOperations.Voiding
    private let record: AuthRecord
    private var known: [Int: Bool] = [:]
    /// What is ended, and what is not, of all that was asked for.
    private var ended: Set<Int> = []
    private var free: Set<Int> = []

    init(_ placed: PlacedOperations, before record: AuthRecord) {
        self.placed = placed
        voids = placed.voiding(placed)
        self.record = record
    }

    mutating func contains(_ index: Int) -> Bool {
        if ended.contains(index) { return true }
        var open = [index]
        var seen: Set<Int> = []
        while let next = open.popLast() {
            guard !free.contains(next), seen.insert(next).inserted else { continue }
            if ended.contains(next) || isHit(next) {
                ended.insert(index)
                return true
            }
            open += placed.records[next].supports
        }
        free.formUnion(seen)
        return false
    }

    private mutating func isHit(_ index: Int) -> Bool {
        if let found = known[index] { return found }
        let found = (placed.exposure(of: index)?.targets ?? []).contains { target in
            (placed.reach.revocations[target] ?? []).contains { end in
                !placed.records[end].operation.action.isConfirmation
                    && record.knows(placed.records[end].place) && voids(end, index)
            }
        }
        known[index] = found
        return found
    }
}
