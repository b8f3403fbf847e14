import WorkspaceModel

/// An index by id of the operations in logs with many branches. In other logs the place is enough:
/// few rows share one.
///
/// It is built when a log above the limit of branches is accessed, and dropped with those branches.
struct ForkedLogIndex {
    /// Branches of a log up to which all of them are searched.
    static let branchesMax = Limits.branchesMax + Limits.voidBranchesMax

    private var branches: [LogPlace: [OperationID: Int64]] = [:]

    /// Whether the index covers a log.
    func has(_ log: LogPlace) -> Bool { branches[log] != nil }

    /// The indexed branch of an operation, which may be removed by now.
    func branch(of id: OperationID, in log: LogPlace) -> Int64? {
        branches[log]?[id]
    }

    /// Starts indexing a log.
    mutating func begin(_ log: LogPlace) { branches[log] = [:] }

    /// Adds an operation that is not on the log's first branch, if the log is indexed.
    mutating func note(_ id: OperationID, on branch: LogBranch) {
        guard branch.parent != nil else { return }
        branches[LogPlace(branch.log, in: branch.document)]?[id] = branch.number
    }

    /// Drops a log, or all of them for `nil`.
    mutating func forget(_ log: LogPlace?) {
        if let log { branches[log] = nil } else { branches = [:] }
    }
}

extension OperationStore {
    /// Finds an operation of a log with many branches.
    ///
    /// - Cost: constant, once the log was scanned.
    func findCrowded(
        _ reference: OperationReference, in log: LogPlace, _ numbers: [Int64]
    ) throws(StorageError) -> StoredPlace? {
        if !crowded.has(log) { try index(crowded: log, numbers) }
        var candidates = numbers.prefix { branches[$0]?.parent == nil }
        if let branch = crowded.branch(of: reference.id, in: log) { candidates.append(branch) }
        for number in candidates {
            guard let branch = branches[number], branch.forkSequence <= reference.sequence,
                branch.tipSequence >= reference.sequence,
                let place = try place(in: number, at: reference.sequence),
                place.link.id == reference.id
            else { continue }
            return place
        }
        return nil
    }

    private func index(crowded log: LogPlace, _ numbers: [Int64]) throws(StorageError) {
        crowded.begin(log)
        let statement = try connection.statement("SELECT id FROM operation WHERE lid = ?")
        for number in numbers {
            guard let branch = branches[number], branch.parent != nil else { continue }
            try statement.forEachRow(.integer(number)) { row in
                // A damaged row has no id to index.
                if let id: OperationID = try? row.identifier32(0) { crowded.note(id, on: branch) }
            }
        }
    }
}
