private import CSQLite

extension Connection {
    /// The purpose of a connection.
    public enum Mode: Equatable, Sendable {
        /// The first connection to a store that does not exist yet. The file is missing or empty.
        case create
        /// The one connection that writes and checkpoints. The file is a store of ours.
        case main
        /// A query on a separate thread. The file is a store of ours.
        case readOnly
        /// A rebuildable index: commits are not synced, and a missing file is created.
        case disposable
        /// No file at all: the simulation's disk. The same SQL, the same errors.
        case memory
    }

    /// Opens a database file.
    ///
    /// The caller creates the file beforehand with mode 0600, since SQLite would use the umask, and
    /// holds the lock that keeps a second process away. A store that is empty, truncated or not
    /// ours is refused before SQLite touches it or its write-ahead log.
    ///
    /// - Parameters:
    ///   - path: UTF-8, without a zero byte. Never interpreted as a URI.
    ///   - isDamaged: reads as much of the schema as there is, for salvaging.
    /// - Throws: `.cannotOpen`, `.empty`, `.notOurs`, `.corrupt`; `.misuse` for `mode: .memory`.
    public convenience init(
        path: String, mode: Mode, isDamaged: Bool = false
    ) throws(StorageError) {
        guard mode != .memory, !path.isEmpty, !path.utf8.contains(0) else {
            throw StorageError(.misuse, "no path of a file", statement: "open")
        }
        // "./" keeps SQLite from interpreting "file:" and ":memory:" in a relative path.
        let path = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
        let database = try Self.openHandle(path, mode: mode)
        try Self.checkHeader(database, mode: mode)
        self.init(database, mode: mode)
        try configure(isDamaged: isDamaged)
    }

    /// Opens a database in memory.
    ///
    /// - Parameters:
    ///   - image: the result of `serialized()`, with which the simulation reopens a store after a
    ///     crash; or the bytes of a database file without its log; or nothing.
    ///   - isDamaged: reads as much of the schema as there is, for salvaging.
    /// - Throws: `.corrupt` when the image is not a database.
    public convenience init(
        image: [UInt8] = [], isDamaged: Bool = false
    ) throws(StorageError) {
        let database = try Self.openHandle(":memory:", mode: .memory)
        if !image.isEmpty { try Self.load(image, into: database) }
        self.init(database, mode: .memory)
        try configure(isDamaged: isDamaged)
    }

