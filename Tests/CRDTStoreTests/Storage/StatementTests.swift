import CRDTStore
import Testing
import WorkspaceModel

struct `A statement` {
    let connection: Connection

    init() throws {
        connection = try .inMemory()
        try connection.begin()
    }

    private func stored(_ value: SQLValue) throws -> SQLValue {
        try connection.put(1, value)
        let select = try connection.statement("SELECT text, typeof(text) FROM item WHERE id = 1")
        let read = try select.firstRow { (row) throws(StorageError) -> SQLValue in
            switch try row.text(1) {
            case "null": return .null
            case "integer": return .integer(row.integer(0))
            case "text": return .text(try row.text(0))
            default: return .blob(row.blob(0))
            }
        }
        return try #require(read)
    }

    static let values: [SQLValue] = [
        .null, 0, -1, .integer(.min), .integer(.max), "", "a", "a\0b", "\0", "é\u{301}🦆",
        .blob([]), .blob([0]), .blob([UInt8](0...255)),
        // Around the size of the arena, and above it.
        .blob([UInt8](repeating: 7, count: 2047)), .blob([UInt8](repeating: 7, count: 2048)),
        .blob([UInt8](repeating: 7, count: 2049)), .blob([UInt8](repeating: 7, count: 300_000)),
        .text(String(repeating: "ä", count: 5_000)),
    ]

    @Test(arguments: values)
    func `gives back what was put in`(_ value: SQLValue) throws {
        #expect(try stored(value) == value)
    }

    @Test func `tells an empty blob and an empty text from NULL`() throws {
        try connection.put(1, "", .blob([]))
        try connection.put(2)
        let select = try connection.statement("SELECT text, blob FROM item ORDER BY id")
        let rows = try select.rows { (row) throws(StorageError) in
            (try row.optionalText(0), row.optionalBlob(1))
        }
        #expect(rows.map(\.0) == ["", nil])
        #expect(rows.map(\.1) == [[], nil])
    }

