import WorkspaceCrypto
import WorkspaceModel

extension OperationStore {
    /// Where a branch may end: at a place, or at the next one after it with a verified
    /// signature. A run must end on one to be accepted; signatures inside of runs are not
    /// verified, and may be garbage.
    ///
    /// - Returns: at most the tip of the branch.
    public func servableEnd(
        of branch: Int64, at place: UInt64
    ) throws(StorageError) -> UInt64 {
        guard let known = branches[branch], place < known.tipSequence else { return place }
        var end = known.tipSequence
        let sql = """
            SELECT seq, id, sig, sigok FROM operation WHERE lid = ? AND seq >= ? ORDER BY seq
            """
        try connection.statement(sql)
            .scan([.integer(branch), .integer(Int64(bitPattern: place))]) {
                (row) throws(StorageError) in
                guard row.integer(3) == 0 else {
                    end = UInt64(bitPattern: row.integer(0))
                    return .stop
                }
                guard let signature = Signature(untrusted: row.blob(2)),
                    OperationSigning.verify(
                        signature, of: try row.identifier32(1),
                        by: known.log.device)
                else { return .next }
                end = UInt64(bitPattern: row.integer(0))
                return .stop
            }
        return end
    }

    /// Removes a branch's operations after a place, or all for `nil`. Operations that other
    /// branches build on are kept, and those that cover the place (`servableEnd`).
    ///
    /// - Returns: the view positions of removed operations.
    @discardableResult
    public func cut(
        _ number: Int64, behind place: UInt64?
    ) throws(StorageError) -> [ViewStore.Position] {
        guard let branch = branches[number] else { return [] }
        recent.forget()
        guard let place, place >= branch.forkSequence else {
            let gone = try positions(in: number, branch.forkSequence...branch.tipSequence)
            unlist(branch)
            try forget(branch: number)
            return gone
        }
        let last = try servableEnd(of: number, at: place)
        guard last < branch.tipSequence, let end = try self.place(in: number, at: last) else {
            return []
        }
        try connection.statement("UPDATE operation SET sigok = 1 WHERE lid = ? AND seq = ?")
            .run(.integer(number), .integer(Int64(bitPattern: last)))
        let gone = try positions(in: number, (last + 1)...branch.tipSequence)
        try forgetAbsence(in: number, behind: last)
        try forgetCitations(of: number, behind: last)
        try connection.statement("DELETE FROM operation WHERE lid = ? AND seq > ?")
            .run(.integer(number), .integer(Int64(bitPattern: last)))
        try spans.cut(number, behind: last)
        // Another operation may follow at a fork now.
        forkIDs = [:]
        damage.forget(in: number, behind: last)
        branches[number]?.tipSequence = last
        branches[number]?.tip = end.link
        branches[number]?.tipSort = end.sort
        changeCount(
            of: branch.document, by: (branches[number]?.ownCount ?? 0) - branch.ownCount)
        dirtyBranches.insert(number)
        return gone
    }

    private func unlist(_ branch: LogBranch) {
        let place = LogPlace(branch.log, in: branch.document)
        branchesByLog[place]?.removeAll { $0 == branch.number }
        if branchesByLog[place]?.count ?? 0 <= ForkedLogIndex.branchesMax { crowded.forget(place) }
        if branchesByLog[place]?.isEmpty == true {
            branchesByLog[place] = nil
            logsByDocument[branch.document]?.removeAll { $0 == branch.log }
        }
    }

    /// The path from the start of the log to a place of a branch: the storing branches with their
    /// last places, in order.
    public func steps(
        through sequence: UInt64, of branch: Int64
    ) -> [(owner: Int64, last: UInt64)] {
        path(through: sequence, of: branch).steps.map { ($0.owner, $0.last) }
    }
}
