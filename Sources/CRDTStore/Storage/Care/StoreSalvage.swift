/// Builds a new store from the readable part of another one.
///
/// It copies what cannot be derived: operations, keys, events, and the store's identity. Derived
/// tables are left empty and marked as not built; a core builds them when it opens the store. So
/// one procedure repairs every damage, of pages, indexes and views: an error in a derived table is
/// not copied, and any other lost row leaves a gap that peers fill.
public enum StoreSalvage {
    /// What could not be read.
    public struct Loss: Sendable, Equatable {
        /// The tables with rows that are, or may be, missing, in the order of the schema.
        public internal(set) var tables: [String] = []
        /// Lost operations with known places, which are requested from peers again.
        public internal(set) var operations: Int64 = 0
        /// Whether the ends of logs are uncertain, so that the store must not continue its own.
        public internal(set) var doubtsOwnLogs = false

        /// No loss.
        public init() {}

        /// Whether nothing is missing.
        public var isEmpty: Bool { tables.isEmpty && operations == 0 && !doubtsOwnLogs }
    }

    /// The registry's flag that derived tables must be built.
    public static let unbuilt = "unbuilt"

    /// The copied tables, in an order in which each refers only to those before it.
    static let tables = [
        StoredTable("meta", ["name"], ["value"]),
        StoredTable("counter", ["name"], ["value"]),
        StoredTable("workspace", ["did"], ["state", "member", "joined"]),
        StoredTable("document", ["did"], ["id", "workspace", "kind"]),
        StoredTable(
            "log", ["lid"],
            [
                "did", "device", "inc", "parent", "fork", "tip_seq", "tip_id", "tip_hlc",
                "tip_sort", "changed",
            ]),
        StoredTable("grant_name", ["gid"], ["id"]),
        StoredTable("epoch_key", ["kid"], ["workspace", "kind", "id", "secret"]),
        StoredTable(
            "operation", ["arr"],
            [
                "lid", "seq", "kind", "hlc", "seen", "sort", "gid", "kid", "id", "deps", "sig",
                "sigok", "payload",
            ]),
        StoredTable("absent", ["arr"], ["plen", "phash", "missing"]),
        // The position of a deleted message cannot be derived any more.
        StoredTable(
            "message", ["did", "sort", "arr"],
            [
                "key_hlc", "key_id", "gid", "thread_hlc", "thread_id", "hidden", "mention",
            ], where: "arr IN (SELECT arr FROM absent)"),
        StoredTable("damaged", ["lid", "seq"], []),
        StoredTable("evidence", ["lid", "seq", "branch"], ["found"]),
        StoredTable(
            "event", ["seq"],
            ["at", "type", "workspace", "did", "arr", "extra", "backfill"]),
        StoredTable("reader", ["name"], ["seq", "at"]),
        StoredTable("request", ["key"], ["body", "made", "at"]),
        StoredTable("peer", ["name"], ["value"]),
        StoredTable(
            "blob", ["bid"],
            ["root", "size", "map", "bytes", "used", "wanted", "kept", "own"]),
    ]

    /// Those tables with the columns that the old store has.
    private static func tables(of former: Connection) -> [StoredTable] {
        let isCounted = (try? Counters.areInLogs(of: former)) ?? false
        return tables.map {
            $0.name == "log" && isCounted
                ? $0.adding(["arrivals", "events", "commits"]) : $0
        }
    }

    /// Copies a store, without its derived tables.
    ///
    /// - Parameters:
    ///   - former: only read.
    ///   - fresh: an empty database.
    /// - Throws: errors of the new store, and failures of the old one's disk; never
    ///   damage of its pages.
    public static func copy(
        _ former: Connection, into fresh: Connection
    ) throws(StorageError) -> Loss {
        try NodeStore.prepare(fresh)
        var loss = Loss()
        try fresh.begin()
        for table in tables(of: former) {
            let reader = SalvageReader(table, of: former, into: fresh)
            if try !reader.copy() { loss.tables.append(table.name) }
        }
        try SalvagedRows(fresh).mend(&loss)
        // If the ends of our own logs are uncertain, a new store id starts new ones.
        if loss.doubtsOwnLogs { try fresh.execute("DELETE FROM meta WHERE name = 'store'") }
        try fresh.statement("INSERT OR REPLACE INTO meta VALUES(?, ?)")
            .run(.text(unbuilt), .blob([loss.tables.contains("epoch_key") ? 2 : 1]))
        try fresh.commit()
        return loss
    }
}

/// A table as needed to visit all of its rows.
struct StoredTable {
    let name: String
    /// Its key in reading order. A single one may be an integer primary key.
    let key: [String]
    /// The columns to read, the key first.
    let columns: [String]
    /// The condition for rows.
    let condition: String

