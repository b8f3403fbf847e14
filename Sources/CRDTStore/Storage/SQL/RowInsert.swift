/// An INSERT of one row, which writes many rows in one run where there are many.
///
/// Starting and ending a statement costs SQLite about as much as a small row. So rows of a history
/// that comes in bulk are written sixteen at a time, and what is left one by one.
final class RowInsert {
    /// Rows that one run of the statement for many writes.
    static let rowsMax = 16

    let database: DatabaseHandle
    private let one: Statement
    /// Prepared when there are as many rows for the first time.
    private var many: Statement?

    /// - Parameter sql: INSERT INTO, with one row of question marks behind VALUES.
    init(_ sql: String, on connection: Connection) throws(StorageError) {
        database = connection.database
        one = try connection.statement(sql)
        one.isPlainInsert = true
    }

    /// Writes `count` rows in order.
    ///
    /// - Parameter bind: binds the values of the row with this index, from parameter 1 on.
    /// - Throws: `StorageError`; some of the rows may be written then, so that the transaction has
    ///   to be rolled back.
    func run(
        _ count: Int, _ bind: (Int, borrowing Binder) -> Void
    ) throws(StorageError) {
        var next = 0
        while count - next >= Self.rowsMax {
            let (first, statement) = (next, try whole())
            try statement.run { values in
                for row in 0..<Self.rowsMax {
                    statement.rowStart = Int32(row) * one.parameterCount
                    bind(first + row, values)
                }
                statement.rowStart = 0
            }
            next += Self.rowsMax
        }
        while next < count {
            let row = next
            try one.run { bind(row, $0) }
            next += 1
        }
    }

    private func whole() throws(StorageError) -> Statement {
        if let many { return many }
        let statement = try Statement(
            Self.repeated(one.sql, Self.rowsMax), on: database,
            arenaByteCount: Self.rowsMax * Statement.arenaByteCount / 2)
        statement.isPlainInsert = true
        many = statement
        return statement
    }

    /// The statement for `count` rows. It fails without undoing its first rows: with OR ABORT SQLite
    /// would copy each page that it changes, to undo them alone.
    static func repeated(_ sql: String, _ count: Int) -> String {
        let (verb, into, word) = ("INSERT", " INTO", "VALUES(")
        let place = sql.indices.first { sql[$0...].hasPrefix(word) }
        guard sql.hasPrefix(verb + into), let place,
            let end = sql[place...].firstIndex(of: ")")
        else { preconditionFailure("no INSERT of one row: \(sql)") }
        let row = sql[place...end].dropFirst(word.count - 1)
        let rows = [Substring](repeating: row, count: count).joined(separator: ", ")
        let table = sql[..<place].dropFirst(verb.count + into.count)
        return "\(verb) OR FAIL\(into)\(table)VALUES\(rows)\(sql[end...].dropFirst())"
    }
}
