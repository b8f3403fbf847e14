public import WorkspaceModel

extension OperationStore {
    /// Where operations are stored.
    public enum Place: Sendable, Equatable {
        /// After the tip of a branch.
        case behind(branch: Int64)
        /// The start of a log.
        case newLog
        /// A second continuation of `branch`, from `sequence` on.
        case fork(of: Int64, at: UInt64)
    }

    /// A stored operation as the layers above need it.
    public struct Appended: Sendable {
        /// Its arrival number.
        public let arrival: Int64
        /// Its display order.
        public let sort: Int64
        /// The operation.
        public let operation: CheckedOperation
    }

    /// Stores operations that continue one branch.
    ///
    /// - Parameters:
    ///   - operations: not empty, in order; their place is free and their chain continues `place`.
    ///   - workspace: its short number; the log's document is registered there.
    ///   - seen: the wall clock, milliseconds.
    ///   - cited: the citations of each, except of earlier ones in `operations`.
    /// - Returns: the branch, and each operation with its numbers.
    public func append(
        _ operations: [CheckedOperation], in log: LogName, of workspace: Int64, at place: Place,
        seen: UInt64, citing cited: [[StoredPlace]]
    ) throws(StorageError) -> (branch: Int64, appended: [Appended]) {
        precondition(operations.count == cited.count && !operations.isEmpty)
        guard let document = document(log.document, in: workspace) else {
            preconditionFailure("the document is entered before its operations")
        }
        var branch = try branch(for: place, in: log, of: document.number, from: operations[0])
        var appended: [Appended] = []
        appended.reserveCapacity(operations.count)
        var numbers: [RowNumbers] = []
        numbers.reserveCapacity(operations.count)
        let isContent = document.number != workspace
        for (index, cited) in cited.enumerated() {
            let floor = cited.map(\.sort).max() ?? 0
            let sort = max(
                branch.tipSort &+ 1, floor &+ 1, Self.sort(of: operations[index].header, seen: seen)
            )
            arrival += 1
            numbers.append(
                try note(
                    operations[index], on: branch, workspace: workspace, seen: seen, sort: sort))
            let sequence = operations[index].header.sequence
            if isContent, !cited.isEmpty {
                try note(cited, by: .init(branch: branch.number, sequence: sequence))
            }
            crowded.note(operations[index].id, on: branch)
            branch.tipSequence = sequence
            branch.tip = operations[index].link
            branch.tipSort = sort
            appended.append(
                Appended(arrival: arrival, sort: sort, operation: operations[index]))
        }
        try write(appended, with: numbers, of: branch.number, seen: seen)
        changeCount(of: document.number, by: Int64(operations.count))
        branches[branch.number] = branch
        dirtyBranches.insert(branch.number)
        return (branch.number, appended)
    }

    private func branch(
        for place: Place, in log: LogName, of document: Int64, from first: CheckedOperation
    ) throws(StorageError) -> LogBranch {
        var parent: LogBranch?
        switch place {
        case .behind(let number):
            guard let branch = branches[number] else { preconditionFailure("an unknown branch") }
            return branch
        case .newLog: break
        case .fork(let number, let sequence):
            // The branch that stores the previous operation, which may be an ancestor.
            let before = sequence == 0 ? 0 : sequence - 1
            parent = branches[owner(of: before, in: number) ?? number]
            precondition(parent != nil, "a fork of an unknown branch")
        }
        var sort: Int64 = 0
        if let parent, first.header.sequence > 0 {
            sort = try self.place(in: parent.number, at: first.header.sequence - 1)?.sort ?? 0
        }
        let branch = LogBranch(
            number: nextBranch, document: document, log: log, parent: parent?.number,
            forkSequence: first.header.sequence, tipSequence: first.header.sequence,
            tip: first.link, tipSort: sort, kept: nil, changedArrival: 0)
        try insertRow(branch)
        index(branch)
        return branch
    }

    private func insertRow(_ branch: LogBranch) throws(StorageError) {
        // Counters are written at the end of the turn.
        try connection.statement(
            "INSERT INTO log VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0)"
        ).run { row in
            row.bind(1, branch.number)
            row.bind(2, branch.document)
            row.bind(3, branch.log.device)
            row.bind(4, Int64(branch.log.incarnation))
            row.bind(5, branch.parent)
            row.bind(6, Int64(bitPattern: branch.forkSequence))
            row.bind(7, Int64(bitPattern: branch.tipSequence))
            row.bind(8, branch.tip.id)
            row.bind(9, Int64(bitPattern: branch.tip.timestamp.rawValue))
            row.bind(10, branch.tipSort)
            row.bindNull(11)
            row.bindNull(12)
            row.bind(13, branch.changedArrival)
        }
    }

    /// The short numbers in the row of an operation.
    private struct RowNumbers {
        let grant: Int64
        let key: Int64?
    }

    /// Notes what else is known of the operation with the newest arrival number.
    private func note(
        _ operation: CheckedOperation, on log: LogBranch, workspace: Int64, seen: UInt64,
        sort: Int64
    ) throws(StorageError) -> RowNumbers {
        let grant = try names.number(ofGrant: operation.header.grant)
        try spans.note(grant: grant, at: operation.header.sequence, of: log.number)
        var key: Int64?
        if let keyID = operation.header.keyID {
            key = try names.number(ofKey: keyID, in: workspace)
        }
        let place = StoredPlace(
            arrival: arrival, branch: log.number, sequence: operation.header.sequence,
            link: operation.link, sort: sort)
        recent.keep(operation, at: place, of: log, seen: seen, grant: grant)
        if operation.isPayloadAbsent { try noteMissing(operation.header, arrival: arrival) }
        return RowNumbers(grant: grant, key: key)
    }

