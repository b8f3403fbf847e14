import WorkspaceModel

/// The events in the order in which they became durable, and the position of each reader.
///
/// An event is a reference: its content is read when it is shown, so a deleted text is gone from
/// old events too.
public final class EventStore {
    private let connection: Connection
    private let insert: EventInsert
    /// The number of the newest event; 0 when there never was one.
    public private(set) var newest: Int64
    /// All events since `keepRecent()`, oldest first; `nil` while they are not kept, or not all of
    /// them are.
    private var recent: [StoredEvent]?

    /// More than most turns append.
    private static let recentMax = 64

    /// One row.
    public struct StoredEvent: Sendable, Equatable {
        /// Its number; they rise by one.
        public let sequence: Int64
        /// When, milliseconds.
        public let at: Int64
        /// Its type, as the node's number.
        public let type: Int64
        /// The short number of the workspace.
        public let workspace: Int64?
        /// The short number of the document.
        public let document: Int64?
        /// The operation.
        public let arrival: Int64?
        /// Data that no operation contains, as `Enc`.
        public let extra: [UInt8]?
        /// Whether it belongs to a first sync.
        public let isBackfill: Bool
    }

    /// - Parameter counted: the largest number assigned according to the counters.
    init(_ connection: Connection, counted: Int64) throws(StorageError) {
        self.connection = connection
        insert = try EventInsert(connection)
        newest = max(
            counted, try connection.statement("SELECT max(seq) FROM event").integer() ?? 0)
    }

    /// Adds an event.
    ///
    /// - Returns: its number.
    @discardableResult
    public func append(
        type: Int64, at: UInt64, workspace: Int64?, document: Int64? = nil, arrival: Int64? = nil,
        extra: [UInt8]? = nil, isBackfill: Bool = false
    ) throws(StorageError) -> Int64 {
        newest += 1
        let event = StoredEvent(
            sequence: newest, at: Int64(clamping: at), type: type, workspace: workspace,
            document: document, arrival: arrival, extra: extra, isBackfill: isBackfill)
        try insert.add(event)
        keep(event)
        return newest
    }

    private func keep(_ event: StoredEvent) {
        // A column does not tell whether it had no bytes.
        guard recent?.count ?? .max < Self.recentMax, event.extra?.isEmpty != true else {
            return recent = nil
        }
        recent?.append(event)
    }

    /// Keeps the events that are appended from now on, for the streams that are given them after
    /// the turn. Must be called in each turn, since only within a turn nobody else writes to the
    /// file.
    public func keepRecent() { recent = [] }

    /// Ends that, as does whoever removes events.
    public func forgetRecent() { recent = nil }

    /// Events after `sequence`, oldest first.
    public func events(
        after sequence: Int64, limit: Int
    ) throws(StorageError) -> [StoredEvent] {
        if let recent, let first = recent.first, sequence >= first.sequence - 1 {
            return Array(recent.drop { $0.sequence <= sequence }.prefix(limit))
        }
        let sql = """
            SELECT seq, at, type, workspace, did, arr, extra, backfill FROM event
                WHERE seq > ? ORDER BY seq LIMIT ?
            """
        return try connection.statement(sql).rows(.integer(sequence), .integer(Int64(limit))) {
            row in
            StoredEvent(
                sequence: row.integer(0), at: row.integer(1), type: row.integer(2),
                workspace: row.optionalInteger(3), document: row.optionalInteger(4),
                arrival: row.optionalInteger(5), extra: row.optionalBlob(6),
                isBackfill: row.integer(7) != 0)
        }
    }

    /// The number of the oldest event, or the next number of an empty table.
    public func oldest() throws(StorageError) -> Int64 {
        let oldest = try connection.statement("SELECT min(seq) FROM event").integer()
        return oldest ?? newest + 1
    }

    /// The number of the last event before the time `at`, milliseconds.
    public func last(before at: UInt64) throws(StorageError) -> Int64 {
        // Numbers rise with time except for clock steps, so a scan from the newest end is short.
        let last = try connection.statement(
            "SELECT seq FROM event WHERE at < ? ORDER BY seq DESC LIMIT 1"
        ).integer(.integer(Int64(clamping: at)))
        if let last { return last }
        return try oldest() - 1
    }

