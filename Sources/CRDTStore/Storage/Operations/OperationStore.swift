public import WorkspaceModel

/// The operations of all documents, and the logs they form.
///
/// Rows of table `log` are cached and written once per turn; operations are written immediately.
/// Everything here happens inside the transaction of `NodeStore`.
public final class OperationStore {
    let connection: Connection
    var documents: DocumentTable
    var branches: [Int64: LogBranch] = [:]
    var branchesByLog: [LogPlace: [Int64]] = [:]
    var logsByDocument: [Int64: [LogName]] = [:]
    var dirtyBranches: Set<Int64> = []
    var crowded = ForkedLogIndex()
    /// Ids at forks that were compared.
    var forkIDs: [Int64: ForkIDs] = [:]
    var spans: GrantSpanTable
    var damage: DamageTable
    var names: NumberedNames
    var nextBranch: Int64 = 1
    /// The arrival number of the newest operation; 0 in an empty store.
    public internal(set) var arrival: Int64 = 0
    /// The counters when the store was opened.
    private(set) var counted = Counters()
    /// The largest `changedArrival` of all branches, including removed ones.
    var newestChange: Int64 = 0
    /// How many operations are stored.
    public internal(set) var count: Int64 = 0
    /// The number by document.
    var counts: [Int64: Int64] = [:]
    /// Branches listed because their whole document was, for tests of the cost.
    public internal(set) var listedCount = 0
    /// Operations stored since `keepRecent()`.
    var recent = RecentOperations()
    /// Operations read, for the same tests.
    public internal(set) var readCount = 0

    let insert: RowInsert

    /// A document's row.
    public struct DocumentRow: Sendable, Equatable {
        /// Its short number.
        public let number: Int64
        /// Its id, which may name something else in another workspace.
        public let id: DocumentID
        /// The short number of the workspace's authority document.
        public let workspace: Int64
        /// Its kind.
        public internal(set) var kind: DocumentKind
    }

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        documents = try DocumentTable(connection)
        spans = try GrantSpanTable(connection)
        damage = try DamageTable(connection)
        names = try NumberedNames(connection)
        insert = try RowInsert(
            """
            INSERT INTO operation(arr, lid, seq, kind, hlc, seen, sort, gid, kid, id, deps, sig,
                sigok, payload) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
        try load()
    }

    /// Caches operations that are stored from now on, for those who soon read them again: the
    /// answer of the call that wrote one, its event, the search index. Must be called in each turn,
    /// since only within a turn nobody else writes to the file.
    public func keepRecent() { recent.begin() }

    /// Ends the caching.
    public func forgetRecent() { recent.end() }

    private func load() throws(StorageError) {
        try loadBranches()
        // If the disk has lost a counter's last value, it only has to be raised.
        counted.raise(to: try Counters.rows(in: connection))
        let newest = try connection.statement("SELECT max(arr) FROM operation").integer() ?? 0
        newestChange = branches.values.lazy.map(\.changedArrival).max() ?? 0
        arrival = max(counted.arrival, newest, newestChange)
        // A branch has every place from its fork to its tip; counting rows would read them all.
        for branch in branches.values { changeCount(of: branch.document, by: branch.ownCount) }
    }

    private func loadBranches() throws(StorageError) {
        let sql = """
            SELECT lid, did, device, inc, parent, fork, tip_seq, tip_id, tip_hlc, tip_sort,
                kept_seq, kept_id, changed, arrivals, events, commits FROM log ORDER BY lid
            """
        try connection.statement(sql).forEachRow { (row) throws(StorageError) in
            // A branch that forks at the start shares nothing with its parent, which may be gone.
            let hasParent = row.optionalInteger(4).map {
                $0 < row.integer(0) && (row.integer(5) == 0 || branches[$0] != nil)
            }
            guard let document = documents[row.integer(1)], row.integer(5) >= 0,
                row.integer(6) >= row.integer(5), hasParent ?? true
            else { throw StorageError(.corrupt, "a log that cannot be", statement: sql) }
            let log = LogName(
                document: document.id, device: try row.identifier32(2),
                incarnation: UInt32(truncatingIfNeeded: row.integer(3)))
            counted.raise(
                to: .init(
                    arrival: row.integer(13), event: row.integer(14), commit: row.integer(15)))
            var kept: LogBranch.KeptTip?
            if let sequence = row.optionalInteger(10) {
                kept = .init(
                    sequence: UInt64(bitPattern: sequence), id: try row.identifier32(11))
            }
            index(
                LogBranch(
                    number: row.integer(0), document: document.number, log: log,
                    parent: row.optionalInteger(4),
                    forkSequence: UInt64(bitPattern: row.integer(5)),
                    tipSequence: UInt64(bitPattern: row.integer(6)),
                    tip: ChainLink(
                        id: try row.identifier32(7),
                        timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(8)))),
                    tipSort: row.integer(9), kept: kept, changedArrival: row.integer(12)))
        }
    }

    func index(_ branch: LogBranch) {
        branches[branch.number] = branch
        let place = LogPlace(branch.log, in: branch.document)
        if branchesByLog[place] == nil {
            logsByDocument[branch.document, default: []].append(branch.log)
        }
        branchesByLog[place, default: []].append(branch.number)
        nextBranch = max(nextBranch, branch.number + 1)
    }
}

/// The key of a log, once its document has a number.
struct LogPlace: Hashable {
    let document: Int64
    let device: DeviceID
    let incarnation: UInt32

    init(_ log: LogName, in document: Int64) {
        self.document = document
        device = log.device
        incarnation = log.incarnation
    }
}
