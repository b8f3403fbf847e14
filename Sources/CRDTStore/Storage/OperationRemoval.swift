extension OperationStore {
    /// Removes what a branch holds behind a place, all of it where that is `nil`. What other
    /// branches build on stays.
    ///
    /// - Returns: where what is gone stood in the view.
    @discardableResult
    public func cut(
        _ number: Int64, behind place: UInt64?
    ) throws(StorageError) -> [ViewStore.Position] {
        guard let branch = branches[number] else { return [] }
        guard let place, place >= branch.forkSequence else {
            let gone = try positions(in: number, branch.forkSequence...branch.tipSequence)
            unlist(branch)
            try forget(branch: number)
            return gone
        }
        guard place < branch.tipSequence, let end = try self.place(in: number, at: place) else {
            return []
        }
        let gone = try positions(in: number, (place + 1)...branch.tipSequence)
        try forgetAbsence(in: number, behind: place)
        for table in ["operation WHERE lid = ? AND seq", "grant_span WHERE lid = ? AND first"] {
            try connection.statement("DELETE FROM \(table) > ?")
                .run(.integer(number), .integer(Int64(bitPattern: place)))
        }
        spansByBranch[number]?.removeAll { $0.first > place }
        forgetDamage(in: number, behind: place)
        count -= branch.ownCount
        branches[number]?.tipSequence = place
        branches[number]?.tip = end.link
        branches[number]?.tipSort = end.sort
        count += branches[number]?.ownCount ?? 0
        dirtyBranches.insert(number)
        return gone
    }

    private func unlist(_ branch: LogBranch) {
        let place = LogPlace(branch.log, in: branch.document)
        branchesByLog[place]?.removeAll { $0 == branch.number }
        if branchesByLog[place]?.isEmpty == true {
            branchesByLog[place] = nil
            logsByDocument[branch.document]?.removeAll { $0 == branch.log }
        }
    }

    /// The way from the start of the log to a place of a branch: whose rows hold it, each to its
    /// last place, in order.
    public func steps(
        through sequence: UInt64, of branch: Int64
    ) -> [(owner: Int64, last: UInt64)] {
        path(through: sequence, of: branch).steps.map { ($0.owner, $0.last) }
    }
}
