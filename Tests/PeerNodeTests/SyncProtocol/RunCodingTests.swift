import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

struct `A column of a run` {
    private func column(_ values: [UInt64]) -> RunLengths<UInt64> {
        var column = RunLengths<UInt64>()
        for value in values { column.append(value) }
        return column
    }

    private func encoded(_ column: RunLengths<UInt64>) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 64)
        column.encode(to: &encoder) { encoder, value in encoder.uint(value) }
        return encoder.bytes
    }

    private func decoded(_ bytes: [UInt8], limit: Int) throws(Malformed) -> RunLengths<UInt64> {
        var decoder = CBORDecoder(bytes, in: 0..<bytes.count)
        let column = try RunLengths<UInt64>(from: &decoder, limit: limit) {
            (decoder) throws(Malformed) in try decoder.uint()
        }
        try decoder.finish()
        return column
    }

    @Test(arguments: Seeds.explore(20))
    func `says neighbours once and comes back value by value`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let values = (0..<random.below(80)).map { _ in UInt64(random.below(3)) }
        let column = column(values)
        #expect(column.count == values.count, "WSX_SEED=\(seed)")
        let changes = zip(values, values.dropFirst()).count { $0 != $1 }
        #expect(column.groups.count == (values.isEmpty ? 0 : changes + 1), "WSX_SEED=\(seed)")
        let back = try decoded(encoded(column), limit: values.count)
        var cursor = back.makeCursor()
        #expect(values.map { _ in cursor.next() } == values, "WSX_SEED=\(seed)")
        #expect(encoded(back) == encoded(column))
    }

    @Test func `is refused with one value more than its limit`() throws {
        let bytes = encoded(column([7, 7, 7, 8, 8]))
        #expect(try decoded(bytes, limit: 5).count == 5)
        for limit in 0..<5 {
            #expect(throws: Malformed.self) { try decoded(bytes, limit: limit) }
        }
    }

    static let wrong: [(String, [UInt8])] = [
        ("an empty group", [0x81, 0x82, 0x00, 0x07]),
        ("neighbours with one value", [0x82, 0x82, 0x01, 0x07, 0x82, 0x01, 0x07]),
        ("a group of one part", [0x81, 0x81, 0x01]),
        ("a group of three parts", [0x81, 0x83, 0x01, 0x07, 0x07]),
        ("a group that is no list", [0x81, 0x01]),
        ("groups that are missing", [0x82, 0x82, 0x01, 0x07]),
        (
            "a count that needs 64 bits",
            [0x81, 0x82, 0x1B] + [UInt8](repeating: 0xFF, count: 8) + [7]
        ),
        ("counts that overflow", [0x82, 0x82, 0x09, 0x07, 0x82, 0x09, 0x08]),
    ]

    @Test(arguments: wrong.indices)
    func `is refused when its groups are not the shortest spelling`(_ index: Int) {
        let (name, bytes) = Self.wrong[index]
        #expect(throws: Malformed.self, "\(name)") { try decoded(bytes, limit: 10) }
    }

    @Test func `may have a value again after another one`() throws {
        let back = try decoded(encoded(column([1, 2, 1])), limit: 3)
        #expect(back.groups.map(\.count) == [1, 1, 1])
        #expect(back.groups.map(\.value) == [1, 2, 1])
    }
}

struct `A run on the wire` {
    private let log = SyncMessageSamples.log

    private func message(_ run: OperationRun) -> SyncMessage {
        .operations(1, request: 1, [run], isComplete: true)
    }

    private func run(_ count: Int, first: UInt64 = 0, payload: Int = 1) -> OperationRun {
        OperationRun(
            log: log, firstSequence: first,
            previous: first > 0 ? SyncMessageSamples.operation : nil,
            entries: (0..<count).map {
                SyncMessageSamples.entry(
                    at: UInt64($0), payload: [UInt8](repeating: UInt8($0 & 255), count: payload))
            })
    }

    /// The heads of byte strings change at these lengths.
    @Test(arguments: [0, 1, 23, 24, 25, 255, 256, 257, 65_535, 65_536, 65_537])
    func `comes back with a payload of any length`(_ count: Int) throws {
        let message = message(run(1, payload: count))
        #expect(try SyncMessage.decoded(message.encoded()) == message)
    }

