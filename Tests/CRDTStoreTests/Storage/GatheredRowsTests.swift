import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `Rows that are written together` {
    let store: NodeStore
    var connection: Connection { store.connection }

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    private func fold(_ arrivals: ClosedRange<Int64>) throws {
        for arrival in arrivals { try store.view.fold(ViewStoreRows.row(arrival), as: .shown) }
    }

    /// The arrival numbers that stand in the table, whatever waits.
    private func arrivals() throws -> [Int64] {
        try connection.statement("SELECT arr FROM message ORDER BY arr").rows { $0.integer(0) }
    }

    // MARK: The statement

    @Test func `stand in one statement that differs by its rows alone`() {
        #expect(
            RowInsert.repeated("INSERT INTO item(id, text) VALUES(?, ?)", 3)
                == "INSERT OR FAIL INTO item(id, text) VALUES(?, ?), (?, ?), (?, ?)")
        #expect(
            RowInsert.repeated("INSERT INTO item VALUES(?)\n ON CONFLICT(id) DO NOTHING", 2)
                == "INSERT OR FAIL INTO item VALUES(?), (?)\n ON CONFLICT(id) DO NOTHING")
    }

    @Test(arguments: [0, 1, 15, 16, 17, 32, 50])
    func `are the same rows in the same order as one by one`(_ count: Int) throws {
        try connection.execute("CREATE TABLE wide(number, blob, text)")
        let insert = try RowInsert("INSERT INTO wide VALUES(?, ?, ?)", on: connection)
        // Some fit into the arena of sixteen rows, and some do not.
        let blobs = (0..<count).map { [UInt8](repeating: UInt8($0), count: $0 * 97) }
        let before = connection.writeCount
        try insert.run(count) { index, row in
            row.bind(1, Int64(index))
            row.bind(2, blobs[index])
            if index % 3 != 0 { row.bind(3, "\(index)") }
        }
        #expect(connection.writeCount - before == count / 16 + count % 16)
        let query = try connection.statement("SELECT number, blob, text FROM wide ORDER BY rowid")
        let rows = try query.rows { (row) throws(StorageError) in
            (row.integer(0), row.blob(1), try row.optionalText(2))
        }
        #expect(rows.map(\.0) == (0..<Int64(count)).map { $0 })
        #expect(rows.map(\.1) == blobs)
        #expect(rows.map(\.2) == (0..<count).map { $0 % 3 == 0 ? nil : "\($0)" })
    }

    // MARK: Cost

    // Half of what SQLite takes for a small row is the statement around it.
    @Test func `take a statement for sixteen messages, events and operations`() throws {
        var before = connection.writeCount
        try fold(1...256)
        for arrival in Int64(1)...256 {
            try store.events.append(type: 1, at: 7, workspace: 1, document: 1, arrival: arrival)
        }
        #expect(connection.writeCount - before == 32)
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(257)
        try StoredLog.put(log, 0..<1, in: store)
        before = connection.writeCount
        try StoredLog.put(log, 1..<257, in: store)
        #expect(connection.writeCount - before == 16)
        try store.commit()
        let again = try store.reopened()
        let events = try again.events.events(after: 0, limit: 999)
        #expect(events.map(\.arrival) == (1...256).map { $0 })
        #expect(try again.view.shownCount(in: 1) == 256)
        #expect(again.operations.count == 257)
    }

    @Test func `are the operations that one by one would be`() throws {
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(40)
        try StoredLog.put(log, in: store)
        try store.commit()
        let other = try NodeStore.inMemory()
        for place in 0..<40 { try StoredLog.put(log, place..<place + 1, in: other) }
        try other.commit()
        let table = "SELECT arr, lid, seq, kind, hlc, sort, gid, id, sig, payload FROM operation"
        let rows = try [store, other].map { store in
            try store.connection.statement(table).rows { row in
                ((0..<7).map { row.integer($0) }, (7..<10).map { row.blob($0) })
            }
        }
        #expect(rows[0].map(\.0) == rows[1].map(\.0))
        #expect(rows[0].map(\.1) == rows[1].map(\.1))
    }

    // MARK: What others see

    @Test(arguments: [1, 5, 16, 20] as [Int64])
    func `are there for each statement that follows`(_ count: Int64) throws {
        try fold(1...count)
        #expect(try arrivals() == (1...count).map { $0 })
        try fold(count + 1...count + 3)
        try connection.statement("DELETE FROM message WHERE arr > ?").run(.integer(count + 1))
        #expect(try arrivals() == (1...count + 1).map { $0 })
        try fold(50...51)
        try connection.execute("DELETE FROM message WHERE arr < 51")
        #expect(try arrivals() == [51])
    }

    @Test func `are there for the next row of a query that is under way`() throws {
        try fold(1...2)
        var seen: [Int64] = []
        try connection.statement("SELECT arr FROM message ORDER BY did, sort, arr").forEachRow {
            (row) throws(StorageError) in
            seen.append(row.integer(0))
            if row.integer(0) == 1 { try store.view.fold(ViewStoreRows.row(3), as: .shown) }
        }
        #expect(seen == [1, 2, 3])
    }

    @Test func `say the last word where one message comes twice`() throws {
        for turn in 1...40 {
            try store.view.fold(ViewStoreRows.row(1), as: turn % 2 == 0 ? .shown : .hidden)
        }
        try store.view.fold(ViewStoreRows.row(2), as: .hidden)
        #expect(try arrivals() == [1, 2])
        #expect(try store.view.messages(.init(document: 1), before: nil, limit: 9).count == 1)
    }

    // MARK: Transactions

    @Test func `are committed, and not after a rollback`() throws {
        try fold(1...3)
        // Neither lost where somebody begins twice.
        #expect(failure { try connection.begin() }?.kind == .misuse)
        try store.commit()
        #expect(try store.reopened().view.shownCount(in: 1) == 3)
        try store.begin()
        try fold(4...6)
        connection.rollback()
        try connection.begin()
        try fold(7...7)
        try connection.commit()
        #expect(try arrivals() == [1, 2, 3, 7])
    }

    @Test func `are refused where a row would be`() throws {
        try store.commit()
        #expect(failure { try fold(1...1) }?.kind == .misuse)
        try store.begin()
        try store.commit()
        #expect(try arrivals().isEmpty)
    }

    @Test(arguments: [false, true])
    func `that cannot be written are not passed over`(losesTransaction: Bool) throws {
        try fold(1...3)
        connection.inject(
            Fault(.write(1), StorageError(.full, "planted"), losesTransaction: losesTransaction))
        #expect(failure { _ = try arrivals() }?.kind == .full)
        // Even where nobody cares.
        let ignored = try? arrivals()
        #expect(ignored == nil)
        #expect(failure { try fold(4...4) } != nil)
        #expect(failure { try store.commit() } != nil)
        connection.rollback()
        #expect(try arrivals().isEmpty)
        try connection.begin()
        try fold(5...5)
        try connection.commit()
        #expect(try arrivals() == [5])
    }

    @Test func `tell of a failure when there are sixteen`() throws {
        connection.inject(Fault(.write(0), StorageError(.full, "planted")))
        try fold(1...15)
        #expect(failure { try fold(16...16) }?.kind == .full)
        #expect(failure { try store.commit() }?.kind == .full)
    }

    @Test func `do not keep a store that is dropped`() throws {
        weak var dropped: Connection?
        do {
            let store = try NodeStore.inMemory()
            dropped = store.connection
            try store.begin()
            try store.view.fold(ViewStoreRows.row(1), as: .shown)
        }
        #expect(dropped == nil)
    }
}

private enum ViewStoreRows {
    static func row(_ arrival: Int64) -> ViewStore.MessageRow {
        `The view of a channel`.row(arrival)
    }
}
