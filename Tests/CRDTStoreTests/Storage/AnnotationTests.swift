import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Annotations of messages in the view.
struct `What is said about a message` {
    typealias Row = ViewStore.Annotation
    typealias Register = ViewStore.Annotation.Register

    static let target = MessageKey(timestamp: HybridTimestamp(rawValue: 77), idPrefix: 7)

    static func register(
        _ kind: Row.Kind = .edit, _ member: UInt8 = 1, tag: UInt8 = 0, message: UInt64 = 7
    ) -> Register {
        Register(
            document: 1,
            target: MessageKey(timestamp: HybridTimestamp(rawValue: 77), idPrefix: message), kind,
            of: kind == .pin ? nil : MemberID([UInt8](repeating: member, count: 16)),
            tag: kind == .reaction ? [UInt8](repeating: tag, count: 16) : [])
    }

    static func id(_ number: Int) -> OperationID {
        OperationID(
            [UInt8](repeating: UInt8(truncatingIfNeeded: number &* 167), count: 31)
                + [UInt8(truncatingIfNeeded: number)])
    }

    /// An operation on its way into the view.
    struct Word {
        let row: Row
        var cited: [OperationID] = []
        var isValid = true

        init(
            _ number: Int, _ register: Register, hlc: UInt64, on isOn: Bool = true,
            citing cited: [Int] = []
        ) {
            row = Row(
                register, id: `What is said about a message`.id(number),
                at: HybridTimestamp(rawValue: hlc), arrival: Int64(number), isOn: isOn)
            self.cited = cited.map(`What is said about a message`.id)
        }

        func fold(into view: ViewStore) throws {
            try view.fold(row, citing: cited, isValid: isValid)
        }
    }

    private func view(_ words: [Word]) throws -> ViewStore {
        let store = try NodeStore.inMemory()
        try store.begin()
        for word in words { try word.fold(into: store.view) }
        return store.view
    }

    @Test func `is what nothing overwrites, whatever the clocks say`() throws {
        let register = Self.register()
        let far = Word(1, register, hlc: .max)
        let after = Word(2, register, hlc: 5, citing: [1])
        let beside = Word(3, register, hlc: 4)
        #expect(try view([far]).current(register) == far.row)
        #expect(try view([far, after]).current(register) == after.row)
        #expect(try view([after, far]).current(register) == after.row)
        // Only those of one time compare, and then the clock decides.
        #expect(try view([far, after, beside]).current(register) == after.row)
        #expect(try view([far, beside]).current(register) == far.row)
        let heads = try view([beside, after, far]).heads(register, limit: 9)
        #expect(heads == [after.row, beside.row])
        #expect(try view([beside, after]).heads(register, limit: 1) == [after.row])
    }

    @Test func `is decided by the id between equal clocks`() throws {
        let register = Self.register(.pin)
        let words = (1...4).map { Word($0, register, hlc: 9, on: $0 % 2 == 0) }
        let last = words.map(\.row).max { $0.id < $1.id }
        #expect(try view(words).current(register) == last)
        #expect(try view(words.reversed()).current(register) == last)
    }

    @Test func `counts times beyond the middle of all as later`() throws {
        let register = Self.register()
        let words = [Word(1, register, hlc: 1 << 63), Word(2, register, hlc: 1 << 62)]
        #expect(try view(words).current(register) == words[0].row)
    }