    /// Removes events older than `at` (milliseconds), up to the first newer one, and those beyond
    /// the newest `keeping`. Reads only what it removes.
    public func trim(olderThan at: UInt64, keeping: Int64) throws(StorageError) {
        let kept = try connection.statement(
            "SELECT seq FROM event WHERE at >= ? ORDER BY seq LIMIT 1"
        ).integer(.integer(Int64(clamping: at)))
        let first = max(kept ?? newest + 1, newest - keeping + 1)
        recent = nil
        try connection.statement("DELETE FROM event WHERE seq < ?").run(.integer(first))
    }

    /// Removes the events of a workspace.
    func remove(of workspace: Int64) throws(StorageError) {
        recent = nil
        try connection.statement("DELETE FROM event WHERE workspace = ?").run(.integer(workspace))
    }

    /// Removes every event. Their numbers are not reused.
    public func forgetAll() throws(StorageError) {
        recent = nil
        try connection.execute("DELETE FROM event")
    }

    // MARK: Readers

    /// One named reader.
    public struct Reader: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// The last event it acknowledged.
        public let sequence: Int64
        /// When, milliseconds.
        public let at: Int64

        /// A row with the given fields.
        public init(name: String, sequence: Int64, at: Int64) {
            self.name = name
            self.sequence = sequence
            self.at = at
        }
    }

    /// The position of the reader `name`, or `nil` for a new one.
    public func reader(_ name: String) throws(StorageError) -> Reader? {
        try connection.statement("SELECT name, seq, at FROM reader WHERE name = ?")
            .firstRow(.text(name)) { (row) throws(StorageError) in
                Reader(
                    name: try row.text(0), sequence: row.integer(1), at: row.integer(2))
            }
    }

    /// Stores the position of the reader `name`.
    public func setReader(
        _ name: String, to sequence: Int64, at: UInt64
    ) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO reader VALUES(?, ?, ?)")
            .run(.text(name), .integer(sequence), .integer(Int64(clamping: at)))
    }

    /// The reader that advanced least recently, if there are at least `count`.
    public func idleReader(of count: Int) throws(StorageError) -> String? {
        try connection.statement(
            """
            SELECT name FROM reader WHERE (SELECT count(*) FROM reader) >= ?
                ORDER BY at, name LIMIT 1
            """
        ).firstRow(.integer(Int64(count))) { (row) throws(StorageError) in try row.text(0) }
    }

    /// Forgets a reader.
    public func removeReader(_ name: String) throws(StorageError) {
        try connection.statement("DELETE FROM reader WHERE name = ?").run(.text(name))
    }

    /// The named readers after `name`, by name.
    public func readers(after name: String, limit: Int) throws(StorageError) -> [Reader] {
        let sql = "SELECT name, seq, at FROM reader WHERE name > ? ORDER BY name LIMIT ?"
        return try connection.statement(sql).rows(.text(name), .integer(Int64(limit))) {
            (row) throws(StorageError) in
            Reader(name: try row.text(0), sequence: row.integer(1), at: row.integer(2))
        }
    }
}

/// Events on their way into the table.
private final class EventInsert: GatheredRows {
    private var rows: [EventStore.StoredEvent] = []

    init(_ connection: Connection) throws(StorageError) {
        try super.init("INSERT INTO event VALUES(?, ?, ?, ?, ?, ?, ?, ?)", on: connection)
    }

    func add(_ event: EventStore.StoredEvent) throws(StorageError) {
        try willAdd()
        rows.append(event)
        try didAdd()
    }

    override var count: Int { rows.count }

    override func write() throws(StorageError) {
        try insert.run(rows.count) { index, row in
            row.bind(1, rows[index].sequence)
            row.bind(2, rows[index].at)
            row.bind(3, rows[index].type)
            row.bind(4, rows[index].workspace)
            row.bind(5, rows[index].document)
            row.bind(6, rows[index].arrival)
            row.bind(7, rows[index].extra)
            row.bind(8, rows[index].isBackfill ? 1 : 0)
        }
        discard()
    }

    override func discard() { rows.removeAll(keepingCapacity: true) }
}
