import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `Operations that a turn has stored` {
    let store: NodeStore
    let log: WrittenLog

    init() throws {
        store = try .inMemory()
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(4)
        log.write([7, 7], citing: [log.reference(1)])
        log.write([UInt8](repeating: 1, count: 5_000))
        let random = SeededRandom(seed: 1)
        log.seal(
            .message(.init(text: "x")), under: SymmetricKey(using: random),
            keyID: KeyID([UInt8](repeating: 4, count: 16)), using: random)
        self.log = log
    }

    /// Changes what the file says of all operations, which nobody but a test does.
    private func touch() throws {
        try store.connection.execute("UPDATE operation SET seen = seen + 1")
    }

    private func seen(_ arrival: Int64) throws -> Int64? {
        try store.operations.operation(arrival)?.seen
    }

    @Test func `are given as the file has them`() throws {
        store.operations.keepRecent()
        let appended = try StoredLog.put(log, in: store).appended
        let kept = try appended.map { try store.operations.operation($0.arrival) }
        store.operations.forgetRecent()
        for (kept, operation) in zip(kept, appended) {
            let (kept, read) = (
                try #require(kept),
                try #require(try store.operations.operation(operation.arrival))
            )
            #expect(kept.place == read.place && kept.log == read.log && kept.entry == read.entry)
            #expect(kept.document == read.document && kept.seen == read.seen)
            #expect(kept.grantNumber == read.grantNumber)
            #expect(kept.isSignatureVerified == read.isSignatureVerified)
        }
    }

    @Test func `are not read again in it, but the large ones`() throws {
        store.operations.keepRecent()
        let appended = try StoredLog.put(log, in: store).appended
        let before = try appended.map { try #require(try seen($0.arrival)) }
        try touch()
        for (place, operation) in appended.enumerated() {
            let isLarge = operation.operation.payload.count == 5_000
            #expect(try seen(operation.arrival) == before[place] + (isLarge ? 1 : 0))
        }
    }

    @Test func `are read in the next turn, and where nobody keeps them`() throws {
        let first = try StoredLog.put(log, 0..<2, in: store).appended
        let before = try #require(try seen(first[1].arrival))
        try touch()
        #expect(try seen(first[1].arrival) == before + 1)
        store.operations.keepRecent()
        let second = try StoredLog.put(log, 2..<4, in: store).appended
        let later = try #require(try seen(second[0].arrival))
        store.operations.keepRecent()
        try touch()
        #expect(try seen(second[0].arrival) == later + 1)
    }

    @Test func `are read where their payload has gone, and where it came back`() throws {
        store.operations.keepRecent()
        let appended = try StoredLog.put(log, in: store).appended
        let gone = appended[1]
        #expect(try store.operations.erasePayload(of: gone.arrival))
        #expect(try store.operations.operation(gone.arrival)?.entry.payload == [])
        #expect(try store.operations.operation(gone.arrival)?.entry.absent != nil)
        #expect(
            try store.operations.restorePayload(gone.operation.payload, of: gone.arrival))
        #expect(
            try store.operations.operation(gone.arrival)?.entry.payload
                == gone.operation.payload)
    }

    @Test func `are not looked for under a number that only says what is kept of a log`() throws {
        func cost(_ arrival: Int64) throws -> Int {
            let before = store.connection.statementCount
            #expect(try store.operations.operation(arrival) == nil)
            return store.connection.statementCount - before
        }
        func keep(_ operation: OperationStore.Appended, of branch: Int64) -> Int64 {
            store.operations.setKept(
                .init(
                    sequence: operation.operation.header.sequence, id: operation.operation.id),
                of: branch)
            return store.operations.arrival
        }
        store.operations.keepRecent()
        let (branch, appended) = try StoredLog.put(log, in: store)
        let first = keep(appended[0], of: branch)
        let second = keep(appended[1], of: branch)
        #expect(first == appended[6].arrival + 1 && second == first + 1)
        #expect(try cost(first) == 0 && cost(second) == 0 && cost(second + 1) == 1)
        #expect(try store.operations.operation(appended[6].arrival) != nil)
        // In the next turn the file is asked.
        store.operations.forgetRecent()
        store.operations.keepRecent()
        #expect(try cost(first) == 1)
        // What is taken while nothing is cached is not noted.
        store.operations.forgetRecent()
        #expect(try cost(keep(appended[2], of: branch)) == 1)
    }

    @Test func `give their credible time without being read again, in later turns too`() throws {
        let (branch, appended) = try StoredLog.put(log, in: store)
        func time(_ place: Int) throws -> (time: HybridTimestamp?, statements: Int) {
            let before = store.connection.statementCount
            let time = try store.operations.credibleTime(at: appended[place].arrival)
            return (time, store.connection.statementCount - before)
        }
        let written = appended[0].operation.header.timestamp
        let credible = try time(0)
        #expect(try #require(credible.time) <= written && credible.statements == 1)
        store.operations.keepRecent()
        #expect(try time(0) == (credible.time, 0))
        store.operations.forgetRecent()
        #expect(try time(0) == (credible.time, 0))
        #expect(try time(1).statements == 1 && time(1).statements == 0)
        // Rows have changed, and one has gone.
        try store.operations.cut(branch, behind: 1)
        #expect(try time(0) == (credible.time, 1))
        try store.operations.cut(branch, behind: nil)
        for _ in 0..<2 { #expect(try time(0) == (nil, 1)) }
    }

    @Test func `are not there any more where their log was cut`() throws {
        store.operations.keepRecent()
        let (branch, appended) = try StoredLog.put(log, in: store)
        try store.operations.cut(branch, behind: nil)
        for operation in appended {
            #expect(try store.operations.operation(operation.arrival) == nil)
        }
    }
}

