public import WorkspaceModel

/// Where an operation is stored, and what others need to know to build on it.
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

/// An operation as it is read back.
public struct StoredOperation: Sendable {
    /// Where.
    public let place: StoredPlace
    /// Which log.
    public let log: LogName
    /// The operation as it travels, without what follows from its place.
    public let entry: OperationRun.Entry
    /// When it came, milliseconds.
    public let seen: Int64
    /// The number of its grant.
    public let grantNumber: Int64
    /// Whether this very signature was verified when it came.
    public let isSignatureVerified: Bool
}

extension OperationStore {
    /// The branches of a log, oldest first; empty when nothing of it is stored.
    public func branches(of log: LogName) -> [LogBranch] {
        (branchesByLog[log] ?? []).compactMap { branches[$0] }
    }

    /// All branches of all logs of a document, in the order of log names.
    public func branches(in document: DocumentID) -> [LogBranch] {
        (logsByDocument[document] ?? []).sorted().flatMap { branches(of: $0) }
    }

    /// One branch.
    public func branch(_ number: Int64) -> LogBranch? { branches[number] }

    /// Branches whose kept tip changed after `arrival`, of the given documents.
    public func branches(
        changedAfter arrival: Int64, workspace: Int64
    ) throws(StorageError) -> [LogBranch] {
        // Rows in memory are newer than those on disk until the turn ends.
        var numbers = Set(dirtyBranches)
        try connection.statement("SELECT lid FROM log WHERE changed > ?")
            .forEachRow(.integer(arrival)) { row in numbers.insert(row.integer(0)) }
        return numbers.compactMap { branches[$0] }
            .filter {
                $0.changedArrival > arrival && documents[$0.log.document]?.workspace == workspace
            }
            .sorted { ($0.log, $0.number) < ($1.log, $1.number) }
    }

