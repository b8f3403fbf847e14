import WorkspaceModel

/// Own messages that others do not take.
extension ViewStore {
    /// How many of them some documents hold, of the first `Limits.refusedCountMax` of the home.
    ///
    /// - Parameter isCounted: whether the document with this short number is one of them.
    public func refusedCount(in isCounted: (Int64) -> Bool) throws(StorageError) -> Int64 {
        var count: Int64 = 0
        // The number is that of `Visibility.refused`: an index answers only what names it.
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
