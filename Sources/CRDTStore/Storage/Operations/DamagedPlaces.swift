public import WorkspaceModel

/// Operations with damaged rows, which no longer give their ids.
///
/// They stay in place, and towards peers a branch ends before its first damaged place: so what is
/// needed again is requested as if it had never arrived, and then replaces the row. People still
/// see the rest of the log.
extension OperationStore {
    /// How many operations are known to be damaged.
    public var damagedCount: Int { damage.count }

    /// The damaged places among a branch's own, ascending.
    public func damaged(in branch: Int64) -> [UInt64] { damage.places(in: branch) }

    /// The branches with damaged places, by number.
    public var damagedBranches: [Int64] { damage.branches }

    /// Marks an operation as damaged; written with the next COMMIT, whenever there is one.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public func noteDamage(at sequence: UInt64, of branch: Int64) -> Bool {
        damage.note(sequence, of: branch)
    }

    /// Whether an operation belongs at a damaged place: the row has its id, or the row was lost and
    /// the next operation names it as its predecessor.
    public func fits(
        _ link: ChainLink, at sequence: UInt64, of branch: Int64
    ) throws(StorageError) -> Bool {
        guard damage.contains(sequence, in: branch),
            let place = try place(in: branch, at: sequence), place.branch == branch
        else { return false }
        if place.link.id == link.id { return true }
        guard place.link.id == .zero else { return false }
        guard !damage.contains(sequence + 1, in: branch),
            let next = try self.place(in: branch, at: sequence + 1),
            let following = try operation(next.arrival)
        else { return true }
        return StoreCheck.id(of: following, after: link.id) == next.link.id
    }

    /// Replaces the damaged row at its place.
    ///
    /// - Parameter operation: checked, and `fits` there.
    public func repair(
        with operation: CheckedOperation, of branch: Int64, in workspace: Int64
    ) throws(StorageError) {
        let header = operation.header
        let grant = try names.number(ofGrant: header.grant)
        var key: Int64?
        if let keyID = header.keyID { key = try names.number(ofKey: keyID, in: workspace) }
        try connection.statement(
            """
            UPDATE operation SET kind = ?, hlc = ?, gid = ?, kid = ?, deps = ?, sig = ?,
                sigok = ?, payload = ?, id = ? WHERE lid = ? AND seq = ?
            """
        ).run { row in
            row.bind(1, Int64(bitPattern: header.kind))
            row.bind(2, Int64(bitPattern: header.timestamp.rawValue))
            row.bind(3, grant)
            row.bind(4, key)
            row.bind(5, header.dependencies.isEmpty ? nil : encoded(header.dependencies))
            row.bind(6, operation.signature.bytes)
            row.bind(7, operation.isSignatureVerified ? 1 : 0)
            row.bind(8, operation.payload)
            row.bind(9, operation.id)
            row.bind(10, branch)
            row.bind(11, Int64(bitPattern: header.sequence))
        }
        forgetForks()
        let span = spans.span(at: header.sequence, of: branch)
        if span?.grant != grant { try respan(branch) }
        try note(header, by: .init(branch: branch, sequence: header.sequence))
        try standAgain(header, of: branch)
        if let arrival = try place(in: branch, at: header.sequence)?.arrival {
            try forgetAbsence(of: arrival)
            if operation.isPayloadAbsent { try noteMissing(header, arrival: arrival) }
        }
        damage.forget(header.sequence, of: branch)
    }

    /// Restores the display position of an operation whose row was lost, as far as its timestamp
    /// and its neighbours determine it.
    private func standAgain(
        _ header: OperationHeader, of branch: Int64
    ) throws(StorageError) {
        let sequence = Int64(bitPattern: header.sequence)
        // A never received row was created for one that was lost.
        let wasLost = try connection.statement(
            "SELECT 1 FROM operation WHERE lid = ? AND seq = ? AND seen = 0"
        ).integer(.integer(branch), .integer(sequence))
        guard wasLost != nil else { return }
        let before = try connection.statement(
            "SELECT max(sort) FROM operation WHERE lid = ? AND seq < ? AND seen > 0"
        ).integer(.integer(branch), .integer(sequence))
        let after = try connection.statement(
            "SELECT min(sort) FROM operation WHERE lid = ? AND seq > ? AND seen > 0"
        ).integer(.integer(branch), .integer(sequence))
        let own = Int64(clamping: header.timestamp.rawValue)
        let sort = max((before ?? 0) &+ 1, min(own, after.map { $0 - 1 } ?? .max))
        try connection.statement(
            "UPDATE operation SET sort = ?, seen = ? WHERE lid = ? AND seq = ?"
        ).run(
            .integer(sort), .integer(Int64(clamping: header.timestamp.milliseconds)),
            .integer(branch), .integer(sequence))
        guard var tip = branches[branch], tip.tipSequence == header.sequence else { return }
        tip.tipSort = sort
        tip.tip = ChainLink(id: tip.tip.id, timestamp: header.timestamp)
        branches[branch] = tip
        dirtyBranches.insert(branch)
    }

    /// Cached ids from rows may be outdated now.
    private func forgetForks() {
        recent.forget()
        forkIDs = [:]
        crowded.forget(nil)
    }

    /// Restores the id of an operation, as its bytes and its successor give it.
    public func restore(_ id: OperationID, at place: StoredPlace) throws(StorageError) {
        forgetForks()
        try connection.statement("UPDATE operation SET id = ? WHERE lid = ? AND seq = ?").run(
            .blob(id.bytes), .integer(place.branch), .integer(Int64(bitPattern: place.sequence)))
    }

    /// Repairs tips of logs whose row has another id than the last operation: the operation's bytes
    /// decide which of the two is wrong.
    public func mendTips() throws(StorageError) {
        for var branch in branches.values.sorted(by: { $0.number < $1.number }) {
            guard let place = try place(in: branch.number, at: branch.tipSequence),
                place.link.id != branch.tip.id, let stored = try operation(place.arrival)
            else { continue }
            let found = StoreCheck.id(of: stored, after: try previous(of: place))
            if found == branch.tip.id {
                try restore(found, at: place)
            } else if found == place.link.id {
                branch.tip = place.link
                branches[branch.number] = branch
                dirtyBranches.insert(branch.number)
            }
        }
    }

    /// A branch as peers may see it: up to its first damaged place. `nil` if
    /// nothing of its own remains.
    public func intact(_ branch: LogBranch) throws(StorageError) -> LogBranch? {
        guard !damage.isEmpty, let first = firstDamage(of: branch) else { return branch }
        guard first > branch.forkSequence,
            let end = try place(in: branch.number, at: first - 1)
        else { return nil }
        var seen = branch
        seen.tipSequence = first - 1
        seen.tip = end.link
        if let kept = branch.kept, kept.sequence >= first {
            seen.kept = .init(sequence: first - 1, id: end.link.id)
        }
        return seen
    }

    /// The branches of a log as peers may see them.
    public func intactBranches(
        of log: LogName, in workspace: Int64
    ) throws(StorageError) -> [LogBranch] {
        try intact(branches(of: log, in: workspace))
    }

    /// The branches of a document as peers may see them.
    public func intactBranches(
        in document: DocumentID, of workspace: Int64
    ) throws(StorageError) -> [LogBranch] {
        try intact(branches(in: document, of: workspace))
    }

    private func intact(_ branches: [LogBranch]) throws(StorageError) -> [LogBranch] {
        guard !damage.isEmpty else { return branches }
        var seen: [LogBranch] = []
        for branch in branches { try intact(branch).map { seen.append($0) } }
        return seen
    }

    private func firstDamage(of branch: LogBranch) -> UInt64? {
        for step in path(through: branch.tipSequence, of: branch.number).steps {
            if let found = damage.first(in: step.owner, through: step.last) { return found }
        }
        return nil
    }

    func flushDamage() throws(StorageError) { try damage.flush() }
}
