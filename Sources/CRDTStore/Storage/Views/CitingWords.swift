import WorkspaceModel

/// What only one word is true about, of several that may cite each other (PROTOCOL.md, 3.2): the
/// name of some rows of a table of the view.
protocol CitingRegister {
    /// The table, and how it is asked.
    static var statements: CoveringStatements { get }
    /// What names what the words of the register cite.
    var place: [SQLValue] { get }
    /// What names the register; begins with `place`.
    var values: [SQLValue] { get }
    /// Where the words are that a word of this register overwrites; of those its words overwrite others
    /// here.
    var overwritten: Self { get }
}

extension CitingRegister {
    var overwritten: Self { self }
}

/// How a table of words is asked which of them are overwritten. A row has the columns of its
/// register, `id`, `hidden` (1 where it is not valid) and `covered`; what it cites are rows of
/// another table, with the columns of the place, `id` and `cited`.
struct CoveringStatements {
    /// What holds of the rows of one register, for its values.
    let match: String
    /// `hidden` of a word.
    let state: String
    /// How many valid words cite a word.
    let count: String
    /// Where the operation of a word is stored.
    let arrival: String
    /// Notes that a word cites another.
    let cite: String
    /// What a word cites.
    let cited: String
    /// Changes whether a word is valid.
    let hide: String
    /// Changes how many valid words cite a word.
    let cover: String
    /// Forgets a word, and what it cites.
    let remove: [String]

    /// - Parameters:
    ///   - rows: the table of words.
    ///   - past: the table of what they cite; its index `…_citing` finds what cites something.
    ///   - place: the columns that name a place.
    ///   - others: those that name a register of the place.
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
        // The place is given twice: of what is cited, and of what cites it.
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

/// Which words are overwritten: those that a valid one of their register cites. Each row counts
/// these, so that a word that comes, goes or changes its verdict costs what it cites itself.
struct CitingWords {
    let connection: Connection

    /// Whether a word is valid; `nil` where it has no row.
    func isValid(
        _ id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Bool? {
        try connection.statement(statements(of: register).state)
            .firstRow(register.values + [.blob(id.bytes)]) { $0.integer(0) == 0 }
    }

    /// Notes what a word cites, whatever that is; before its own row is there.
    ///
    /// - Returns: how many valid words cite it: they may have been opened before.
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

    /// Changes whether a word is valid, and what it overwrites.
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

    /// Removes a word as if it had never come.
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

    /// Counts one valid word more, or less, for each that a word cites. What is of no row is passed
    /// over.
    func cover(
        citedBy id: OperationID, in register: some CitingRegister, by step: Int64
    ) throws(StorageError) {
        for other in try cited(by: id, in: register) {
            try connection.statement(statements(of: register).cover)
                .run([.integer(step)] + register.overwritten.values + [.blob(other.bytes)])
        }
    }

    /// What a new word has to cite, by arrival number: `heads`, and where these are few what they
    /// cite themselves, so that it overwrites that too when one of them loses its effect.
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
