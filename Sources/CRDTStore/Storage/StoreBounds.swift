/// Bounds of the numbers and tables in a store, regardless of the origin of its file: a backup may
/// come from somebody else, and a disk may flip any bit.
public enum StoreBounds {
    /// Above every counter of a store. Reaching it step by step takes ages, and adding to
    /// it does not overflow.
    static let numberMax: Int64 = 1 << 48
    /// Above every display order, which is in milliseconds.
    static let sortMax: Int64 = 1 << 60

    /// Above every number accepted from a damaged store or a backup, which leaves
    /// room for counting on.
    static let takenMax: Int64 = 1 << 40

    /// Checks the maximum of every counter; each is the end of an index, or a small table.
    ///
    /// - Throws: `.corrupt` where one is out of bounds.
    static func check(_ connection: Connection) throws(StorageError) {
        try check(connection, numberMax)
    }

    /// The same for a store of unknown origin.
    ///
    /// - Throws: `.corrupt` also for a table, index or trigger that no version creates.
    public static func checkForeign(_ connection: Connection) throws(StorageError) {
        if let name = try stranger(in: connection) {
            throw StorageError(.corrupt, "it has \(name), which no store has", statement: "open")
        }
        try check(connection, takenMax)
    }

    private static func check(
        _ connection: Connection, _ largest: Int64
    ) throws(StorageError) {
        let counted = try Counters.areInLogs(of: connection) ? [logCounters] : []
        for (what, condition) in conditions + counted {
            let found = try connection.statement("SELECT \(condition)")
                .integer(.integer(largest), .integer(sortMax))
            guard found == 0 else {
                throw StorageError(.corrupt, "\(what) is out of bounds", statement: "open")
            }
        }
    }

    /// Of a store of schema 16 or later.
    private static let logCounters = (
        "a counter of a log",
        """
        ?2 < 0 OR EXISTS(SELECT 1 FROM log WHERE arrivals NOT BETWEEN 0 AND ?1
            OR events NOT BETWEEN 0 AND ?1 OR commits NOT BETWEEN 0 AND ?1)
        """
    )

    private static let conditions = [
        (
            "a counter",
            """
            ?2 < 0 OR EXISTS(SELECT 1 FROM counter
                WHERE typeof(value) <> 'integer' OR value NOT BETWEEN 0 AND ?1)
            """
        ),
        (
            "the end of a log",
            """
            EXISTS(SELECT 1 FROM log WHERE tip_seq NOT BETWEEN 0 AND ?1
                OR fork NOT BETWEEN 0 AND ?1 OR changed NOT BETWEEN 0 AND ?1
                OR tip_sort NOT BETWEEN -?2 AND ?2 OR kept_seq NOT BETWEEN 0 AND ?1)
            """
        ),
        (
            "the number of a row",
            [
                "operation.arr", "event.seq", "document.did", "log.lid", "grant_name.gid",
                "epoch_key.kid",
            ]
            .map { name in
                let parts = name.split(separator: ".")
                return "ifnull((SELECT max(\(parts[1])) FROM \(parts[0])), 0) > ?1"
            }.joined(separator: " OR ") + " OR ?2 < 0"
        ),
        ("a reader", "?2 < 0 OR EXISTS(SELECT 1 FROM reader WHERE seq NOT BETWEEN 0 AND ?1)"),
    ]

    /// The name of the first table, index or trigger that no version of the program creates.
    /// Foreign triggers could do anything whenever a row is written.
    private static func stranger(in connection: Connection) throws(StorageError) -> String? {
        let (fresh, former) = (try Connection(), try Connection())
        try NodeStore.prepare(fresh)
        for statement in Schema.former { try former.execute(statement) }
        var known: Set<Entry> = []
        for connection in [fresh, former] {
            known.formUnion(try StoreSchema(of: connection).entries.map(Entry.init))
        }
        return try StoreSchema(of: connection).entries.map(Entry.init)
            .first { !known.contains($0) }?.name
    }

    /// A row of the schema, independent of its root page.
    private struct Entry: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String?

        init(_ entry: StoreSchema.Entry) {
            (type, name, table, sql) = (entry.type, entry.name, entry.table, entry.sql)
        }
    }
}
