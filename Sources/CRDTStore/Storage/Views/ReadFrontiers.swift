public import WorkspaceModel

/// How many operations of each log had arrived when a conversation was read.
extension OwnTable {
    /// The frontier of a conversation.
    public func frontier(_ place: ViewStore.Register.Place) throws(StorageError) -> ReadFrontier {
        var frontier = ReadFrontier()
        try connection.statement(
            "SELECT log, count FROM read_frontier WHERE workspace = ? AND subject = ?"
        ).forEachRow(.integer(place.workspace), .blob(place.subject)) { row in
            frontier.counts[UInt64(bitPattern: row.integer(0))] =
                UInt64(bitPattern: row.integer(1))
        }
        return frontier
    }

    /// The count of one log in the frontier; `nil` if no marker lists any log of the conversation.
    public func readCount(
        of log: UInt64, _ place: ViewStore.Register.Place
    ) throws(StorageError) -> UInt64? {
        let known = try connection.statement(
            "SELECT count FROM read_frontier WHERE workspace = ? AND subject = ? AND log = ?"
        ).integer(
            .integer(place.workspace), .blob(place.subject), .integer(Int64(bitPattern: log)))
        if let known { return UInt64(bitPattern: known) }
        return try hasFrontier(place) ? 0 : nil
    }

    /// Whether any marker of a conversation lists logs.
    public func hasFrontier(_ place: ViewStore.Register.Place) throws(StorageError) -> Bool {
        try connection.statement(
            "SELECT 1 FROM read_frontier WHERE workspace = ? AND subject = ? LIMIT 1"
        ).integer(.integer(place.workspace), .blob(place.subject)) != nil
    }

    /// Merges a marker's frontier; any order gives the same rows.
    ///
    /// - Returns: whether any count grew.
    @discardableResult
    public func fold(
        _ frontier: ReadFrontier, at place: ViewStore.Register.Place
    ) throws(StorageError) -> Bool {
        let insert = try connection.statement(
            """
            INSERT INTO read_frontier VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE
                SET count = excluded.count WHERE count < excluded.count
            """)
        var isMore = false
        for (log, count) in frontier.counts.sorted(by: { $0.key < $1.key }) {
            try insert.run(
                .integer(place.workspace), .blob(place.subject),
                .integer(Int64(bitPattern: log)), .integer(Int64(clamping: count)))
            isMore = isMore || connection.changedRowCount > 0
        }
        return isMore
    }

    /// All frontiers of a workspace, by subject.
    public func frontiers(of workspace: Int64) throws(StorageError) -> [[UInt8]: ReadFrontier] {
        var found: [[UInt8]: ReadFrontier] = [:]
        try connection.statement(
            "SELECT subject, log, count FROM read_frontier WHERE workspace = ?"
        )
        .forEachRow(.integer(workspace)) { row in
            found[row.blob(0), default: ReadFrontier()].counts[
                UInt64(bitPattern: row.integer(1))] = UInt64(bitPattern: row.integer(2))
        }
        return found
    }
}
