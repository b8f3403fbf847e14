private import CSQLite

/// A prepared statement.
///
/// Values go in through a `Binder` or as `SQLValue`s and come out through a lent `Row`; SQLite's
/// pointers stay in this file, `Binder.swift` and `Row.swift`. It is reset on every exit, so no
/// read transaction (except a held snapshot) and no bound value outlives a call. One thread, like
/// its connection.
///
/// ```swift
/// let insert = try connection.statement("INSERT INTO note VALUES (?1, ?2)")
/// try insert.run { values in
///     values.bind(1, 7)
///     values.bind(2, bytes)
/// }
/// ```
public final class Statement {
    /// The SQL it was made from.
    public let sql: String

    let pointer: OpaquePointer
    private let database: DatabaseHandle
    let parameterCount: Int32
    private let writes: Bool
    /// Whether a call is under way; a statement cannot run inside its own rows.
    private(set) var isRunning = false

    /// The first binding failure, thrown before the statement runs.
    var bindStatus = SQLITE_OK
    /// Memory for bound bytes while the statement runs: a copy, but without an allocation per row.
    let arena: UnsafeMutableRawPointer
    var arenaUsed = 0
    let arenaCapacity: Int
    /// How many parameters stand before the row that is bound, where it takes several.
    var rowStart: Int32 = 0
    /// Whether it only adds rows, to a table of which no rows wait but by itself.
    var isPlainInsert = false

    /// Bytes of the arena: an operation's columns without a large payload. SQLite
    /// copies what does not fit.
    static let arenaByteCount = 2048

    /// - Parameter isSetting: a pragma about the connection, which SQLite regards as writing, and
    ///   which cannot run inside of a transaction.
    init(
        _ sql: String, on database: DatabaseHandle, isSetting: Bool = false,
        arenaByteCount: Int = Statement.arenaByteCount
    ) throws(StorageError) {
        var pointer: OpaquePointer?
        var isWhole = false
        let status = sql.withCString { text in
            var tail: UnsafePointer<CChar>?
            let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
            let status = sqlite3_prepare_v3(database.pointer, text, -1, flags, &pointer, &tail)
            isWhole = tail?.pointee == 0
            return status
        }
        guard status == SQLITE_OK else { throw database.failure(status, sql) }
        guard let pointer, isWhole else {
            sqlite3_finalize(pointer)
            throw StorageError(.misuse, "not exactly one statement", statement: sql)
        }
        self.sql = sql
        self.pointer = pointer
        self.database = database
        parameterCount = sqlite3_bind_parameter_count(pointer)
        writes = !isSetting && sqlite3_stmt_readonly(pointer) == 0
        arena = .allocate(byteCount: arenaByteCount, alignment: 8)
        arenaCapacity = arenaByteCount
    }

    deinit {
        sqlite3_finalize(pointer)
        arena.deallocate()
    }
}

// MARK: - Running

extension Statement {
    /// Runs the statement once, for its effect, with values from `bind`. The fast way.
    ///
    /// Parameters that `bind` leaves out are NULL.
    ///
    /// - Throws: `StorageError`; the statement then had no effect. Check
    ///   `Connection.isInTransaction`: SQLite may have rolled back the whole transaction.
    public func run(_ bind: (borrowing Binder) -> Void) throws(StorageError) {
        try start()
        defer { finish() }
        bind(Binder(self))
        try checkBound()
        while try step() {}
    }

    /// Runs the statement once, for its effect.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func run(_ values: SQLValue...) throws(StorageError) { try run(values) }

