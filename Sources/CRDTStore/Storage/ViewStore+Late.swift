public import WorkspaceModel

/// What had come when a conversation was read, and what came later and stands before that.
extension ViewStore {
    // MARK: Frontiers

    /// How many operations of each log were there when something was read.
    public func frontier(_ place: Register.Place) throws(StorageError) -> ReadFrontier {
        var frontier = ReadFrontier()
        try connection.statement(
            "SELECT log, count FROM read_frontier WHERE workspace = ? AND subject = ?"
        ).forEachRow(.integer(place.workspace), .blob(place.subject)) { row in
            frontier.counts[UInt64(bitPattern: row.integer(0))] =
                UInt64(bitPattern: row.integer(1))
        }
        return frontier
    }

    /// How many operations of one log were there; `nil` where no marker has said anything of any
    /// log of the conversation.
    public func readCount(
        of log: UInt64, _ place: Register.Place
    ) throws(StorageError) -> UInt64? {
        let known = try connection.statement(
            "SELECT count FROM read_frontier WHERE workspace = ? AND subject = ? AND log = ?"
        ).integer(
            .integer(place.workspace), .blob(place.subject), .integer(Int64(bitPattern: log)))
        if let known { return UInt64(bitPattern: known) }
        return try hasFrontier(place) ? 0 : nil
    }

    /// Whether any marker of a conversation names logs.
    public func hasFrontier(_ place: Register.Place) throws(StorageError) -> Bool {
        try connection.statement(
            "SELECT 1 FROM read_frontier WHERE workspace = ? AND subject = ? LIMIT 1"
        ).integer(.integer(place.workspace), .blob(place.subject)) != nil
    }

    /// Adds what a marker says; any order gives the same rows.
    ///
    /// - Returns: whether it said more of any log.
    @discardableResult
    public func fold(
        _ frontier: ReadFrontier, at place: Register.Place
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

    /// All frontiers of a workspace, by the subject of their registers.
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

    /// Forgets the frontier of one conversation.
    public func removeFrontier(_ place: Register.Place) throws(StorageError) {
        try connection.statement(
            "DELETE FROM read_frontier WHERE workspace = ? AND subject = ?"
        ).run(.integer(place.workspace), .blob(place.subject))
    }

    // MARK: Late messages

    /// Notes a message that came after what stands behind it was read.
    ///
    /// - Parameters:
    ///   - log: What frontiers call its log.
    ///   - sequence: Its place in that log.
    public func putLate(
        _ position: Position, in document: Int64, log: UInt64, sequence: UInt64
    ) throws(StorageError) {
        try connection.statement("INSERT OR IGNORE INTO late VALUES(?, ?, ?, ?, ?)")
            .run(
                .integer(document), .integer(position.sort), .integer(position.arrival),
                .integer(Int64(bitPattern: log)), .integer(Int64(clamping: sequence)))
        try loadLateDocuments()
        lateDocuments?.insert(document)
    }

    /// Where the first message of a document stands that came late; `nil` without any.
    public func firstLate(in document: Int64) throws(StorageError) -> Int64? {
        guard try hasLate(document) else { return nil }
        return try connection.statement(
            "SELECT sort FROM late WHERE did = ? ORDER BY sort LIMIT 1"
        ).integer(.integer(document))
    }

    /// The late messages of a document that were there by a frontier were read.
    public func removeLate(
        in document: Int64, coveredBy frontier: ReadFrontier
    ) throws(StorageError) {
        guard try hasLate(document) else { return }
        let delete = try connection.statement(
            "DELETE FROM late WHERE did = ? AND log = ? AND seq < ?")
        for (log, count) in frontier.counts {
            try delete.run(
                .integer(document), .integer(Int64(bitPattern: log)),
                .integer(Int64(clamping: count)))
        }
    }

    /// All late messages of a document were read.
    public func removeLate(in document: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM late WHERE did = ?").run(.integer(document))
        lateDocuments?.remove(document)
    }

    /// Whether a message came late and was not read since.
    public func isLate(_ message: MessageRow) throws(StorageError) -> Bool {
        guard try hasLate(message.document) else { return false }
        return try connection.statement(
            "SELECT 1 FROM late WHERE did = ? AND sort = ? AND arr = ?"
        ).integer(
            .integer(message.document), .integer(message.position.sort),
            .integer(message.position.arrival)) != nil
    }

    /// A message that came late was read.
    public func removeLate(_ position: Position, in document: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM late WHERE did = ? AND sort = ? AND arr = ?")
            .run(.integer(document), .integer(position.sort), .integer(position.arrival))
    }

    /// Adds the messages that came late and are shown to what was not read.
    func addLate(
        in document: Int64, upTo key: MessageKey, to unread: inout Unread
    ) throws(StorageError) {
        guard try hasLate(document) else { return }
        var found = Unread()
        try connection.statement(
            """
            SELECT message.sort, key_hlc, key_id, gid, mention FROM late
                JOIN message USING(did, sort, arr) WHERE did = ? AND hidden = 0
                AND NOT EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = late.arr) LIMIT ?
            """
        ).forEachRow(.integer(document), .integer(Limits.unreadScanMax)) { row in
            let late = Self.messageKey(row.integer(1), row.integer(2))
            // Behind it, all is counted already.
            guard Self.readKey(late, sort: row.integer(0)) <= key else { return }
            found.add(
                late, sort: row.integer(0), grant: row.integer(3), isMention: row.integer(4) == 1)
        }
        unread.merge(found)
    }

    /// Whether a document may hold late messages.
    private func hasLate(_ document: Int64) throws(StorageError) -> Bool {
        try loadLateDocuments()
        return lateDocuments?.contains(document) == true
    }

    private func loadLateDocuments() throws(StorageError) {
        guard lateDocuments == nil else { return }
        lateDocuments = Set(
            try connection.statement("SELECT DISTINCT did FROM late").rows { $0.integer(0) })
    }

    /// The shown messages of a document between two keys, the first 10,000 in the order of
    /// display.
    public func messages(
        readAfter lower: MessageKey, upTo upper: MessageKey, in document: Int64
    ) throws(StorageError) -> [MessageRow] {
        // What stands far behind its own time came from a slow clock, and is looked at when it
        // comes.
        let end = Int64(clamping: upper.timestamp.rawValue)
            .addingReportingOverflow(Int64(Limits.clockLeadMillisecondsMax) << 16)
        return try connection.statement(
            """
            SELECT sort, arr, key_hlc, key_id, gid FROM message
                WHERE did = ? AND sort BETWEEN ? AND ? AND hidden = 0 ORDER BY sort, arr LIMIT ?
            """
        ).rows(
            .integer(document), .integer(Int64(clamping: lower.timestamp.rawValue)),
            .integer(end.overflow ? .max : end.partialValue), .integer(Limits.unreadScanMax)
        ) { row in
            MessageRow(
                document: document,
                position: Position(sort: row.integer(0), arrival: row.integer(1)),
                key: Self.messageKey(row.integer(2), row.integer(3)), grant: row.integer(4),
                thread: nil)
        }.filter { row in
            let key = Self.readKey(of: row)
            return lower < key && key <= upper
        }
    }
}
