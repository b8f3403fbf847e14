import WorkspaceModel

/// Where the operations of logs with many branches are, by id. Elsewhere a place says it: few rows
/// have the same one.
///
/// It is made when a log is looked at that has more branches than count, and is gone with them.
struct CrowdedLogs {
    /// Branches of a log up to which each of them is looked at.
    static let branchesMax = Limits.branchesMax + Limits.voidBranchesMax

    private var branches: [LogPlace: [OperationID: Int64]] = [:]

    /// Whether it has a log.
    func has(_ log: LogPlace) -> Bool { branches[log] != nil }

    /// The branch that was noted for an operation. It may be gone since.
    func branch(of id: OperationID, in log: LogPlace) -> Int64? {
        branches[log]?[id]
    }

    /// Begins with a log.
    mutating func begin(_ log: LogPlace) { branches[log] = [:] }

    /// Notes an operation that is not on the log's first branch, if the log is one of these.
    mutating func note(_ id: OperationID, on branch: LogBranch) {
        guard branch.parent != nil else { return }
        branches[LogPlace(branch.log, in: branch.document)]?[id] = branch.number
    }

    /// Forgets a log, all of them where it is `nil`.
    mutating func forget(_ log: LogPlace?) {
        if let log { branches[log] = nil } else { branches = [:] }
    }
}

extension OperationStore {
    /// An operation of a log with many branches.
    ///
    /// - Cost: that of one place, once the log was gone through.
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
                // Of a damaged row there is no id to be found by.
                if let id: OperationID = try? row.identifier32(0) { crowded.note(id, on: branch) }
            }
        }
    }
}