    /// Writes the rows of operations of one branch, in order.
    private func write(
        _ appended: [Appended], with numbers: [RowNumbers], of branch: Int64, seen: UInt64
    ) throws(StorageError) {
        try insert.run(appended.count) { index, row in
            row.bind(1, appended[index].arrival)
            row.bind(2, branch)
            row.bind(3, Int64(bitPattern: appended[index].operation.header.sequence))
            row.bind(4, Int64(bitPattern: appended[index].operation.header.kind))
            row.bind(5, Int64(bitPattern: appended[index].operation.header.timestamp.rawValue))
            row.bind(6, Int64(bitPattern: seen))
            row.bind(7, appended[index].sort)
            row.bind(8, numbers[index].grant)
            row.bind(9, numbers[index].key)
            row.bind(10, appended[index].operation.id)
            if !appended[index].operation.header.dependencies.isEmpty {
                row.bind(11, encoded(appended[index].operation.header.dependencies))
            }
            row.bind(12, appended[index].operation.signature)
            row.bind(13, appended[index].operation.isSignatureVerified ? 1 : 0)
            row.bind(14, appended[index].operation.payload)
        }
    }

    /// The display order before causality: the author's clock, or if that is more than 5 minutes
    /// ahead of ours, a compressed time just above it that preserves the order. In the units of a
    /// hybrid timestamp.
    private static func sort(of header: OperationHeader, seen: UInt64) -> Int64 {
        leastSort(
            hlc: Int64(bitPattern: header.timestamp.rawValue), seen: Int64(clamping: seen),
            behind: -1)
    }

    /// The display order of an operation that cites nothing, and the minimum of one that does.
    ///
    /// A time too far ahead advances by the smallest step per millisecond: even if our own clock is
    /// half a year behind, all messages of others keep their order, within less than five minutes.
    ///
    /// - Parameters:
    ///   - hlc: its timestamp, as a bit pattern.
    ///   - seen: its arrival time, milliseconds.
    ///   - previous: the display order of the operation before it, 0 for none.
    static func leastSort(hlc: Int64, seen: Int64, behind previous: Int64) -> Int64 {
        let lead = UInt64(clamping: seen).addingReportingOverflow(Limits.clockLeadMillisecondsMax)
        let latest = min(lead.overflow ? .max : lead.partialValue, (1 << 46) - 1) << 16
        let said = UInt64(bitPattern: hlc)
        let ahead = said > latest ? min((said - latest) >> 16, Limits.clockAheadStepsMax) : 0
        return max(previous &+ 1, Int64(min(said, latest + ahead)))
    }

    // MARK: Kept tips

    /// Sets the last kept operation of a branch. The change counts as the next arrival number.
    public func setKept(_ kept: LogBranch.KeptTip?, of number: Int64) {
        guard let branch = branches[number], branch.kept != kept else { return }
        // It gets a number, so that "changed since" also finds moves without new operations.
        arrival += 1
        recent.note(unused: arrival)
        branches[number]?.kept = kept
        branches[number]?.changedArrival = arrival
        newestChange = arrival
        dirtyBranches.insert(number)
    }

    // MARK: The turn

    /// Writes changed rows from memory; called right before COMMIT.
    ///
    /// - Returns: whether one of them contains `counters` now.
    func flush(counting counters: Counters) throws(StorageError) -> Bool {
        try flushDamage()
        guard !dirtyBranches.isEmpty else { return false }
        var isCounted = false
        let update = try connection.statement(
            """
            UPDATE log SET tip_seq = ?, tip_id = ?, tip_hlc = ?, tip_sort = ?, kept_seq = ?,
                kept_id = ?, changed = ?, arrivals = ?, events = ?, commits = ? WHERE lid = ?
            """)
        for number in dirtyBranches.sorted() {
            guard let branch = branches[number] else { continue }
            try update.run { row in
                row.bind(1, Int64(bitPattern: branch.tipSequence))
                row.bind(2, branch.tip.id)
                row.bind(3, Int64(bitPattern: branch.tip.timestamp.rawValue))
                row.bind(4, branch.tipSort)
                row.bind(5, branch.kept.map { Int64(bitPattern: $0.sequence) })
                row.bind(6, branch.kept?.id.bytes)
                row.bind(7, branch.changedArrival)
                row.bind(8, counters.arrival)
                row.bind(9, counters.event)
                row.bind(10, counters.commit)
                row.bind(11, number)
            }
            isCounted = isCounted || connection.changedRowCount > 0
        }
        dirtyBranches.removeAll(keepingCapacity: true)
        return isCounted
    }
}

/// The references that `encoded` wrote.
func decodedReferences(_ bytes: [UInt8]) throws(Malformed) -> [OperationReference] {
    var decoder = CBORDecoder(bytes)
    let count = try decoder.arrayCount(max: Limits.authDependenciesMax)
    var references: [OperationReference] = []
    for _ in 0..<count { references.append(try OperationReference(from: &decoder)) }
    try decoder.finish()
    return references
}

/// `Enc` array of refs, as in the header.
func encoded(_ references: [OperationReference]) -> [UInt8] {
    var encoder = CBOREncoder(reservingBytes: 8 + 80 * references.count)
    encoder.array(count: references.count)
    for reference in references { reference.encode(to: &encoder) }
    return encoder.bytes
}
