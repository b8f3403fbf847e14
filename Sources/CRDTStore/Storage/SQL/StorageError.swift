private import CSQLite

/// An error of the disk, or of SQLite.
///
/// It contains the statement and never a bound value, so it may be logged and shown.
public struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error, as far as callers distinguish.
    public enum Kind: Equatable, Sendable {
        /// The disk, the quota or the page limit is exhausted. May work again once there is room.
        case full
        /// Reading, writing or syncing failed. After a failed fsync Linux forgets the
        /// unwritten pages, so a retry would falsely succeed: nothing is written any more
        /// until the process restarts.
        case ioFailure
        /// The file is a damaged database, or not a database.
        case corrupt
        /// A database, but of another program.
        case notOurs
        /// Written by a later version of the program.
        case newerSchema
        /// Written by an earlier version, whose operations follow other rules.
        case olderSchema
        /// The file is empty where a store was expected.
        case empty
        /// No such file, no permission, or no descriptor left.
        case cannotOpen
        /// The file, its folder or the connection allows no writing.
        case readOnly
        /// Another process holds a lock for longer than we wait.
        case busy
        /// A constraint of the schema.
        case constraint
        /// SQLite ran into its own heap limit, or a value is larger than it takes.
        case noMemory
        /// SQLite rolled back the whole transaction by itself after an earlier error, so everything
        /// since `begin()` is undone.
        case transactionLost
        /// A bug of ours: wrong SQL, wrong order of calls, a parameter that does not exist.
        case misuse
        /// Anything else; see `code`.
        case other
    }

    /// The kind, for callers' decisions.
    public let kind: Kind
    /// SQLite's extended result code, or 0 when SQLite was not asked.
    public let code: Int32
    /// SQLite's message, in English, without values.
    public let message: String
    /// The SQL that failed, or the action.
    public let statement: String

    /// An error that was not reported by SQLite.
    public init(_ kind: Kind, _ message: String, statement: String = "") {
        self.kind = kind
        code = 0
        self.message = message
        self.statement = statement
    }

    /// The last failure of a connection.
    ///
    /// - Parameters:
    ///   - code: the extended code of the failed call.
    ///   - database: SQLite's handle, or `nil` when there is none to ask.
    init(code: Int32, database: OpaquePointer?, statement: String) {
        let systemError = database.map { sqlite3_system_errno($0) } ?? 0
        let kind = Self.kind(code: code, systemError: systemError)
        switch (kind, database.map(Self.fileFailures)) {
        case (.corrupt, let failures?) where failures.isDisk: self.kind = .ioFailure
        case (.ioFailure, let failures?)
        where Int(code) == WSX_IOERR_WRITE && failures.isQuota && !failures.isDisk:
            self.kind = .full
        default: self.kind = kind
        }
        self.code = code
        // The connection's message belongs to its last failure, which may be an older one.
        if let database, sqlite3_extended_errcode(database) == code {
            message = String(cString: sqlite3_errmsg(database))
        } else {
            message = String(cString: sqlite3_errstr(code))
        }
        self.statement = statement
    }

    /// Kind, code, message and statement on one line, for a log.
    public var description: String {
        let code = code == 0 ? "" : " (\(code))"
        return "\(kind)\(code): \(message)" + (statement.isEmpty ? "" : " [\(statement)]")
    }

    /// The failures of a database's files since they were opened: SQLite records them with each
    /// file, and some nowhere else.
    ///
    /// - Returns: whether the disk refused a read or write: such data is not damaged, may
    ///   be readable later, and must not be replaced by a rebuilt store; and whether a
    ///   quota was exhausted.
    private static func fileFailures(
        _ database: OpaquePointer
    ) -> (isDisk: Bool, isQuota: Bool) {
        var (file, log): (Int32, Int32) = (0, 0)
        wsx_last_errnos(database, &file, &log)
        let found = [Int(file), Int(log)]
        let disk = [WSX_IO_ERROR, WSX_NO_DEVICE, WSX_OUT_OF_RANGE].map { Int($0) }
        return (found.contains(where: disk.contains), found.contains(Int(WSX_OVER_QUOTA)))
    }

    private static func kind(code: Int32, systemError: Int32) -> Kind {
        let isFull =
            systemError == Int32(WSX_NO_SPACE)
            || systemError == Int32(WSX_OVER_QUOTA)
        // The low byte is the primary code.
        switch code & 0xff {
        case SQLITE_FULL: return .full
        case SQLITE_IOERR: return ioKind(code: code, isFull: isFull)
        case SQLITE_CANTOPEN: return isFull ? .full : .cannotOpen
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt
        case SQLITE_PERM, SQLITE_AUTH: return .cannotOpen
        case SQLITE_READONLY: return .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy
        case SQLITE_CONSTRAINT: return .constraint
        case SQLITE_NOMEM, SQLITE_TOOBIG: return .noMemory
        case SQLITE_ERROR, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_MISMATCH: return .misuse
        default: return .other
        }
    }

    /// To SQLite, failing to grow the shared-memory index is an I/O error even if only
    /// space is missing; no committed byte is at risk there. A failed sync stays an I/O
    /// failure whatever its cause.
    private static func ioKind(code: Int32, isFull: Bool) -> Kind {
        switch Int(code) {
        case WSX_IOERR_NOMEM: .noMemory
        case WSX_IOERR_SHMOPEN, WSX_IOERR_SHMSIZE, WSX_IOERR_SHMMAP:
            isFull ? .full : .ioFailure
        default: .ioFailure
        }
    }
}
