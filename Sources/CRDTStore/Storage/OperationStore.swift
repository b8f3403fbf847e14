public import WorkspaceModel

/// The operations of all documents, and the logs they form.
///
/// Rows of table `log` are kept in memory and written back once a turn; operations are written
/// as they come. Everything here happens inside the transaction of `NodeStore`.
public final class OperationStore {
    let connection: Connection
    var documents: [DocumentID: DocumentRow] = [:]
    var documentNames: [Int64: DocumentID] = [:]
    var branches: [Int64: LogBranch] = [:]
    var branchesByLog: [LogName: [Int64]] = [:]
    var logsByDocument: [DocumentID: [LogName]] = [:]
    var dirtyBranches: Set<Int64> = []
    var names: NumberedNames
    private var nextBranch: Int64 = 1
    private var nextDocument: Int64 = 1
    /// The arrival number of the newest operation; 0 in an empty store.
    public internal(set) var arrival: Int64 = 0
    private var writtenArrival: Int64 = 0
    /// How many operations are stored.
    public internal(set) var count: Int64 = 0

    private let insert: Statement

    /// One document as the store knows it.
    public struct DocumentRow: Sendable, Equatable {
        /// Its short number.
        public let number: Int64
        /// The short number of the workspace's authority document.
        public let workspace: Int64
        /// What it is.
        public internal(set) var kind: DocumentKind
    }

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        names = try NumberedNames(connection)
        insert = try connection.statement(
            """
            INSERT INTO operation(arr, lid, seq, kind, hlc, seen, sort, gid, kid, id, deps, sig,
                sigok, payload) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        try load()
    }

    private func load() throws(StorageError) {
        try connection.statement("SELECT did, id, workspace, kind FROM document").forEachRow {
            (row) throws(StorageError) in
            let id: DocumentID = try row.identifier32(1)
            let number = row.integer(0)
            documents[id] = DocumentRow(
                number: number, workspace: row.integer(2),
                kind: DocumentKind(rawValue: row.integer(3)) ?? .unknown)
            documentNames[number] = id
            nextDocument = max(nextDocument, number + 1)
        }
        try loadBranches()
        arrival =
            try connection.statement("SELECT value FROM counter WHERE name = 'arrival'").integer()
            ?? 0
        writtenArrival = arrival
        // A branch holds every place from its fork to its tip; counting rows would read them all.
        count = branches.values.reduce(0) { $0 + $1.ownCount }
    }

    private func loadBranches() throws(StorageError) {
        let sql = """
            SELECT lid, did, device, inc, parent, fork, tip_seq, tip_id, tip_hlc, tip_sort,
                kept_seq, kept_id, changed FROM log ORDER BY lid
            """
        try connection.statement(sql).forEachRow { (row) throws(StorageError) in
            guard let document = documentNames[row.integer(1)] else {
                throw StorageError(.corrupt, "a log of no document", statement: sql)
            }
            let log = LogName(
                document: document, device: try row.identifier32(2),
                incarnation: UInt32(truncatingIfNeeded: row.integer(3)))
            var kept: LogBranch.KeptTip?
            if let sequence = row.optionalInteger(10) {
                kept = .init(
                    sequence: UInt64(bitPattern: sequence), id: try row.identifier32(11))
            }
            index(
                LogBranch(
                    number: row.integer(0), log: log, parent: row.optionalInteger(4),
                    forkSequence: UInt64(bitPattern: row.integer(5)),
                    tipSequence: UInt64(bitPattern: row.integer(6)),
                    tip: ChainLink(
                        id: try row.identifier32(7),
                        timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(8)))),
                    tipSort: row.integer(9), kept: kept, changedArrival: row.integer(12)))
        }
    }

    private func index(_ branch: LogBranch) {
        branches[branch.number] = branch
        if branchesByLog[branch.log] == nil {
            logsByDocument[branch.log.document, default: []].append(branch.log)
        }
        branchesByLog[branch.log, default: []].append(branch.number)
        nextBranch = max(nextBranch, branch.number + 1)
    }

    // MARK: Documents

    /// The row of a document, or `nil` for one that nothing is stored of.
    public func document(_ id: DocumentID) -> DocumentRow? { documents[id] }

    /// The document behind a short number.
    public func documentID(_ number: Int64) -> DocumentID? { documentNames[number] }

    /// The documents of a workspace, by id.
    public func documents(ofWorkspace workspace: Int64) -> [DocumentID] {
        documents.filter { $0.value.workspace == workspace }.map(\.key).sorted()
    }

    /// Makes the row of a document, or says better what the known one is.
    ///
    /// - Parameter workspace: `nil` for an authority document, which is its own.
    /// - Returns: its short number.
    @discardableResult
    public func enter(
        _ id: DocumentID, workspace: Int64?, kind: DocumentKind
    ) throws(StorageError) -> Int64 {
        if var known = documents[id] {
            guard known.kind != kind, kind != .unknown else { return known.number }
            known.kind = kind
            documents[id] = known
            try connection.statement("UPDATE document SET kind = ? WHERE did = ?")
                .run(.integer(kind.rawValue), .integer(known.number))
            return known.number
        }
        let number = nextDocument
        nextDocument += 1
        let row = DocumentRow(number: number, workspace: workspace ?? number, kind: kind)
        try connection.statement("INSERT INTO document VALUES(?, ?, ?, ?)")
            .run(
                .integer(number), .blob(id.bytes), .integer(row.workspace),
                .integer(kind.rawValue))
        documents[id] = row
        documentNames[number] = id
        return number
    }

    /// Removes everything of a workspace that nobody came to belong to.
    public func remove(workspace: Int64) throws(StorageError) {
        let gone = documents.filter { $0.value.workspace == workspace }
        for (id, row) in gone.sorted(by: { $0.value.number < $1.value.number }) {
            for log in logsByDocument.removeValue(forKey: id) ?? [] {
                for number in branchesByLog.removeValue(forKey: log) ?? [] {
                    branches[number] = nil
                    dirtyBranches.remove(number)
                    try connection.statement("DELETE FROM operation WHERE lid = ?")
                        .run(.integer(number))
                    count -= Int64(connection.changedRowCount)
                    // A number may be given again after a restart; what it meant may not stay.
                    for table in ["held", "evidence"] {
                        try connection.statement("DELETE FROM \(table) WHERE lid = ?")
                            .run(.integer(number))
                    }
                }
            }
            try connection.statement("DELETE FROM log WHERE did = ?").run(.integer(row.number))
            try connection.statement("DELETE FROM document WHERE did = ?")
                .run(.integer(row.number))
            documents[id] = nil
            documentNames[row.number] = nil
        }
    }

    /// How many operations of a workspace are stored.
    public func count(inWorkspace workspace: Int64) throws(StorageError) -> Int64 {
        branches.values.reduce(0) { sum, branch in
            documents[branch.log.document]?.workspace == workspace ? sum + branch.ownCount : sum
        }
    }

    // MARK: Appending

    /// Where operations go.
    public enum Place: Sendable, Equatable {
        /// Behind the tip of a branch.
        case behind(branch: Int64)
        /// The start of a log.
        case newLog
        /// A second continuation of `branch`, from `sequence` on.
        case fork(of: Int64, at: UInt64)
    }

    /// One stored operation, as the layers above go on with it.
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
    ///   - operations: not empty, in order; their place is free and their chain leads to `place`.
    ///   - seen: the wall clock, milliseconds.
    ///   - floor: what the display order must exceed because of dependencies; one a operation.
    /// - Returns: the branch, and each operation with its numbers.
    public func append(
        _ operations: [CheckedOperation], in log: LogName, at place: Place, seen: UInt64,
        above floor: [Int64]
    ) throws(StorageError) -> (branch: Int64, appended: [Appended]) {
        precondition(operations.count == floor.count && !operations.isEmpty)
        guard let document = documents[log.document] else {
            preconditionFailure("the document is entered before its operations")
        }
        var branch = try branch(for: place, in: log, from: operations[0])
        var appended: [Appended] = []
        appended.reserveCapacity(operations.count)
        for (operation, floor) in zip(operations, floor) {
            let sort = max(
                branch.tipSort &+ 1, floor &+ 1, Self.sort(of: operation.header, seen: seen))
            arrival += 1
            try write(
                operation, branch: branch.number, workspace: document.workspace, seen: seen,
                sort: sort)
            branch.tipSequence = operation.header.sequence
            branch.tip = operation.link
            branch.tipSort = sort
            appended.append(Appended(arrival: arrival, sort: sort, operation: operation))
        }
        count += Int64(operations.count)
        branches[branch.number] = branch
        dirtyBranches.insert(branch.number)
        return (branch.number, appended)
    }

    private func branch(
        for place: Place, in log: LogName, from first: CheckedOperation
    ) throws(StorageError) -> LogBranch {
        var parent: LogBranch?
        switch place {
        case .behind(let number):
            guard let branch = branches[number] else { preconditionFailure("an unknown branch") }
            return branch
        case .newLog: break
        case .fork(let number, _):
            parent = branches[number]
            precondition(parent != nil, "a fork of an unknown branch")
        }
        var sort: Int64 = 0
        if let parent, first.header.sequence > 0 {
            sort = try self.place(in: parent.number, at: first.header.sequence - 1)?.sort ?? 0
        }
        let branch = LogBranch(
            number: nextBranch, log: log, parent: parent?.number,
            forkSequence: first.header.sequence, tipSequence: first.header.sequence,
            tip: first.link, tipSort: sort, kept: nil, changedArrival: 0)
        try insertRow(branch)
        index(branch)
        return branch
    }

    private func insertRow(_ branch: LogBranch) throws(StorageError) {
        guard let document = documents[branch.log.document] else { return }
        try connection.statement("INSERT INTO log VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .run { row in
                row.bind(1, branch.number)
                row.bind(2, document.number)
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

    private func write(
        _ operation: CheckedOperation, branch: Int64, workspace: Int64, seen: UInt64, sort: Int64
    ) throws(StorageError) {
        let header = operation.header
        let grant = try names.number(ofGrant: header.grant)
        var key: Int64?
        if let keyID = header.keyID {
            key = try names.number(ofKey: keyID, in: workspace)
        }
        let dependencies = header.dependencies.isEmpty ? nil : encoded(header.dependencies)
        try insert.run { row in
            row.bind(1, arrival)
            row.bind(2, branch)
            row.bind(3, Int64(bitPattern: header.sequence))
            row.bind(4, Int64(bitPattern: header.kind))
            row.bind(5, Int64(bitPattern: header.timestamp.rawValue))
            row.bind(6, Int64(bitPattern: seen))
            row.bind(7, sort)
            row.bind(8, grant)
            row.bind(9, key)
            row.bind(10, operation.id)
            row.bind(11, dependencies)
            row.bind(12, operation.signature.bytes)
            row.bind(13, operation.isSignatureVerified ? 1 : 0)
            row.bind(14, operation.payload)
        }
    }

    /// The display order before causality: the author's clock, but at most 5 minutes ahead of
    /// ours. In the units of a hybrid timestamp.
    private static func sort(of header: OperationHeader, seen: UInt64) -> Int64 {
        let latest = min(seen &+ Limits.clockLeadMillisecondsMax, (1 << 47) - 1) << 16
        return Int64(min(header.timestamp.rawValue, latest))
    }

    // MARK: Kept tips

    /// Moves the last kept operation of a branch. Announced from the next arrival number on.
    public func setKept(_ kept: LogBranch.KeptTip?, of number: Int64) {
        guard branches[number]?.kept != kept else { return }
        // A number of its own, so that "changed since" finds moves without new operations.
        arrival += 1
        branches[number]?.kept = kept
        branches[number]?.changedArrival = arrival
        dirtyBranches.insert(number)
    }

    // MARK: The turn

    /// Writes the rows that changed in memory; called right before COMMIT.
    func flush() throws(StorageError) {
        if arrival != writtenArrival {
            try connection.statement("INSERT OR REPLACE INTO counter VALUES('arrival', ?)")
                .run(.integer(arrival))
            writtenArrival = arrival
        }
        guard !dirtyBranches.isEmpty else { return }
        let update = try connection.statement(
            """
            UPDATE log SET tip_seq = ?, tip_id = ?, tip_hlc = ?, tip_sort = ?, kept_seq = ?,
                kept_id = ?, changed = ? WHERE lid = ?
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
                row.bind(8, number)
            }
        }
        dirtyBranches.removeAll(keepingCapacity: true)
    }
}

/// `Enc` array of refs, as in the header.
func encoded(_ references: [OperationReference]) -> [UInt8] {
    var encoder = CBOREncoder(reservingBytes: 8 + 80 * references.count)
    encoder.array(count: references.count)
    for reference in references { reference.encode(to: &encoder) }
    return encoder.bytes
}
