public import WorkspaceModel

/// The view of the channels: positions of messages, and followers.
///
/// The view is built by folding operations and can be rebuilt at any time. It contains positions
/// and ids, never text: text is decrypted from the operation when it is shown.
///
/// It knows no room, no link and no session: `Storage` may not import them (`SourceTreeTests`). Nor
/// does it know `Storage/Operations`, which stands behind it (`FolderTests`). Rooms say what counts.
public final class ViewStore {
    let connection: Connection
    private let insert: MessageInsert
    let citing: CitingAssertions
    /// Cached results.
    let memory = ViewMemory()
    /// Deletions, and the redactions behind them.
    public let redactions: RedactionTable
    /// Notes, and the operations of their texts.
    public let notes: NoteTable
    /// The followers of channels.
    public let following: FollowingTable
    /// The content of our own documents, and read positions.
    public let own: OwnTable
    /// Every document with annotations, and possibly some that no longer have any; `nil` until
    /// needed. Reading a history queries one message after another.
    var annotatedDocuments: Set<Int64>?
    /// Every document with late messages, and possibly some in which they were
    /// read; `nil` until needed.
    var lateDocuments: Set<Int64>?
    /// The basis of each document's late messages, as far as queried since the start.
    var lateBases: [Int64: LateBasis?] = [:]

    /// The position of a message in its channel: local to this node, and stable.
    public struct Position: Hashable, Comparable, Sendable {
        /// Display order, in the units of a hybrid timestamp.
        public let sort: Int64
        /// Arrival number, which breaks ties.
        public let arrival: Int64

        /// The place (`sort`, `arrival`).
        public init(sort: Int64, arrival: Int64) {
            self.sort = sort
            self.arrival = arrival
        }

        /// In the order of display.
        public static func < (left: Self, right: Self) -> Bool {
            (left.sort, left.arrival) < (right.sort, right.arrival)
        }
    }

    /// One message of the view.
    public struct MessageRow: Hashable, Sendable {
        /// The short number of its channel.
        public let document: Int64
        /// Its position.
        public let position: Position
        /// Its name.
        public let key: MessageKey
        /// The number of its author's grant.
        public let grant: Int64
        /// The name of its thread root.
        public let thread: MessageKey?
        /// Whether only its author sees it: a revocation has cut it off.
        public internal(set) var isRefused = false
        /// Whether its current text mentions this member.
        public var isMention = false

        /// A row with the given fields.
        public init(
            document: Int64, position: Position, key: MessageKey, grant: Int64,
            thread: MessageKey?
        ) {
            self.document = document
            self.position = position
            self.key = key
            self.grant = grant
            self.thread = thread
        }
    }

    /// Who can see a message.
    public enum Visibility: Int64, Sendable {
        /// Everybody.
        case shown = 0
        /// Nobody: it is not valid.
        case hidden = 1
        /// Only its author, who wrote it here and is told that it was rejected.
        case refused = 2
    }

