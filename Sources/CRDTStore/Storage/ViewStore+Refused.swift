import WorkspaceModel

/// Own messages that others do not take.
extension ViewStore {
    /// How many there are among the newest `Limits.refusedScanMax` of each of these documents.
    ///
    /// Whoever was cut off writes nothing there any more, so theirs stay the newest.
    public func refusedCount(in documents: [Int64]) throws(StorageError) -> Int64 {
        let query = try connection.statement(
            """
            SELECT count(*) FROM (SELECT hidden, arr FROM message WHERE did = ?
                ORDER BY sort DESC, arr DESC LIMIT ?) AS newest WHERE hidden = ?
                AND NOT EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = newest.arr)
            """)
        var count: Int64 = 0
        for document in documents {
            count +=
                try query.integer(
                    .integer(document), .integer(Int64(Limits.refusedScanMax)),
                    .integer(Visibility.refused.rawValue)) ?? 0
        }
        return count
    }
}
