import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `What had come when something was read` {
    private static func place(_ subject: UInt8 = 1) -> ViewStore.Register.Place {
        .init(workspace: 1, kind: .read, subject: [UInt8](repeating: subject, count: 16))
    }

    @Test(arguments: Seeds.explore(8))
    func `is the same in every order`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = (0..<30).map { _ in
            ReadFrontier([
                UInt64(random.below(4)) << 62: UInt64(random.below(9)),
                10 + UInt64(random.below(4)): UInt64(random.below(9)),
            ])
        }
        var sum = ReadFrontier()
        for word in words { sum.merge(word) }
        for order in [words, words.reversed(), words + words] {
            let store = try NodeStore.inMemory()
            try store.begin()
            for word in order { try store.view.own.fold(word, at: Self.place()) }
            var expected = sum
            // A count of none is as good as no count.
            expected.counts = expected.counts.filter { $0.value > 0 }
            var found = try store.view.own.frontier(Self.place())
            found.counts = found.counts.filter { $0.value > 0 }
            #expect(found == expected, "WSX_SEED=\(seed)")
        }
    }

    @Test func `says whether it says more, and nothing of other conversations`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        #expect(try view.own.readCount(of: 5, Self.place()) == nil)
        #expect(try view.own.fold(ReadFrontier([5: 3]), at: Self.place()))
        #expect(try !view.own.fold(ReadFrontier([5: 2]), at: Self.place()))
        #expect(try !view.own.fold(ReadFrontier(), at: Self.place()))
        #expect(try view.own.readCount(of: 5, Self.place()) == 3)
        #expect(try view.own.readCount(of: 6, Self.place()) == 0)
        #expect(try view.own.readCount(of: 5, Self.place(2)) == nil)
        #expect(try view.own.frontiers(of: 1) == [Self.place().subject: ReadFrontier([5: 3])])
    }

    @Test func `is what late messages are read by, log by log`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        for row in 1...6 {
            try view.putLate(
                .init(sort: Int64(row), arrival: Int64(10 - row)), in: 1,
                log: UInt64(row % 2) << 63, sequence: UInt64(row))
        }
        #expect(try view.firstLate(in: 1) == 1)
        #expect(try view.firstLate(in: 2) == nil)
        // The log of the odd ones up to 3, of the even ones up to 1; and one that is not there.
        try view.removeLate(in: 1, coveredBy: ReadFrontier([1 << 63: 4, 0: 2, 7: 99]))
        #expect(try view.firstLate(in: 1) == 2)
        try view.removeLate(.init(sort: 2, arrival: 8), in: 1)
        #expect(try view.firstLate(in: 1) == 4)
        try view.removeLate(in: 2)
        try view.removeLate(in: 1, coveredBy: ReadFrontier([0: .max]))
        #expect(try view.firstLate(in: 1) == 5)
        try view.removeLate(in: 1)
        #expect(try view.firstLate(in: 1) == nil)
    }

    @Test func `is written in pieces that fit`() {
        let all = ReadFrontier(
            Dictionary(uniqueKeysWithValues: (0..<2_500).map { (UInt64($0), UInt64($0)) }))
        let pieces = all.pieces(beyond: ReadFrontier([2_499: 2_499, 2_498: 1]))
        let most = Limits.readFrontierLogsMax
        #expect(pieces.map(\.counts.count) == [most, most, 2_498 - 2 * most])
        var sum = ReadFrontier([2_499: 2_499])
        for piece in pieces { sum.merge(piece) }
        #expect(sum.counts.filter { $0.value > 0 } == all.counts.filter { $0.value > 0 })
        #expect(all.pieces(beyond: all).isEmpty)
    }
}
