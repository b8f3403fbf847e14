public import WorkspaceModel

/// The notes, and the operations of their texts. Contents are decrypted from the operations, and
/// texts are built in memory.
public final class NoteTable {
    let connection: Connection
    /// The documents with notes that lost something since `takeGoneNotes`.
    private var goneNotes: Set<Int64> = []
    /// Whether that applies to all documents.
    private var areAllNotesGone = false

    init(_ connection: Connection) { self.connection = connection }

    /// The notes of a document, or of all, are rebuilt.
    func forget(_ document: Int64?) {
        if let document { goneNotes.insert(document) } else { areAllNotesGone = true }
    }

    // MARK: Notes

    /// The valid notes of a channel, deleted ones included, the newest first.
    ///
    /// - Parameter end: only notes created before this one, `nil` for all.
    public func notes(
        in document: Int64, before end: MessageKey? = nil, limit: Int
    ) throws(StorageError) -> [ViewStore.NotePlace] {
        let end =
            end
            ?? MessageKey(
                timestamp: HybridTimestamp(rawValue: UInt64(Int64.max)), idPrefix: UInt64(Int64.max)
            )
        return try connection.statement(
            """
            SELECT DISTINCT key_hlc, key_id FROM annotation INDEXED BY annotation_note
                WHERE did = ? AND kind = 4 AND hidden = 0 AND (key_hlc, key_id) < (?, ?)
                ORDER BY key_hlc DESC, key_id DESC LIMIT ?
            """
        ).rows(
            .integer(document), .integer(Int64(bitPattern: end.timestamp.rawValue)),
            .integer(Int64(bitPattern: end.idPrefix)), .integer(Int64(limit))
        ) { row in
            ViewStore.NotePlace(document: document, key: Self.noteKey(row, from: 0))
        }
    }

    // MARK: Edits

    /// The edit with this arrival number, and its note.
    public func noteEdit(
        at arrival: Int64
    ) throws(StorageError) -> (place: ViewStore.NotePlace, edit: ViewStore.NoteEditRow)? {
        try connection.statement(
            "SELECT did, key_hlc, key_id, state FROM note_edit WHERE arr = ? LIMIT 1"
        ).firstRow(.integer(arrival)) { row in
            (
                ViewStore.NotePlace(document: row.integer(0), key: Self.noteKey(row, from: 1)),
                ViewStore.NoteEditRow(
                    arrival: arrival, state: .init(rawValue: row.integer(3)) ?? .invalid)
            )
        }
    }

    /// Records an edit, or its new state.
    public func put(_ edit: ViewStore.NoteEditRow, of place: ViewStore.NotePlace)
        throws(StorageError)
    {
        try connection.statement(
            "INSERT INTO note_edit VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state"
        ).run(place.values + [.integer(edit.arrival), .integer(edit.state.rawValue)])
    }

    /// The edits of a note, in order of arrival.
    ///
    /// - Parameter arrival: only those after this one.
    public func noteEdits(
        of place: ViewStore.NotePlace, after arrival: Int64, limit: Int
    ) throws(StorageError) -> [ViewStore.NoteEditRow] {
        try connection.statement(
            """
            SELECT arr, state FROM note_edit WHERE did = ? AND key_hlc = ? AND key_id = ? AND arr > ?
                ORDER BY arr LIMIT ?
            """
        ).rows(place.values + [.integer(arrival), .integer(Int64(limit))]) { Self.noteEdit($0) }
    }

    /// The edits of a note, the latest first.
    ///
    /// - Parameter arrival: only those before this one.
    public func latestNoteEdits(
        of place: ViewStore.NotePlace, before arrival: Int64 = .max, limit: Int
    ) throws(StorageError) -> [ViewStore.NoteEditRow] {
        try connection.statement(
            """
            SELECT arr, state FROM note_edit WHERE did = ? AND key_hlc = ? AND key_id = ? AND arr < ?
                ORDER BY arr DESC LIMIT ?
            """
        ).rows(place.values + [.integer(arrival), .integer(Int64(limit))]) { Self.noteEdit($0) }
    }

    /// Removes edits whose operations, or payloads, are no longer stored.
    func removeNoteEdits(arrivals: [Int64]) throws(StorageError) {
        for arrival in arrivals {
            guard let (place, edit) = try noteEdit(at: arrival) else { continue }
            try connection.statement("DELETE FROM note_edit WHERE arr = ?").run(.integer(arrival))
            // An erased edit was already in no text.
            guard edit.state != .erased else { continue }
            goneNotes.insert(place.document)
            try removeNoteSnapshot(of: place)
        }
    }

