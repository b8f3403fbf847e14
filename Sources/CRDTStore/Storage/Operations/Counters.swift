/// Monotonic counters of a store.
///
/// Every COMMIT writes them once: into the rows of `log` that it writes anyway, or into `counter`
/// otherwise. The maximum over all rows counts, and it survives the removal of any row: the
/// removing COMMIT writes the same or larger numbers elsewhere.
struct Counters: Equatable {
    /// The arrival number of the newest operation.
    var arrival: Int64 = 0
    /// The number of the newest event.
    var event: Int64 = 0
    /// COMMITs since the store was made.
    var commit: Int64 = 0

    /// Takes the larger value of each.
    mutating func raise(to other: Self) {
        arrival = max(arrival, other.arrival)
        event = max(event, other.event)
        commit = max(commit, other.commit)
    }

    /// Writes the rows of `counter`, which fit in one page.
    func write(in connection: Connection) throws(StorageError) {
        try connection.statement(
            "INSERT OR REPLACE INTO counter VALUES('arrival', ?), ('event', ?), ('commit', ?)"
        ).run(.integer(arrival), .integer(event), .integer(commit))
    }

    /// The values in `counter`; 0 if there is none.
    static func rows(in connection: Connection) throws(StorageError) -> Self {
        var found = Self()
        try connection.statement("SELECT name, value FROM counter").forEachRow {
            (row) throws(StorageError) in
            switch try row.text(0) {
            case "arrival": found.arrival = row.integer(1)
            case "event": found.event = row.integer(1)
            case "commit": found.commit = row.integer(1)
            default: break
            }
        }
        return found
    }

    /// The largest values in the rows of logs. 0 in a store before schema 16, whose rows have none.
    static func logs(in connection: Connection) throws(StorageError) -> Self {
        guard try areInLogs(of: connection) else { return Self() }
        var found = Self()
        try connection.statement("SELECT max(arrivals), max(events), max(commits) FROM log")
            .forEachRow { row in
                found = Self(
                    arrival: row.integer(0), event: row.integer(1), commit: row.integer(2))
            }
        return found
    }

    /// Whether rows of `log` contain them.
    static func areInLogs(of connection: Connection) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 FROM pragma_table_info('log') WHERE name = 'commits'")
            .integer() != nil
    }
}
