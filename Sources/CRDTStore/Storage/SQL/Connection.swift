private import CSQLite

/// One connection to one SQLite database, for one thread.
///
/// A turn of the loop is `begin()`, any number of writes, and `commit()`. Exactly one connection
/// writes and checkpoints, and nothing is written outside of a transaction. The file is closed when
/// the connection and its statements are released.
///
/// ```swift
/// let connection = try Connection(path: "/home/ada/.wsx/node.db", mode: .main)
/// let insert = try connection.statement("INSERT INTO meta VALUES (?1, ?2)")
/// try connection.begin()
/// try insert.run("name", 7)
/// try connection.commit()
/// ```
public final class Connection {
    /// The purpose of the connection.
    public let mode: Mode
    /// Commits that succeeded through this connection, whether or not they changed anything.
    public private(set) var commitCount = 0

    let database: DatabaseHandle
    private var statements: [String: Statement] = [:]
    /// A cache of the same statements by a few bytes of their SQL: hashing the whole text costs
    /// more than finding a row. Of two with the same index, the last used one is cached.
    private var quick = [Statement?](repeating: nil, count: 256)
    private var commitFault: Fault?
    /// Positioned on its row while a snapshot is held.
    private var snapshot: Statement?
    /// Whether the next statement has a snapshot held.
    private var wantsSnapshot = false

    /// More than all our SQL texts; further ones made at run time are not cached.
    private static let statementsKeptMax = 256

    /// Wraps a handle that `Connection+Opening.swift` has set up.
    init(_ database: DatabaseHandle, mode: Mode) {
        self.database = database
        self.mode = mode
    }

    // MARK: Statements

    /// The prepared statement of this SQL, prepared once and cached; hot paths keep it.
    ///
    /// - Throws: `.misuse` when the SQL is wrong or is more than one statement, `.corrupt` when
    ///   the schema cannot be read.
    public func statement(_ sql: String) throws(StorageError) -> Statement {
        if wantsSnapshot {
            wantsSnapshot = false
            try? holdSnapshot()
        }
        let place = Self.place(of: sql)
        if let kept = quick[place], kept.sql == sql, !kept.isRunning { return kept }
        if let kept = statements[sql], !kept.isRunning {
            quick[place] = kept
            return kept
        }
        let statement = try Statement(sql, on: database)
        // A cached one that is running stays: this one serves a query inside its rows.
        if statements[sql] == nil, statements.count < Self.statementsKeptMax {
            statements[sql] = statement
            quick[place] = statement
        }
        return statement
    }

    /// The index of a statement in `quick`.
    private static func place(of sql: String) -> Int {
        let sum = sql.utf8.withContiguousStorageIfAvailable { text -> Int in
            guard !text.isEmpty else { return 0 }
            let middle = Int(text[text.count / 2]), third = Int(text[text.count / 3])
            return text.count &+ 31 &* middle &+ 7 &* third &+ Int(text[text.count - 1])
        }
        return (sum ?? sql.utf8.count) & 255
    }

    /// The SQL of the cached statements, in no order.
    var keptStatements: [String] { Array(statements.keys) }