    /// The value in the table for a hidden message that had been shown: it was reported then, and
    /// is not reported again when it returns.
    static let withdrawn: Int64 = 3

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        citing = CitingAssertions(connection: connection)
        redactions = RedactionTable(connection, memory)
        notes = NoteTable(connection)
        following = FollowingTable(connection, memory)
        own = OwnTable(connection, memory)
        insert = try MessageInsert(connection)
    }

    // MARK: Messages

    /// Inserts a message with a visibility.
    public func fold(_ message: MessageRow, as visibility: Visibility) throws(StorageError) {
        try insert.add(message, as: visibility)
        if let thread = message.thread {
            let root = Int64(bitPattern: thread.timestamp.rawValue)
            memory.repliedThrough = memory.repliedThrough.map { max($0, root) }
        }
        try countUnread(message, as: visibility)
        memory.keep(message, as: visibility)
    }

    /// Caches messages that are folded from now on, for the answer of the call that wrote one and
    /// for its event. Must be called in each turn, as for operations.
    public func keepRecent() { memory.keepMessages(true) }

    /// Ends the caching.
    public func forgetRecent() { memory.keepMessages(false) }

    /// Sets whether the text of a message mentions this member.
    public func setMention(_ isMention: Bool, of message: MessageRow) throws(StorageError) {
        try connection.statement(
            "UPDATE message SET mention = ? WHERE did = ? AND sort = ? AND arr = ?"
        ).run(
            .integer(isMention ? 1 : 0), .integer(message.document),
            .integer(message.position.sort), .integer(message.position.arrival))
        memory.forgetUnread(in: message.document)
    }

    /// Sets the visibility of the messages at these positions of a channel.
    public func setVisibility(
        _ visibility: Visibility, of positions: [Position], in document: Int64
    ) throws(StorageError) {
        let update = try connection.statement(
            """
            UPDATE message SET hidden = CASE WHEN ?1 = 1 AND hidden IN (0, 3) THEN 3 ELSE ?1 END
                WHERE did = ?2 AND sort = ?3 AND arr = ?4
            """)
        for position in positions {
            try update.run(
                .integer(visibility.rawValue), .integer(document), .integer(position.sort),
                .integer(position.arrival))
        }
        memory.forgetUnread(in: document)
    }

    /// Those of the messages at these positions that were never shown.
    public func unseen(
        _ positions: [Position], in document: Int64
    ) throws(StorageError) -> [Position] {
        let query = try connection.statement(
            "SELECT hidden FROM message WHERE did = ? AND sort = ? AND arr = ?")
        var unseen: [Position] = []
        for position in positions {
            let state = try query.integer(
                .integer(document), .integer(position.sort), .integer(position.arrival))
            if state == Visibility.hidden.rawValue { unseen.append(position) }
        }
        return unseen
    }

    /// Removes what was folded from operations that are no longer stored.
    public func remove(_ positions: [Position], in document: Int64) throws(StorageError) {
        let delete = try connection.statement(
            "DELETE FROM message WHERE did = ? AND sort = ? AND arr = ?")
        for position in positions {
            try delete.run(
                .integer(document), .integer(position.sort), .integer(position.arrival))
            try removeLate(position, in: document)
            try following.forgetAssertion(position.arrival)
            try forgetBlobReferences(of: position.arrival)
        }
        memory.forgetUnread(in: document)
        try removeAnnotations(arrivals: positions.map(\.arrival))
        try notes.removeNoteEdits(arrivals: positions.map(\.arrival))
    }

    /// A query for messages of a channel.
    public struct Filter: Sendable, Equatable {
        /// The short number of the channel.
        public var document: Int64
        /// Further documents whose messages are included: a direct conversation that several people
        /// opened while offline has more than one.
        public var others: [Int64] = []
        /// Only replies to this message.
        public var thread: MessageKey?
        /// Only what was written at this time or later, milliseconds.
        public var since: UInt64?
        /// Only what was written at this time or earlier, milliseconds.
        public var until: UInt64?
        /// Only what is pinned, and not deleted.
        public var isPinned = false

        /// All messages of the channel with this number.
        public init(document: Int64) { self.document = document }
    }

    /// The newest messages before `position`, oldest first.
    public func messages(
        _ filter: Filter, before position: Position?, limit: Int
    ) throws(StorageError) -> [MessageRow] {
        let end = position ?? Position(sort: .max, arrival: .max)
        return try select(filter, end, "<", "DESC", limit) { $0.position > $1.position }.reversed()
    }

    /// The oldest messages after `position`, oldest first.
    public func messages(
        _ filter: Filter, after position: Position, limit: Int
    ) throws(StorageError) -> [MessageRow] {
        try select(filter, position, ">", "ASC", limit) { $0.position < $1.position }
    }

    private func select(
        _ filter: Filter, _ position: Position, _ comparison: String, _ order: String,
        _ limit: Int, by isBefore: (MessageRow, MessageRow) -> Bool
    ) throws(StorageError) -> [MessageRow] {
        var rows = try select(filter.document, filter, position, comparison, order, limit)
        guard !filter.others.isEmpty else { return rows }
        for document in filter.others {
            rows += try select(document, filter, position, comparison, order, limit)
        }
        return Array(rows.sorted(by: isBefore).prefix(limit))
    }

    private func select(
        _ document: Int64, _ filter: Filter, _ position: Position, _ comparison: String,
        _ order: String, _ limit: Int
    ) throws(StorageError) -> [MessageRow] {
        var sql = """
            SELECT did, sort, arr, key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention
                FROM message \(filter.isPinned ? "INDEXED BY message_key" : "")
                WHERE did = ? AND hidden NOT IN (1, 3) AND (sort, arr) \(comparison) (?, ?)
            """
        var values: [SQLValue] = [
            .integer(document), .integer(position.sort), .integer(position.arrival),
        ]
        if let thread = filter.thread {
            sql += " AND thread_hlc = ? AND thread_id = ?"
            values.append(.integer(Int64(bitPattern: thread.timestamp.rawValue)))
            values.append(.integer(Int64(bitPattern: thread.idPrefix)))
        }
        if let since = filter.since {
            // A column is a bit pattern: a negative value is later than all positive ones.
            sql += " AND (key_hlc >= ? OR key_hlc < 0)"
            values.append(.integer(Self.timestamp(since)))
        }
        if let until = filter.until {
            sql += " AND key_hlc BETWEEN 0 AND ?"
            values.append(.integer(Self.timestamp(until) | 0xffff))
        }
        if filter.isPinned {
            sql += " AND \(Self.isPinned)"
            values.append(.integer(document))
        }
        sql += " ORDER BY sort \(order), arr \(order) LIMIT ?"
        values.append(.integer(Int64(limit)))
        var rows: [MessageRow] = []
        try connection.statement(sql).scan(values) { row in
            rows.append(Self.message(row))
            return .next
        }
        return rows
    }

    /// The smallest hybrid timestamp of a millisecond, as a column's value.
    private static func timestamp(_ milliseconds: UInt64) -> Int64 {
        Int64(min(milliseconds, (1 << 47) - 1) << 16)
    }

    /// The message with this name, unless it is hidden; rejected ones are included.
    public func message(_ key: MessageKey) throws(StorageError) -> MessageRow? {
        let sql = """
            SELECT did, sort, arr, key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention
                FROM message
                WHERE key_hlc = ? AND key_id = ? AND hidden NOT IN (1, 3) LIMIT 1
            """
        return try connection.statement(sql).firstRow(
            .integer(Int64(bitPattern: key.timestamp.rawValue)),
            .integer(Int64(bitPattern: key.idPrefix))
        ) { Self.message($0) }
    }

    /// The message with this name, shown or hidden.
    ///
    /// - Parameter document: its document; `nil` for any.
    public func anyMessage(
        _ key: MessageKey, in document: Int64? = nil
    ) throws(StorageError) -> (row: MessageRow, isHidden: Bool)? {
        let sql = """
            SELECT did, sort, arr, key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention
                FROM message
                WHERE key_hlc = ?1 AND key_id = ?2 AND (?3 IS NULL OR did = ?3) LIMIT 1
            """
        return try connection.statement(sql).firstRow(
            .integer(Int64(bitPattern: key.timestamp.rawValue)),
            .integer(Int64(bitPattern: key.idPrefix)), document.map(SQLValue.integer) ?? .null
        ) {
            // A rejected message counts as hidden here; the row tells it apart.
            (Self.message($0), $0.integer(8) != Visibility.shown.rawValue)
        }
    }

    /// The message folded from the operation with this arrival number.
    public func message(
        arrival: Int64, sort: Int64, document: Int64
    ) throws(StorageError) -> MessageRow? {
        if let known = memory.message(arrival: arrival, sort: sort, document: document) {
            return known
        }
        let sql = """
            SELECT did, sort, arr, key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention
                FROM message
                WHERE did = ? AND sort = ? AND arr = ? AND hidden NOT IN (1, 3)
            """
        return try connection.statement(sql)
            .firstRow(.integer(document), .integer(sort), .integer(arrival)) { Self.message($0) }
    }

    /// How many visible messages of these documents reply to this one.
    ///
    /// - Parameter documents: their short numbers, made only where something replies to a message
    ///   that is as new.
    public func replyCount(
        to key: MessageKey, in documents: @autoclosure () -> Set<Int64>
    ) throws(StorageError) -> Int64 {
        let sql = """
            SELECT count(*) FROM message INDEXED BY message_thread
                WHERE thread_hlc = ? AND thread_id = ? AND did = ? AND hidden NOT IN (1, 3)
            """
        let root = Int64(bitPattern: key.timestamp.rawValue)
        guard try root <= lastRoot() else { return 0 }
        var count: Int64 = 0
        for document in documents() {
            count +=
                try connection.statement(sql).integer(
                    .integer(root), .integer(Int64(bitPattern: key.idPrefix)),
                    .integer(document)) ?? 0
        }
        return count
    }

    /// A timestamp, as a bit pattern, after which no message has replies.
    private func lastRoot() throws(StorageError) -> Int64 {
        if let known = memory.repliedThrough { return known }
        let last = try connection.statement(
            """
            SELECT max(thread_hlc) FROM message INDEXED BY message_thread
                WHERE thread_hlc IS NOT NULL
            """
        ).integer()
        memory.repliedThrough = last ?? .min
        return last ?? .min
    }

    static func message(_ row: borrowing Row) -> MessageRow {
        var thread: MessageKey?
        if let timestamp = row.optionalInteger(6) {
            thread = key(timestamp, row.integer(7))
        }
        var message = MessageRow(
            document: row.integer(0),
            position: Position(sort: row.integer(1), arrival: row.integer(2)),
            key: key(row.integer(3), row.integer(4)), grant: row.integer(5), thread: thread)
        message.isRefused = row.integer(8) == Visibility.refused.rawValue
        message.isMention = row.integer(9) == 1
        return message
    }

    private static func key(_ timestamp: Int64, _ prefix: Int64) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: timestamp)),
            idPrefix: UInt64(bitPattern: prefix))
    }
}

