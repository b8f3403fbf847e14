public import WorkspaceModel

/// The place of a stored operation, and what is needed to cite or continue it.
public struct StoredPlace: Sendable, Equatable {
    /// Its arrival number.
    public let arrival: Int64
    /// The branch whose row holds it.
    public let branch: Int64
    /// Its place in the log.
    public let sequence: UInt64
    /// Its id and timestamp.
    public let link: ChainLink
    /// Its display order.
    public let sort: Int64
}

/// A stored operation.
public struct StoredOperation: Sendable {
    /// Its place.
    public let place: StoredPlace
    /// The short number of its document.
    public let document: Int64
    /// Its log.
    public let log: LogName
    /// The operation as it is sent, without the fields that its place determines.
    public let entry: OperationRun.Entry
    /// When it arrived, milliseconds.
    public let seen: Int64
    /// The number of its grant.
    public let grantNumber: Int64
    /// Whether this signature was verified on arrival.
    public let isSignatureVerified: Bool
}

extension OperationStore {
    /// The first stored arrival number from `first` on, for scans.
    public func nextArrival(from first: Int64) throws(StorageError) -> Int64? {
        try connection.statement("SELECT min(arr) FROM operation WHERE arr >= ?")
            .integer(.integer(first))
    }

    /// The logs with more branches than count, each with the short number of its document, in
    /// order.
    public var crowdedLogs: [(document: Int64, log: LogName)] {
        branchesByLog.filter { $0.value.count > Limits.branchesMax }
            .compactMap { place, numbers in
                numbers.first.flatMap { branches[$0] }.map { (place.document, $0.log) }
            }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    }

    /// The branches of a log of a workspace, oldest first; empty if nothing of it is stored.
    public func branches(of log: LogName, in workspace: Int64) -> [LogBranch] {
        guard let document = document(log.document, in: workspace) else { return [] }
        return branches(of: log, numbered: document.number)
    }

    /// All branches of the log that a branch belongs to, oldest first.
    func branches(of branch: LogBranch) -> [LogBranch] {
        branches(of: branch.log, numbered: branch.document)
    }

    /// The number of a log's first branch: later logs have larger ones.
    public func firstBranch(of log: LogName, in workspace: Int64) -> Int64? {
        guard let document = document(log.document, in: workspace) else { return nil }
        return branchesByLog[LogPlace(log, in: document.number)]?.first
    }

    /// The number of stored branches of a log of a workspace.
    public func branchCount(of log: LogName, in workspace: Int64) -> Int {
        guard let document = document(log.document, in: workspace) else { return 0 }
        return branchesByLog[LogPlace(log, in: document.number)]?.count ?? 0
    }

    /// The tips of branches.
    public func tipEnds(of branches: [LogBranch]) -> BranchEnds {
        Dictionary(branches.map { ($0.number, $0.tipSequence) }) { first, _ in first }
    }

    private func branches(of log: LogName, numbered document: Int64) -> [LogBranch] {
        (branchesByLog[LogPlace(log, in: document)] ?? []).compactMap { branches[$0] }
    }

    /// Whether one of these devices has written into a document.
    public func hasLog(
        of devices: Set<DeviceID>, in document: DocumentID, of workspace: Int64
    ) -> Bool {
        guard let number = self.document(document, in: workspace)?.number else { return false }
        return logsByDocument[number]?.contains { devices.contains($0.device) } == true
    }

    /// All branches of all logs of a document, in the order of log names.
    public func branches(in document: DocumentID, of workspace: Int64) -> [LogBranch] {
        guard let number = self.document(document, in: workspace)?.number else { return [] }
        let found = (logsByDocument[number] ?? []).sorted()
            .flatMap { branches(of: $0, numbered: number) }
        listedCount &+= found.count
        return found
    }

    /// One branch.
    public func branch(_ number: Int64) -> LogBranch? { branches[number] }

