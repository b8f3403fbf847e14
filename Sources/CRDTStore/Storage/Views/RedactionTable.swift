public import WorkspaceModel

/// What is deleted, and by which redactions.
public final class RedactionTable {
    let connection: Connection
    private let memory: ViewMemory

    init(_ connection: Connection, _ memory: ViewMemory) {
        (self.connection, self.memory) = (connection, memory)
    }

    // MARK: Targets of redactions

    /// Records a target of a redaction.
    public func note(
        _ naming: ViewStore.Naming, of target: OperationID, in document: Int64
    ) throws(StorageError) {
        try connection.statement("INSERT OR IGNORE INTO redaction VALUES(?, ?, ?, ?, ?)").run(
            .integer(document), .blob(target.bytes), .integer(naming.by),
            .integer(naming.isUndo ? 1 : 0), .integer(naming.grant))
    }

    /// The redactions with an operation as target, in order of arrival.
    public func namings(
        of target: OperationID, in document: Int64
    ) throws(StorageError) -> [ViewStore.Naming] {
        try connection.statement(
            "SELECT by, gid FROM redaction WHERE did = ? AND target = ? AND undo = 0 ORDER BY by"
        ).rows(.integer(document), .blob(target.bytes)) {
            ViewStore.Naming(by: $0.integer(0), grant: $0.integer(1), isUndo: false)
        }
    }

    // Sorting by a bare `gid` would make SQLite scan all redactions of the document by an index,
    // instead of the few with this target.

