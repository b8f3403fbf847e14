/// Makes salvaged rows consistent: drops dangling rows, ends logs where their operations end, and
/// marks places without a row as damaged.
struct SalvagedRows {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func mend(_ loss: inout StoreSalvage.Loss) throws(StorageError) {
        for statement in Self.cleaningCounters { try connection.execute(statement) }
        // Read now, since removing logs removes their counters.
        var counters = try Counters.rows(in: connection)
        counters.raise(to: try Counters.logs(in: connection))
        try counters.write(in: connection)
        for statement in Self.cleaning { try connection.execute(statement) }
        for log in try logs() { try mend(log, &loss) }
        loss.operations = try number("SELECT count(*) FROM damaged")
        let arrival = try number(
            """
            SELECT max(ifnull((SELECT max(arr) FROM operation), 0),
                ifnull((SELECT max(changed) FROM log), 0))
            """)
        let event = try number("SELECT ifnull(max(seq), 0) FROM event")
        counters.raise(to: .init(arrival: arrival, event: event))
        try counters.write(in: connection)
    }

    private func number(_ sql: String) throws(StorageError) -> Int64 {
        try connection.statement(sql).integer() ?? 0
    }

    private static let largest = StoreBounds.takenMax

    private static let cleaningCounters = [
        "DELETE FROM counter WHERE typeof(value) <> 'integer' OR value NOT BETWEEN 0 AND \(largest)",
        """
        UPDATE log SET arrivals = 0, events = 0, commits = 0
            WHERE typeof(arrivals) <> 'integer' OR arrivals NOT BETWEEN 0 AND \(largest)
            OR typeof(events) <> 'integer' OR events NOT BETWEEN 0 AND \(largest)
            OR typeof(commits) <> 'integer' OR commits NOT BETWEEN 0 AND \(largest)
        """,
    ]

    /// Rows that are of no use: names of the wrong length, and dangling references.
    private static let cleaning = [
        "DELETE FROM document WHERE typeof(id) <> 'blob' OR length(id) <> 32 OR did NOT BETWEEN 1 AND \(largest)",
        // The id of an authority document's first operation is the document's name.
        """
        INSERT INTO document SELECT log.did, operation.id, log.did, 1
            FROM log JOIN operation USING(lid) WHERE seq = 0 AND gid = 0 AND operation.kind = 2
                AND length(operation.id) = 32 AND log.did NOT IN (SELECT did FROM document)
        """,
        "DELETE FROM document WHERE workspace NOT IN (SELECT did FROM document)",
        """
        DELETE FROM workspace WHERE typeof(member) <> 'blob' OR length(member) <> 16
            OR did NOT IN (SELECT did FROM document WHERE workspace = did)
        """,
        """
        DELETE FROM log WHERE typeof(device) <> 'blob' OR length(device) <> 32
            OR typeof(tip_id) <> 'blob' OR length(tip_id) <> 32 OR lid < 1
            OR did NOT IN (SELECT did FROM document) OR inc NOT BETWEEN 0 AND 4294967295
            OR fork NOT BETWEEN 0 AND \(largest) OR tip_seq NOT BETWEEN 0 AND \(largest)
            OR tip_sort NOT BETWEEN -\(StoreBounds.sortMax) AND \(StoreBounds.sortMax)
            OR changed NOT BETWEEN 0 AND \(largest) OR lid > \(largest) OR parent >= lid
        """,
        "DELETE FROM log WHERE parent IS NOT NULL AND fork > 0 AND parent NOT IN (SELECT lid FROM log)",
        """
        DELETE FROM grant_name WHERE typeof(id) <> 'blob' OR length(id) <> 32
            OR gid NOT BETWEEN 1 AND \(largest)
        """,
        "DELETE FROM event WHERE seq NOT BETWEEN 0 AND \(largest)",
        "DELETE FROM reader WHERE seq NOT BETWEEN 0 AND \(largest)",
        "DELETE FROM epoch_key WHERE kid > \(largest) OR typeof(id) <> 'blob' OR length(id) <> 16 AND kind = 1",
        """
        DELETE FROM operation WHERE arr NOT BETWEEN 1 AND \(largest) OR NOT EXISTS(
            SELECT 1 FROM log WHERE log.lid = operation.lid AND operation.seq >= log.fork)
        """,
        "UPDATE operation SET id = zeroblob(32) WHERE typeof(id) <> 'blob' OR length(id) <> 32",
        """
        DELETE FROM damaged WHERE NOT EXISTS(SELECT 1 FROM operation
            WHERE operation.lid = damaged.lid AND operation.seq = damaged.seq)
        """,
        "DELETE FROM absent WHERE arr NOT IN (SELECT arr FROM operation)",
        """
        DELETE FROM message WHERE NOT EXISTS(
            SELECT 1 FROM operation o JOIN log l USING(lid)
                WHERE o.arr = message.arr AND o.sort = message.sort AND l.did = message.did)
        """,
        "DELETE FROM evidence WHERE lid NOT IN (SELECT lid FROM log)",
        """
        DELETE FROM blob WHERE typeof(root) <> 'blob' OR length(root) <> 32
            OR typeof(map) <> 'blob' OR bid NOT BETWEEN 1 AND \(largest)
            OR size NOT BETWEEN 0 AND \(largest)
        """,
    ]