    /// Branches whose kept tip changed after `arrival`, of the given documents.
    public func branches(
        changedAfter arrival: Int64, workspace: Int64
    ) -> [LogBranch] {
        // Usually nothing has changed, and then no branch is visited.
        guard newestChange > arrival else { return [] }
        return branches.values
            .filter {
                $0.changedArrival > arrival && documents[$0.document]?.workspace == workspace
            }
            .sorted { ($0.log, $0.number) < ($1.log, $1.number) }
    }

    /// The operation at `sequence` of a branch, which may be its parent's.
    public func place(
        in branch: Int64, at sequence: UInt64
    ) throws(StorageError) -> StoredPlace? {
        guard let row = owner(of: sequence, in: branch) else { return nil }
        if let newest = recent.newest?.place, newest.branch == row, newest.sequence == sequence {
            return newest
        }
        let sql = "SELECT arr, hlc, sort, id FROM operation WHERE lid = ? AND seq = ?"
        return try connection.statement(sql)
            .firstRow(.integer(row), .integer(Int64(bitPattern: sequence))) {
                (found) throws(StorageError) in
                StoredPlace(
                    arrival: found.integer(0), branch: row, sequence: sequence,
                    link: ChainLink(
                        id: try found.identifier32(3),
                        timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: found.integer(1)))),
                    sort: found.integer(2))
            }
    }

    /// The time of an operation, as far as it is credible: a timestamp more than
    /// `Limits.credibleLeadMillisecondsMax` after its arrival counts as the time of arrival. `nil`
    /// if no operation has this arrival number.
    public func credibleTime(at arrival: Int64) throws(StorageError) -> HybridTimestamp? {
        if let known = recent.time(at: arrival) { return known }
        let time = try connection.statement("SELECT hlc, seen FROM operation WHERE arr = ?")
            .firstRow(.integer(arrival)) { row in
                HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(0)))
                    .credible(at: UInt64(max(row.integer(1), 0)))
            }
        recent.keep(time, at: arrival)
        return time
    }

    /// The stored operation of `reference`, in `document` of a workspace.
    public func find(
        _ reference: OperationReference, in document: DocumentID, of workspace: Int64
    ) throws(StorageError) -> StoredPlace? {
        guard let number = self.document(document, in: workspace)?.number else { return nil }
        let log = LogName(
            document: document, device: reference.device, incarnation: reference.incarnation)
        let key = LogPlace(log, in: number)
        let numbers = branchesByLog[key] ?? []
        guard numbers.count <= ForkedLogIndex.branchesMax else {
            return try findCrowded(reference, in: key, numbers)
        }
        for branch in numbers.lazy.compactMap({ self.branches[$0] })
        where branch.tipSequence >= reference.sequence {
            if branch.tipSequence == reference.sequence, branch.tip.id == reference.id {
                return try place(in: branch.number, at: reference.sequence)
            }
            guard branch.forkSequence <= reference.sequence else { continue }
            if let place = try place(in: branch.number, at: reference.sequence),
                place.link.id == reference.id
            {
                return place
            }
        }
        return nil
    }

    /// The branch that stores `sequence` on the path of `branch`.
    public func owner(of sequence: UInt64, in branch: Int64) -> Int64? {
        var number = branch
        // A branch's parent has a smaller number, so this ends.
        while let current = branches[number] {
            if sequence >= current.forkSequence {
                return sequence <= current.tipSequence ? number : nil
            }
            guard let parent = current.parent, parent < number else { return nil }
            number = parent
        }
        return nil
    }

    /// The operation with this arrival number, `nil` also if its row cannot be read, which is
    /// recorded as damage.
    ///
    /// - Parameter hasPayload: whether to read the payload, which may be large.
    public func operation(
        _ arrival: Int64, hasPayload: Bool = true
    ) throws(StorageError) -> StoredOperation? {
        readCount &+= 1
        if let known = recent[arrival] { return known }
        if recent.isUnused(arrival) { return nil }
        do throws(StorageError) {
            return try readOperation(arrival, hasPayload)
        } catch {
            guard error.kind == .corrupt else { throw error }
            let sql = "SELECT lid, seq FROM operation WHERE arr = ?"
            let place = try connection.statement(sql).firstRow(.integer(arrival)) {
                ($0.integer(0), UInt64(bitPattern: $0.integer(1)))
            }
            guard let place, branches[place.0] != nil else { throw error }
            noteDamage(at: place.1, of: place.0)
            return nil
        }
    }

    /// The operations with these arrival numbers, ascending: as `operation` for each of them, in one
    /// question. Numbers that no operation has are left out.
    public func operations(
        arrived numbers: ClosedRange<Int64>
    ) throws(StorageError) -> [StoredOperation] {
        var found: [StoredOperation]
        let sql = Self.operationsInOrder
        do throws(StorageError) {
            found = try connection.statement(sql).rows(
                .integer(numbers.lowerBound), .integer(numbers.upperBound)
            ) { (row) throws(StorageError) in
                try storedOperation(row, sql, arrival: row.integer(13))
            }
            readCount &+= found.count
        } catch {
            guard error.kind == .corrupt else { throw error }
            // One by one, so that only what is damaged is left out.
            found = []
            for arrival in numbers {
                if let operation = try operation(arrival) { found.append(operation) }
            }
        }
        return found
    }

    private static let wholeOperation = readingOperation("arr = ?")
    private static let operationWithoutPayload = readingOperation("arr = ?", payload: "x''")
    private static let operationsInOrder = readingOperation("arr BETWEEN ? AND ? ORDER BY arr")

    private static func readingOperation(
        _ condition: String, payload: String = "payload"
    ) -> String {
        """
        SELECT seq, kind, hlc, gid, kid, deps, \(payload), sig, sigok, lid, sort, id, seen, arr
        FROM operation WHERE \(condition)
        """
    }

    private func readOperation(
        _ arrival: Int64, _ hasPayload: Bool
    ) throws(StorageError) -> StoredOperation? {
        let sql = hasPayload ? Self.wholeOperation : Self.operationWithoutPayload
        return try connection.statement(sql).firstRow(.integer(arrival)) {
            (row) throws(StorageError) in try storedOperation(row, sql, arrival: arrival)
        }
    }

    private func storedOperation(
        _ row: borrowing Row, _ sql: String, arrival: Int64
    ) throws(StorageError) -> StoredOperation {
        guard let branch = branches[row.integer(9)] else {
            throw StorageError(.corrupt, "an operation of no log", statement: sql)
        }
        let entry = try entry(row, sql, arrival: arrival)
        return StoredOperation(
            place: StoredPlace(
                arrival: arrival, branch: branch.number,
                sequence: UInt64(bitPattern: row.integer(0)),
                link: ChainLink(id: try row.identifier32(11), timestamp: entry.timestamp),
                sort: row.integer(10)),
            document: branch.document, log: branch.log, entry: entry, seen: row.integer(12),
            grantNumber: row.integer(3), isSignatureVerified: row.integer(8) != 0)
    }

    /// The id of the operation before `place` in its log, `nil` at the log's start.
    public func previous(of place: StoredPlace) throws(StorageError) -> OperationID? {
        guard place.sequence > 0 else { return nil }
        return try self.place(in: place.branch, at: place.sequence - 1)?.link.id
    }

    /// Passes all operations of a document to `body`, in order of arrival.
    public func forEachOperation(
        in document: DocumentID, of workspace: Int64,
        _ body: (StoredOperation) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let row = self.document(document, in: workspace) else { return }
        let arrivals = try connection.statement(
            """
            SELECT arr FROM operation WHERE lid IN (SELECT lid FROM log WHERE did = ?)
                ORDER BY arr
            """
        ).rows(.integer(row.number)) { $0.integer(0) }
        for arrival in arrivals {
            if let operation = try operation(arrival) { try body(operation) }
        }
    }

    /// Whether a stored operation may be sealed under the key: if not, no scan is needed.
    public func mayBeSealed(
        under key: KeyID, in workspace: Int64
    ) throws(StorageError) -> Bool {
        try names.mayBeCited(key, in: workspace)
    }

    /// The number of a grant that operations cite, or `nil`.
    public func number(ofGrant grant: OperationID) -> Int64? { names.knownNumber(ofGrant: grant) }

    /// The grant with a number.
    public func grant(_ number: Int64) -> OperationID? { names.grant(number) }
}

