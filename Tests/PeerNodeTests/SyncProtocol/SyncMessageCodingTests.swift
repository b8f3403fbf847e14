import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A sync message` {
    static let samples = SyncMessageSamples.all

    @Test(arguments: samples.indices)
    func `has the bytes that the protocol names`(_ index: Int) throws {
        let sample = Self.samples[index]
        let golden = SyncMessageSamples.bytes(sample.golden)
        #expect(sample.message.encoded() == golden, "\(sample.name)")
        #expect(try SyncMessage.decoded(golden) == sample.message, "\(sample.name)")
        #expect(sample.message.type == golden[0])
    }

    @Test(arguments: samples.indices)
    func `is refused when it is cut anywhere or goes on`(_ index: Int) {
        let bytes = Self.samples[index].message.encoded()
        for count in 0..<bytes.count {
            #expect(throws: SyncViolation.self) {
                try SyncMessage.decoded([UInt8](bytes[..<count]))
            }
        }
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes + [0]) }
    }

    /// Whatever is accepted has exactly one spelling, and nothing traps.
    @Test(arguments: Seeds.explore(20))
    func `survives every mutation`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = Self.samples[random.below(Self.samples.count)].message.encoded()
            for _ in 0...random.below(3) {
                let place = random.below(random.oneIn(2) ? min(bytes.count, 90) : bytes.count)
                switch random.below(3) {
                case 0: bytes[place] ^= UInt8(1 << random.below(8))
                case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
                }
            }
            expectOneSpelling(bytes)
            expectOneSpelling([bytes[0]] + random.bytes(random.below(80)))
        }
    }

    private func expectOneSpelling(_ bytes: [UInt8]) {
        guard let message = try? SyncMessage.decoded(bytes) else { return }
        #expect(message.encoded() == bytes)
    }

    @Test(arguments: Seeds.explore(10))
    func `carries any run of operations`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let runs = (0..<random.below(4)).map { _ in
            let first = random.oneIn(3) ? 0 : random.next() >> 32
            return OperationRun(
                log: SyncMessageSamples.log, firstSequence: first,
                previous: first > 0 ? OperationID(random.bytes(32)) : nil,
                entries: (0...random.below(30)).map { place in
                    OperationRun.Entry(
                        kind: UInt64(random.below(3)),
                        timestamp: HybridTimestamp(rawValue: UInt64(place) << 30),
                        grant: OperationID([UInt8](repeating: UInt8(random.below(2)), count: 32)),
                        keyID: random.oneIn(3) ? nil : KeyID(random.bytes(16)),
                        dependencies: (0..<random.below(3)).map { _ in
                            OperationReference(
                                device: DeviceID(random.bytes(32)), incarnation: 7,
                                sequence: random.next(), id: OperationID(random.bytes(32)))
                        },
                        payload: random.bytes(
                            [0, 1, 30, 300, 70_000][random.below(place == 0 ? 5 : 4)]),
                        signature: Signature(random.bytes(64)))
                })
        }
        let message = SyncMessage.operations(3, request: 1, runs, isComplete: false)
        let bytes = message.encoded()
        #expect(try SyncMessage.decoded(bytes) == message)
        #expect(bytes.count <= runs.reduce(64) { $0 + $1.encodedBytesMax })
    }

    @Test func `has a reading of as many logs as one marker names, and of no more`() throws {
        func bytes(_ logs: Int) -> [UInt8] {
            let counts = (0..<logs).map { (UInt64.max - UInt64($0), UInt64.max) }
            var word = SyncMessageSamples.readMarkerUpdate
            word.frontier = ReadFrontier(Dictionary(uniqueKeysWithValues: counts))
            return SyncMessage.reading(.max, word).encoded()
        }
        let most = bytes(Limits.readFrontierLogsMax)
        #expect(try SyncMessage.decoded(most)?.encoded() == most)
        #expect(throws: SyncViolation.self) {
            try SyncMessage.decoded(bytes(Limits.readFrontierLogsMax + 1))
        }
    }

    // MARK: Hostile contents

    struct File: Decodable {
        struct Case: Decodable { let hex: String }
        let cases: [Case]
    }

    @Test(
        .vectors("cbor/rfc8949-appendix-f-not-well-formed.json", "cbor/strict-profile-reject.json"))
    func `refuses every published broken item as its body (C01)`() throws {
        for name in ["rfc8949-appendix-f-not-well-formed", "strict-profile-reject"] {
            for item in try Vectors.json("cbor/\(name).json", as: File.self).cases {
                let body = try #require(Vectors.bytes(hex: item.hex))
                for sample in Self.samples {
                    #expect(throws: SyncViolation.self) {
                        try SyncMessage.decoded([sample.message.type] + body)
                    }
                }
            }
        }
    }

    @Test(arguments: [17, 10_000, 200_000])
    func `refuses deep nesting without a deep stack (C02)`(_ depth: Int) {
        let nested = [UInt8](repeating: 0x81, count: depth) + [0x00]
        // As the devices of a join, the one place where foreign structure is walked over.
        let join: [UInt8] = SyncMessageSamples.bytes("04 a5 01 5820 0e*32 02 50 33*16 03")
        do {
            _ = try SyncMessage.decoded(join + nested)
            Issue.record("taken")
        } catch {
            #expect(error.code == "sync.too_deep")
        }
        for sample in Self.samples {
            #expect(throws: SyncViolation.self) {
                try SyncMessage.decoded([sample.message.type] + nested)
            }
        }
    }

    static let lies = [
        "10 a2 0102 02 5b7fffffffffffffff", "12 a3 0102 02 9b7fffffffffffffff",
        "13 a4 0102 0209 03 9b7fffffffffffffff", "15 a4 0102 0209 03 9b7fffffffffffffff",
        // A run that claims more operations than signatures can follow.
        "15 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 01 05 5820 0e*32 88 81 82 1b7fffffffffffffff 01",
        "15 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 01 05 5820 0e*32 88 81 82 1903e8 01 9903e8",
    ]

    @Test(arguments: lies)
    func `refuses a length that is not there before it makes room (C03)`(_ golden: String) {
        let bytes = SyncMessageSamples.bytes(golden)
        do {
            _ = try SyncMessage.decoded(bytes)
            Issue.record("taken")
        } catch {
            #expect(error.code == "sync.malformed")
        }
    }

    static let wrongRuns = [
        // No operation; counts that disagree; neighbours that should be one group; a group of 0.
        "80 80 80 80 80 80 40 40",
        "81820101 8100 8182025820 0e*32 81820140 80 81820100 40 5840 51*64",
        "82 820101 820101 820001 8182025820 0e*32 81820240 80 81820200 40 5880 51*128",
        "81820001 80 80 80 80 80 40 40",
        // Payload lengths that miss the payloads; a signature column that is short.
        "81820101 8100 8182015820 0e*32 81820140 80 81820105 4401020304 5840 51*64",
        "81820101 8100 8182015820 0e*32 81820140 80 81820104 4401020304 583f 51*63",
        // A clock that overflows; a key name of 15 bytes; dependencies of an entry not there.
        """
        81820201 82 1bffffffffffffffff 01 8182025820 0e*32 81820240 80 81820200 40 5880 51*128
        """,
        "81820101 8100 8182015820 0e*32 8182014f 6e*15 80 81820100 40 5840 51*64",
        """
        81820101 8100 8182015820 0e*32 81820140 8182018184 5820 de*32 0102 5820 0e*32 \
        81820100 40 5840 51*64
        """,
    ]

    @Test(arguments: wrongRuns.indices)
    func `refuses columns that contradict each other`(_ index: Int) {
        let head = "15 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 01 05 5820 0e*32 88 "
        let bytes = SyncMessageSamples.bytes(head + Self.wrongRuns[index] + " 04 f5")
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
    }

    @Test func `takes the same columns when they agree`() throws {
        let bytes = SyncMessageSamples.bytes(
            "15 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 01 05 5820 0e*32 88 "
                + "81820101 8100 8182015820 0e*32 81820140 80 81820104 4401020304 5840 51*64 04 f5")
        #expect(try SyncMessage.decoded(bytes) != nil)
    }

    @Test func `is too large above its limit (S01)`() {
        let body = [UInt8](repeating: 0x41, count: Limits.messageBytesMax)
        #expect(throws: SyncViolation.messageTooLarge) { try SyncMessage.decoded([0x13] + body) }
        let operations = [UInt8](repeating: 0x41, count: Limits.operationsMessageBytesMax)
        #expect(throws: SyncViolation.messageTooLarge) {
            try SyncMessage.decoded([0x15] + operations)
        }
    }

    /// A code has six digits and stands where one is confirmed; an answer has no result of a later list.
    @Test(arguments: [
        "88 a5 0102 0250 c1*16 0302 04 66 6140622e636f 05 66 30313233346b",
        "88 a5 0102 0250 c1*16 0302 04 66 6140622e636f 05 65 3031323334",
        "88 a5 0102 0250 c1*16 0300 04 66 6140622e636f 05 66 303132333435",
        "88 a4 0102 0250 c1*16 0302 04 66 6140622e636f",
        "88 a4 0102 0250 c1*16 0304 04 66 6140622e636f",
        "88 a4 0102 0250 c1*16 0300 04 60", "88 a4 0102 0250 c1*16 0300 04 61 00",
        "89 a3 0102 0250 c1*16 0309", "89 a4 0102 0250 c1*16 0300 06 00",
        "89 a5 0102 0250 c1*16 0301 05 5820 0e*32 04 00",
    ])
    func `has one form where an address is proved`(_ golden: String) {
        #expect(throws: SyncViolation.self) {
            try SyncMessage.decoded(SyncMessageSamples.bytes(golden))
        }
    }

    @Test func `of an unknown type is skipped from 0x80 on and refused below (S05)`() throws {
        for type in UInt8.min...UInt8.max
        where !Self.samples.contains(where: { $0.message.type == type }) {
            let bytes: [UInt8] = [type, 0xa0]
            if type >= 0x80 {
                #expect(try SyncMessage.decoded(bytes) == nil)
            } else {
                #expect(throws: SyncViolation.unknownMessage(type: type)) {
                    try SyncMessage.decoded(bytes)
                }
            }
        }
        #expect(throws: SyncViolation.emptyMessage) { try SyncMessage.decoded([]) }
    }
}