    /// The signatures of 4, 1,023 and more entries make heads of each size.
    @Test(arguments: [1, 2, 3, 4, 5, 1_023, 1_024, 1_025])
    func `comes back with any number of entries`(_ count: Int) throws {
        let message = message(run(count))
        #expect(try SyncMessage.decoded(message.encoded()) == message)
    }

    @Test func `ends at the last sequence number and not beyond`() throws {
        let fits = message(run(3, first: .max - 3))
        #expect(try SyncMessage.decoded(fits.encoded()) == fits)
        for first: UInt64 in [.max - 2, .max] {
            let bytes = message(run(3, first: first)).encoded()
            #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
        }
    }

    @Test func `says what it goes on from, and at the start of a log nothing`() throws {
        for first: UInt64 in [0, 1, 1 << 40] {
            let right = run(2, first: first)
            for previous in [nil, SyncMessageSamples.operation] {
                let message = message(
                    OperationRun(
                        log: log, firstSequence: first, previous: previous,
                        entries: right.entries))
                let bytes = message.encoded()
                if (previous == nil) == (first == 0) {
                    #expect(try SyncMessage.decoded(bytes) == message)
                } else {
                    #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
                }
            }
        }
    }

    @Test func `carries at most as many dependencies as an authority operation may have`() throws {
        let reference = OperationReference(
            device: SyncMessageSamples.device, incarnation: 1, sequence: 2,
            id: SyncMessageSamples.operation)
        for (count, isTaken) in [
            (Limits.authDependenciesMax, true), (Limits.authDependenciesMax + 1, false),
        ] {
            var run = run(2)
            run.entries[1].dependencies = [OperationReference](repeating: reference, count: count)
            let bytes = message(run).encoded()
            #expect(((try? SyncMessage.decoded(bytes)) != nil) == isTaken)
        }
    }

    @Test func `carries a payload of the largest size and none that is larger`() {
        for (count, isTaken) in [
            (Limits.authPayloadBytesMax, true), (Limits.authPayloadBytesMax + 1, false),
        ] {
            let bytes = message(run(1, payload: count)).encoded()
            #expect(bytes.count <= Limits.operationsMessageBytesMax)
            #expect(((try? SyncMessage.decoded(bytes)) != nil) == isTaken)
        }
    }

    @Test func `needs its clock to go forward`() {
        var run = run(2)
        run.entries[0].timestamp = HybridTimestamp(rawValue: 9)
        run.entries[1].timestamp = HybridTimestamp(rawValue: 8)
        let bytes = message(run).encoded()
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
    }

    @Test(arguments: Seeds.explore(15))
    func `costs no more than it was estimated to`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = run(0)
        var time: UInt64 = 0
        for _ in 0...random.below(40) {
            time += random.next() >> 20
            run.entries.append(
                OperationRun.Entry(
                    kind: random.next(), timestamp: HybridTimestamp(rawValue: time),
                    grant: OperationID(random.bytes(32)), keyID: KeyID(random.bytes(16)),
                    dependencies: (0..<random.below(4)).map { _ in
                        OperationReference(
                            device: DeviceID(random.bytes(32)), incarnation: .max,
                            sequence: .max, id: OperationID(random.bytes(32)))
                    },
                    payload: random.bytes(random.below(300)),
                    signature: Signature(random.bytes(64))))
        }
        let one = message(run).encoded().count
        let none = SyncMessage.operations(1, request: 1, [], isComplete: true).encoded().count
        #expect(one - none <= run.encodedBytesMax, "WSX_SEED=\(seed)")
        let entries = run.entries.reduce(0) { $0 + $1.encodedBytesMax }
        #expect(run.encodedBytesMax >= entries, "WSX_SEED=\(seed)")
    }
}

struct `Tips on the wire` {
    private func tips(_ message: SyncMessage) -> [LogTip]? {
        if case .tips(_, let tips, _) = message { tips } else { nil }
    }