/// Newer operations than all with annotations have none: the store is not queried.
struct `What just came` {
    private let store: NodeStore

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    private func message(_ number: Int64, in thread: UInt64? = nil) -> ViewStore.MessageRow {
        ViewStore.MessageRow(
            document: 1, position: .init(sort: number, arrival: number),
            key: key(UInt64(number)), grant: 1, thread: thread.map(key))
    }

    private func key(_ number: UInt64) -> MessageKey {
        MessageKey(timestamp: HybridTimestamp(rawValue: number), idPrefix: 7)
    }

    @Test func `may be deleted later, as often as one likes`() throws {
        let redactions = store.view.redactions
        for arrival in [5, 9, 7] as [Int64] {
            #expect(try redactions.deletion(of: arrival) == nil)
            try redactions.set(.init(by: 3, due: nil), of: arrival, in: 1)
            #expect(try redactions.deletion(of: arrival)?.by == 3)
            #expect(try redactions.deletion(of: arrival + 1) == nil)
        }
        try redactions.set(nil, of: 9, in: 1)
        #expect(try redactions.deletion(of: 9) == nil)
        try store.commit()
        let again = try store.reopened().view.redactions
        #expect(try again.deletion(of: 7)?.by == 3)
        #expect(try again.deletion(of: 9) == nil && again.deletion(of: 8) == nil)
    }

    @Test func `may be replied to later, and before it is there`() throws {
        let view = store.view
        #expect(try view.replyCount(to: key(4), in: [1]) == 0)
        try view.fold(message(10, in: 4), as: .shown)
        try view.fold(message(11, in: 4), as: .shown)
        try view.fold(message(12, in: .max - 1), as: .shown)
        for view in [view, try committed().view] {
            #expect(try view.replyCount(to: key(4), in: [1]) == 2)
            #expect(try view.replyCount(to: key(4), in: [2]) == 0)
            #expect(try view.replyCount(to: key(.max - 1), in: [1]) == 1)
            #expect(try view.replyCount(to: key(12), in: [1]) == 0)
        }
    }

    @Test func `may be starred later`() throws {
        func place(_ subject: UInt8) -> ViewStore.Register.Place {
            .init(workspace: 1, kind: .star, subject: [UInt8](repeating: subject, count: 16))
        }
        #expect(try store.view.own.register(place(3)) == nil)
        for subject in [3, 9, 4] as [UInt8] {
            try store.view.own.fold(
                .init(
                    place(subject), at: HybridTimestamp(rawValue: 1), by: .zero, arrival: 1,
                    key: key(1)))
        }
        for view in [store.view, try committed().view] {
            for subject in [3, 4, 9] as [UInt8] {
                #expect(try view.own.register(place(subject)) != nil)
            }
            #expect(try view.own.register(place(10)) == nil)
            #expect(try view.own.register(place(5)) == nil)
        }
    }

    private func committed() throws -> NodeStore {
        try store.commit()
        return try store.reopened()
    }
}
