import WorkspaceModel

/// Own messages rejected by others.
extension ViewStore {
    /// How many of them some documents contain, of the first `Limits.refusedCountMax` of the home.
    ///
    /// - Parameter isCounted: whether to count the document with this short number.
    public func refusedCount(in isCounted: (Int64) -> Bool) throws(StorageError) -> Int64 {
        var count: Int64 = 0
        // The number of `Visibility.refused`: SQLite uses the index only for a literal.
        try connection.statement(
            """
            SELECT did FROM message INDEXED BY message_refused WHERE hidden = 2
                AND NOT EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = message.arr) LIMIT ?
            """
        ).forEachRow(.integer(Limits.refusedCountMax)) { row in
            if isCounted(row.integer(0)) { count += 1 }
        }
        return count
    }
}
