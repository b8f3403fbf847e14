import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Follow operations, and which of them counts (PROTOCOL.md, 4.1).
struct `An operation about who follows a channel` {
    private static let nora = MemberID([UInt8](repeating: 7, count: 16))

    private static func id(_ number: Int) -> OperationID {
        let bits = UInt32(truncatingIfNeeded: number) &* 2_654_435_761
        return OperationID(
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
                + [UInt8](repeating: 3, count: 28))
    }

    private struct Word {
        let row: ViewStore.FollowingAssertion
        var cited: [Int] = []
        var isValid = true

        init(
            _ number: Int, joined: Bool, own: Bool = false, hlc: UInt64 = 5,
            citing cited: [Int] = [],
            in document: Int64 = 1, about member: MemberID = nora
        ) {
            row = .init(
                .init(document: document, member: member), id: id(number),
                at: HybridTimestamp(rawValue: hlc), arrival: Int64(number), isJoined: joined,
                isOwn: own)
            self.cited = cited
        }

        @discardableResult
        func fold(into view: FollowingTable) throws -> Bool {
            try view.fold(row, citing: cited.map(id), isValid: isValid)
        }
    }

    private func view(_ assertions: [Word]) throws -> FollowingTable {
        let store = try NodeStore.inMemory()
        try store.begin()
        for assertion in assertions { try assertion.fold(into: store.view.following) }
        return store.view.following
    }

    private func isIn(_ assertions: [Word]) throws -> Bool {
        try view(assertions).isFollowing(Self.nora, 1)
    }

    @Test func `dated at the end of all time is overwritten by who knows it`() throws {
        let far = Word(1, joined: false, hlc: .max)
        #expect(try isIn([far]) == false)
        #expect(try isIn([far, Word(2, joined: true, hlc: 9, citing: [1])]))
        #expect(try isIn([Word(2, joined: true, hlc: 9, citing: [1]), far]))
        #expect(try isIn([far, Word(2, joined: true, hlc: 9)]) == false)
    }

