import CRDTStore
import Testing

struct `A transaction` {
    let connection: Connection

    init() throws { connection = try .inMemory() }

    @Test func `keeps what was committed and nothing else`() throws {
        try connection.commit([1])
        try connection.begin()
        try connection.put(2)
        #expect(connection.isInTransaction)
        connection.rollback()
        #expect(!connection.isInTransaction)
        #expect(try connection.ids() == [1])
        #expect(connection.commitCount == 1)
    }

    @Test func `is needed for every write, since SQLite would commit it alone`() throws {
        #expect(failure { try connection.put(1) }?.kind == .misuse)
        try connection.commit([1])
        #expect(failure { try connection.put(2) }?.kind == .misuse)
        try connection.begin()
        connection.rollback()
        #expect(failure { try connection.put(2) }?.kind == .misuse)
        #expect(try connection.ids() == [1])
    }

    @Test func `is begun once and committed once`() throws {
        #expect(failure { try connection.commit() }?.kind == .misuse)
        try connection.begin()
        #expect(failure { try connection.begin() }?.kind == .misuse)
        try connection.put(1)
        try connection.commit()
        #expect(failure { try connection.commit() }?.kind == .misuse)
        #expect(try connection.ids() == [1])
    }

    @Test func `cannot begin before and end after the schema is read again`() throws {
        try connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        func find(_ word: String) throws -> Int64? {
            try connection.statement("SELECT count(*) FROM words WHERE words MATCH ?")
                .integer(.text(word))
        }
        try connection.begin()
        let insert = try connection.statement("INSERT INTO words VALUES(?)")
        try insert.run("alpha")
        #expect(failure { try connection.reloadSchema() }?.kind == .misuse)
        try connection.commit()
        try connection.holdSnapshot()
        try connection.reloadSchema()
        // What was prepared before goes on, and so does what was written.
        #expect(try find("alpha") == 1)
        try connection.begin()
        try insert.run("beta")
        try connection.commit()
        #expect(try find("beta") == 1)
        #expect(try connection.ids() == [])
    }

    @Test func `counts changed rows`() throws {
        try connection.begin()
        for id in 1...5 { try connection.put(Int64(id)) }
        try connection.statement("UPDATE item SET text = 'x' WHERE id > ?1").run(2)
        #expect(connection.changedRowCount == 3)
    }

    // MARK: Planted failures

    static let full = StorageError(.full, "planted")
    static let broken = StorageError(.ioFailure, "planted")

    @Test(arguments: 0..<4)
    func `reports a write that fails, each in turn`(_ index: Int) throws {
        try connection.begin()
        connection.inject(Fault(.write(index), Self.full))
        var failed: [Int64] = []
        for id in Int64(0)..<4 where failure({ try connection.put(id) }) == Self.full {
            failed.append(id)
        }
        try connection.commit()
        #expect(failed == [Int64(index)])
        #expect(try connection.ids().count == 3)
    }

    @Test func `takes no write after SQLite rolled back by itself`() throws {
        try connection.commit([1])
        try connection.begin()
        try connection.put(2)
        connection.inject(Fault(.write(0), Self.full, losesTransaction: true))
        #expect(failure { try connection.put(3) } == Self.full)
        #expect(!connection.isInTransaction)
        #expect(failure { try connection.put(4) }?.kind == .transactionLost)
        #expect(failure { try connection.commit() }?.kind == .transactionLost)
        #expect(try connection.ids() == [1])
        // A full disk may have room again: the next turn works.
        try connection.commit([5])
        #expect(try connection.ids() == [1, 5])
    }

    @Test func `leaves nothing of a COMMIT that fails before its effect`() throws {
        connection.inject(Fault(.commitBefore(1), Self.full))
        try connection.commit([1])
        #expect(failure { try connection.commit([2]) } == Self.full)
        #expect(!connection.isInTransaction)
        #expect(try connection.ids() == [1])
        try connection.commit([3])
        #expect(connection.commitCount == 2)
    }

    @Test func `may leave everything of a COMMIT that fails after its effect`() throws {
        connection.inject(Fault(.commitAfter(0), Self.broken))
        #expect(failure { try connection.commit([1]) } == Self.broken)
        #expect(try connection.ids() == [1])
        #expect(connection.commitCount == 0)
    }

    @Test(arguments: [Fault.Place.commitBefore(0), .commitAfter(0), .write(0)])
    func `writes nothing any more after an I/O failure, and still reads`(
        _ place: Fault.Place
    ) throws {
        try connection.commit([1])
        connection.inject(Fault(place, Self.broken))
        #expect(failure { try connection.commit([2]) } == Self.broken)
        connection.rollback()
        #expect(connection.writingStopped == Self.broken)
        #expect(failure { try connection.begin() } == Self.broken)
        #expect(failure { try connection.execute("DELETE FROM item") } == Self.broken)
        #expect(failure { _ = try connection.checkpoint(.passive) } == Self.broken)
        #expect(try connection.ids().first == 1)
    }
}