    /// Runs the statement once, for its effect.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func run(_ values: [SQLValue]) throws(StorageError) {
        precondition(values.count == Int(parameterCount), "wrong number of values for \(sql)")
        try run { $0.bind(values) }
    }

    /// Runs the statement and passes each row to `body`, until that returns `stop`.
    public func scan(
        _ bind: (borrowing Binder) -> Void,
        _ body: (borrowing Row) throws(StorageError) -> AfterRow
    ) throws(StorageError) {
        try start()
        defer { finish() }
        bind(Binder(self))
        try checkBound()
        while try step() {
            if try body(Row(pointer, sql)) == .stop { return }
        }
    }

    /// How `scan` continues after a row.
    public enum AfterRow: Equatable, Sendable {
        /// Continue with the next row.
        case next
        /// End the scan.
        case stop
    }

    /// Runs the statement and passes each row to `body`, until that returns `stop`.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func scan(
        _ values: [SQLValue], _ body: (borrowing Row) throws(StorageError) -> AfterRow
    ) throws(StorageError) {
        precondition(values.count == Int(parameterCount), "wrong number of values for \(sql)")
        try scan({ $0.bind(values) }, body)
    }

    /// Runs the statement and passes every row to `body`.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func forEachRow(
        _ values: SQLValue..., body: (borrowing Row) throws(StorageError) -> Void
    ) throws(StorageError) {
        try scan(values) { (row) throws(StorageError) in
            try body(row)
            return .next
        }
    }

    /// The result of `read` for the first row, or `nil` if there is none.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func firstRow<Value>(
        _ values: SQLValue..., read: (borrowing Row) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        try firstRow(values, read: read)
    }

    /// The result of `read` for the first row, or `nil` if there is none.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func firstRow<Value>(
        _ values: [SQLValue], read: (borrowing Row) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        var value: Value?
        try scan(values) { (row) throws(StorageError) in
            value = try read(row)
            return .stop
        }
        return value
    }

    /// The results of `read` for all rows, in the statement's order.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func rows<Value>(
        _ values: SQLValue..., read: (borrowing Row) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        try rows(values, read: read)
    }

    /// The results of `read` for all rows, in the statement's order.
    ///
    /// - Precondition: there are as many values as the statement has parameters.
    public func rows<Value>(
        _ values: [SQLValue], read: (borrowing Row) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        var all: [Value] = []
        try scan(values) { (row) throws(StorageError) in
            all.append(try read(row))
            return .next
        }
        return all
    }

    /// The first column of the first row, or `nil` when there is no row or it holds NULL.
    public func integer(_ values: SQLValue...) throws(StorageError) -> Int64? {
        var value: Int64?
        try scan(values) { (row) throws(StorageError) in
            value = row.optionalInteger(0)
            return .stop
        }
        return value
    }

    /// The first column of the first row as text, or `nil` when there is no row or it holds NULL.
    public func text(_ values: SQLValue...) throws(StorageError) -> String? {
        var value: String?
        try scan(values) { (row) throws(StorageError) in
            value = try row.optionalText(0)
            return .stop
        }
        return value
    }

    /// Runs BEGIN, COMMIT and the like, which need no surrounding transaction.
    func runControl() throws(StorageError) {
        isRunning = true
        defer { finish() }
        while try step() {}
    }

    /// Starts a query and leaves it open: its read transaction lasts until `leaveRow()`.
    func standOnFirstRow() throws(StorageError) {
        try start()
        do throws(StorageError) {
            _ = try step()
        } catch {
            finish()
            throw error
        }
    }

    /// Ends the query of `standOnFirstRow()`.
    func leaveRow() { if isRunning { finish() } }

    private func start() throws(StorageError) {
        precondition(!isRunning, "run inside its own rows: \(sql)")
        if writes {
            guard database.mayWrite, database.writingStopped == nil else {
                throw database.refusal(sql)
            }
            if database.stepsUntilFault >= 0 { try database.strikeFault(sql) }
            database.writeCount += 1
        } else if database.readFault != nil {
            try database.strikeReadFault(sql)
        }
        database.statementCount &+= 1
        isRunning = true
    }

    private func checkBound() throws(StorageError) {
        guard bindStatus == SQLITE_OK else {
            throw StorageError(code: bindStatus, database: nil, statement: sql)
        }
    }

    /// Whether there is a row.
    private func step() throws(StorageError) -> Bool {
        if database.isGathering, !isPlainInsert { try database.writeGathered() }
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let status: throw database.failure(status, sql)
        }
    }

    private func finish() {
        // Returns the step's error again, which was already thrown.
        sqlite3_reset(pointer)
        if parameterCount > 0 { sqlite3_clear_bindings(pointer) }
        arenaUsed = 0
        bindStatus = SQLITE_OK
        isRunning = false
    }
}