    /// The database as bytes, as of the last commit.
    ///
    /// - Throws: `.misuse` inside a transaction, whose writes would be included: roll back first.
    public func serialized() throws(StorageError) -> [UInt8] {
        guard !isInTransaction else {
            throw StorageError(.misuse, "inside a transaction", statement: "serialize")
        }
        var byteCount: Int64 = 0
        guard let bytes = sqlite3_serialize(database.pointer, "main", &byteCount, 0) else {
            guard byteCount > 0 else { return [] }
            throw StorageError(.noMemory, "no room for \(byteCount) bytes", statement: "serialize")
        }
        defer { sqlite3_free(bytes) }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(byteCount)))
    }

    /// Limits SQLite's memory in the whole process; exceeding it fails with `.noMemory`.
    public static func limitMemory(byteCount: Int64) {
        sqlite3_hard_heap_limit64(byteCount)
    }

    // MARK: Opening

    private static func openHandle(
        _ path: String, mode: Mode
    ) throws(StorageError) -> DatabaseHandle {
        let access =
            switch mode {
            case .readOnly: SQLITE_OPEN_READONLY
            case .main: SQLITE_OPEN_READWRITE
            case .create, .disposable, .memory: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var pointer: OpaquePointer?
        let status = sqlite3_open_v2(path, &pointer, flags, nil)
        guard let pointer else {
            throw StorageError(code: status, database: nil, statement: "open")
        }
        let database = DatabaseHandle(pointer)
        guard status == SQLITE_OK else { throw database.failure(status, "open") }
        return database
    }

    /// Checks the file before SQLite does: for an empty file SQLite deletes the write-ahead log,
    /// and a truncated one would be detected only later.
    private static func checkHeader(
        _ database: DatabaseHandle, mode: Mode
    ) throws(StorageError) {
        var byteCount: Int64 = 0
        let sizeStatus = wsx_file_size(database.pointer, &byteCount)
        guard sizeStatus == SQLITE_OK else { throw database.failure(sizeStatus, "open") }
        if byteCount == 0 {
            if mode == .create || mode == .disposable { return }
            throw StorageError(.empty, "the file is empty", statement: "open")
        }
        guard mode != .create else {
            throw StorageError(.notOurs, "the file is not empty", statement: "open")
        }
        var header = [UInt8](repeating: 0, count: FileHeader.byteCount)
        let status = wsx_file_read(database.pointer, &header, Int32(FileHeader.byteCount))
        guard status == SQLITE_OK || status == Int32(WSX_IOERR_SHORT_READ) else {
            throw database.failure(status, "open")
        }
        guard FileHeader.isDatabase(header) else {
            throw StorageError(.corrupt, "the file is not a database", statement: "open")
        }
        guard FileHeader.applicationID(header) == mode.applicationID else {
            throw StorageError(.notOurs, "the file is another program's", statement: "open")
        }
    }

    private static func load(
        _ image: [UInt8], into database: DatabaseHandle
    ) throws(StorageError) {
        guard image.count >= FileHeader.byteCount, FileHeader.isDatabase(image) else {
            throw StorageError(.corrupt, "the image is not a database", statement: "deserialize")
        }
        guard let buffer = sqlite3_malloc64(UInt64(image.count)) else {
            throw StorageError(.noMemory, "no room for the image", statement: "deserialize")
        }
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: image.count)
        target.copyBytes(from: image)
        // A database in memory has no write-ahead log, so the flag that requests one is cleared.
        let bytes = buffer.assumingMemoryBound(to: UInt8.self)
        bytes[FileHeader.writeVersionOffset] = 1
        bytes[FileHeader.readVersionOffset] = 1
        let count = Int64(image.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let status = sqlite3_deserialize(database.pointer, "main", bytes, count, count, flags)
        guard status == SQLITE_OK else { throw database.failure(status, "deserialize") }
    }

    // MARK: Settings

    private func configure(isDamaged: Bool) throws(StorageError) {
        // With it, SQLite skips invalid parts of the schema instead of refusing all of it.
        if isDamaged { try execute("PRAGMA writable_schema = ON") }
        for option in [SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL] {
            try setOption(option, to: 0)
        }
        if !isDamaged { try setOption(SQLITE_DBCONFIG_DEFENSIVE, to: 1) }
        // A plan that depends on bound values would be made again whenever they change.
        try setOption(SQLITE_DBCONFIG_ENABLE_QPSG, to: 1)
        // Only a foreign tool can hold a lock; the loop does not wait long for it.
        sqlite3_busy_timeout(database.pointer, 100)
        try execute(Self.settings)
        switch mode {
        case .readOnly: try execute("PRAGMA query_only = ON")
        case .memory: try execute("PRAGMA journal_mode = MEMORY")
        case .main, .create: try configureLog(synchronous: "FULL")
        case .disposable: try configureLog(synchronous: "OFF")
        }
    }

    /// In rollback mode first: the application id must be in the file itself, where the next start
    /// looks for it, before anything is in the log.
    private func configureLog(synchronous: String) throws(StorageError) {
        if try setting("application_id") == "0" {
            try execute("PRAGMA application_id = \(mode.applicationID)")
        }
        guard try setting("journal_mode = WAL") == "wal" else {
            throw StorageError(.readOnly, "no write-ahead log here", statement: "journal_mode")
        }
        try execute("PRAGMA synchronous = \(synchronous)")
        let database = Unmanaged.passUnretained(self.database).toOpaque()
        sqlite3_wal_hook(self.database.pointer, countLogFrames, database)
    }

    /// The answer of a pragma.
    func setting(_ pragma: String) throws(StorageError) -> String? {
        try Statement("PRAGMA \(pragma)", on: database, isSetting: true).text()
    }

    private func setOption(_ option: Int32, to value: Int32) throws(StorageError) {
        let status = wsx_db_config(database.pointer, option, value)
        guard status == SQLITE_OK else { throw database.failure(status, "sqlite3_db_config") }
    }

    /// Page 8192: an operation of 500 bytes wastes little and a payload overflows seldom. No memory
    /// map: an I/O error would be a signal. Checkpoints are steps of the loop. Deleted bytes are
    /// overwritten, as redaction promises.
    private static let settings = """
        PRAGMA page_size = 8192;
        PRAGMA auto_vacuum = NONE;
        PRAGMA mmap_size = 0;
        PRAGMA cache_size = -8192;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = ON;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA foreign_keys = OFF;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 16777216;
        """
}

extension Connection.Mode {
    /// "WSXN" for a store, "WSXS" for an index, in the file's header at byte 68.
    var applicationID: UInt32 { self == .disposable ? 0x5753_5853 : 0x5753_584E }
}

/// The first 100 bytes of a database file (SQLite, "Database File Format", section 1.3).
private enum FileHeader {
    static let byteCount = 100
    static let writeVersionOffset = 18
    static let readVersionOffset = 19

    static func isDatabase(_ header: [UInt8]) -> Bool {
        header.starts(with: [UInt8]("SQLite format 3\0".utf8))
    }

    static func applicationID(_ header: [UInt8]) -> UInt32 {
        header[68..<72].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// SQLite calls it after every commit that wrote to the log.
private func countLogFrames(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ frames: Int32
) -> Int32 {
    guard let context else { return SQLITE_OK }
    let database = Unmanaged<DatabaseHandle>.fromOpaque(context).takeUnretainedValue()
    database.logFrameCount = Int(frames)
    database.loggedCommitCount += 1
    return SQLITE_OK
}
