import WorkspaceModel

/// An incremental check of derived tables: whether each row matches the operation that it names.
/// `StoreComparison` finds more, but builds everything a second time; this costs some pages a
/// minute, so that bit rot is found within days of use even in data that nobody reads.
///
/// A round begins anywhere in the order of arrival, and ends there: otherwise a node that runs for
/// an hour a day would check the same rows each day.
public struct StorePatrol: Sendable {
    /// A row that does not match its operation, or is missing.
    public struct Finding: Hashable, Sendable {
        /// Its table.
        public let table: String
        /// The arrival number of the operation that it names.
        public let arrival: Int64

        /// A row of `table` about the operation `arrival`.
        public init(table: String, arrival: Int64) {
            self.table = table
            self.arrival = arrival
        }
    }

    private let start: Int64
    private var arrival: Int64
    private var hasWrapped = false
    private var hasAllOperations = false
    /// The remaining tables, the first one in progress.
    private var tables = PatrolledTable.all[...]
    /// The key of the last row checked in it.
    private var last: [SQLValue]?

    /// A round that begins after an arrival number.
    public init(from start: Int64) {
        self.start = start
        arrival = start
    }

    /// Whether everything was checked.
    public var isDone: Bool { hasAllOperations && tables.isEmpty }

    /// The next operations, by arrival number, at most `limit`.
    public mutating func operations(
        in store: NodeStore, limit: Int
    ) throws(StorageError) -> [Int64] {
        guard !hasAllOperations else { return [] }
        let end = hasWrapped ? start : Int64.max
        let found = try store.connection.statement(
            "SELECT arr FROM operation WHERE arr > ? AND arr <= ? ORDER BY arr LIMIT ?"
        ).rows(.integer(arrival), .integer(end), .integer(Int64(limit))) { $0.integer(0) }
        arrival = found.last ?? arrival
        guard found.count < limit else { return found }
        hasAllOperations = hasWrapped || start <= 0
        (hasWrapped, arrival) = (true, 0)
        return found
    }

    /// Checks the next rows of derived tables, at most `limit`.
    ///
    /// - Returns: those that do not match their operations.
    public mutating func findings(
        in store: NodeStore, limit: Int
    ) throws(StorageError) -> [Finding] {
        guard let table = tables.first else { return [] }
        var findings: [Finding] = []
        var count = 0
        let width = table.key.count
        try store.connection.statement(table.sql).scan(
            (last ?? table.first) + [.integer(Int64(limit))]
        ) { row in
            count += 1
            last = (0..<width).map { row.value(Int32($0)) }
            if row.optionalInteger(Int32(width + 1)) != 1 {
                findings.append(.init(table: table.name, arrival: row.integer(Int32(width))))
            }
            return .next
        }
        if count < limit {
            tables = tables.dropFirst()
            last = nil
        }
        return findings
    }
}

/// A derived table, each row of which follows from an operation.
struct PatrolledTable: Sendable {
    let name: String
    /// The columns of its key, each with the least value of its type.
    let key: [(column: String, least: SQLValue)]
    /// The column with the operation's arrival number, `nil` if there is none.
    let arrival: String?
    /// The condition for a row `t`, its operation `o`, and the operation's log `l`.
    let condition: String

    var first: [SQLValue] { key.map(\.least) }

    /// The next rows in key order: the key, the operation, and 1 if the row is right.
    var sql: String {
        let columns = key.map(\.column).joined(separator: ", ")
        let ordered = key.map { "t." + $0.column }.joined(separator: ", ")
        let places = key.map { _ in "?" }.joined(separator: ", ")
        let operation = arrival.map { "t." + $0 } ?? "0"
        return """
            SELECT \(ordered), \(operation), \(condition)
                FROM (SELECT * FROM \(name) WHERE (\(columns)) > (\(places))
                    ORDER BY \(columns) LIMIT ?) t
                LEFT JOIN operation o ON o.arr = \(operation)
                LEFT JOIN log l ON l.lid = o.lid ORDER BY \(ordered)
            """
    }

    private static let number = SQLValue.integer(.min)
    private static let bytes = SQLValue.blob([])
    /// A timestamp in a column for sorting, with its highest bit flipped.
    private static let turned = "((o.hlc | \(Int64.min)) - (o.hlc & \(Int64.min)))"
    private static let prefix = "hex(substr(o.id, 1, 8)) = printf('%016X', t.key_id)"

    static let all = [
        PatrolledTable(
            name: "log", key: [("lid", number)], arrival: nil,
            condition: """
                EXISTS(SELECT 1 FROM operation p WHERE p.lid = t.lid AND p.seq = t.tip_seq
                    AND p.id = t.tip_id AND p.hlc = t.tip_hlc AND p.sort = t.tip_sort)
                """),
        PatrolledTable(
            name: "message", key: [("did", number), ("sort", number), ("arr", number)],
            arrival: "arr",
            condition: """
                l.did = t.did AND o.sort = t.sort AND o.gid = t.gid AND o.hlc = t.key_hlc
                    AND \(prefix) AND o.kind = \(OperationKind.content.rawValue)
                """),
        PatrolledTable(
            name: "annotation",
            key: [
                ("did", number), ("key_hlc", number), ("key_id", number), ("kind", number),
                ("member", bytes), ("tag", bytes), ("id", bytes),
            ], arrival: "arr",
            condition: "l.did = t.did AND o.id = t.id AND \(turned) = t.hlc"),
        PatrolledTable(
            name: "following",
            key: [("did", number), ("member", bytes), ("joined", number), ("id", bytes)],
            arrival: "arr",
            condition: "l.did = t.did AND o.id = t.id AND \(turned) = t.hlc"),
        PatrolledTable(
            name: "subscription", key: [("did", number), ("member", bytes)], arrival: nil,
            condition: """
                (SELECT f.joined = t.joined AND t.arr = (SELECT g.arr FROM following g
                        WHERE g.did = t.did AND g.member = t.member AND g.own = f.own
                        AND g.joined = f.joined AND g.hidden = 0 AND g.covered = 0
                        ORDER BY g.hlc, g.id LIMIT 1)
                    FROM following f
                    WHERE f.did = t.did AND f.member = t.member AND f.hidden = 0 AND f.covered = 0
                    ORDER BY f.own DESC, f.hlc DESC, f.id DESC LIMIT 1)
                """),
        PatrolledTable(
            name: "self_register",
            key: [("workspace", number), ("kind", number), ("subject", bytes)], arrival: "arr",
            condition: "o.id = t.id AND o.hlc = t.hlc"),
        PatrolledTable(
            name: "setting",
            key: [
                ("workspace", number), ("kind", number), ("subject", bytes), ("document", bytes),
                ("id", bytes),
            ], arrival: "arr",
            condition: "o.id = t.id AND \(turned) = t.hlc"),
        PatrolledTable(
            name: "redaction", key: [("did", number), ("target", bytes), ("by", number)],
            arrival: "by",
            condition: """
                l.did = t.did AND o.gid = t.gid AND o.kind = \(OperationKind.redact.rawValue)
                """),
        PatrolledTable(
            name: "redacted", key: [("arr", number)], arrival: "arr",
            condition: """
                l.did = t.did AND EXISTS(SELECT 1 FROM redaction r WHERE r.did = t.did
                    AND r.target = o.id AND r.by = t.by AND r.undo = 0)
                """),
    ]
}
