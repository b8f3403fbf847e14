import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `A payload that was erased` {
    /// Content of one log in a channel.
    private struct Contents {
        var log = WrittenLog(by: TestDevice(1), in: .zero)

        /// Payloads of all sizes, some of which overflow a page.
        init(_ count: Int) {
            let random = SeededRandom(seed: 5)
            for number in 0..<count {
                log.write(random.bytes(number % 4 == 3 ? 20_000 : 64 + 50 * (number % 7)))
            }
        }
    }

    private func store(_ connection: Connection? = nil, count: Int = 8) throws -> (
        NodeStore, WrittenLog, [OperationStore.Appended]
    ) {
        let store = try NodeStore(try connection ?? Connection())
        let log = Contents(count).log
        let (_, appended) = try StoredLog.put(log, in: store)
        try store.commit()
        return (store, log, appended)
    }

    @Test func `is gone from every byte of the store, and its operation still gives its id`() throws
    {
        let (store, log, appended) = try store()
        let payloads = log.operations.map { Array($0.payload.suffix(48)) }
        let before = try store.connection.serialized()
        for payload in payloads { #expect(ByteSearch.finds(payload, in: before)) }
        try store.begin()
        for place in [0, 3, 7] {
            #expect(try store.operations.erasePayload(of: appended[place].arrival))
            #expect(try !store.operations.erasePayload(of: appended[place].arrival), "once")
        }
        try store.commit()
        let image = try store.connection.serialized()
        for (place, payload) in payloads.enumerated() {
            #expect(ByteSearch.finds(payload, in: image) == ![0, 3, 7].contains(place), "\(place)")
        }
        let reopened = try store.reopened()
        for store in [store, reopened] {
            #expect(
                try StoreCheck.problems(
                    in: store.operations, arrivals: 1...store.operations.arrival) == [])
            let stored = try #require(try store.operations.operation(appended[3].arrival))
            #expect(stored.entry.payload.isEmpty)
            #expect(stored.entry.absent?.length == log.operations[3].payload.count)
            #expect(
                stored.entry.absent?.hash
                    == OperationSigning.hash(ofPayload: log.operations[3].payload))
            #expect(try !store.operations.hasMissingPayloads())
        }
    }

    /// What is left of a payload takes more in a message than nothing: a run that was filled without
    /// counting it would not fit, and nobody would ever get one.
    @Test(arguments: [400, 1_000, 2_000, 5_000])
    func `is counted where a message is filled`(byteCountMax: Int) throws {
        let store = try NodeStore(try Connection())
        let log = Contents(40).log
        for place in 0..<40 {
            let (_, appended) = try StoredLog.put(log, place..<place + 1, in: store)
            try store.operations.erasePayload(of: appended[0].arrival)
        }
        let branch = try #require(store.operations.branches.keys.first)
        var next: UInt64 = 0
        while let run = try store.operations.run(
            of: branch, from: next, through: .max, byteCountMax: byteCountMax)
        {
            let byteCount = run.entries.reduce(0) { $0 + $1.encodedBytesMax }
            #expect(byteCount <= byteCountMax, "\(run.entries.count)")
            next += UInt64(run.entries.count)
        }
        #expect(next == 40)
    }

    @Test func `is gone from the files once the log is emptied`() throws {
        let folder = try TemporaryFolder()
        try folder.put([], "node.db")
        let connection = try Connection(path: folder.file("node.db"), mode: .create)
        let (store, log, appended) = try store(connection, count: 40)
        // A long one is spread over pages, of which the last holds its end.
        let payloads = log.operations.map { Array($0.payload.suffix(48)) }
        let written = try folder.bytes("node.db-wal")
        #expect(ByteSearch.finds(payloads[5], in: written))
        try store.begin()
        for place in 0..<40 where place % 3 == 0 {
            try store.operations.erasePayload(of: appended[place].arrival)
        }
        try store.commit()
        _ = try connection.checkpoint(.truncate)
        #expect(try folder.bytes("node.db-wal").isEmpty)
        let bytes = try folder.bytes("node.db")
        for place in 0..<40 {
            #expect(ByteSearch.finds(payloads[place], in: bytes) == (place % 3 != 0), "\(place)")
        }
    }

    @Test func `leaves the run verifiable for its receivers`() throws {
        let (store, log, appended) = try store()
        try store.begin()
        for place in [1, 2, 7] {
            try store.operations.erasePayload(of: appended[place].arrival)
        }
        let branch = try #require(try store.operations.branches(of: log.name).first)
        let run = try #require(
            try store.operations.run(
                of: branch.number, from: 0, through: branch.tipSequence, byteCountMax: 1 << 20))
        #expect(run.entries.map { $0.absent != nil } == (0..<8).map { [1, 2, 7].contains($0) })
        let checked = try OperationChecks.check(run, after: nil)
        #expect(checked.map(\.id) == log.operations.map(\.id))
        #expect(checked.map(\.isPayloadAbsent) == run.entries.map { $0.absent != nil })
        // Another hash or length means another operation.
        var lie = run
        lie.entries[2].absent = .init(
            length: log.operations[2].payload.count,
            hash: PayloadHash([UInt8](repeating: 1, count: 32)))
        #expect(throws: Rejection.badSignature) { try OperationChecks.check(lie, after: nil) }
        lie.entries[2].absent = .init(length: 0, hash: run.entries[2].absent?.hash ?? .zero)
        #expect(throws: Rejection.badSignature) { try OperationChecks.check(lie, after: nil) }
    }

    @Test func `that never came is missing until one with its hash does`() throws {
        let (source, log, appended) = try store()
        try source.begin()
        try source.operations.erasePayload(of: appended[4].arrival)
        let branch = try #require(try source.operations.branches(of: log.name).first)
        let run = try #require(
            try source.operations.run(
                of: branch.number, from: 0, through: branch.tipSequence, byteCountMax: 1 << 20))
        let store = try NodeStore(Connection())
        try store.begin()
        try store.operations.enter(log.document, workspace: nil, kind: .authority)
        let (number, taken) = try store.operations.append(
            try OperationChecks.check(run, after: nil), in: log.name,
            of: try store.operations.workspace(of: log.document), at: .newLog, seen: 1,
            citing: [[StoredPlace]](repeating: [], count: 8))
        let arrival = taken[4].arrival
        #expect(try store.operations.missingPayloads(after: 0, limit: 10) == [arrival])
        let payload = log.operations[4].payload
        #expect(try !store.operations.restorePayload(payload + [0], of: arrival))
        #expect(try !store.operations.restorePayload(payload.map { $0 ^ 1 }, of: arrival))
        #expect(try !store.operations.restorePayload(payload, of: taken[3].arrival))
        #expect(try store.operations.hasMissingPayloads())
        #expect(try store.operations.restorePayload(payload, of: arrival))
        #expect(try !store.operations.hasMissingPayloads())
        #expect(try store.operations.operation(arrival)?.entry.payload == payload)
        // Nothing stays of what is removed with its log.
        try store.operations.erasePayload(of: arrival)
        try store.operations.cut(number, behind: 2)
        #expect(try store.operations.absentPayload(arrival) == nil)
    }

    @Test func `is only a payload of content`() throws {
        let (store, log, appended) = try store(count: 2)
        try store.begin()
        try store.operations.erasePayload(of: appended[0].arrival)
        let stored = try #require(try store.operations.operation(appended[0].arrival))
        for kind in [2, 3, 4, 5, 9] as [UInt64] {
            var entry = stored.entry
            entry.kind = kind
            #expect(throws: Rejection.self, "\(kind)") { try OperationChecks.checkForm(entry) }
        }
        var both = stored.entry
        both.payload = log.operations[0].payload
        #expect(throws: Rejection.self) { try OperationChecks.checkForm(both) }
        var large = stored.entry
        large.absent = .init(length: Limits.payloadBytesMax + 1, hash: .zero)
        #expect(throws: Rejection.tooLarge) { try OperationChecks.checkForm(large) }
    }
}