extension ViewStore {
    /// How many messages of a channel are shown, without deleted ones.
    public func shownCount(in document: Int64) throws(StorageError) -> Int64 {
        try connection.statement(
            """
            SELECT count(*) FROM message WHERE did = ? AND hidden = 0
                AND NOT EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = message.arr)
            """
        ).integer(.integer(document)) ?? 0
    }

    /// Removes the view of one channel. Its deletions remain as long as the redactions are stored:
    /// relays need them too.
    public func clear(_ document: Int64) throws(StorageError) {
        memory.forgetUnread(in: document)
        notes.forget(document)
        for table in Self.tablesOfDocument {
            try connection.statement("DELETE FROM \(table) WHERE did = ?").run(.integer(document))
        }
        lateBases[document] = nil
    }

    /// Removes the whole view, to fold it again.
    public func clear() throws(StorageError) {
        memory.forgetRows()
        notes.forget(nil)
        memory.unreadCounts = [:]
        for table in Self.tablesOfDocument + Self.tablesOfPerson {
            try connection.execute("DELETE FROM \(table)")
        }
        lateDocuments = nil
        lateBases = [:]
    }

    /// The content of our own documents, and unread messages.
    private static let tablesOfPerson = [
        "self_register", "setting", "setting_past", "read_frontier", "unheard",
    ]

    /// The tables of one document.
    private static let tablesOfDocument = [
        "message", "following", "following_past", "subscription", "annotation", "annotation_past",
        "late", "late_basis", "note_edit", "note_snapshot", "blob_reference",
    ]
}