    // MARK: Logs

    private struct Log {
        let number: Int64
        let document: Int64
        let fork: Int64
        let tip: (sequence: Int64, id: [UInt8])
    }

    /// A row of a log as its neighbours need it.
    private struct Link {
        var sequence: Int64
        var arrival: Int64
        var sort: Int64
    }

    private func logs() throws(StorageError) -> [Log] {
        try connection.statement("SELECT lid, did, fork, tip_seq, tip_id FROM log ORDER BY lid")
            .rows { row in
                Log(
                    number: row.integer(0), document: row.integer(1), fork: row.integer(2),
                    tip: (row.integer(3), row.blob(4)))
            }
    }

    private func mend(_ log: Log, _ loss: inout StoreSalvage.Loss) throws(StorageError) {
        let end = try end(of: log, &loss)
        try connection.statement("DELETE FROM operation WHERE lid = ? AND seq > ?")
            .run(.integer(log.number), .integer(end))
        var links: [(before: Link, after: Link?)] = []
        var last = Link(sequence: log.fork - 1, arrival: 0, sort: 0)
        var grant: Int64?
        var spans: [(first: Int64, grant: Int64)] = []
        var moved: [(arrival: Int64, sort: Int64)] = []
        try connection.statement(
            "SELECT seq, arr, sort, gid, hlc, seen, deps FROM operation WHERE lid = ? ORDER BY seq"
        ).forEachRow(.integer(log.number)) { row in
            var link = Link(
                sequence: row.integer(0), arrival: row.integer(1), sort: row.integer(2))
            let least = OperationStore.leastSort(
                hlc: row.integer(4), seen: row.integer(5), behind: last.sort)
            // Citations can only move an operation later.
            let isWrong = link.sort < least || row.isNull(6) && link.sort != least
            if isWrong, log.fork == 0, row.integer(5) > 0, link.sequence == last.sequence + 1 {
                link.sort = least
                moved.append((link.arrival, least))
            }
            if link.sequence > last.sequence + 1 { links.append((last, link)) }
            // An unreadable row cites nothing.
            if row.integer(3) != grant, row.integer(3) != 0 || grant == nil {
                grant = row.integer(3)
                spans.append((spans.isEmpty ? log.fork : link.sequence, row.integer(3)))
            }
            last = link
        }
        for (arrival, sort) in moved {
            try connection.statement("UPDATE operation SET sort = ? WHERE arr = ?")
                .run(.integer(sort), .integer(arrival))
        }
        if last.sequence < end { links.append((last, nil)) }
        for gap in links { try fill(log, from: gap.before, to: gap.after, end) }
        guard try number("SELECT count(*) FROM operation WHERE lid = \(log.number)") > 0 else {
            // Nothing but its name is known.
            loss.doubtsOwnLogs = true
            return try connection.statement("DELETE FROM log WHERE lid = ?")
                .run(.integer(log.number))
        }
        for span in spans {
            try connection.statement("INSERT OR IGNORE INTO grant_span VALUES(?, ?, ?, NULL)")
                .run(.integer(log.number), .integer(span.first), .integer(span.grant))
        }
        try setTip(of: log, at: end)
    }