    /// In any order: what matters is that neighbours of one document stand under one name.
    @Test(arguments: Seeds.explore(15))
    func `come back when each document's stand together`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var all: [LogTip] = []
        for document in (0..<random.below(12)).shuffled(using: &random) {
            for device in 0...random.below(4) {
                all.append(
                    LoneSession.tip(
                        device, document: document, sequence: random.next() >> random.below(64)))
            }
        }
        let message = SyncMessage.tips(3, all, final: random.oneIn(2))
        #expect(try SyncMessage.decoded(message.encoded()) == message, "WSX_SEED=\(seed)")
    }

    @Test func `are said under one name for each document`() {
        let together = (0..<100).map { LoneSession.tip($0, document: 1) }
        let apart = (0..<100).map { LoneSession.tip($0, document: $0) }
        let sizes = [together, apart].map { SyncMessage.tips(1, $0, final: true).encoded().count }
        #expect(sizes[1] - sizes[0] >= 99 * 34)
        #expect(sizes[0] <= 100 * 60 + 50)
    }

    @Test func `of one document in neighbouring groups are refused`() {
        let mixed = [1, 2, 1].map { LoneSession.tip(1, document: $0) }
        let message = SyncMessage.tips(1, mixed, final: true)
        #expect(throws: Never.self) { try SyncMessage.decoded(message.encoded()) }
        // Two groups of the same name next to each other have a shorter spelling.
        let one = SyncMessageSamples.bytes("82 5820 d0*32 81 84 5820 de*32 01 02 50 1d*16")
        let head = SyncMessageSamples.bytes("12 a3 0102 02 82")
        let doubled = head + one + one + [0x03, 0xf5]
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(doubled) }
    }

    @Test func `of a document without any are refused`() {
        let bytes = SyncMessageSamples.bytes("12 a3 0102 02 81 82 5820 d0*32 80 03 f5")
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
    }

    /// About how many fit in one message, which the announcing side relies on.
    @Test func `fit a message by the 2 048, each of its own document`() {
        let all = (0..<2_048).map { LoneSession.tip($0, document: $0, sequence: .max) }
        let bytes = SyncMessage.tips(.max, all, final: true).encoded()
        #expect(bytes.count <= Limits.messageBytesMax)
    }

    @Test func `of documents' digests stand in their bucket, ascending`() {
        let digest = SyncMessageSamples.digest
        func documents(_ first: UInt8, _ count: Int) -> [DocumentDigest] {
            (0..<count).map {
                var name = [UInt8](repeating: 0, count: 32)
                (name[0], name[31]) = (first, UInt8($0))
                return DocumentDigest(document: DocumentID(name), digest: digest)
            }
        }
        func isTaken(_ buckets: [BucketDigests]) -> Bool {
            (try? SyncMessage.decoded(SyncMessage.documentDigests(1, buckets).encoded())) != nil
        }
        #expect(isTaken([BucketDigests(bucket: 4, documents: documents(4, 3))]))
        #expect(!isTaken([BucketDigests(bucket: 5, documents: documents(4, 3))]))
        #expect(!isTaken([BucketDigests(bucket: 4, documents: documents(4, 3).reversed())]))
        let doubled = documents(4, 1) + documents(4, 1)
        #expect(!isTaken([BucketDigests(bucket: 4, documents: doubled)]))
        let two = [4, 5].map { BucketDigests(bucket: $0, documents: documents($0, 1)) }
        #expect(isTaken(two))
        #expect(!isTaken(two.reversed()))
        #expect(!isTaken([two[0], two[0]]))
        #expect(isTaken((0...255).map { BucketDigests(bucket: $0, documents: []) }))
    }
}

struct `A pull on the wire` {
    private func isTaken(_ pull: PullRequest) -> Bool {
        (try? SyncMessage.decoded(SyncMessage.pull(1, pull).encoded())) != nil
    }

    private func item(_ points: Int = 0) -> PullItem {
        PullItem(
            target: LoneSession.tip(1),
            have: [LogPoint](repeating: LogPoint(LoneSession.tip(1)), count: points))
    }

    @Test func `has its bounds, and is refused a step beyond each`() {
        let most = [PullItem](repeating: item(), count: SyncMessage.pullItemsMax)
        let bytes = Limits.operationsMessageBytesMax
        #expect(isTaken(PullRequest(request: 1, items: most, maxBytes: bytes)))
        #expect(!isTaken(PullRequest(request: 1, items: most + [item()], maxBytes: bytes)))
        #expect(!isTaken(PullRequest(request: 1, items: [], maxBytes: bytes + 1)))
        #expect(isTaken(PullRequest(request: .max, items: [], maxBytes: 0)))
        #expect(!isTaken(PullRequest(request: 0, items: [], maxBytes: 0)), "0 means unasked")
        let points = SyncMessage.pullPointsMax
        #expect(isTaken(PullRequest(request: 1, items: [item(points)], maxBytes: 1)))
        #expect(!isTaken(PullRequest(request: 1, items: [item(points + 1)], maxBytes: 1)))
    }
}