    /// The numbers of grants with undos of a redaction, ascending. Not the undos themselves: there
    /// can be very many.
    public func grantsOfUndos(
        of redaction: OperationID, in document: Int64
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            """
            SELECT DISTINCT +gid FROM redaction WHERE did = ? AND target = ? AND undo = 1
                ORDER BY +gid
            """
        ).rows(.integer(document), .blob(redaction.bytes)) { $0.integer(0) }
    }

    /// The arrival numbers of the undos of a redaction that cite a grant, ascending.
    public func undos(
        of redaction: OperationID, in document: Int64, citing grant: Int64
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            """
            SELECT by FROM redaction WHERE did = ? AND target = ? AND undo = 1 AND gid = ?
                ORDER BY by
            """
        ).rows(.integer(document), .blob(redaction.bytes), .integer(grant)) { $0.integer(0) }
    }

    /// The first redaction of an operation under each grant, by grant.
    public func firstNamings(
        of target: OperationID, in document: Int64
    ) throws(StorageError) -> [ViewStore.Naming] {
        try connection.statement(
            """
            SELECT min(by), gid FROM redaction WHERE did = ? AND target = ? AND undo = 0
                GROUP BY +gid ORDER BY +gid
            """
        ).rows(.integer(document), .blob(target.bytes)) {
            ViewStore.Naming(by: $0.integer(0), grant: $0.integer(1), isUndo: false)
        }
    }

    /// Whether any redaction has an operation as target.
    public func isNamed(
        _ target: OperationID, in document: Int64
    ) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 FROM redaction WHERE did = ? AND target = ? LIMIT 1")
            .integer(.integer(document), .blob(target.bytes)) == 1
    }

    /// Whether a certain redaction has an operation as target.
    public func isNamed(
        _ target: OperationID, in document: Int64, by redaction: Int64
    ) throws(StorageError) -> Bool {
        try connection.statement(
            "SELECT 1 FROM redaction WHERE did = ? AND target = ? AND by = ? AND undo = 0"
        ).integer(.integer(document), .blob(target.bytes), .integer(redaction)) == 1
    }

    /// Whether a branch has a redaction or an undo.
    ///
    /// - Parameter place: only after this sequence number, `nil` for all of it.
    public func hasNamings(
        in branch: Int64, behind place: UInt64?
    ) throws(StorageError) -> Bool {
        try connection.statement(
            """
            SELECT 1 FROM redaction WHERE by IN
                (SELECT arr FROM operation WHERE lid = ? AND seq > ?) LIMIT 1
            """
        ).integer(.integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1)) == 1
    }

    /// The documents with redactions, ascending.
    public func documentsWithRedactions() throws(StorageError) -> [Int64] {
        try connection.statement("SELECT DISTINCT did FROM redaction ORDER BY did")
            .rows { $0.integer(0) }
    }

    /// The grants that redactions of a document cite, ascending by their numbers.
    public func grantsOfRedactions(in document: Int64) throws(StorageError) -> [Int64] {
        try connection.statement("SELECT DISTINCT gid FROM redaction WHERE did = ? ORDER BY gid")
            .rows(.integer(document)) { $0.integer(0) }
    }

    /// The arrival numbers, after `arrival`, of redactions that cite a grant, ascending.
    public func redactions(
        in document: Int64, citing grant: Int64, after arrival: Int64, limit: Int
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            """
            SELECT DISTINCT by FROM redaction WHERE did = ? AND gid = ? AND by > ?
                ORDER BY by LIMIT ?
            """
        ).rows(
            .integer(document), .integer(grant), .integer(arrival), .integer(Int64(limit))
        ) { $0.integer(0) }
    }

    // MARK: Deletions

    /// The deletion of an operation, `nil` if it is not deleted.
    public func deletion(of arrival: Int64) throws(StorageError) -> ViewStore.Deletion? {
        guard try arrival <= lastDeleted() else { return nil }
        return try connection.statement("SELECT by, due FROM redacted WHERE arr = ?")
            .firstRow(.integer(arrival)) { row in
                ViewStore.Deletion(
                    by: row.integer(0), due: row.optionalInteger(1).map { UInt64(max($0, 0)) })
            }
    }

    /// An arrival number after which nothing is deleted.
    private func lastDeleted() throws(StorageError) -> Int64 {
        if let known = memory.redactedThrough { return known }
        let last = try connection.statement("SELECT max(arr) FROM redacted").integer() ?? 0
        memory.redactedThrough = last
        return last
    }

    /// Deletes an operation, or withdraws its deletion.
    public func set(
        _ deletion: ViewStore.Deletion?, of arrival: Int64, in document: Int64
    ) throws(StorageError) {
        memory.forgetUnread(in: document)
        guard let deletion else {
            return try connection.statement("DELETE FROM redacted WHERE arr = ?")
                .run(.integer(arrival))
        }
        memory.redactedThrough = memory.redactedThrough.map { max($0, arrival) }
        try connection.statement("INSERT OR REPLACE INTO redacted VALUES(?, ?, ?, ?)").run(
            .integer(arrival), .integer(document), .integer(deletion.by),
            deletion.due.map { .integer(Int64(clamping: $0)) } ?? .null)
    }

    /// The arrival numbers, after `arrival`, of deleted operations in a document, ascending.
    public func deleted(
        in document: Int64, after arrival: Int64, limit: Int
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            "SELECT arr FROM redacted WHERE did = ? AND arr > ? ORDER BY arr LIMIT ?"
        ).rows(.integer(document), .integer(arrival), .integer(Int64(limit))) { $0.integer(0) }
    }

    /// When the next payload is to be erased, milliseconds.
    public func nextErasure() throws(StorageError) -> UInt64? {
        try connection.statement("SELECT min(due) FROM redacted WHERE due IS NOT NULL").integer()
            .map { UInt64(max($0, 0)) }
    }

    /// The arrival numbers of operations due for erasure, the longest due first.
    public func erasures(until now: UInt64, limit: Int) throws(StorageError) -> [Int64] {
        try connection.statement(
            "SELECT arr FROM redacted WHERE due IS NOT NULL AND due <= ? ORDER BY due, arr LIMIT ?"
        ).rows(.integer(Int64(clamping: now)), .integer(Int64(limit))) { $0.integer(0) }
    }
}

extension ViewStore {
    /// The deletion of an operation.
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

    /// A target of a redaction or undo.
    public struct Naming: Equatable, Sendable {
        /// Its arrival number.
        public let by: Int64
        /// The number of the grant that it cites.
        public let grant: Int64
        /// Whether it withdraws its target.
        public let isUndo: Bool

        /// A row with the given fields.
        public init(by: Int64, grant: Int64, isUndo: Bool) {
            self.by = by
            self.grant = grant
            self.isUndo = isUndo
        }
    }
}

extension ViewStore {
    /// Payloads were erased.
    public func noteErased(_ arrivals: [Int64]) throws(StorageError) {
        for arrival in arrivals {
            try connection.statement("UPDATE redacted SET due = NULL WHERE arr = ?")
                .run(.integer(arrival))
            try following.forgetAssertion(arrival)
        }
        // Their annotations cannot be decrypted any more, and may never have been.
        try removeAnnotations(arrivals: arrivals)
        try notes.removeNoteEdits(arrivals: arrivals)
    }
}