    @Test func `keeps several blobs of one row apart, inside the arena and beyond it`() throws {
        try connection.execute("CREATE TABLE wide(a, b, c, d, e, f)")
        let blobs = [100, 1_500, 800, 0, 4_000, 448].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        }
        let insert = try connection.statement("INSERT INTO wide VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        for _ in 0..<3 {
            try insert.run { values in
                for (column, blob) in zip(Int32(1)..., blobs) { values.bind(column, blob[...]) }
            }
        }
        let rows = try connection.statement("SELECT * FROM wide").rows { row in
            (0..<6).map { row.blob($0) }
        }
        #expect(rows == [blobs, blobs, blobs])
    }

    @Test func `leaves out as NULL what is not bound, also after a run that bound it`() throws {
        let insert = try connection.statement("INSERT INTO item VALUES (?1, ?2, ?3)")
        try insert.run { values in
            values.bind(1, 1)
            values.bind(2, "text")
            values.bind(3, [UInt8](repeating: 1, count: 5_000))
        }
        try insert.run { $0.bind(1, 2) }
        let second = try connection.statement("SELECT text, blob FROM item WHERE id = 2")
        #expect(try second.firstRow { [$0.isNull(0), $0.isNull(1)] } == [true, true])
    }

    @Test func `stores names as their bytes and takes them only at their length`() throws {
        let document = DocumentID([UInt8](0..<32))
        let store = StoreID([UInt8](200..<216))
        try connection.statement("INSERT INTO item VALUES (1, ?1, ?2)").run { values in
            values.bind(1, document)
            values.bind(2, store)
        }
        let signature = Signature([UInt8](100..<164))
        try connection.statement("INSERT INTO item VALUES (2, NULL, ?1)").run { values in
            values.bind(1, signature)
        }
        let second = try connection.statement("SELECT blob FROM item WHERE id = 2")
        #expect(try second.firstRow { $0.blob(0) } == signature.bytes)
        try connection.statement("DELETE FROM item WHERE id = 2").run()
        let select = try connection.statement("SELECT text, blob FROM item")
        #expect(try select.firstRow { $0.blob(0) } == document.bytes)
        #expect(try select.firstRow { $0.blob(1) } == store.bytes)
        let readDocument = try select.firstRow { (row) throws(StorageError) -> DocumentID in
            try row.identifier32(0)
        }
        let readStore = try select.firstRow { (row) throws(StorageError) -> StoreID in
            try row.identifier16(1)
        }
        #expect(readDocument == document)
        #expect(readStore == store)

        for wrong: SQLValue in [
            nil, 5, .blob([]), .blob([UInt8](0..<31)), .blob([UInt8](0..<33)),
            .text(String(repeating: "x", count: 32)),
        ] {
            try connection.statement("UPDATE item SET text = ?1").run(wrong)
            let error = failure {
                _ = try select.firstRow { (row) throws(StorageError) -> DocumentID in
                    try row.identifier32(0)
                }
            }
            #expect(error?.kind == .corrupt, "\(wrong)")
        }
    }

    @Test func `says corrupt for a text that is not UTF-8`() throws {
        try connection.execute("INSERT INTO item VALUES (1, CAST(x'61ff62' AS TEXT), NULL)")
        let select = try connection.statement("SELECT text FROM item")
        #expect(failure { _ = try select.text() }?.kind == .corrupt)
    }

    // Each way out, and then proof that it was reset: a table can only be dropped, and the
    // statement run again, when no cursor is open.
    @Test func `is reset on every way out`() throws {
        for id in 1...3 { try connection.put(Int64(id)) }
        let select = try connection.statement("SELECT id FROM item ORDER BY id")
        let stop = StorageError(.other, "enough")

        #expect(try select.firstRow { $0.integer(0) } == 1)
        let thrown = failure {
            try select.forEachRow { (_) throws(StorageError) in throw stop }
        }
        #expect(thrown == stop)
        #expect(failure { try connection.put(1) }?.kind == .constraint)
        let wrong = try connection.statement("INSERT INTO item VALUES (?1, NULL, NULL)")
        #expect(failure { try wrong.run { $0.bind(2, 1) } }?.kind == .misuse)
        try wrong.run(4)

        #expect(try select.rows { $0.integer(0) } == [1, 2, 3, 4])
        try connection.commit()
        try connection.execute("DROP TABLE item")
    }

    @Test func `runs to its end for its effect, even if it also returns rows`() throws {
        try connection.statement("INSERT INTO item(id) VALUES (1), (2) RETURNING id").run()
        #expect(try connection.ids() == [1, 2])
    }

    @Test func `serves a query inside its own rows by a second one`() throws {
        for id in 1...3 { try connection.put(Int64(id)) }
        var seen: [Int64] = []
        let select = try connection.statement("SELECT id FROM item ORDER BY id")
        try select.forEachRow { (row) throws(StorageError) in
            seen.append(row.integer(0))
            seen += try connection.ids()
        }
        #expect(seen == [1, 1, 2, 3, 2, 1, 2, 3, 3, 1, 2, 3])
    }

    @Test func `is prepared once`() throws {
        let sql = "SELECT 1"
        #expect(try connection.statement(sql) === connection.statement(sql))
    }

    @Test(arguments: ["", "  ", "SELECT", "SELECT nothing", "SELECT 1; SELECT 2", "-- words"])
    func `refuses what is not one statement`(_ sql: String) {
        let error = failure { _ = try connection.statement(sql) }
        #expect(error?.kind == .misuse)
        #expect(error?.statement == sql)
    }

    @Test func `names itself in an error, and no value`() throws {
        try connection.put(1)
        let error = try #require(failure { try connection.put(1, "a secret") })
        #expect(error.kind == .constraint)
        #expect(error.statement == "INSERT INTO item VALUES (?1, ?2, ?3)")
        #expect(error.message.contains("item.id"))
        #expect(!error.description.contains("secret"))
    }

    @Test func `outlives its connection`() throws {
        var other: Connection? = try .inMemory()
        let count = try #require(try other?.statement("SELECT count(*) FROM item"))
        other = nil
        #expect(try count.integer() == 0)
    }
}