    @Test func `comes back when what overwrote it loses its effect, and goes again`() throws {
        let register = Self.register()
        let first = Word(1, register, hlc: 10)
        let second = Word(2, register, hlc: 9, citing: [1])
        let third = Word(3, register, hlc: 8, citing: [2])
        let view = try view([first, second, third])
        #expect(try view.current(register) == third.row)
        try view.setValid(false, annotationsAt: [3])
        #expect(try view.current(register) == second.row)
        #expect(try view.isValid(annotationAt: 3) == false)
        try view.setValid(false, annotationsAt: [2])
        #expect(try view.current(register) == first.row)
        // What is cited by way of something void is not overwritten: so a new word cites more.
        try view.setValid(true, annotationsAt: [3])
        #expect(try view.heads(register, limit: 9) == [first.row, third.row])
        let fourth = Word(4, register, hlc: 7, citing: [2, 3, 1])
        try fourth.fold(into: view)
        #expect(try view.current(register) == fourth.row)
        #expect(try view.whatToCite(in: register).first == 4)
        #expect(try view.whatToCite(in: register).sorted() == [1, 2, 3, 4])
        try view.setValid(false, annotationsAt: [4])
        try view.setValid(false, annotationsAt: [1, 2, 3, 99])
        #expect(try view.current(register) == nil)
        #expect(try view.isValid(annotationAt: 99) == nil)
    }

    @Test func `is one thing for each person, sign and message`() throws {
        let registers = [
            Self.register(), Self.register(.edit, 2), Self.register(.edit, message: 8),
            Self.register(.pin), Self.register(.reaction, tag: 1),
            Self.register(.reaction, tag: 2), Self.register(.reaction, 2, tag: 1),
        ]
        // Citing what is of another register overwrites nothing.
        let words = registers.enumerated().map { place, register in
            Word(
                place + 1, register, hlc: UInt64(place), citing: (1...9).filter { $0 != place + 1 })
        }
        let view = try view(words)
        for (register, word) in zip(registers, words) {
            #expect(try view.current(register) == word.row)
        }
        let reactions = try view.reactions(to: Self.target, in: 1)
        #expect(reactions.map(\.register) == Array(registers[4...]))
        #expect(try view.reactions(to: Self.target, in: 2).isEmpty)
        #expect(try view.annotation(arrival: 3) == words[2].row)
        try view.clear(1)
        #expect(try view.annotations(of: 1).isEmpty)
    }