    /// Those of these keys whose operations were deleted in a channel: their content may be
    /// unknown to everybody.
    ///
    /// - Parameter keys: of operations, few.
    public func deletedKeys(
        among keys: Set<MessageKey>, in document: Int64
    ) throws(StorageError) -> Set<MessageKey> {
        var found: Set<MessageKey> = []
        try connection.statement(
            """
            SELECT o.hlc, o.id FROM redacted r CROSS JOIN operation o ON o.arr = r.arr WHERE r.did = ?
            """
        ).scan([.integer(document)]) { (row) throws(StorageError) in
            let id: OperationID = try row.identifier32(1)
            let key = MessageKey(
                timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(0))),
                idPrefix: id.leadingWord)
            if keys.contains(key) { found.insert(key) }
            return found.count < keys.count ? .next : .stop
        }
        return found
    }

    /// The documents with notes that lost something since the last call, `nil` for all.
    public func takeGoneNotes() -> Set<Int64>? {
        defer { (goneNotes, areAllNotesGone) = ([], false) }
        return areAllNotesGone ? nil : goneNotes
    }

    // MARK: Snapshots

    /// The snapshot of a note; `nil` if there is none, or it is invalid.
    public func noteSnapshot(of place: ViewStore.NotePlace) throws(StorageError) -> ViewStore
        .NoteSnapshotRow?
    {
        try connection.statement(
            """
            SELECT upto, sums, page, runs FROM note_snapshot
                WHERE did = ? AND key_hlc = ? AND key_id = ?
            """
        ).firstRow(place.values) { row -> ViewStore.NoteSnapshotRow? in
            ViewStore.NoteSums(bytes: row.blob(1)).map {
                ViewStore.NoteSnapshotRow(
                    upTo: row.integer(0), sums: $0, page: row.blob(2), runs: row.blob(3))
            }
        } ?? nil
    }

    /// The largest arrival number among the edits in a note's snapshot; `nil` for none.
    public func noteSnapshotEnd(of place: ViewStore.NotePlace) throws(StorageError) -> Int64? {
        try connection.statement(
            "SELECT upto FROM note_snapshot WHERE did = ? AND key_hlc = ? AND key_id = ?"
        ).firstRow(place.values) { $0.integer(0) }
    }

    /// Stores the snapshot of a note, replacing an earlier one.
    public func setNoteSnapshot(
        _ snapshot: ViewStore.NoteSnapshotRow, of place: ViewStore.NotePlace
    ) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO note_snapshot VALUES(?, ?, ?, ?, ?, ?, ?)")
            .run(
                place.values + [
                    .integer(snapshot.upTo), .blob(snapshot.sums.bytes), .blob(snapshot.page),
                    .blob(snapshot.runs),
                ])
    }

    /// The snapshot of a note is outdated.
    public func removeNoteSnapshot(of place: ViewStore.NotePlace) throws(StorageError) {
        try connection.statement(
            "DELETE FROM note_snapshot WHERE did = ? AND key_hlc = ? AND key_id = ?"
        ).run(place.values)
    }

    // MARK: Rows

    private static func noteEdit(_ row: borrowing Row) -> ViewStore.NoteEditRow {
        ViewStore.NoteEditRow(
            arrival: row.integer(0), state: .init(rawValue: row.integer(1)) ?? .invalid)
    }

    private static func noteKey(_ row: borrowing Row, from column: Int32) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(column))),
            idPrefix: UInt64(bitPattern: row.integer(column + 1)))
    }
}

extension ViewStore {
    /// The key of a note.
    public struct NotePlace: Hashable, Comparable, Sendable {
        /// The short number of its channel.
        public let document: Int64
        /// The operation that created it.
        public let key: MessageKey

        /// The note `key` of a channel.
        public init(document: Int64, key: MessageKey) {
            self.document = document
            self.key = key
        }

        /// By channel, then by creation.
        public static func < (left: Self, right: Self) -> Bool {
            (left.document, left.key) < (right.document, right.key)
        }

        /// The note's register of a kind: its creation, its title, or its deletion.
        public func register(_ kind: Annotation.Kind) -> Annotation.Register {
            Annotation.Register(document: document, target: key, kind)
        }

        var values: [SQLValue] {
            [
                .integer(document), .integer(Int64(bitPattern: key.timestamp.rawValue)),
                .integer(Int64(bitPattern: key.idPrefix)),
            ]
        }
    }

    /// One edit of a note.
    public struct NoteEditRow: Hashable, Sendable {
        /// Its effect on the text.
        public enum State: Int64, Sendable {
            /// It counts.
            case valid = 0
            /// It is not valid: its text is inserted as deleted, and it has no other effect.
            case invalid = 1
            /// It was erased: treated as if it had never been written.
            case erased = 2
        }

        /// Its arrival number.
        public let arrival: Int64
        /// Its effect on the text.
        public let state: State

        /// A row with the given fields.
        public init(arrival: Int64, state: State) {
            self.arrival = arrival
            self.state = state
        }
    }

    /// A stored state of a note, sealed.
    public struct NoteSnapshotRow: Hashable, Sendable {
        /// The largest arrival number among its edits. It contains all edits up to that.
        public let upTo: Int64
        /// Identifies its version.
        public let sums: NoteSums
        /// The visible part, sealed.
        public let page: [UInt8]
        /// What editing needs in addition, sealed.
        public let runs: [UInt8]

        /// A row with the given fields.
        public init(upTo: Int64, sums: NoteSums, page: [UInt8], runs: [UInt8]) {
            self.upTo = upTo
            self.sums = sums
            self.page = page
            self.runs = runs
        }
    }
}
