import CRDTStore
import WorkspaceModel

/// Which messages contain which words: FTS5 tables in a separate database.
///
/// It proposes candidates and never decides: the caller decrypts each message and verifies it. So
/// the index may be behind, ahead or lost, and can be rebuilt from the store at any time.
///
/// A table holds what arrived among 65,536 operations (4,096 in memory). The number of a row is the
/// time of its message, in milliseconds above 16 bits of its arrival number: descending row numbers
/// are the newest messages first, and FTS5 returns them without sorting. Words are folded already,
/// so the plain `ascii` tokenizer is sufficient.
///
/// - Not thread-safe: one thread makes and uses it.
final class SearchIndex {
    private let connection: Connection
    private let numbers: SearchRowNumbers
    /// The most tables at a time; older ones are dropped.
    private let partsMax: Int?
    /// The newest row of each table.
    private var newest: [Int64: Int64] = [:]
    /// Tables in which a message has got other words: the former ones are still there.
    private var stale: Set<Int64> = []
    private var waiting: [SearchRow] = []
    private var waitingBytes = 0
    /// All that arrived up to here was taken.
    private(set) var through: Int64 = 0
    /// All that arrived up to here is in the file.
    private var written: Int64 = 0
    /// Whether tables may keep much memory from writing.
    private var isSwollen = false
    /// Times that they were freed of it, for tests.
    private(set) var reloadCount = 0

    /// Changes with what is stored, and with how text is folded.
    static let version: Int32 = 4
    /// Rows that are buffered before they are written at once, or until a query. Each write becomes
    /// a segment that has to be merged with others; and a query has to wait for this many: 50 ms.
    private static let waitingMax = 4_096
    private static let waitingBytesMax = 1024 * 1024
    /// Bytes of text in one write above which a table is freed of what it keeps from that. FTS5
    /// collects words in a hash table that grows and never shrinks, and each question for the
    /// beginning of a word walks through all of it, in every table.
    private static let swellingBytes = 16 * 1024
    /// Operations without a message after which it is noted that they were looked at.
    private static let unwrittenMax: Int64 = 16_384
    /// The size of the log at which it is copied into the file.
    private static let logBytesMax = 4 * 1024 * 1024

    /// Opens an existing index, or creates one.
    ///
    /// - Throws: `.notOurs` for the index of another store, of another version, or one that knows
    ///   operations which the store does not have.
    init(
        _ connection: Connection, place: SearchPlace, arrival: Int64
    ) throws(StorageError) {
        self.connection = connection
        switch place {
        case .file(let store):
            numbers = SearchRowNumbers(partBits: 16)
            partsMax = nil
            // Unlike what is disposable at every moment, this survives a loss of power whole, for
            // one fsync in 4 MiB.
            try connection.execute("PRAGMA synchronous = NORMAL")
            if try connection.schemaVersion() == 0 {
                try Self.make(for: store, in: connection)
            } else {
                try Self.check(connection, store)
            }
            try load()
            guard through <= arrival else {
                throw StorageError(.notOurs, "an index of what is not there", statement: "search")
            }
        case .memory:
            numbers = SearchRowNumbers(partBits: Limits.searchMemoryPartBits)
            partsMax = Limits.searchMemoryPartsMax
            try Self.make(for: StoreID(words: (0, 0)), in: connection)
        }
    }

    private static func make(
        for store: StoreID, in connection: Connection
    ) throws(StorageError) {
        try connection.begin()
        try connection.execute("CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID")
        try connection.execute(
            "CREATE TABLE part(number INTEGER PRIMARY KEY, newest INTEGER, stale INTEGER)")
        let insert = try connection.statement("INSERT INTO meta VALUES(?, ?)")
        try insert.run(.text("store"), .blob(store.bytes))
        try insert.run(.text("through"), .integer(0))
        try connection.setSchemaVersion(version)
        try connection.commit()
    }

    private static func check(
        _ connection: Connection, _ store: StoreID
    ) throws(StorageError) {
        let found = try connection.statement("SELECT value FROM meta WHERE name = 'store'")
            .firstRow { $0.blob(0) }
        guard try connection.schemaVersion() == Int64(version), found == store.bytes else {
            throw StorageError(.notOurs, "the index of another store", statement: "search")
        }
    }

