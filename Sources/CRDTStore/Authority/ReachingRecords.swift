import WorkspaceModel

/// Those of a revocation's records that reach what any of them does.
///
/// An end has a record under each grant where it counts again. They are about the same device of the same
/// member, and know the same: only their rank differs, and what they undo under their own grant. So
/// the strongest of them is asked, and under a grant those that undo something there.
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