    @Test func `shows of each person no more than their share of reactions`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let greedy = Limits.reactionRowsPerMemberMax * 3
        for number in 1...greedy {
            var word = Word(number, Self.register(.reaction, 5, tag: UInt8(number)), hlc: 5)
            word.isValid = number > 1
            try word.fold(into: store.view)
        }
        for member in [UInt8(4), 6, 7] {
            try Word(1_000 + Int(member), Self.register(.reaction, member, tag: 9), hlc: 5)
                .fold(into: store.view)
        }
        let shown = try store.view.reactions(to: Self.target, in: 1)
        func count(_ member: UInt8) -> Int {
            shown.count { $0.register.member == [UInt8](repeating: member, count: 16) }
        }
        #expect(count(5) == Limits.reactionRowsPerMemberMax)
        #expect([4, 6, 7].map { count($0) } == [1, 1, 1])
    }

    @Test func `goes with the operations that are not stored any more`() throws {
        let register = Self.register()
        let view = try view([
            Word(1, register, hlc: 3), Word(2, register, hlc: 2, citing: [1]),
        ])
        try view.remove([.init(sort: 0, arrival: 2)], in: 1)
        #expect(try view.current(register)?.arrival == 1)
        try Word(2, register, hlc: 2, citing: [1]).fold(into: view)
        #expect(try view.current(register)?.arrival == 2)
        try view.clear()
        #expect(try view.current(register) == nil)
    }

    @Test(arguments: Seeds.explore(40))
    func `is the same whichever way it is folded and judged`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = Self.words(40, with: &random)
        var results: [[[String]]] = []
        for _ in 0..<3 {
            let store = try NodeStore.inMemory()
            try store.begin()
            for word in words.shuffled(using: &random) {
                var first = word
                // What changes its verdict later ends as what never did.
                first.isValid = random.oneIn(2)
                try first.fold(into: store.view)
                if random.oneIn(5) { try first.fold(into: store.view) }
            }
            for word in words.shuffled(using: &random) {
                if random.oneIn(2) {
                    try store.view.setValid(word.isValid, annotationsAt: [word.row.arrival])
                }
                try word.fold(into: store.view)
            }
            results.append(
                try store.rows("SELECT * FROM annotation ORDER BY did, key_hlc, key_id, id")
                    + store.rows("SELECT * FROM annotation_past ORDER BY id, cited"))
            try Self.expectRule(words, in: store.view, seed)
        }
        #expect(results[0] == results[1] && results[1] == results[2], "seed \(seed)")
    }

    @Test(arguments: Seeds.explore(40))
    func `pins the messages whose pin counts and is on`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try NodeStore.inMemory()
        try store.begin()
        let messages = (1...8).map { (number: Int64) in
            ViewStore.MessageRow(
                document: 1, position: .init(sort: Int64(random.below(5)), arrival: 100 + number),
                key: Self.register(.pin, message: UInt64(number)).target, grant: 1, thread: nil)
        }
        for message in messages { try store.view.fold(message, as: .shown) }
        for number in 1...40 {
            let register = Self.register(
                random.oneIn(4) ? .edit : .pin, message: UInt64(1 + random.below(8)))
            var word = Word(
                number, register, hlc: UInt64(random.below(4)), on: random.oneIn(2),
                citing: number > 1 ? [1 + random.below(number - 1)] : [])
            word.isValid = !random.oneIn(4)
            try word.fold(into: store.view)
        }
        try store.view.redactions.set(
            .init(by: 1, due: nil), of: messages[0].position.arrival, in: 1)
        var filter = ViewStore.Filter(document: 1)
        filter.isPinned = true
        let expected = try messages.dropFirst().filter {
            try store.view.current(.init(document: 1, target: $0.key, .pin))?.isOn == true
        }.sorted { $0.position < $1.position }
        let view = store.view
        #expect(try view.messages(filter, before: nil, limit: 99) == expected, "seed \(seed)")
        #expect(
            try view.messages(filter, before: nil, limit: 2) == expected.suffix(2), "seed \(seed)")
        let start = ViewStore.Position(sort: 2, arrival: 0)
        #expect(
            try view.messages(filter, after: start, limit: 99)
                == expected.filter { $0.position > start }, "seed \(seed)")
        filter.document = 2
        #expect(try view.messages(filter, before: nil, limit: 99).isEmpty)
    }

    /// Words of few registers that cite earlier ones, with clocks that mean nothing.
    private static func words(_ count: Int, with random: inout SeededGenerator) -> [Word] {
        var words: [Word] = []
        let clocks: [UInt64] = [1, 2, 3, 1 << 40, 1 << 63, .max]
        for number in 1...count {
            let register =
                switch random.below(4) {
                case 0: register(.pin)
                case 1: register(.edit, UInt8(random.below(2)))
                case 2: register(.reaction, UInt8(random.below(2)), tag: UInt8(random.below(2)))
                default: register(.edit, message: UInt64(random.below(2)))
                }
            let cited = (0..<random.below(4)).map { _ in 1 + random.below(number) }
            var word = Word(
                number, register, hlc: clocks[random.below(clocks.count)],
                on: random.oneIn(2), citing: Array(Set(cited.filter { $0 < number })))
            word.isValid = !random.oneIn(3)
            words.append(word)
        }
        return words
    }

    /// What counts, found the slow way.
    private static func expectRule(_ words: [Word], in view: ViewStore, _ seed: UInt64) throws {
        for register in Set(words.map(\.row.register)) {
            let own = words.filter { $0.row.register == register }
            let covered = Set(own.filter(\.isValid).flatMap(\.cited))
            let heads = own.filter { $0.isValid && !covered.contains($0.row.id) }.map(\.row)
            let expected = heads.max { $1.counts(before: $0) }
            #expect(try view.current(register) == expected, "seed \(seed)")
            #expect(try Set(view.heads(register, limit: 99)) == Set(heads), "seed \(seed)")
        }
    }
}
