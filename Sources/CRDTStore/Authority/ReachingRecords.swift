import WorkspaceModel

/// The records of a revocation that together hit all that any of its records hits.
///
/// An end has a record under each grant where it counts again. All of them are about the same
/// device of the same member, and know the same. They differ only in rank and in what they undo
/// under their own grant. So the strongest is examined, and under a grant also those that undo
/// something there.
struct ReachingRecords {
    private let everywhere: [Int]
    /// By grant.
    private let undoing: [Int: [Int]]

    init(of index: Int, _ placed: PlacedOperations) {
        // The strongest comes first.
        everywhere = [index] + (placed.further.endsAgain[index] ?? []).prefix(1)
        var undoing: [Int: [Int]] = [:]
        for record in placed.further.undoingOf[index] ?? [] {
            guard let grant = placed.records[record].grant else { continue }
            undoing[grant, default: []].append(record)
        }
        self.undoing = undoing
    }

    func records(under grant: Int) -> [Int] {
        undoing[grant].map { everywhere + $0 } ?? everywhere
    }
}