    /// Runs SQL with any number of statements, for schemas and pragmas. Unlike a `Statement` it may
    /// write outside of a transaction, and then commits each statement separately.
    public func execute(_ sql: String) throws(StorageError) {
        if let error = database.writingStopped { throw error }
        if database.isGathering { try database.writeGathered() }
        let status = sqlite3_exec(database.pointer, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw database.failure(status, sql) }
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    public var changedRowCount: Int { Int(sqlite3_changes64(database.pointer)) }

    /// The rows changed by all statements since the store was opened: a measure of work.
    public var totalChangedRowCount: Int {
        // A failure is told when the transaction goes on.
        if database.isGathering { try? database.writeGathered() }
        return Int(sqlite3_total_changes64(database.pointer))
    }

    /// Runs of statements that write since the store was opened: another measure of work.
    package var writeCount: Int { database.writeCount }

    /// Statements that were run since the store was opened, without BEGIN, COMMIT and the like:
    /// another measure of work.
    public var statementCount: Int { database.statementCount }

    // MARK: Transactions

    /// Whether a transaction is open. SQLite may have rolled it back by itself.
    public var isInTransaction: Bool { database.isInTransaction }

    /// Whether SQLite rolled back the transaction by itself and nobody has
    /// called `rollback()` since.
    public var isTransactionLost: Bool { database.isTransactionLost }

    /// The I/O failure that ended all writing through this connection, if there was one. Another
    /// connection in the same process must inherit it.
    public var writingStopped: StorageError? { database.writingStopped }

    /// Opens a write transaction.
    ///
    /// - Throws: after an I/O failure, that failure; `.misuse` inside a transaction.
    public func begin() throws(StorageError) {
        if let error = database.writingStopped { throw error }
        if let error = database.beginFault {
            database.settle(error)
            throw error
        }
        // What waits inside of a transaction that is open stays.
        if !database.isInTransaction { database.discardGathered() }
        try beginOnSnapshot()
        database.mayWrite = true
        database.isTransactionLost = false
    }

    /// A held snapshot becomes the transaction's: its lock stays, instead of being dropped and taken
    /// again. SQLite refuses that where another connection has written since; then the transaction
    /// begins on what is there now.
    private func beginOnSnapshot() throws(StorageError) {
        wantsSnapshot = false
        defer { releaseSnapshot() }
        let begin = try statement("BEGIN IMMEDIATE")
        do throws(StorageError) { try begin.runControl() } catch {
            guard snapshot?.isRunning == true, !database.isInTransaction else { throw error }
            releaseSnapshot()
            try begin.runControl()
        }
    }

    /// Commits the transaction: one fsync.
    ///
    /// - Throws: any error leaves the outcome unknown (after a restart the transaction may or may
    ///   not exist) and the connection outside of a transaction. `.transactionLost` is the
    ///   exception: nothing of it exists.
    public func commit() throws(StorageError) {
        guard database.isInTransaction else {
            let lost = database.refusal("COMMIT")
            database.isTransactionLost = false
            throw lost
        }
        do throws(StorageError) {
            try strikeCommitFault(before: true)
            try statement("COMMIT").runControl()
            database.mayWrite = false
            try strikeCommitFault(before: false)
        } catch {
            database.settle(error)
            rollback()
            throw error
        }
        commitCount += 1
    }

    /// Rolls back the transaction, if one is open. Failures do not matter: uncommitted writes are
    /// discarded with the connection too.
    public func rollback() {
        database.mayWrite = false
        database.isTransactionLost = false
        database.discardGathered()
        releaseSnapshot()
        guard database.isInTransaction else { return }
        sqlite3_exec(database.pointer, "ROLLBACK", nil, nil, nil)
    }

    // MARK: Reading

    /// Holds a read snapshot until `releaseSnapshot()`, `begin()` or `rollback()`. Outside of a
    /// transaction each query otherwise takes and drops a lock, with several system calls that cost
    /// more than finding a row. Does nothing if one is held.
    ///
    /// - Throws: `StorageError`; nothing is held then.
    public func holdSnapshot() throws(StorageError) {
        let holder: Statement
        if let snapshot {
            holder = snapshot
        } else {
            holder = try Statement("SELECT 1 FROM sqlite_schema", on: database)
            snapshot = holder
        }
        if !holder.isRunning, !isInTransaction { try holder.standOnFirstRow() }
    }

    /// Like `holdSnapshot()`, from the next statement on: who needs none takes no lock. If it cannot
    /// be held then, each query takes a lock of its own.
    public func holdSnapshotWhenRead() { wantsSnapshot = true }

    /// Ends the snapshot: the next query sees other connections' writes, and checkpoints copy all.
    public func releaseSnapshot() {
        wantsSnapshot = false
        snapshot?.leaveRow()
    }

    // MARK: Tests

    /// Injects a failure. One at a time of each kind: a later one replaces it.
    package func inject(_ fault: Fault) {
        switch fault.place {
        case .write(let count):
            database.stepsUntilFault = count
            database.stepFault = fault
        case .commitBefore, .commitAfter:
            commitFault = fault
        case .read(let word):
            database.readFault = (word, fault.error)
        case .begin:
            database.beginFault = fault.error
        }
    }

    private func strikeCommitFault(before: Bool) throws(StorageError) {
        switch commitFault?.place {
        case .commitBefore(let count) where before:
            try countDown(count, .commitBefore(count - 1))
        case .commitAfter(let count) where !before:
            try countDown(count, .commitAfter(count - 1))
        default: return
        }
    }

    private func countDown(_ count: Int, _ next: Fault.Place) throws(StorageError) {
        guard let fault = commitFault else { return }
        guard count <= 0 else {
            commitFault = Fault(next, fault.error, losesTransaction: fault.losesTransaction)
            return
        }
        commitFault = nil
        throw fault.error
    }
}