    /// The last place of a log, according to its row and to the operations; if they disagree, the
    /// one that the tip's id identifies is right.
    private func end(
        of log: Log, _ loss: inout StoreSalvage.Loss
    ) throws(StorageError) -> Int64 {
        let named = try connection.statement(
            "SELECT seq FROM operation WHERE lid = ? AND id = ? ORDER BY seq DESC LIMIT 1"
        ).integer(.integer(log.number), .blob(log.tip.id))
        if let named {
            if named != log.tip.sequence { loss.doubtsOwnLogs = true }
            return named
        }
        let last = try connection.statement("SELECT max(seq) FROM operation WHERE lid = ?")
            .integer(.integer(log.number))
        guard let last else { return log.fork - 1 }
        if last == log.tip.sequence { return last }
        loss.doubtsOwnLogs = true
        // The number lost at the end, as far as arrival numbers show.
        let room = try number(
            """
            SELECT ifnull((SELECT value FROM counter WHERE name = 'arrival'), 0)
                - (SELECT count(*) FROM operation)
            """)
        return log.tip.sequence > last && log.tip.sequence - last <= room ? log.tip.sequence : last
    }

    private func setTip(of log: Log, at end: Int64) throws(StorageError) {
        try connection.statement(
            """
            UPDATE log SET (tip_seq, tip_hlc, tip_sort) = (SELECT seq,
                CASE WHEN hlc = 0 THEN tip_hlc ELSE hlc END, sort
                FROM operation WHERE lid = ? AND seq = ?) WHERE lid = ?
            """
        ).run(.integer(log.number), .integer(end), .integer(log.number))
    }

    // MARK: Gaps

    /// Inserts a damaged row at each place without one, so that it is requested from peers, with an
    /// arrival number that it may have had: its message keeps its position in the view.
    private func fill(
        _ log: Log, from before: Link, to after: Link?, _ end: Int64
    ) throws(StorageError) {
        let last = after.map { $0.sequence - 1 } ?? end
        let count = last - before.sequence
        let free = try freeArrivals(
            log, between: before.arrival, and: after?.arrival ?? .max, count)
        var sort = before.sort
        for (sequence, arrival) in zip((before.sequence + 1)...last, free) {
            sort = min(sort &+ 1, after?.sort ?? .max)
            let id = sequence == log.tip.sequence ? log.tip.id : [UInt8](repeating: 0, count: 32)
            try connection.statement(
                """
                INSERT INTO operation(arr, lid, seq, kind, hlc, seen, sort, gid, id, sig, sigok,
                    payload) VALUES(?, ?, ?, 0, 0, 0, ?, 0, ?, zeroblob(64), 0, x'')
                """
            ).run(
                .integer(arrival), .integer(log.number), .integer(sequence), .integer(sort),
                .blob(id))
            try connection.statement("INSERT OR IGNORE INTO damaged VALUES(?, ?)")
                .run(.integer(log.number), .integer(sequence))
        }
    }

    /// Unused arrival numbers, ascending: first those that events refer to, then new ones.
    private func freeArrivals(
        _ log: Log, between low: Int64, and high: Int64, _ count: Int64
    ) throws(StorageError) -> [Int64] {
        let known = try connection.statement(
            """
            SELECT DISTINCT arr FROM event WHERE did = ? AND arr > ? AND arr < ?
                AND arr NOT IN (SELECT arr FROM operation) ORDER BY arr LIMIT ?
            """
        ).rows(.integer(log.document), .integer(low), .integer(high), .integer(count)) {
            $0.integer(0)
        }
        var free = known
        var next = low + 1
        while free.count < count, next < high {
            let isTaken =
                try connection.statement("SELECT 1 FROM operation WHERE arr = ?")
                .integer(.integer(next)) != nil
            if !isTaken, !known.contains(next) { free.append(next) }
            next += 1
        }
        var fresh = try number("SELECT ifnull(max(arr), 0) FROM operation")
        while free.count < count {
            fresh = max(fresh, free.max() ?? 0) + 1
            free.append(fresh)
        }
        return free.sorted()
    }
}