    @Test func `prefers the member's own over others that do not know it`() throws {
        let own = Word(1, joined: true, own: true, hlc: 5)
        let others = (2...40).map { Word($0, joined: false, hlc: .max - UInt64($0)) }
        #expect(try isIn([own] + others))
        #expect(try isIn(others + [own]))
        // Who knows it may still take somebody out.
        let knowing = Word(50, joined: false, hlc: 1, citing: [1])
        #expect(try isIn([own, knowing] + others) == false)
        let heads = try view(others + [own]).heads(.init(document: 1, member: Self.nora), limit: 3)
        #expect(
            heads.map(\.arrival) == [1, 2, 3], "what a new word cites first is what counts most")
    }

    @Test func `is reported when it changes anything`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let join = Word(1, joined: true)
        #expect(try join.fold(into: store.view.following))
        #expect(try !join.fold(into: store.view.following), "it was there")
        #expect(try !Word(2, joined: true, hlc: 9).fold(into: store.view.following), "she was in")
        #expect(
            try !Word(3, joined: false, hlc: 1).fold(into: store.view.following),
            "it does not count")
        #expect(try Word(4, joined: false, citing: [1, 2]).fold(into: store.view.following))
        #expect(try store.view.following.joiningWord(of: Self.nora, 1) == nil)
        #expect(try store.view.following.setValid(false, assertionsAt: [4, 99]))
        #expect(
            try !store.view.following.setValid(false, assertionsAt: [4, 99]), "nothing changed")
        #expect(
            try store.view.following.joiningWord(of: Self.nora, 1) == 1, "she came in by the first")
        #expect(try store.view.following.forgetAssertion(1))
        #expect(try !store.view.following.forgetAssertion(1))
        #expect(try store.view.following.joiningWord(of: Self.nora, 1) == 2)
    }

    /// An assertion that is overwritten costs what it cites, and not what that cites.
    @Test func `costs what it cites, however long the chain behind it is that does not count`()
        throws
    {
        let store = try NodeStore.inMemory()
        try store.begin()
        for number in 1...2_000 {
            var assertion = Word(
                number, joined: number % 2 == 0, citing: Array(max(1, number - 15)..<max(1, number))
            )
            assertion.isValid = false
            try assertion.fold(into: store.view.following)
        }
        let before = store.connection.totalChangedRowCount
        for number in 0..<10 {
            try Word(3_000 + number, joined: true, citing: [1_999, 2_000]).fold(
                into: store.view.following)
            _ = try store.view.following.setValid(false, assertionsAt: [Int64(3_000 + number)])
            try store.view.following.forgetAssertion(Int64(3_000 + number))
        }
        #expect(store.connection.totalChangedRowCount - before < 200)
    }

    /// A row may be named by many at once, and each is a register of its own.
    @Test func `that names several counts for each of them`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let people = (1...3).map { MemberID([UInt8](repeating: $0, count: 16)) }
        for member in people {
            try Word(1, joined: true, about: member).fold(into: store.view.following)
        }
        try Word(2, joined: false, citing: [1], about: people[1]).fold(into: store.view.following)
        #expect(try store.view.following.followers(of: 1) == [people[0], people[2]])
        #expect(try store.view.following.followers(of: 2).isEmpty)
        try store.view.following.forgetAssertion(1)
        #expect(try store.view.following.followers(of: 1).isEmpty)
        #expect(try store.rows("SELECT * FROM following").count == 1)
        #expect(try store.rows("SELECT * FROM following_past").count == 1)
    }

    @Test(arguments: Seeds.explore(40))
    func `is the same whichever way all are folded, judged and forgotten`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let assertions = Self.assertions(40, with: &random)
        let gone = Set(assertions.map(\.row.arrival).filter { _ in random.oneIn(6) })
        var results: [[[String]]] = []
        for _ in 0..<3 {
            let store = try NodeStore.inMemory()
            try store.begin()
            for assertion in assertions.shuffled(using: &random) {
                var first = assertion
                first.isValid = random.oneIn(2)
                try first.fold(into: store.view.following)
                if random.oneIn(5) { try first.fold(into: store.view.following) }
            }
            for assertion in assertions.shuffled(using: &random) {
                if random.oneIn(2) {
                    _ = try store.view.following.setValid(
                        assertion.isValid, assertionsAt: [assertion.row.arrival])
                }
                try assertion.fold(into: store.view.following)
                if gone.contains(assertion.row.arrival), random.oneIn(2) {
                    try store.view.following.forgetAssertion(assertion.row.arrival)
                }
            }
            for arrival in gone { try store.view.following.forgetAssertion(arrival) }
            results.append(
                try ["following", "following_past", "subscription"].flatMap {
                    try store.rows("SELECT * FROM \($0)")
                })
            try Self.expectRule(
                assertions.filter { !gone.contains($0.row.arrival) }, in: store.view.following, seed
            )
        }
        #expect(results[0] == results[1] && results[1] == results[2], "seed \(seed)")
    }

    /// Words of few registers that cite earlier ones, with clocks that mean nothing.
    private static func assertions(_ count: Int, with random: inout SeededGenerator) -> [Word] {
        let clocks: [UInt64] = [1, 2, 1 << 40, 1 << 63, .max]
        return (1...count).map { number in
            let cited = (0..<random.below(4)).map { _ in 1 + random.below(number) }
            var assertion = Word(
                number, joined: random.oneIn(2), own: random.oneIn(3),
                hlc: clocks[random.below(clocks.count)],
                citing: Set(cited.filter { $0 < number }).sorted(), in: Int64(random.below(2)),
                about: MemberID([UInt8](repeating: UInt8(random.below(2)), count: 16)))
            assertion.isValid = !random.oneIn(3)
            return assertion
        }
    }

    /// What counts, found the slow way.
    private static func expectRule(_ assertions: [Word], in view: FollowingTable, _ seed: UInt64)
        throws
    {
        for register in Set(assertions.map(\.row.register)) {
            let own = assertions.filter { $0.row.register == register }
            let covered = Set(
                own.filter(\.isValid).flatMap { assertion in
                    assertion.cited.filter { cited in
                        own.contains {
                            $0.row.arrival == Int64(cited)
                                && $0.row.isJoined != assertion.row.isJoined
                        }
                    }
                })
            let heads = own.filter { $0.isValid && !covered.contains(Int($0.row.arrival)) }
                .map(\.row).sorted {
                    ($0.isOwn ? 1 : 0, $0.timestamp, $0.id)
                        > ($1.isOwn ? 1 : 0, $1.timestamp, $1.id)
                }
            #expect(
                try view.heads(register, limit: 99).map(\.arrival)
                    == heads.map(\.arrival),
                "seed \(seed)")
            #expect(
                try view.isFollowing(register.member, register.document)
                    == (heads.first?.isJoined ?? false), "seed \(seed)")
            // Those that say it, by the member or by others, as the one that counts.
            let alike = heads.filter {
                $0.isJoined && heads.first?.isJoined == true && $0.isOwn == heads.first?.isOwn
            }
            #expect(
                try view.joiningWord(of: register.member, register.document)
                    == alike.min { ($0.timestamp, $0.id) < ($1.timestamp, $1.id) }?.arrival,
                "seed \(seed)")
        }
    }
}
