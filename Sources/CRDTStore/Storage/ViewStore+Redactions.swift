public import WorkspaceModel

/// What is deleted, and by whose word.
extension ViewStore {
    /// The word because of which something is deleted.
    public struct Deletion: Equatable, Sendable {
        /// The arrival number of the redaction that counts.
        public let by: Int64
        /// When the payload is erased here, milliseconds; `nil` once it is.
        public let due: UInt64?

        /// Deleted by the redaction with this arrival number.
        public init(by: Int64, due: UInt64?) {
            self.by = by
            self.due = due
        }
    }

    // MARK: What redactions say

    /// Notes what a redaction names.
    public func note(
        redactionOf target: OperationID, by arrival: Int64, in document: Int64
    ) throws(StorageError) {
        try connection.statement("INSERT OR IGNORE INTO redaction VALUES(?, ?, ?)")
            .run(.integer(document), .blob(target.bytes), .integer(arrival))
    }

    /// The arrival numbers of the redactions that name an operation, ascending.
    public func redactions(
        of target: OperationID, in document: Int64
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            "SELECT by FROM redaction WHERE did = ? AND target = ? ORDER BY by"
        ).rows(.integer(document), .blob(target.bytes)) { $0.integer(0) }
    }

    /// The documents in which there are redactions, ascending.
    public func documentsWithRedactions() throws(StorageError) -> [Int64] {
        try connection.statement("SELECT DISTINCT did FROM redaction ORDER BY did")
            .rows { $0.integer(0) }
    }

    /// The arrival numbers of all redactions of a document, ascending.
    public func redactions(in document: Int64) throws(StorageError) -> [Int64] {
        try connection.statement("SELECT DISTINCT by FROM redaction WHERE did = ? ORDER BY by")
            .rows(.integer(document)) { $0.integer(0) }
    }

    // MARK: What follows

    /// By whose word an operation is deleted, `nil` where it is not.
    public func deletion(of arrival: Int64) throws(StorageError) -> Deletion? {
        try connection.statement("SELECT by, due FROM redacted WHERE arr = ?")
            .firstRow(.integer(arrival)) { row in
                Deletion(
                    by: row.integer(0), due: row.optionalInteger(1).map { UInt64(max($0, 0)) })
            }
    }

    /// Deletes an operation, or says that it is not deleted after all.
    public func set(
        _ deletion: Deletion?, of arrival: Int64, in document: Int64
    ) throws(StorageError) {
        forgetUnread(in: document)
        guard let deletion else {
            return try connection.statement("DELETE FROM redacted WHERE arr = ?")
                .run(.integer(arrival))
        }
        try connection.statement("INSERT OR REPLACE INTO redacted VALUES(?, ?, ?, ?)").run(
            .integer(arrival), .integer(document), .integer(deletion.by),
            deletion.due.map { .integer(Int64(clamping: $0)) } ?? .null)
    }

    /// The arrival numbers of what is deleted in a document, ascending.
    public func deleted(in document: Int64) throws(StorageError) -> [Int64] {
        try connection.statement("SELECT arr FROM redacted WHERE did = ? ORDER BY arr")
            .rows(.integer(document)) { $0.integer(0) }
    }

    /// When the next payload is to be erased, milliseconds.
    public func nextErasure() throws(StorageError) -> UInt64? {
        try connection.statement("SELECT min(due) FROM redacted WHERE due IS NOT NULL").integer()
            .map { UInt64(max($0, 0)) }
    }

    /// The arrival numbers of what is to be erased by now, the longest due first.
    public func erasures(until now: UInt64, limit: Int) throws(StorageError) -> [Int64] {
        try connection.statement(
            "SELECT arr FROM redacted WHERE due IS NOT NULL AND due <= ? ORDER BY due, arr LIMIT ?"
        ).rows(.integer(Int64(clamping: now)), .integer(Int64(limit))) { $0.integer(0) }
    }

    /// Notes that a payload is erased.
    public func noteErased(_ arrival: Int64) throws(StorageError) {
        try connection.statement("UPDATE redacted SET due = NULL WHERE arr = ?")
            .run(.integer(arrival))
        // What it said about a message cannot be told any more, not here and not where it was
        // never opened.
        try removeAnnotations(arrivals: [arrival])
    }
}
