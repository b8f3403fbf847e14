/// Rows of one table that wait to be written together.
///
/// They are written before any statement that could tell that they are missing: every other one of
/// the connection, and COMMIT. `ROLLBACK` drops them. So nobody sees a difference from
/// rows that are written at once, but for the number of statements.
class GatheredRows {
    let insert: RowInsert
    /// Whether the connection knows that rows may wait here.
    fileprivate(set) var isListed = false

    /// - Parameter sql: as for `RowInsert`.
    init(_ sql: String, on connection: Connection) throws(StorageError) {
        insert = try RowInsert(sql, on: connection)
    }

    /// How many rows wait.
    var count: Int { 0 }

    /// Writes what waits. `DatabaseHandle` calls it.
    func write() throws(StorageError) {}

    /// Forgets what waits. `DatabaseHandle` calls it.
    func discard() {}

    /// To be called before a row is added.
    ///
    /// - Throws: what writing the row now would throw outside of a transaction, or after a failure.
    final func willAdd() throws(StorageError) { try insert.database.gather(self) }

    /// To be called after a row was added: writes them once there are enough.
    final func didAdd() throws(StorageError) {
        guard count >= RowInsert.rowsMax else { return }
        try insert.database.writeFull(self)
    }
}

/// What waits on one connection. Weak: rows that wait must not keep a store open that is dropped.
struct WaitingRows {
    fileprivate weak var rows: GatheredRows?
}

extension DatabaseHandle {
    fileprivate func gather(_ rows: GatheredRows) throws(StorageError) {
        if let gatheringFailure { throw gatheringFailure }
        guard mayWrite, writingStopped == nil else { throw refusal("a row that waits") }
        guard !rows.isListed else { return }
        rows.isListed = true
        waiting.append(WaitingRows(rows: rows))
        isGathering = true
    }

    fileprivate func writeFull(_ rows: GatheredRows) throws(StorageError) {
        do throws(StorageError) { try rows.write() } catch { throw fail(error) }
    }

    /// Writes all rows that wait.
    ///
    /// - Throws: the first failure, now and each time until the transaction ends: who asked may
    ///   ignore it, and the transaction must not be committed without these rows.
    func writeGathered() throws(StorageError) {
        if let gatheringFailure { throw gatheringFailure }
        let lists = takeWaiting()
        do throws(StorageError) {
            for rows in lists { try rows.write() }
        } catch {
            for rows in lists { rows.discard() }
            throw fail(error)
        }
    }

    /// Drops the rows that wait: the writes of which they are part are undone.
    func discardGathered() {
        gatheringFailure = nil
        for rows in takeWaiting() { rows.discard() }
    }

    private func takeWaiting() -> [GatheredRows] {
        let lists = waiting.compactMap(\.rows)
        waiting = []
        isGathering = false
        for rows in lists { rows.isListed = false }
        return lists
    }

    private func fail(_ error: StorageError) -> StorageError {
        discardGathered()
        gatheringFailure = error
        isGathering = true
        return error
    }
}
