private import CSQLite

extension Connection {
    /// The extent of a checkpoint.
    public enum CheckpointMode: Equatable, Sendable {
        /// Copies what no reader needs in the log; never waits.
        case passive
        /// Copies everything and empties the log's file, when no reader is open.
        case truncate
    }

    /// The result of a checkpoint.
    public struct Checkpoint: Equatable, Sendable {
        /// Pages in the log.
        public let frameCount: Int
        /// The pages of those that are in the database file now.
        public let copiedFrameCount: Int
        /// Whether a reader kept it from finishing; try again later.
        public let isBlocked: Bool
    }

    /// Copies the write-ahead log into the database file. A step between turns.
    ///
    /// - Throws: `.misuse` inside a transaction, the first I/O failure once there was one.
    public func checkpoint(_ mode: CheckpointMode) throws(StorageError) -> Checkpoint {
        if let error = writingStopped { throw error }
        guard !isInTransaction else {
            throw StorageError(.misuse, "inside a transaction", statement: "checkpoint")
        }
        let how = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        var frames: Int32 = 0
        var copied: Int32 = 0
        let status = sqlite3_wal_checkpoint_v2(database.pointer, "main", how, &frames, &copied)
        guard status == SQLITE_OK || status & 0xff == SQLITE_BUSY else {
            throw database.failure(status, "checkpoint")
        }
        // Without a log, as in memory, SQLite returns -1.
        let frameCount = max(0, Int(frames))
        if mode == .truncate, status == SQLITE_OK { database.logFrameCount = 0 }
        return Checkpoint(
            frameCount: frameCount, copiedFrameCount: max(0, Int(copied)),
            isBlocked: status != SQLITE_OK || frames != copied)
    }

    /// Does not checkpoint when the connection is closed: another file has taken this one's name,
    /// and the log of that name belongs to it.
    public func leaveLog() {
        _ = wsx_db_config(database.pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    /// Reads the schema again, and makes virtual tables anew: what they keep in memory from writing
    /// is freed. Statements go on, and are prepared again as soon as they run.
    ///
    /// - Source: SQLite, "PRAGMA writable_schema", the value RESET.
    /// - Throws: `.misuse` inside a transaction, in which virtual tables may hold what was written.
    public func reloadSchema() throws(StorageError) {
        guard !isInTransaction else {
            throw StorageError(.misuse, "inside a transaction", statement: "writable_schema")
        }
        releaseSnapshot()
        try execute("PRAGMA writable_schema = RESET")
    }

    /// Pages in the log after the last commit through this connection.
    public var logFrameCount: Int { database.logFrameCount }

    /// About how many bytes of the log a checkpoint would have to copy.
    public var logByteCount: Int { database.logFrameCount * 8192 }

    /// Commits through this connection that wrote to the log, each with its fsync.
    public var loggedCommitCount: Int { database.loggedCommitCount }

    /// Problems inside the database, in SQLite's words; empty if there are none.
    ///
    /// - Parameters:
    ///   - countMax: the maximum number of problems.
    ///   - thorough: also compares every index with its table, which takes several times longer.
    /// - Throws: errors other than damaged pages, such as an I/O failure.
    public func integrityProblems(
        countMax: Int = 100, thorough: Bool = false
    ) throws(StorageError) -> [String] {
        let check = thorough ? "integrity_check" : "quick_check"
        var problems: [String] = []
        do throws(StorageError) {
            try Statement("PRAGMA \(check)(\(countMax))", on: database)
                .forEachRow { (row) throws(StorageError) in problems.append(try row.text(0)) }
        } catch {
            // Pages may be too damaged for the check itself.
            guard error.kind == .corrupt else { throw error }
            problems.append(error.message)
        }
        return problems == ["ok"] ? [] : problems
    }

    /// The version of the schema in the file; 0 in a new database.
    public func schemaVersion() throws(StorageError) -> Int64 {
        try statement("PRAGMA user_version").integer() ?? 0
    }

    /// Sets the version of the schema, as part of the transaction that changes the schema.
    public func setSchemaVersion(_ version: Int32) throws(StorageError) {
        try execute("PRAGMA user_version = \(version)")
    }
}
