/// Compares a store's derived tables with those built again from its operations, row by row.
public enum StoreComparison {
    /// A row that differs.
    public struct Difference: Sendable, Equatable {
        /// Its table.
        public let table: String
        /// Its key, by the names of its columns.
        public let key: [String: SQLValue]
        /// The stored row, key first; `nil` for none.
        public let stored: [SQLValue]?
        /// The expected row.
        public let built: [SQLValue]?
    }

    /// The result of a comparison.
    public struct Result: Sendable {
        /// Expected rows.
        public internal(set) var rows: Int64 = 0
        /// Rows that differ.
        public internal(set) var count: Int64 = 0
        /// The first of them.
        public internal(set) var differences: [Difference] = []

        /// An empty result.
        public init() {}
    }

    /// Not compared, as history that operations do not contain: a hidden message's earlier state,
    /// when a payload is erased, and the position of a message with an erased payload.
    static let tables = [
        StoredTable("document", ["did"], ["id", "workspace", "kind"]),
        StoredTable(
            "log", ["lid"],
            [
                "did", "device", "inc", "tip_seq", "tip_id", "tip_hlc", "tip_sort", "kept_seq",
                "kept_id",
            ]),
        StoredTable("grant_span", ["lid", "first"], ["gid", validEnd]),
        StoredTable(
            "message", ["did", "sort", "arr"],
            [
                "key_hlc", "key_id", "gid", "thread_hlc", "thread_id",
                "CASE hidden WHEN 3 THEN 1 ELSE hidden END", "mention",
            ], where: "arr NOT IN (SELECT arr FROM absent)"),
        StoredTable(
            "following", ["did", "member", "joined", "id"],
            ["hlc", "arr", "own", "hidden", "covered"]),
        StoredTable("following_past", ["did", "member", "id", "cited"], []),
        StoredTable("subscription", ["did", "member"], ["joined", "arr"]),
        StoredTable(
            "self_register", ["workspace", "kind", "subject"],
            ["hlc", "id", "arr", "key_hlc", "key_id"]),
        StoredTable(
            "setting", ["workspace", "kind", "subject", "document", "id"],
            ["hlc", "arr", "hidden", "covered"]),
        StoredTable(
            "setting_past", ["workspace", "kind", "subject", "document", "id", "cited"], []),
        StoredTable("read_frontier", ["workspace", "subject", "log"], ["count"]),
        StoredTable("late", ["did", "sort", "arr"], ["log", "seq"]),
        StoredTable(
            "annotation", ["did", "key_hlc", "key_id", "kind", "member", "tag", "id"],
            ["hlc", "arr", "flags", "hidden", "covered"]),
        StoredTable("annotation_past", ["did", "key_hlc", "key_id", "id", "cited"], []),
        StoredTable("note_edit", ["did", "key_hlc", "key_id", "arr"], ["state"]),
        StoredTable("redaction", ["did", "target", "by"], ["undo", "gid"]),
        StoredTable("redacted", ["arr"], ["did", "by"]),
        // A deleted message's files stay listed while its payload exists.
        StoredTable("blob_reference", ["arr", "item"], ["bid", "did"]),
        StoredTable("citation", ["lid", "seq", "by_lid", "by_seq"], []),
    ]

    /// The valid end of a span within its branch: beyond the tip all bounds are equal.
    private static let validEnd = """
        (SELECT CASE WHEN valid BETWEEN 0 AND tip_seq OR valid IS NULL THEN valid ELSE tip_seq END
            FROM log WHERE log.lid = grant_span.lid)
        """

    /// Compares all tables.
    ///
    /// - Parameters:
    ///   - store: the store to check.
    ///   - built: the store that `StoreSalvage` made of it, built by a core.
    ///   - unsettled: tables to skip because the store has not caught up with them.
    ///   - limit: how many differences are reported.
    public static func compare(
        _ store: Connection, with built: Connection, without unsettled: Set<String> = [],
        telling limit: Int = 100
    ) throws(StorageError) -> Result {
        var result = Result()
        for table in tables where !unsettled.contains(table.name) {
            var (stored, expected) = (Rows(table, in: store), Rows(table, in: built))
            while true {
                let (left, right) = (try stored.first(), try expected.first())
                guard left != nil || right != nil else { break }
                let order = order(left, right, table.key.count)
                if right != nil, order >= 0 { result.rows += 1 }
                if left != right {
                    result.note(
                        table, order <= 0 ? left : nil, order >= 0 ? right : nil, limit)
                }
                if order <= 0 { stored.drop() }
                if order >= 0 { expected.drop() }
            }
        }
        return result
    }

    /// - Returns: negative if `left` comes first, 0 for equal keys.
    private static func order(_ left: [SQLValue]?, _ right: [SQLValue]?, _ count: Int) -> Int {
        guard let left else { return 1 }
        guard let right else { return -1 }
        for (one, other) in zip(left, right).prefix(count) where one != other {
            return one.precedes(other) ? -1 : 1
        }
        return 0
    }
}

extension StoreComparison.Result {
    fileprivate mutating func note(
        _ table: StoredTable, _ stored: [SQLValue]?, _ built: [SQLValue]?, _ limit: Int
    ) {
        count += 1
        guard differences.count < limit else { return }
        differences.append(
            .init(
                table: table.name,
                key: Dictionary(zip(table.key, stored ?? built ?? [])) { first, _ in first },
                stored: stored, built: built))
    }
}

/// The rows of one table in key order, read in batches.
private struct Rows {
    private let table: StoredTable
    private let connection: Connection
    private var piece: ArraySlice<[SQLValue]> = []
    private var last: [SQLValue]?
    private var isAtEnd = false

    private static let pieceCount: Int64 = 512

    init(_ table: StoredTable, in connection: Connection) {
        self.table = table
        self.connection = connection
    }

    mutating func first() throws(StorageError) -> [SQLValue]? {
        if piece.isEmpty, !isAtEnd { try read() }
        return piece.first
    }

    mutating func drop() { piece = piece.dropFirst() }

    private mutating func read() throws(StorageError) {
        let key = table.key.joined(separator: ", ")
        let columns = table.columns.joined(separator: ", ")
        let places = table.key.map { _ in "?" }.joined(separator: ", ")
        let start = last == nil ? "" : "AND (\(key)) > (\(places))"
        var found: [[SQLValue]] = []
        try connection.statement(
            """
            SELECT \(columns) FROM \(table.name) WHERE \(table.condition) \(start)
                ORDER BY \(key) LIMIT \(Self.pieceCount)
            """
        ).scan(Array((last ?? []).prefix(table.key.count))) { row in
            found.append(table.columns.indices.map { row.value(Int32($0)) })
            return .next
        }
        piece = found[...]
        last = found.last ?? last
        isAtEnd = found.count < Self.pieceCount
    }
}

extension SQLValue {
    /// SQLite's order of values: NULL, numbers, text, bytes.
    fileprivate func precedes(_ other: SQLValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.blob(let left), .blob(let right)): left.lexicographicallyPrecedes(right)
        default: kindOrder < other.kindOrder
        }
    }

    private var kindOrder: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .text: 2
        case .blob: 3
        }
    }
}