    private func load() throws(StorageError) {
        through =
            try connection.statement("SELECT value FROM meta WHERE name = 'through'")
            .integer() ?? 0
        written = through
        try connection.statement("SELECT number, newest, stale FROM part").forEachRow { row in
            newest[row.integer(0)] = row.integer(1)
            if row.integer(2) != 0 { stale.insert(row.integer(0)) }
        }
    }

    // MARK: Writing

    /// Takes changes; those that may wait are written with later ones, or before a query. Changes
    /// that are lost with the process come again, since the file says how far it knows.
    func take(_ batch: SearchBatch) throws(StorageError) {
        waiting += batch.rows
        waitingBytes += batch.byteCount
        through = batch.through
        let forgets = !batch.forgotten.isEmpty || !batch.forgottenDocuments.isEmpty
        guard
            batch.isUrgent || forgets || waiting.count >= Self.waitingMax
                || waitingBytes >= Self.waitingBytesMax
                || through - written >= Self.unwrittenMax
        else { return }
        try connection.begin()
        try writeWaiting()
        if forgets { try forget(batch.forgotten, documents: batch.forgottenDocuments) }
        try dropOldParts()
        try connection.statement("UPDATE meta SET value = ? WHERE name = 'through'")
            .run(.integer(through))
        try connection.commit()
        written = through
        // Dropped words must not stay in the log, and a power cut loses what is only there.
        if forgets || batch.isFinal || connection.logByteCount >= Self.logBytesMax {
            _ = try connection.checkpoint(.truncate)
        }
    }

    /// Inside a transaction. Each table in the order of its rows: FTS5 closes a piece of index
    /// whenever a number is not larger than the one before.
    private func writeWaiting() throws(StorageError) {
        let oldest = partsMax.map { numbers.part(of: through) - Int64($0 - 1) } ?? 0
        let ordered = waiting.map { (part: numbers.part(of: $0.position.arrival), row: $0) }
            .filter { $0.part >= oldest }
            .sorted { ($0.part, $0.row.position) < ($1.part, $1.row.position) }
        if waitingBytes >= Self.swellingBytes { isSwollen = true }
        waiting = []
        waitingBytes = 0
        var table: (part: Int64, insert: Statement)?
        var last: Int64 = 0
        for (part, row) in ordered {
            if part != table?.part {
                try note(last, in: table?.part)
                try makePart(part)
                table = (part, try inserting("INSERT", into: part))
                last = newest[part] ?? 0
            }
            let number = numbers.row(row.position)
            // Behind all others there is none to replace, which FTS5 would look for and delete.
            if number > last, let table {
                try insert(row, number, by: table.insert)
                last = number
                continue
            }
            if row.isAgain, stale.insert(part).inserted { try note(isStale: true, part) }
            try insert(row, number, by: inserting("INSERT OR REPLACE", into: part))
        }
        try note(last, in: table?.part)
    }

    private func inserting(
        _ verb: String, into part: Int64
    ) throws(StorageError) -> Statement {
        try connection.statement(
            "\(verb) INTO part_\(part)(rowid, text, pairs, tags) VALUES(?, ?, ?, ?)")
    }

    private func insert(
        _ row: SearchRow, _ number: Int64, by statement: Statement
    ) throws(StorageError) {
        let text = SearchText(row.indexed)
        try statement.run { values in
            values.bind(1, number)
            values.bind(2, text.words)
            values.bind(3, text.pairs)
            values.bind(4, row.tags)
        }
    }

    private func makePart(_ part: Int64) throws(StorageError) {
        guard newest[part] == nil else { return }
        // The last table gets few words from now on, and is asked for as long as there are any: in
        // one piece it costs a question a few pages.
        if let last = newest.keys.max(), last < part { try optimize(last) }
        try connection.execute(
            """
            CREATE VIRTUAL TABLE IF NOT EXISTS part_\(part) USING fts5(text, pairs, tags,
                columnsize = 0, tokenize = 'ascii')
            """)
        // 16 segments of one size are merged into one, and no fewer: each word is rewritten once or
        // twice and not at every fourfold size.
        try connection.execute(
            "INSERT INTO part_\(part)(part_\(part), rank) VALUES('automerge', 0)")
        try connection.statement("INSERT OR IGNORE INTO part VALUES(?, 0, 0)").run(.integer(part))
        newest[part] = 0
    }