extension OperationStore {
    /// A part of one branch: content under one grant and one epoch key.
    public struct ContentRange: Hashable, Sendable {
        /// The branch.
        public let branch: Int64
        /// The number of the grant, for `grant(_:)`.
        public let grant: Int64
        /// The epoch key.
        public let keyID: KeyID
    }

    /// The grants and keys of a document's sealed content, in no order. Reads no payload.
    public func contentRanges(
        ofDocument number: Int64
    ) throws(StorageError) -> Set<ContentRange> {
        let rows = try connection.statement(
            """
            SELECT DISTINCT lid, gid, kid FROM operation WHERE kind = ? AND kid IS NOT NULL
                AND lid IN (SELECT lid FROM log WHERE did = ?)
            """
        ).rows(
            .integer(Int64(bitPattern: OperationKind.content.rawValue)), .integer(number)
        ) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
        var ranges: Set<ContentRange> = []
        for (branch, grant, key) in rows {
            guard let keyID = try names.key(key) else { continue }
            ranges.insert(ContentRange(branch: branch, grant: grant, keyID: keyID))
        }
        return ranges
    }

    /// The arrival numbers of a document's content and redactions, ascending, each with its key.
    /// Reads no payload.
    public func sealedOperations(
        ofDocument number: Int64
    ) throws(StorageError) -> [(arrival: Int64, key: KeyID)] {
        let rows = try connection.statement(
            """
            SELECT arr, kid FROM operation WHERE kind IN (?, ?) AND kid IS NOT NULL
                AND lid IN (SELECT lid FROM log WHERE did = ?) ORDER BY arr
            """
        ).rows(
            .integer(Int64(bitPattern: OperationKind.content.rawValue)),
            .integer(Int64(bitPattern: OperationKind.redact.rawValue)), .integer(number)
        ) { ($0.integer(0), $0.integer(1)) }
        readCount &+= rows.count
        var sealed: [(arrival: Int64, key: KeyID)] = []
        for (arrival, number) in rows {
            if let key = try names.key(number) { sealed.append((arrival, key)) }
        }
        return sealed
    }

