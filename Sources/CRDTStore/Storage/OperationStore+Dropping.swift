import WorkspaceModel

/// Dropping what is damaged, so that it can come again.
extension OperationStore {
    /// Removes the end of a branch from `sequence` on, with everything that forks off behind that.
    ///
    /// What is dropped is nothing that peers would lack: the tips go back, so the next comparison
    /// brings it again.
    ///
    /// - Returns: how many operations were removed.
    public func drop(branch number: Int64, from sequence: UInt64) throws(StorageError) -> Int64 {
        var left: [(number: Int64, from: UInt64)] = [(number, sequence)]
        var dropped: Int64 = 0
        while let (number, sequence) = left.popLast() {
            guard let branch = branches[number], branch.tipSequence >= sequence else { continue }
            for child in branches.values.sorted(by: { $0.number < $1.number })
            where child.parent == number && child.forkSequence > sequence {
                left.append((child.number, child.forkSequence))
            }
            try connection.statement("DELETE FROM operation WHERE lid = ? AND seq >= ?")
                .run(.integer(number), .integer(Int64(bitPattern: sequence)))
            let removed = Int64(connection.changedRowCount)
            dropped += removed
            count -= removed
            if sequence <= branch.forkSequence {
                try remove(branch)
            } else {
                try shorten(branch, to: sequence - 1)
            }
        }
        return dropped
    }

    private func shorten(_ branch: LogBranch, to sequence: UInt64) throws(StorageError) {
        guard let place = try place(in: branch.number, at: sequence) else {
            throw StorageError(.corrupt, "a log with a hole", statement: "drop")
        }
        var branch = branch
        branch.tipSequence = sequence
        branch.tip = place.link
        branch.tipSort = place.sort
        branches[branch.number] = branch
        dirtyBranches.insert(branch.number)
        if let kept = branch.kept, kept.sequence > sequence {
            setKept(.init(sequence: sequence, id: place.link.id), of: branch.number)
        }
    }

    private func remove(_ branch: LogBranch) throws(StorageError) {
        branches[branch.number] = nil
        dirtyBranches.remove(branch.number)
        branchesByLog[branch.log]?.removeAll { $0 == branch.number }
        if branchesByLog[branch.log]?.isEmpty ?? false {
            branchesByLog[branch.log] = nil
            logsByDocument[branch.log.document]?.removeAll { $0 == branch.log }
        }
        for table in ["log", "held", "evidence"] {
            try connection.statement("DELETE FROM \(table) WHERE lid = ?")
                .run(.integer(branch.number))
        }
        // A comparison looks for what changed since; a branch that is gone has to be noticed too.
        arrival += 1
    }
}
