public import WorkspaceModel

/// Late messages: those that arrived after a conversation was read and sort
/// before the read position.
extension ViewStore {
    // MARK: Basis

    /// What the late messages of a document depend on, besides messages and markers. If it has
    /// changed, or is unknown, they must be computed again.
    public struct LateBasis: Equatable, Sendable {
        /// When this member joined.
        public let beginning: HybridTimestamp
        /// The conversation whose markers count.
        public let subject: [UInt8]

        /// The given basis.
        public init(beginning: HybridTimestamp, subject: [UInt8]) {
            self.beginning = beginning
            self.subject = subject
        }
    }

    /// The basis of a document's rows; `nil` if the rows are outdated.
    public func lateBasis(of document: Int64) throws(StorageError) -> LateBasis? {
        if let known = lateBases[document] { return known }
        let found = try connection.statement("SELECT hlc, subject FROM late_basis WHERE did = ?")
            .firstRow(.integer(document)) { row in
                LateBasis(
                    beginning: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(0))),
                    subject: row.blob(1))
            }
        lateBases[document] = .some(found)
        return found
    }

    /// Sets the basis of a document's rows, or marks them as outdated.
    ///
    /// - Parameter isStored: whether it is also valid after a restart.
    public func setLateBasis(
        _ basis: LateBasis?, of document: Int64, isStored: Bool = true
    ) throws(StorageError) {
        memory.changes.documents.insert(document)
        lateBases[document] = .some(basis)
        guard let basis, isStored else { return try forgetStoredLateBasis(of: document) }
        try connection.statement("INSERT OR REPLACE INTO late_basis VALUES(?, ?, ?)").run(
            .integer(document), .integer(Int64(bitPattern: basis.beginning.rawValue)),
            .blob(basis.subject))
    }

    /// The rows depend on unwritten state: after a restart they are computed again.
    public func forgetStoredLateBasis(of document: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM late_basis WHERE did = ?").run(.integer(document))
    }

    // MARK: Late messages

    /// Adds a late message.
    ///
    /// - Parameters:
    ///   - log: The log's name in frontiers.
    ///   - sequence: Its place in that log.
    public func putLate(
        _ position: Position, in document: Int64, log: UInt64, sequence: UInt64
    ) throws(StorageError) {
        memory.changes.documents.insert(document)
        try connection.statement("INSERT OR IGNORE INTO late VALUES(?, ?, ?, ?, ?)")
            .run(
                .integer(document), .integer(position.sort), .integer(position.arrival),
                .integer(Int64(bitPattern: log)), .integer(Int64(clamping: sequence)))
        try loadLateDocuments()
        lateDocuments?.insert(document)
    }

    /// The position of a document's first late message; `nil` for none.
    public func firstLate(in document: Int64) throws(StorageError) -> Int64? {
        guard try hasLate(document) else { return nil }
        return try connection.statement(
            "SELECT sort FROM late WHERE did = ? ORDER BY sort LIMIT 1"
        ).integer(.integer(document))
    }

    /// The late messages of a document that a frontier covers were read.
    public func removeLate(
        in document: Int64, coveredBy frontier: ReadFrontier
    ) throws(StorageError) {
        guard try hasLate(document) else { return }
        memory.changes.documents.insert(document)
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
        memory.changes.documents.insert(document)
        try connection.statement("DELETE FROM late WHERE did = ?").run(.integer(document))
        lateDocuments?.remove(document)
    }

    /// Only these documents have late messages.
    public func removeLate(exceptIn documents: Set<Int64>) throws(StorageError) {
        try loadLateDocuments()
        for document in (lateDocuments ?? []).subtracting(documents).sorted() {
            try removeLate(in: document)
            try setLateBasis(nil, of: document)
        }
    }

    /// A message and its place in its log.
    public struct LoggedMessage: Sendable {
        /// The message.
        public let row: MessageRow
        /// The number of its branch.
        public let branch: Int64
        /// Its place in it.
        public let sequence: UInt64
    }

    /// The newest 10,000 messages of a document, shown or hidden, with their logs.
    public func newestLogged(in document: Int64) throws(StorageError) -> [LoggedMessage] {
        try connection.statement(
            """
            SELECT m.sort, m.arr, m.key_hlc, m.key_id, m.gid, o.lid, o.seq FROM message m
                CROSS JOIN operation o ON o.arr = m.arr
                WHERE m.did = ? ORDER BY m.sort DESC, m.arr DESC LIMIT ?
            """
        ).rows(.integer(document), .integer(Limits.unreadScanMax)) { row in
            LoggedMessage(
                row: MessageRow(
                    document: document,
                    position: Position(sort: row.integer(0), arrival: row.integer(1)),
                    key: Self.messageKey(row.integer(2), row.integer(3)), grant: row.integer(4),
                    thread: nil),
                branch: row.integer(5), sequence: UInt64(bitPattern: row.integer(6)))
        }
    }

    /// Whether a message arrived late and is still unread.
    public func isLate(_ message: MessageRow) throws(StorageError) -> Bool {
        guard try hasLate(message.document) else { return false }
        return try connection.statement(
            "SELECT 1 FROM late WHERE did = ? AND sort = ? AND arr = ?"
        ).integer(
            .integer(message.document), .integer(message.position.sort),
            .integer(message.position.arrival)) != nil
    }

    /// A late message was read.
    public func removeLate(_ position: Position, in document: Int64) throws(StorageError) {
        memory.changes.documents.insert(document)
        try connection.statement("DELETE FROM late WHERE did = ? AND sort = ? AND arr = ?")
            .run(.integer(document), .integer(position.sort), .integer(position.arrival))
    }

    /// Adds the shown late messages to the unread ones.
    func addLate(
        in document: Int64, upTo key: MessageKey, to unread: inout Unread
    ) throws(StorageError) {
        guard try hasLate(document) else { return }
        var found = Unread()
        // CROSS: the few late messages first, else SQLite starts with all messages of the channel.
        try connection.statement(
            """
            SELECT message.sort, key_hlc, key_id, gid, mention FROM late
                CROSS JOIN message USING(did, sort, arr) WHERE did = ? AND hidden = 0
                AND NOT EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = late.arr) LIMIT ?
            """
        ).forEachRow(.integer(document), .integer(Limits.unreadScanMax)) { row in
            let late = Self.messageKey(row.integer(1), row.integer(2))
            // Later ones are counted already.
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

    /// The messages of a document between two keys, shown or hidden, in display order; `nil` if
    /// there are more than 10,000.
    public func messages(
        readAfter lower: MessageKey, upTo upper: MessageKey, in document: Int64
    ) throws(StorageError) -> [MessageRow]? {
        // A message displayed after its own time came from a slow clock.
        let end = Int64(clamping: upper.timestamp.rawValue)
            .addingReportingOverflow(Int64(Limits.clockLeadMillisecondsMax) << 16)
        let found = try connection.statement(
            """
            SELECT sort, arr, key_hlc, key_id, gid FROM message
                WHERE did = ?1 AND sort >= ?2 AND (sort <= ?3 OR key_hlc BETWEEN ?2 AND ?4)
                ORDER BY sort, arr LIMIT ?5
            """
        ).rows(
            .integer(document), .integer(Int64(clamping: lower.timestamp.rawValue)),
            .integer(end.overflow ? .max : end.partialValue),
            .integer(Int64(clamping: upper.timestamp.rawValue)),
            .integer(Limits.unreadScanMax + 1)
        ) { row in
            MessageRow(
                document: document,
                position: Position(sort: row.integer(0), arrival: row.integer(1)),
                key: Self.messageKey(row.integer(2), row.integer(3)), grant: row.integer(4),
                thread: nil)
        }
        guard Int64(found.count) <= Limits.unreadScanMax else { return nil }
        return found.filter { row in
            let key = Self.readKey(of: row)
            return lower < key && key <= upper
        }
    }
}
