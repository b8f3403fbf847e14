/// node.db: one connection, its tables by subject, and the transaction of a turn.
///
/// Writes begin a transaction lazily; `commit` ends it with one fsync, however many inputs the turn
/// had. Nothing may leave the node before `commit` has returned.
public final class NodeStore {
    /// Shared by the tables below.
    public let connection: Connection
    /// Operations, logs and documents.
    public let operations: OperationStore
    /// The view: what people see.
    public let view: ViewStore
    /// Events, and the positions of readers.
    public let events: EventStore
    /// Peers, agreed states, receipts.
    public let peers: PeerStore
    /// Blobs: the known ones, the held parts, and the messages that refer to them.
    public let blobs: BlobTable
    /// Workspaces, keys, idempotent answers, single values.
    public let registry: RegistryStore
    /// COMMITs since the store was made; the guard file's counter.
    public private(set) var commitCounter: Int64

    /// Opens the tables of `connection`, and creates them in an empty database.
    ///
    /// - Throws: `.newerSchema` or `.olderSchema` for a store of another version of the program.
    public init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        try Self.prepare(connection)
        try StoreBounds.check(connection)
        operations = try OperationStore(connection)
        view = try ViewStore(connection)
        events = try EventStore(connection, counted: operations.counted.event)
        peers = try PeerStore(connection)
        blobs = try BlobTable(connection)
        registry = RegistryStore(connection, events)
        commitCounter = operations.counted.commit
    }

    /// The commit count of a database that is not opened as a store; `nil` if there is none.
    ///
    /// - Parameter connection: to a file of any schema.
    public static func commitCount(in connection: Connection) throws(StorageError) -> Int64? {
        var counted = try Counters.rows(in: connection)
        counted.raise(to: try Counters.logs(in: connection))
        return counted.commit > 0 ? counted.commit : nil
    }

    static func prepare(_ connection: Connection) throws(StorageError) {
        let version = try connection.schemaVersion()
        let additions = Schema.additions[version]
        guard version == 0 || version == Int64(Schema.version) || additions != nil else {
            throw StorageError(
                version > Int64(Schema.version) ? .newerSchema : .olderSchema,
                "the store has schema \(version), this program has \(Schema.version)")
        }
        guard version != Int64(Schema.version) else { return }
        try connection.begin()
        for statement in additions ?? Schema.statements { try connection.execute(statement) }
        if version == 8 { try Citations(connection).fill() }
        // A store before schema 14 lacks follow operations, or has too many of them.
        if additions != nil, version < 14 {
            try FollowingTable.enqueueAllAssertions(in: connection)
        }
        try connection.setSchemaVersion(Schema.version)
        try connection.commit()
    }

    /// Opens a transaction unless one is open.
    ///
    /// - Throws: `.transactionLost` when this turn's transaction is gone: the turn must not
    ///   continue as if its writes existed.
    public func begin() throws(StorageError) {
        try refuseLostTransaction()
        if !connection.isInTransaction { try connection.begin() }
    }

    /// Writes what was collected in memory and ends the turn's transaction, if there is one.
    ///
    /// - Throws: `.transactionLost` when SQLite rolled back the transaction after an earlier error,
    ///   even if that error was ignored. The in-memory state must then be rebuilt.
    public func commit() throws(StorageError) {
        try refuseLostTransaction()
        guard connection.isInTransaction else { return }
        try peers.flush()
        commitCounter += 1
        let counters = Counters(
            arrival: operations.arrival, event: events.newest, commit: commitCounter)
        if try !operations.flush(counting: counters) { try counters.write(in: connection) }
        try connection.commit()
    }

    private func refuseLostTransaction() throws(StorageError) {
        guard connection.isTransactionLost else { return }
        throw StorageError(.transactionLost, "an earlier error undid the turn")
    }
}