    /// The arrival numbers of a branch's operations under one key, ascending.
    public func arrivals(
        sealedUnder key: KeyID, in branch: Int64, of workspace: Int64
    ) throws(StorageError) -> [Int64] {
        guard let number = try names.knownNumber(ofKey: key, in: workspace) else { return [] }
        return try connection.statement(
            "SELECT arr FROM operation WHERE lid = ? AND kid = ? ORDER BY seq"
        ).rows(.integer(branch), .integer(number)) { $0.integer(0) }
    }

    /// The arrival numbers of a document's operations of one kind, ascending.
    public func arrivals(
        ofKind kind: OperationKind, in document: Int64
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            """
            SELECT arr FROM operation WHERE kind = ?
                AND lid IN (SELECT lid FROM log WHERE did = ?) ORDER BY arr
            """
        ).rows(.integer(Int64(bitPattern: kind.rawValue)), .integer(document)) { $0.integer(0) }
    }

    /// The nearest operation of one kind before `sequence` on a branch or its ancestors.
    public func nearest(
        ofKind kind: OperationKind, before sequence: UInt64, in branch: Int64
    ) throws(StorageError) -> OperationID? {
        guard sequence > 0 else { return nil }
        let sql = """
            SELECT id FROM operation WHERE lid = ? AND seq BETWEEN ? AND ? AND kind = ?
                ORDER BY seq DESC LIMIT 1
            """
        for step in path(through: sequence - 1, of: branch).steps.reversed() {
            let first = branches[step.owner]?.forkSequence ?? 0
            let found = try connection.statement(sql).firstRow(
                .integer(step.owner), .integer(Int64(bitPattern: first)),
                .integer(Int64(bitPattern: step.last)),
                .integer(Int64(bitPattern: kind.rawValue))
            ) { (row) throws(StorageError) -> OperationID in try row.identifier32(0) }
            if let found { return found }
        }
        return nil
    }
}
