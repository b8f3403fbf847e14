import WorkspaceModel

/// A register whose operations cite the ones they overwrite (PROTOCOL.md, 3.2): the key of some
/// rows in a table of the view.
protocol CitingRegister {
    /// The SQL of its table.
    static var statements: CoveringStatements { get }
    /// The key of the citations of the register's operations.
    var place: [SQLValue] { get }
    /// The key of the register; begins with `place`.
    var values: [SQLValue] { get }
    /// The register whose operations an operation of this one overwrites; it may
    /// differ from this one.
    var overwritten: Self { get }
}

extension CitingRegister {
    var overwritten: Self { self }
}

/// The SQL to find overwritten operations in a table. A row has the columns of its register, `id`,
/// `hidden` (1 if invalid) and `covered`; its citations are rows of another table, with the columns
/// of the place, `id` and `cited`.
struct CoveringStatements {
    /// The condition for the rows of one register, with its values.
    let match: String
    /// `hidden` of an operation.
    let state: String
    /// How many valid operations cite an operation.
    let count: String
    /// The arrival number of an operation.
    let arrival: String
    /// Records a citation.
    let cite: String
    /// The citations of an operation.
    let cited: String
    /// Sets the validity of an operation.
    let hide: String
    /// Changes how many valid operations cite an operation.
    let cover: String
    /// Removes an operation with its citations.
    let remove: [String]

    /// - Parameters:
    ///   - rows: the table of operations.
    ///   - past: the table of their citations; its index `…_citing` finds the citing operations.
    ///   - place: the columns of a place.
    ///   - others: those of a register within the place.
    init(
        _ rows: String, citing past: String, by index: String, place: [String],
        others: [String] = []
    ) {
        let columns = place + others
        func all(_ conditions: [String]) -> String { conditions.joined(separator: " AND ") }
        func equal(_ columns: [String]) -> String { all(columns.map { "\($0) = ?" }) }
        func marks(_ count: Int) -> String {
            [String](repeating: "?", count: count).joined(separator: ", ")
        }
        match = "WHERE \(equal(columns))"
        state = "SELECT hidden FROM \(rows) \(match) AND id = ?"
        // The place is given twice: for the cited operation, and for the citing one.
        count = """
            SELECT count(*) FROM \(past) p INDEXED BY \(index) CROSS JOIN \(rows) a
                ON \(all(columns.map { "a.\($0) = ?" })) AND a.id = p.id
                WHERE \(all(place.map { "p.\($0) = ?" })) AND p.cited = ? AND a.hidden = 0
            """
        arrival = "SELECT arr FROM \(rows) \(match) AND id = ?"
        cite = "INSERT OR IGNORE INTO \(past) VALUES(\(marks(place.count + 2)))"
        cited = "SELECT cited FROM \(past) WHERE \(equal(place)) AND id = ?"
        hide = "UPDATE \(rows) SET hidden = ? \(match) AND id = ?"
        cover = "UPDATE \(rows) SET covered = covered + ? \(match) AND id = ?"
        remove = [
            "DELETE FROM \(rows) \(match) AND id = ?",
            "DELETE FROM \(past) WHERE \(equal(place)) AND id = ?",
        ]
    }
}

/// Maintains which operations are overwritten: those cited by a valid one of their register. Each
/// row counts these, so that adding, removing or judging an operation costs only its own citations.
struct CitingAssertions {
    let connection: Connection

    /// Whether an operation is valid; `nil` without a row.
    func isValid(
        _ id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Bool? {
        try connection.statement(statements(of: register).state)
            .firstRow(register.values + [.blob(id.bytes)]) { $0.integer(0) == 0 }
    }

    /// Records an operation's citations, before its own row exists.
    ///
    /// - Returns: how many valid operations cite it: they may have been read before.
    func noteCited(
        _ cited: [OperationID], by id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Int64 {
        for other in cited {
            try connection.statement(statements(of: register).cite)
                .run(register.place + [.blob(id.bytes), .blob(other.bytes)])
        }
        return try connection.statement(statements(of: register).count)
            .firstRow(
                register.overwritten.values + register.place + [.blob(id.bytes)]
            ) { $0.integer(0) } ?? 0
    }

    /// Changes whether an operation is valid, and so what it overwrites.
    ///
    /// - Returns: whether anything changed.
    func setValid(
        _ isValid: Bool, _ id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Bool {
        guard try self.isValid(id, in: register) == !isValid else { return false }
        try connection.statement(statements(of: register).hide)
            .run([.integer(isValid ? 0 : 1)] + register.values + [.blob(id.bytes)])
        try cover(citedBy: id, in: register, by: isValid ? 1 : -1)
        return true
    }

    /// Removes an operation as if it had never arrived.
    func removeWord(
        _ id: OperationID, from register: some CitingRegister
    ) throws(StorageError) {
        guard let isValid = try isValid(id, in: register) else { return }
        if isValid { try cover(citedBy: id, in: register, by: -1) }
        let statements = statements(of: register).remove
        for (sql, names) in zip(statements, [register.values, register.place]) {
            try connection.statement(sql).run(names + [.blob(id.bytes)])
        }
    }

    /// Adds or removes one valid citation for each operation that an operation cites. Ignores cited
    /// ones without a row.
    func cover(
        citedBy id: OperationID, in register: some CitingRegister, by step: Int64
    ) throws(StorageError) {
        for other in try cited(by: id, in: register) {
            try connection.statement(statements(of: register).cover)
                .run([.integer(step)] + register.overwritten.values + [.blob(other.bytes)])
        }
    }

    /// What a new operation has to cite, by arrival number: `heads`, and if these are few also what
    /// they cite, so that this stays overwritten when one of them becomes invalid.
    func whatToCite(
        _ heads: [(id: OperationID, arrival: Int64)], in register: some CitingRegister
    ) throws(StorageError) -> [Int64] {
        var found = heads.map(\.arrival)
        var (next, open) = (0, heads.map(\.id))
        while found.count < Limits.overwrittenMin, next < open.count {
            for id in try cited(by: open[next], in: register) where !open.contains(id) {
                let arrival = try connection.statement(statements(of: register).arrival)
                    .firstRow(register.values + [.blob(id.bytes)]) { $0.integer(0) }
                guard let arrival, found.count < Limits.overwrittenMin else { continue }
                found.append(arrival)
                open.append(id)
            }
            next += 1
        }
        return found
    }

    private func cited(
        by id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> [OperationID] {
        try connection.statement(statements(of: register).cited)
            .rows(register.place + [.blob(id.bytes)]) { (row) throws(StorageError) in
                try row.identifier32(0)
            }
    }

    private func statements<Register: CitingRegister>(of register: Register) -> CoveringStatements {
        Register.statements
    }
}