    /// The operation at `sequence` of a branch, which may be its parent's.
    public func place(
        in branch: Int64, at sequence: UInt64
    ) throws(StorageError) -> StoredPlace? {
        guard let row = owner(of: sequence, in: branch) else { return nil }
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

    /// The stored operation that `reference` means, in `document`.
    public func find(
        _ reference: OperationReference, in document: DocumentID
    ) throws(StorageError) -> StoredPlace? {
        let log = LogName(
            document: document, device: reference.device, incarnation: reference.incarnation)
        for branch in branches(of: log) where branch.tipSequence >= reference.sequence {
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

    /// The branch whose row holds `sequence` when `branch` is followed to its root.
    func owner(of sequence: UInt64, in branch: Int64) -> Int64? {
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

    /// The operation with this arrival number.
    public func operation(_ arrival: Int64) throws(StorageError) -> StoredOperation? {
        let sql = """
            SELECT seq, kind, hlc, gid, kid, deps, payload, sig, sigok, lid, sort, id, seen
                FROM operation WHERE arr = ?
            """
        return try connection.statement(sql).firstRow(.integer(arrival)) {
            (row) throws(StorageError) in
            guard let branch = branches[row.integer(9)] else {
                throw StorageError(.corrupt, "an operation of no log", statement: sql)
            }
            let entry = try entry(row, sql)
            return StoredOperation(
                place: StoredPlace(
                    arrival: arrival, branch: branch.number,
                    sequence: UInt64(bitPattern: row.integer(0)),
                    link: ChainLink(id: try row.identifier32(11), timestamp: entry.timestamp),
                    sort: row.integer(10)),
                log: branch.log, entry: entry, seen: row.integer(12),
                grantNumber: row.integer(3), isSignatureVerified: row.integer(8) != 0)
        }
    }

    /// The id of the operation before `place` in its log, `nil` at the log's start.
    public func previous(of place: StoredPlace) throws(StorageError) -> OperationID? {
        guard place.sequence > 0 else { return nil }
        return try self.place(in: place.branch, at: place.sequence - 1)?.link.id
    }

    /// All operations of a document in the order of arrival, each lent to `body`.
    public func forEachOperation(
        in document: DocumentID, _ body: (StoredOperation) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let row = documents[document] else { return }
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

    /// Entries of a branch from `first` to `last`, or until `byteCountMax` is reached.
    ///
    /// The run ends on an operation whose own signature was verified here, for only such a run
    /// convinces its receiver. So it goes beyond `last`, and beyond the bytes, where the next
    /// verified signature lies beyond: by less than a segment, as every stored operation is
    /// covered within its own.
    ///
    /// - Returns: `nil` when nothing from `first` on is stored.
    public func run(
        of branch: Int64, from first: UInt64, through last: UInt64, byteCountMax: Int
    ) throws(StorageError) -> OperationRun? {
        guard let log = branches[branch]?.log else { return nil }
        guard first <= last else { return nil }
        var reading = RunReading()
        var next = first
        while !reading.isFull, let owner = owner(of: next, in: branch) {
            let end = lastOwn(of: owner, towards: branch)
            try read(owner, next...end, wanted: last, byteCountMax, into: &reading)
            guard end < .max else { break }
            next = end + 1
        }
        guard let entries = reading.finished, !entries.isEmpty else { return nil }
        return OperationRun(log: log, firstSequence: first, entries: entries)
    }

    /// The last place that belongs to `owner` on the way to the tip of `branch`.
    private func lastOwn(of owner: Int64, towards branch: Int64) -> UInt64 {
        var number = branch
        var end = branches[branch]?.tipSequence ?? 0
        while number != owner, let current = branches[number], let parent = current.parent {
            // The smallest: a branch may leave its parent below the place where that began.
            if current.forkSequence > 0 { end = min(end, current.forkSequence - 1) }
            number = parent
        }
        return end
    }

    private struct RunReading {
        var entries: [OperationRun.Entry] = []
        var byteCount = 0
        var lastSigned = -1
        var isFull = false

        /// The entries up to the last one that may end a run.
        var finished: [OperationRun.Entry]? {
            lastSigned < 0 ? nil : Array(entries.prefix(lastSigned + 1))
        }
    }

    private func read(
        _ owner: Int64, _ range: ClosedRange<UInt64>, wanted last: UInt64, _ byteCountMax: Int,
        into reading: inout RunReading
    ) throws(StorageError) {
        let sql = """
            SELECT seq, kind, hlc, gid, kid, deps, payload, sig, sigok FROM operation
                WHERE lid = ? AND seq BETWEEN ? AND ? ORDER BY seq
            """
        let bounds: [SQLValue] = [
            .integer(owner), .integer(Int64(bitPattern: range.lowerBound)),
            .integer(Int64(bitPattern: range.upperBound)),
        ]
        try connection.statement(sql).scan(bounds) { (row) throws(StorageError) in
            let entry = try entry(row, sql)
            let byteCount = entry.payload.count + 178 + 84 * entry.dependencies.count
            if reading.byteCount + byteCount > byteCountMax, reading.lastSigned >= 0 {
                reading.isFull = true
                return .stop
            }
            reading.byteCount += byteCount
            reading.entries.append(entry)
            guard row.integer(8) != 0 else { return .next }
            reading.lastSigned = reading.entries.count - 1
            reading.isFull = UInt64(bitPattern: row.integer(0)) >= last
            return reading.isFull ? .stop : .next
        }
    }

    private func entry(
        _ row: borrowing Row, _ sql: String
    ) throws(StorageError) -> OperationRun.Entry {
        guard let grant = names.grant(row.integer(3)),
            let signature = Signature(untrusted: row.blob(7))
        else { throw StorageError(.corrupt, "an operation without grant or signature") }
        var keyID: KeyID?
        if let number = row.optionalInteger(4) { keyID = names.key(number) }
        return OperationRun.Entry(
            kind: UInt64(bitPattern: row.integer(1)),
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(2))), grant: grant,
            keyID: keyID, dependencies: try references(row.optionalBlob(5), sql),
            payload: row.blob(6), signature: signature)
    }

    private func references(
        _ blob: [UInt8]?, _ sql: String
    ) throws(StorageError) -> [OperationReference] {
        guard let blob else { return [] }
        do throws(Malformed) {
            var decoder = CBORDecoder(blob)
            let count = try decoder.arrayCount(max: Limits.authDependenciesMax)
            var references: [OperationReference] = []
            for _ in 0..<count { references.append(try OperationReference(from: &decoder)) }
            try decoder.finish()
            return references
        } catch {
            throw StorageError(.corrupt, "dependencies: \(error)", statement: sql)
        }
    }

    /// What the operations cite that a branch holds at these places, its parent's left out.
    public func dependencies(
        in branch: Int64, _ range: ClosedRange<UInt64>
    ) throws(StorageError) -> [OperationReference] {
        let sql = """
            SELECT deps FROM operation
                WHERE lid = ? AND seq BETWEEN ? AND ? AND deps IS NOT NULL
            """
        let bounds: [SQLValue] = [
            .integer(branch), .integer(Int64(bitPattern: range.lowerBound)),
            .integer(Int64(bitPattern: range.upperBound)),
        ]
        var found: [OperationReference] = []
        try connection.statement(sql).scan(bounds) { (row) throws(StorageError) in
            found += try references(row.optionalBlob(0), sql)
            return .next
        }
        return found
    }

    /// The number of a grant, if any operation cites it.
    public func number(ofGrant grant: OperationID) -> Int64? { names.knownNumber(ofGrant: grant) }

    /// The grant behind a number.
    public func grant(_ number: Int64) -> OperationID? { names.grant(number) }
}
