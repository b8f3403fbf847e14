import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

/// The column of signatures, of which only those are there that somebody needs (PROTOCOL.md, 5.3).
@Suite struct `Signatures on the wire` {
    private func run(_ count: Int, signed: Set<Int>, payload: [UInt8] = []) -> OperationRun {
        OperationRun(
            log: SyncMessageSamples.log, firstSequence: 0, previous: nil,
            entries: (0..<count).map { place in
                var entry = SyncMessageSamples.entry(at: UInt64(place), payload: payload)
                if !signed.contains(place) { entry.signature = nil }
                return entry
            })
    }

    private func message(_ runs: OperationRun...) -> SyncMessage {
        .operations(1, request: 1, runs, isComplete: true)
    }

    @Test(arguments: Seeds.explore(20))
    func `come back, whichever are left out`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = 1 + random.below(40)
        var signed = Set((0..<count).filter { _ in random.oneIn(3) })
        signed.insert(count - 1)
        var run = run(count, signed: signed, payload: [7])
        for place in signed { run.entries[place].signature = Signature(random.bytes(64)) }
        let bytes = message(run).encoded()
        #expect(try SyncMessage.decoded(bytes) == message(run), "WSX_SEED=\(seed)")
        let empty = SyncMessage.operations(1, request: 1, [], isComplete: true).encoded().count
        #expect(bytes.count - empty <= run.encodedBytesMax, "WSX_SEED=\(seed)")
    }

    @Test func `that are left out cost nothing`() {
        let sizes = [Set(0..<1_000), [999]].map { signed in
            message(run(1_000, signed: signed)).encoded().count
        }
        #expect(sizes[0] - sizes[1] >= 999 * 64 - 8)
    }

    /// What stands in the place of the column, of a run of three.
    private static let columns: [(what: String, column: String, isTaken: Bool)] = [
        ("the last one", "81 82 02 5840 51*64", true),
        ("two", "82 82 00 5840 51*64 82 02 5840 51*64", true),
        ("none", "80", false),
        ("all but the last", "82 82 00 5840 51*64 82 01 5840 51*64", false),
        ("all of them", "83 82 00 5840 51*64 82 01 5840 51*64 82 02 5840 51*64", false),
        ("two in the wrong order", "82 82 02 5840 51*64 82 00 5840 51*64", false),
        ("one twice", "82 82 02 5840 51*64 82 02 5840 51*64", false),
        ("one beyond the end", "81 82 03 5840 51*64", false),
        ("63 bytes", "81 82 02 583f 51*63", false),
        ("a place alone", "81 81 02", false),
        ("two as one byte string", "5880 51*128", false),
        ("nothing as a byte string", "40", false),
    ]

    @Test(arguments: columns.indices)
    func `have one spelling`(_ index: Int) throws {
        let row = Self.columns[index]
        let whole = message(run(3, signed: [2])).encoded()
        // The last column, and the flag behind the runs.
        let head = whole.dropLast(1 + 1 + 1 + 2 + 64 + 2)
        let bytes = head + SyncMessageSamples.bytes(row.column + " 04 f5")
        guard row.isTaken else {
            #expect(throws: SyncViolation.self, "\(row.what)") {
                try SyncMessage.decoded(Array(bytes))
            }
            return
        }
        #expect(try SyncMessage.decoded(Array(bytes))?.encoded() == Array(bytes), "\(row.what)")
    }

    /// A signature no longer bounds how many operations few bytes can claim.
    @Test func `leave room for so many operations in a message`() throws {
        let half = Limits.operationsPerMessageMax / 2
        let fits = message(run(half, signed: [half - 1]), run(half, signed: [half - 1]))
        #expect(try SyncMessage.decoded(fits.encoded()) == fits)
        let tooMany = message(run(half, signed: [half - 1]), run(half + 1, signed: [half]))
        #expect(tooMany.encoded().count < Limits.operationsMessageBytesMax)
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(tooMany.encoded()) }
    }
}
