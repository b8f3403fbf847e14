import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A store that is killed` {
    // Every COMMIT of a script, before and after it reached the disk.
    @Test(arguments: Seeds.explore(6))
    func `comes back as a prefix of what it was told`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = RandomHistory(count: 40, with: &random)
        let turns = Self.turns(history, with: &random)
        let states = try Self.states(after: turns)
        for turn in turns.indices {
            for isAfter in [false, true] {
                let store = try NodeStore.inMemory()
                let error = StorageError(.full, "planted")
                store.connection.inject(
                    Fault(isAfter ? .commitAfter(turn) : .commitBefore(turn), error))
                let failed = Self.play(turns, in: store)
                #expect(failed == turn, "WSX_SEED=\(seed)")
                let again = try NodeStore(Connection(image: store.connection.serialized()))
                let expected = states[turn + (isAfter ? 1 : 0)]
                #expect(try StoreContents(again) == expected, "WSX_SEED=\(seed), \(turn)")
                // And it goes on from there to the same end.
                for rest in turns[(turn + (isAfter ? 1 : 0))...] {
                    try StoredLog.put(rest, in: again)
                    try again.commit()
                }
                #expect(try StoreContents(again) == states[turns.count], "WSX_SEED=\(seed)")
            }
        }
    }

    @Test(arguments: 0..<24)
    func `in the middle of a turn comes back as before it`(_ write: Int) throws {
        var random = SeededGenerator(seed: UInt64(write))
        let history = RandomHistory(count: 20, with: &random)
        let store = try NodeStore.inMemory()
        try StoredLog.put(history.operations.prefix(8), in: store)
        try store.commit()
        let before = try StoreContents(store)
        store.connection.inject(Fault(.write(write), StorageError(.full, "planted")))
        #expect(throws: StorageError.self) {
            try StoredLog.put(history.operations.dropFirst(8), in: store)
        }
        store.connection.rollback()
        let again = try store.reopened()
        #expect(try StoreContents(again) == before)
        try StoredLog.put(history.operations.dropFirst(8), in: again)
        try again.commit()
        #expect(again.operations.count == 20)
    }

    @Test func `whose transaction was lost says so, even to who swallowed the error`() throws {
        let store = try NodeStore.inMemory()
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(3)
        try StoredLog.put(log, 0..<1, in: store)
        store.connection.inject(
            Fault(.write(0), StorageError(.full, "planted"), losesTransaction: true))
        #expect(failure { try StoredLog.put(log, 1..<2, in: store) }?.kind == .full)
        #expect(failure { try store.begin() }?.kind == .transactionLost)
        #expect(failure { try store.commit() }?.kind == .transactionLost)
        store.connection.rollback()
        let again = try NodeStore(store.connection)
        #expect(again.operations.count == 0)
        try again.begin()
        try again.commit()
    }

    private static func turns(
        _ history: RandomHistory, with random: inout SeededGenerator
    ) -> [[RandomHistory.Written]] {
        RandomCuts.parts(of: history.operations, upTo: [8], from: 1, using: &random)
            .map { Array($0) }
    }

    /// The contents before the first turn and after each.
    private static func states(after turns: [[RandomHistory.Written]]) throws -> [StoreContents] {
        let store = try NodeStore.inMemory()
        var states = [try StoreContents(store)]
        for turn in turns {
            try StoredLog.put(turn, in: store)
            try store.commit()
            states.append(try StoreContents(try store.reopened()))
        }
        return states
    }

    /// The number of the turn that failed, or `nil`.
    private static func play(_ turns: [[RandomHistory.Written]], in store: NodeStore) -> Int? {
        for (number, turn) in turns.enumerated() {
            do {
                try StoredLog.put(turn, in: store)
                try store.commit()
            } catch { return number }
        }
        return nil
    }
}

struct `A node's store` {
    @Test func `is made once`() throws {
        let store = try NodeStore(Connection())
        #expect(try store.connection.schemaVersion() == Int64(Schema.version))
        let again = try store.reopened()
        #expect(try StoreContents(again) == StoreContents(store))
        #expect(again.operations.arrival == 0 && again.events.newest == 0)
    }

    @Test func `of a later version is left alone`() throws {
        let connection = try Connection()
        try connection.begin()
        try connection.setSchemaVersion(Schema.version + 1)
        try connection.commit()
        #expect(failure { _ = try NodeStore(connection) }?.kind == .newerSchema)
        #expect(try connection.schemaVersion() == Int64(Schema.version) + 1)
    }

    @Test(arguments: [1, 2, 7] as [Int32])
    func `of an earlier version is left alone`(_ version: Int32) throws {
        let connection = try Connection()
        try connection.begin()
        try connection.setSchemaVersion(version)
        try connection.commit()
        #expect(failure { _ = try NodeStore(connection) }?.kind == .olderSchema)
        #expect(try connection.schemaVersion() == Int64(version))
    }

    @Test func `of schema 14 has the files of its messages read, and all else stays`() throws {
        let store = try NodeStore.inMemory()
        try store.connection.execute("INSERT INTO subscription VALUES(1, x'01', 0, 1)")
        try store.connection.execute(EarlierStore.schema15)
        try store.connection.execute("PRAGMA user_version = 14")
        let again = try store.reopened()
        #expect(try again.connection.schemaVersion() == Int64(Schema.version))
        #expect(try again.registry.value(BlobTable.unreadFiles) != nil)
        let count = try again.connection.statement("SELECT count(*) FROM subscription").integer()
        #expect(count == 1)
        // A new store has nothing to read.
        #expect(try NodeStore.inMemory().registry.value(BlobTable.unreadFiles) == nil)
    }

    @Test func `commits nothing when nothing was begun`() throws {
        let store = try NodeStore.inMemory()
        let count = store.connection.commitCount
        try store.commit()
        #expect(store.connection.commitCount == count)
        try store.begin()
        try store.begin()
        try store.commit()
        #expect(store.connection.commitCount == count + 1)
        #expect(!store.connection.isInTransaction)
    }

    @Test func `goes on behind its newest row where a counter was set back`() throws {
        let store = try NodeStore.inMemory()
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(3)
        try StoredLog.put(log, 0..<2, in: store)
        try store.events.append(type: 1, at: 1, workspace: nil)
        try store.commit()
        let (arrival, event) = (store.operations.arrival, store.events.newest)
        try store.connection.begin()
        try store.connection.execute("UPDATE log SET arrivals = 0, events = 0; DELETE FROM counter")
        try store.connection.commit()
        let again = try store.reopened()
        #expect(again.operations.arrival == arrival && again.events.newest == event)
        try StoredLog.put(log, 2..<3, in: again)
        try again.events.append(type: 1, at: 2, workspace: nil)
        try again.commit()
        #expect(try again.reopened().operations.arrival > arrival)
    }

    /// What peers were told of is "everything up to this number", so what comes later must have a
    /// later one, though what had the last is not stored any more (I3).
    @Test func `uses no number again, even after its row is deleted`() throws {
        let store = try NodeStore.inMemory()
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(3)
        let branch = try StoredLog.put(log, 0..<3, in: store).branch
        try store.commit()
        let last = store.operations.arrival
        try store.begin()
        try store.operations.cut(branch, behind: nil)
        try store.commit()
        let again = try store.reopened()
        #expect(again.operations.count == 0)
        #expect(again.operations.arrival >= last)
        let appended = try StoredLog.put(log, 0..<1, in: again).appended
        #expect(try #require(appended.first).arrival > last)
    }

    @Test func `with a log whose document is lost is damaged, and says so`() throws {
        let store = try NodeStore.inMemory()
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(1)
        try StoredLog.put(log, in: store)
        try store.commit()
        try store.connection.begin()
        try store.connection.execute("DELETE FROM document")
        try store.connection.commit()
        #expect(failure { _ = try store.reopened() }?.kind == .corrupt)
    }
}