    private func note(_ row: Int64, in part: Int64?) throws(StorageError) {
        guard let part, row > newest[part] ?? 0 else { return }
        try connection.statement("UPDATE part SET newest = ? WHERE number = ?")
            .run(.integer(row), .integer(part))
        newest[part] = row
    }

    private func note(isStale: Bool, _ part: Int64) throws(StorageError) {
        try connection.statement("UPDATE part SET stale = ? WHERE number = ?")
            .run(.integer(isStale ? 1 : 0), .integer(part))
    }

    private func dropOldParts() throws(StorageError) {
        guard let partsMax else { return }
        for part in newest.keys.sorted().dropLast(partsMax) {
            try connection.execute("DROP TABLE part_\(part)")
            try connection.statement("DELETE FROM part WHERE number = ?").run(.integer(part))
            newest[part] = nil
            stale.remove(part)
        }
    }

    // MARK: Forgetting

    /// Inside a transaction. FTS5 only records that a row is gone, until the segments of its index
    /// are merged; `optimize` merges all of them, and leaves nothing of it. Replaced text of edits
    /// is removed at the same time: it may be the edit that was deleted.
    private func forget(
        _ positions: [SearchPosition], documents: [Int64]
    ) throws(StorageError) {
        var touched = stale
        for position in positions {
            let part = numbers.part(of: position.arrival)
            guard newest[part] != nil else { continue }
            try connection.statement("DELETE FROM part_\(part) WHERE rowid = ?")
                .run(.integer(numbers.row(position)))
            touched.insert(part)
        }
        for part in newest.keys.sorted() {
            for document in documents {
                let expression = "tags : \"\(SearchRow.tag(document: document))\""
                let rows = try connection.statement(
                    "SELECT rowid FROM part_\(part) WHERE part_\(part) MATCH ?"
                ).rows(.text(expression)) { $0.integer(0) }
                for row in rows {
                    try connection.statement("DELETE FROM part_\(part) WHERE rowid = ?")
                        .run(.integer(row))
                }
                if !rows.isEmpty { touched.insert(part) }
            }
        }
        for part in touched.sorted() {
            try optimize(part)
            if stale.contains(part) { try note(isStale: false, part) }
        }
        stale = []
    }

    /// Inside a transaction. Merges all pieces of a table into one.
    private func optimize(_ part: Int64) throws(StorageError) {
        try connection.execute("INSERT INTO part_\(part)(part_\(part)) VALUES('optimize')")
    }

    // MARK: Asking

    /// The newest messages that may be what is looked for.
    func find(_ question: SearchQuestion) throws(StorageError) -> SearchCandidates {
        if !waiting.isEmpty { try take(SearchBatch(through: through)) }
        if isSwollen {
            try connection.reloadSchema()
            isSwollen = false
            reloadCount += 1
        }
        try connection.holdSnapshot()
        defer { connection.releaseSnapshot() }
        var found: [SearchPosition] = []
        for (part, newestRow) in newest.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) }) {
            // All that this table and those after it have is older than what there is already.
            if found.count >= question.limit, let last = found.last, newestRow >> 16 < last.time {
                break
            }
            found += try find(question, in: part)
            found = Array(found.sorted(by: >).prefix(question.limit))
        }
        return SearchCandidates(positions: found, isEnd: found.count < question.limit)
    }

    private func find(
        _ question: SearchQuestion, in part: Int64
    ) throws(StorageError) -> [SearchPosition] {
        let (first, last) = numbers.rows(of: question, in: part)
        guard first <= last else { return [] }
        return try connection.statement(
            """
            SELECT rowid FROM part_\(part) WHERE part_\(part) MATCH ?1
                AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4
            """
        ).rows(
            .text(question.expression), .integer(first), .integer(last),
            .integer(Int64(question.limit))
        ) { numbers.position($0.integer(0), in: part) }
    }
}
