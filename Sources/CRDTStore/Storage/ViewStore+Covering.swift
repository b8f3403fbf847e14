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
}

/// How a table of words is asked which of them are overwritten. A row has the columns of its
/// register, `id`, `hidden` (1 where it is not valid) and `covered`; what it cites are rows of
/// another table, with the columns of the place, `id` and `cited`.
struct CoveringStatements {
    /// What holds of the rows of one register, for its values.
    let match: String
    /// hidden and covered of a word.
    let state: String
    /// Of how many words that lead on a word is cited.
    let count: String
    /// Notes that a word cites another.
    let cite: String
    /// What a word cites.
    let cited: String
    /// Changes whether a word is valid.
    let hide: String
    /// Changes of how many words that lead on a word is cited.
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
        state = "SELECT hidden, covered FROM \(rows) \(match) AND id = ?"
        // The place is given twice: of what is cited, and of what cites it.
        count = """
            SELECT count(*) FROM \(past) p INDEXED BY \(index) CROSS JOIN \(rows) a
                ON \(all(columns.map { "a.\($0) = ?" })) AND a.id = p.id
                WHERE \(all(place.map { "p.\($0) = ?" })) AND p.cited = ?
                AND (a.hidden = 0 OR a.covered > 0)
            """
        cite = "INSERT OR IGNORE INTO \(past) VALUES(\(marks(place.count + 2)))"
        cited = "SELECT cited FROM \(past) WHERE \(equal(place)) AND id = ?"
        hide = "UPDATE \(rows) SET hidden = ? \(match) AND id = ?"
        cover = """
            UPDATE \(rows) SET covered = covered + ? \(match) AND id = ?
                RETURNING hidden, covered
            """
        remove = [
            "DELETE FROM \(rows) \(match) AND id = ?",
            "DELETE FROM \(past) WHERE \(equal(place)) AND id = ?",
        ]
    }
}

/// Which words are overwritten: those that a valid one of their register has in its past.
///
/// A word **leads on** where it is valid, or covered itself: what it cites is covered. Each row
/// counts the words that lead on and cite it, so that one that comes, goes or changes its verdict
/// moves what it cites and no more, except through words that are not valid. A hash cannot cite
/// itself, so that no word covers itself.
extension ViewStore {
    struct RowState {
        let isHidden: Bool
        /// How many words that lead on cite it.
        let coverCount: Int64

        var leadsOn: Bool { !isHidden || coverCount > 0 }
    }

    func state(
        of id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> RowState? {
        try connection.statement(statements(of: register).state)
            .firstRow(register.values + [.blob(id.bytes)]) { row in
                RowState(isHidden: row.integer(0) == 1, coverCount: row.integer(1))
            }
    }

    /// Notes what a word cites, whatever that is; before its own row is there.
    ///
    /// - Returns: how many words that lead on cite it: they may have been opened before.
    func noteCited(
        _ cited: [OperationID], by id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Int64 {
        for other in cited {
            try connection.statement(statements(of: register).cite)
                .run(register.place + [.blob(id.bytes), .blob(other.bytes)])
        }
        return try connection.statement(statements(of: register).count)
            .firstRow(register.values + register.place + [.blob(id.bytes)]) { $0.integer(0) } ?? 0
    }

    /// Covers what a word that leads on has in its past; when its own row is there.
    func coverPast(
        of id: OperationID, in register: some CitingRegister
    ) throws(StorageError) {
        try cover(try cited(by: id, in: register), by: 1, in: register)
    }

    /// Changes whether a word is valid, and what it covers.
    ///
    /// - Returns: whether anything changed.
    func setValid(
        _ isValid: Bool, _ id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> Bool {
        guard let known = try state(of: id, in: register), known.isHidden == isValid else {
            return false
        }
        try connection.statement(statements(of: register).hide)
            .run([.integer(isValid ? 0 : 1)] + register.values + [.blob(id.bytes)])
        if known.coverCount == 0 {
            try cover(try cited(by: id, in: register), by: isValid ? 1 : -1, in: register)
        }
        return true
    }

    /// Removes a word as if it had never come.
    func removeWord(
        _ id: OperationID, from register: some CitingRegister
    ) throws(StorageError) {
        guard let known = try state(of: id, in: register) else { return }
        if known.leadsOn {
            try cover(try cited(by: id, in: register), by: -1, in: register)
        }
        let statements = statements(of: register).remove
        for (sql, names) in zip(statements, [register.values, register.place]) {
            try connection.statement(sql).run(names + [.blob(id.bytes)])
        }
    }

    private func cited(
        by id: OperationID, in register: some CitingRegister
    ) throws(StorageError) -> [OperationID] {
        try connection.statement(statements(of: register).cited)
            .rows(register.place + [.blob(id.bytes)]) { (row) throws(StorageError) in
                try row.identifier32(0)
            }
    }

    /// Counts one word that leads on more, or less, for each of these, and for what follows from
    /// that. What is of no row of the register is passed over.
    private func cover(
        _ ids: [OperationID], by step: Int64, in register: some CitingRegister
    ) throws(StorageError) {
        var open = ids
        while let id = open.popLast() {
            let now = try connection.statement(statements(of: register).cover)
                .rows([.integer(step)] + register.values + [.blob(id.bytes)]) { row in
                    RowState(isHidden: row.integer(0) == 1, coverCount: row.integer(1))
                }.first
            guard let now, now.isHidden, now.leadsOn != (now.coverCount - step > 0) else {
                continue
            }
            open += try cited(by: id, in: register)
        }
    }

    private func statements<Register: CitingRegister>(of register: Register) -> CoveringStatements {
        Register.statements
    }
}
