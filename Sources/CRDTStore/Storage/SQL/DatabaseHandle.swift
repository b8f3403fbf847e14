private import CSQLite
import WorkspaceModel

/// SQLite's handle, and the state needed wherever it is used.
///
/// Shared by a `Connection` and its statements, so that the handle outlives the last of them.
final class DatabaseHandle {
    let pointer: OpaquePointer

    /// Whether a writing statement may run: only between `begin()` and its end, because outside a
    /// transaction SQLite would commit every statement separately.
    var mayWrite = false
    /// Set when SQLite rolled the transaction back by itself.
    var isTransactionLost = false
    /// The I/O failure that ended all writing.
    private(set) var writingStopped: StorageError?

    /// Frames in the write-ahead log after the last commit; 0 after it starts over.
    var logFrameCount = 0
    /// Commits that wrote to the log, each with its fsync.
    var loggedCommitCount = 0

    /// Statements that were run, without BEGIN, COMMIT and the like.
    var statementCount = 0

    /// Runs of statements that write, for tests of the cost.
    var writeCount = 0

    /// Rows that wait to be written with others (`GatheredRows.swift`).
    var waiting: [WaitingRows] = []
    /// The failure of writing such rows in this transaction.
    var gatheringFailure: StorageError?
    /// Whether there may be one of both.
    var isGathering = false

    /// Writing statements until the injected failure; negative for never.
    var stepsUntilFault = -1
    var stepFault: Fault?
    /// The error for queries that contain a word.
    var readFault: (word: String, error: StorageError)?
    /// The error of every BEGIN.
    var beginFault: StorageError?

    /// Takes ownership of the handle, and closes it at the end.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sqlite3_close_v2(pointer) }

    /// Whether a transaction is open, as SQLite sees it.
    var isInTransaction: Bool { sqlite3_get_autocommit(pointer) == 0 }

    /// The error for a result code, after updating the state: an I/O failure ends writing, and a
    /// transaction that SQLite dropped accepts no more statements.
    func failure(_ code: Int32, _ statement: String) -> StorageError {
        let error = StorageError(code: code, database: pointer, statement: statement)
        settle(error)
        return error
    }

    /// Updates the state for an error.
    func settle(_ error: StorageError) {
        if error.kind == .ioFailure { stopWriting(error) }
        if mayWrite, !isInTransaction {
            mayWrite = false
            isTransactionLost = true
        }
    }

    /// Why a writing statement is refused now.
    func refusal(_ statement: String) -> StorageError {
        if let writingStopped { return writingStopped }
        if isTransactionLost {
            return StorageError(
                .transactionLost, "an earlier error undid the transaction", statement: statement)
        }
        return StorageError(.misuse, "a write outside of a transaction", statement: statement)
    }

    /// Counts a writing statement, and fails the one chosen by a test.
    func strikeFault(_ statement: String) throws(StorageError) {
        stepsUntilFault -= 1
        guard stepsUntilFault < 0, let fault = stepFault else { return }
        stepFault = nil
        if fault.losesTransaction { sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil) }
        settle(fault.error)
        throw fault.error
    }

    /// Fails a query chosen by a test.
    func strikeReadFault(_ statement: String) throws(StorageError) {
        guard let readFault, statement.holds(readFault.word) else { return }
        settle(readFault.error)
        throw readFault.error
    }

    /// Keeps the first failure: later ones follow from it.
    private func stopWriting(_ error: StorageError) {
        guard writingStopped == nil else { return }
        writingStopped = error
        // Closing would checkpoint, that is write, from a log whose pages may
        // never have been stored.
        _ = wsx_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
}

/// A failure that a test injects, to check the layers above.
package struct Fault: Sendable {
    /// Where it occurs: once, except for reading and BEGIN. Counting starts at 0 with the next one.
    package enum Place: Sendable {
        /// The n-th run of a statement that writes.
        case write(Int)
        /// The n-th COMMIT, before anything of it is on disk.
        case commitBefore(Int)
        /// The n-th COMMIT, after all of it is on disk: the caller does not know the outcome.
        case commitAfter(Int)
        /// Every query with this word from now on: the disk fails to return a page of the table.
        case read(of: String)
        /// Every BEGIN from now on.
        case begin
    }

    package let place: Place
    package let error: StorageError
    /// For a write: whether SQLite also rolls back the whole transaction, as it may on a full disk,
    /// an I/O error or a lack of memory.
    package let losesTransaction: Bool

    package init(_ place: Place, _ error: StorageError, losesTransaction: Bool = false) {
        self.place = place
        self.error = error
        self.losesTransaction = losesTransaction
    }
}
