import WorkspaceModel

/// Which operations of one document are retained: those with a reason of their own, and the causal
/// past of all of these (PROTOCOL.md, 5.4).
///
/// It is reference counting: an operation counts its own reasons, and every retained operation that
/// cites it. Citations are acyclic, so an operation with a count of zero is not needed. Therefore
/// the result is a function of the reasons, in whatever order they came and went, and a change
/// costs what it retains and drops, however large the document is.
struct KeptOperations {
    private var holds: [OperationID: Int] = [:]
    /// How many citations were followed so far: what all of it has cost.
    private(set) var followedCount = 0

    /// Whether an operation is kept.
    func contains(_ id: OperationID) -> Bool { holds[id] != nil }

    /// Gives each of these operations one more reason.
    ///
    /// - Parameter cited: what an operation has directly before it.
    /// - Returns: what was not kept before.
    mutating func hold(
        _ ids: [OperationID], citing cited: (OperationID) -> [OperationID]
    ) -> [OperationID] {
        var fresh: [OperationID] = []
        var left = ids
        while let id = left.popLast() {
            let count = holds[id] ?? 0
            holds[id] = count + 1
            guard count == 0 else { continue }
            fresh.append(id)
            let past = cited(id)
            followedCount += past.count
            left += past
        }
        return fresh
    }

    /// Takes one reason from each of these operations.
    ///
    /// - Parameter cited: as when they were held.
    /// - Returns: the operations that are no longer retained.
    mutating func release(
        _ ids: [OperationID], citing cited: (OperationID) -> [OperationID]
    ) -> [OperationID] {
        var gone: [OperationID] = []
        var left = ids
        while let id = left.popLast() {
            guard let count = holds[id] else { continue }
            guard count == 1 else {
                holds[id] = count - 1
                continue
            }
            holds[id] = nil
            gone.append(id)
            let past = cited(id)
            followedCount += past.count
            left += past
        }
        return gone
    }
}
