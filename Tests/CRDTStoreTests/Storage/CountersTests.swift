import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `What a store counts` {
    private static func counters(of store: NodeStore) -> Counters {
        Counters(
            arrival: store.operations.arrival, event: store.events.newest,
            commit: store.commitCounter)
    }

    private func log(_ count: Int, by device: UInt64 = 1) -> WrittenLog {
        var log = WrittenLog(by: TestDevice(device), in: .zero)
        log.writeMany(count)
        return log
    }

    @Test func `stands in the log that a turn has written`() throws {
        let store = try NodeStore.inMemory()
        try StoredLog.put(log(2), in: store)
        try store.events.append(type: 1, at: 1, workspace: nil)
        try store.commit()
        #expect(try Counters.rows(in: store.connection) == Counters())
        let logs = try Counters.logs(in: store.connection)
        #expect(logs == Counters(arrival: 2, event: 1, commit: 1))
        #expect(logs == Self.counters(of: store))
    }

    @Test func `stands in rows of its own where a turn has written no log`() throws {
        let store = try NodeStore.inMemory()
        try StoredLog.put(log(2), in: store)
        try store.commit()
        try store.begin()
        try store.events.append(type: 1, at: 1, workspace: nil)
        try store.commit()
        #expect(
            try Counters.rows(in: store.connection) == Counters(arrival: 2, event: 1, commit: 2))
        #expect(
            try Counters.logs(in: store.connection) == Counters(arrival: 2, event: 0, commit: 1))
        #expect(Self.counters(of: try store.reopened()) == Self.counters(of: store))
        #expect(try NodeStore.commitCount(in: store.connection) == 2)
    }

    @Test func `is nothing in a store that has committed nothing`() throws {
        let store = try NodeStore.inMemory()
        #expect(Self.counters(of: store) == Counters())
        #expect(try NodeStore.commitCount(in: store.connection) == nil)
    }

    /// Whatever is removed in which order: a number that was given is not given again.
    @Test(arguments: Seeds.explore(20))
    func `outlasts what it counted`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var store = try NodeStore.inMemory()
        let logs = (1...4).map { log(12, by: $0) }
        for _ in 0..<30 {
            try store.begin()
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                try change(store, logs, with: &random)
            }
            let before = store.commitCounter
            try store.commit()
            #expect(store.commitCounter == before + 1)
            let again = try store.reopened()
            #expect(Self.counters(of: again) == Self.counters(of: store), "WSX_SEED=\(seed)")
            if Bool.random(using: &random) { store = again }
        }
    }

    private func change(
        _ store: NodeStore, _ logs: [WrittenLog], with random: inout SeededGenerator
    ) throws {
        let log = try #require(logs.randomElement(using: &random))
        let branch = try store.operations.branches(of: log.name).first
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            let next = branch.map { Int($0.tipSequence) + 1 } ?? 0
            guard next < log.operations.count else { return }
            try StoredLog.put(log, next..<next + 1, in: store)
        case 3:
            guard let branch else { return }
            store.operations.setKept(
                .init(sequence: branch.tipSequence, id: branch.tip.id), of: branch.number)
        case 4:
            guard let branch else { return }
            let end = Bool.random(using: &random) ? nil : branch.tipSequence / 2
            try store.operations.cut(branch.number, behind: end)
        case 5: try store.events.forgetAll()
        case 6: try store.events.trim(olderThan: 9, keeping: 1)
        default: try store.events.append(type: 1, at: 1, workspace: nil)
        }
    }

    @Test func `goes on in a store of schema 15, which has the schema of a new one then`() throws {
        let store = try NodeStore.inMemory()
        try StoredLog.put(log(3), in: store)
        try store.events.append(type: 1, at: 1, workspace: nil)
        try store.commit()
        try store.connection.execute(EarlierStore.schema15)
        try store.connection.execute("PRAGMA user_version = 15")
        #expect(try NodeStore.commitCount(in: store.connection) == 1)
        // As a backup of it.
        try StoreBounds.checkForeign(store.connection)
        let again = try store.reopened()
        #expect(try again.connection.schemaVersion() == Int64(Schema.version))
        #expect(Self.counters(of: again) == Self.counters(of: store))
        #expect(try StoreContents(again) == StoreContents(store))
        #expect(try schema(of: again) == schema(of: .inMemory()))
        try StoreBounds.checkForeign(again.connection)
        try StoredLog.put(log(4), 3..<4, in: again)
        try again.commit()
        #expect(Self.counters(of: try again.reopened()).arrival == 4)
    }

    private func schema(of store: NodeStore) throws -> Set<[String]> {
        Set(
            try StoreSchema(of: store.connection).entries.map {
                [$0.type, $0.name, $0.table, $0.sql ?? ""]
            })
    }

    // MARK: Damage

    @Test func `is salvaged, of a log without operations too`() throws {
        for isEarlier in [false, true] {
            let store = try NodeStore.inMemory()
            let branch = try StoredLog.put(log(3), in: store).branch
            let other = try StoredLog.put(log(2, by: 2), in: store).branch
            try store.events.append(type: 1, at: 1, workspace: nil)
            try store.commit()
            if isEarlier { try store.connection.execute(EarlierStore.schema15) }
            try store.connection.execute(
                "DELETE FROM operation WHERE lid = \(branch); DELETE FROM event")
            let fresh = try Connection()
            _ = try StoreSalvage.copy(store.connection, into: fresh)
            let made = try NodeStore(fresh)
            #expect(Self.counters(of: made) == Counters(arrival: 5, event: 1, commit: 1))
            #expect(made.operations.branch(other)?.tipSequence == 1)
        }
    }

    @Test func `is not taken from a log where it cannot be`() throws {
        let store = try NodeStore.inMemory()
        try StoredLog.put(log(3), in: store)
        try store.commit()
        for value in ["-1", "'x'", "\(StoreBounds.numberMax + 1)"] {
            try store.connection.execute("UPDATE log SET events = \(value)")
            #expect(failure { _ = try store.reopened() }?.kind == .corrupt)
            #expect(failure { try StoreBounds.checkForeign(store.connection) }?.kind == .corrupt)
            let fresh = try Connection()
            _ = try StoreSalvage.copy(store.connection, into: fresh)
            #expect(Self.counters(of: try NodeStore(fresh)).arrival == 3)
            #expect(Self.counters(of: try NodeStore(fresh)).event == 0)
        }
    }

    // MARK: Pages

    /// A commit is as dear as the pages that it writes: of the operation and its place, the log, the
    /// message and its name, and the event, one each.
    @Test func `costs a message no page`() throws {
        let folder = try TemporaryFolder()
        let store = try NodeStore(try Connection(path: folder.file("node.db"), mode: .create))
        let log = log(8)
        var pages: [Int] = []
        for place in log.operations.indices {
            let before = store.connection.logFrameCount
            try writeMessage(at: place, of: log, in: store)
            pages.append(store.connection.logFrameCount - before)
        }
        #expect(pages.dropFirst().allSatisfy { $0 == 6 }, "\(pages)")
    }

    private func writeMessage(at place: Int, of log: WrittenLog, in store: NodeStore) throws {
        let (branch, appended) = try StoredLog.put(log, place..<place + 1, in: store)
        let written = try #require(appended.first)
        let header = written.operation.header
        let document = try #require(try store.operations.document(DocumentID.zero)?.number)
        try store.view.fold(
            .init(
                document: document,
                position: .init(sort: written.sort, arrival: written.arrival),
                key: MessageKey(timestamp: header.timestamp, idPrefix: UInt64(place)), grant: 1,
                thread: nil), as: .shown)
        store.operations.setKept(
            .init(sequence: header.sequence, id: written.operation.id), of: branch)
        try store.events.append(
            type: 20, at: 1, workspace: document, document: document, arrival: written.arrival)
        try store.commit()
    }
}