    init(
        _ name: String, _ key: [String], _ others: [String], where condition: String = "TRUE"
    ) {
        self.name = name
        self.key = key
        self.condition = condition
        columns = key + others
    }

    /// The same with more columns.
    func adding(_ others: [String]) -> Self {
        Self(name, key, columns.dropFirst(key.count) + others, where: condition)
    }
}

/// Reads one table to its end, skipping unreadable parts.
private struct SalvageReader {
    private let table: StoredTable
    private let former: Connection
    private let fresh: Connection

    init(_ table: StoredTable, of former: Connection, into fresh: Connection) {
        self.table = table
        self.former = former
        self.fresh = fresh
    }

    /// - Returns: whether all of it was read.
    func copy() throws(StorageError) -> Bool {
        table.key.count == 1 && Self.numbers.contains(table.key[0])
            ? try copyNumbered() : try copyNamed()
    }

    private static let numbers: Set = ["arr", "did", "lid", "gid", "kid", "seq", "bid"]

    private var selection: String {
        "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)"
    }

    // MARK: Numbered rows

    /// After an unreadable place, searches for the next readable one by bisection: rows are in
    /// pages, and a whole page is lost at a time.
    private func copyNumbered() throws(StorageError) -> Bool {
        var next = Int64.min
        var isWhole = true
        while true {
            let (last, isDone) = try copyNumbered(from: next)
            if isDone { return isWhole }
            isWhole = false
            let bad = last.map { $0 &+ 1 } ?? max(next, 0)
            guard let found = try firstReadable(after: bad) else { return false }
            next = found
        }
    }

    private func copyNumbered(
        from first: Int64
    ) throws(StorageError) -> (last: Int64?, isDone: Bool) {
        let key = table.key[0]
        var last: Int64?
        let isDone = try unlessDamaged { () throws(StorageError) in
            try former.statement("\(selection) WHERE \(key) >= ? ORDER BY \(key)")
                .forEachRow(.integer(first)) { (row) throws(StorageError) in
                    last = row.integer(0)
                    try insert(row)
                }
        }
        return (last, isDone)
    }

    private func firstReadable(after bad: Int64) throws(StorageError) -> Int64? {
        var step: Int64 = 1
        while try !isReadable(from: bad &+ step) {
            guard step < 1 << 40 else { return nil }
            step *= 2
        }
        var (low, high) = (bad &+ step / 2, bad &+ step)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if try isReadable(from: middle) { high = middle } else { low = middle }
        }
        return high
    }

    private func isReadable(from first: Int64) throws(StorageError) -> Bool {
        let key = table.key[0]
        return try unlessDamaged { () throws(StorageError) in
            _ = try former.statement("\(selection) WHERE \(key) >= ? ORDER BY \(key) LIMIT 1")
                .firstRow(.integer(first)) { row in row.value(0) }
        }
    }

    // MARK: Named rows

    /// Reads from both ends. These tables are small, and rows between two damaged places are lost.
    private func copyNamed() throws(StorageError) -> Bool {
        let key = table.key.joined(separator: ", ")
        let back = table.key.map { $0 + " DESC" }.joined(separator: ", ")
        let isWhole = try unlessDamaged { () throws(StorageError) in
            try former.statement("\(selection) WHERE \(table.condition) ORDER BY \(key)")
                .forEachRow { (row) throws(StorageError) in try insert(row) }
        }
        guard !isWhole else { return true }
        _ = try unlessDamaged { () throws(StorageError) in
            try former.statement("\(selection) WHERE \(table.condition) ORDER BY \(back)")
                .forEachRow { (row) throws(StorageError) in try insert(row) }
        }
        return false
    }

    // MARK: Rows

    private func insert(_ row: borrowing Row) throws(StorageError) {
        var values: [SQLValue] = []
        for column in table.columns.indices { values.append(row.value(Int32(column))) }
        let names = table.columns.joined(separator: ", ")
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        // A damaged row may repeat another's key, or lack a required value.
        try fresh.statement("INSERT OR IGNORE INTO \(table.name)(\(names)) VALUES(\(places))")
            .run(values)
    }

    /// - Returns: `false` if the old store is damaged there.
    private func unlessDamaged(
        _ body: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        do throws(StorageError) { try body() } catch {
            guard fresh.isInTransaction, !fresh.isTransactionLost, error.isDamage else {
                throw error
            }
            return false
        }
        return true
    }
}

extension StorageError {
    /// Whether the bytes on disk differ from those written. Our statements use only names of the
    /// schema, so an unknown name means a damaged schema.
    public var isDamage: Bool {
        kind == .corrupt || kind == .misuse && message.hasPrefix("no such")
    }
}
