import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Registers of your own documents` {
    private typealias Register = ViewStore.Register

    private static func register(
        _ kind: Register.Kind, _ subject: UInt8, hlc: UInt64, id: UInt8, key: UInt64? = nil
    ) -> Register {
        Register(
            Register.Place(
                workspace: 1, kind: kind, subject: [UInt8](repeating: subject, count: 16)),
            at: HybridTimestamp(rawValue: hlc),
            by: OperationID(untrusted: [UInt8](repeating: id, count: 32)) ?? .zero,
            arrival: Int64(id),
            key: key.map { MessageKey(timestamp: HybridTimestamp(rawValue: $0), idPrefix: hlc) })
    }

    @Test(arguments: Seeds.explore(8))
    func `are the same in every order`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func below(_ end: Int) -> UInt64 { UInt64(random.below(end)) }
        let words = (0..<60).map { number in
            let kind = Register.Kind.allCases[Int(below(4))]
            // The largest numbers are negative in a column.
            let hlc = below(6) == 0 ? UInt64.max - below(3) : below(5)
            return Self.register(
                kind, UInt8(below(3)), hlc: hlc, id: UInt8(number),
                key: kind == .read ? [below(9), .max - below(2)][Int(below(2))] : nil)
        }
        var orders = [words, words.reversed(), words + words]
        orders.append(
            words.map { ($0, random.next()) }.sorted { $0.1 < $1.1 }.map(\.0))
        var results: [[Register]] = []
        for order in orders {
            let store = try NodeStore.inMemory()
            try store.begin()
            for word in order { try store.view.own.fold(word) }
            results.append(try store.view.own.registers(of: 1))
        }
        for result in results { #expect(result == results[0], "WSX_SEED=\(seed)") }
        var expected: [Register.Place: Register] = [:]
        for word in words where expected[word.place].map(word.counts) ?? true {
            expected[word.place] = word
        }
        #expect(results[0] == expected.values.sorted { $0.place < $1.place })
    }

    /// How many statements `body` runs.
    private static func cost<Value>(
        in store: NodeStore, _ body: () throws -> Value
    ) rethrows -> (value: Value, statements: Int) {
        let before = store.connection.statementCount
        let value = try body()
        return (value, store.connection.statementCount - before)
    }

    @Test func `are read once where they say what was read, until they change`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let own = store.view.own
        let marker = Self.register(.read, 1, hlc: 5, id: 1, key: 90)
        let later = Self.register(.read, 1, hlc: 6, id: 2, key: 91)
        func read() throws -> (value: ViewStore.Register?, statements: Int) {
            try Self.cost(in: store) { try own.register(marker.place) }
        }
        // That there is none is known too.
        for statements in [1, 0, 0] { #expect(try read() == (nil, statements)) }
        try own.fold(marker)
        for statements in [1, 0] { #expect(try read() == (marker, statements)) }
        try own.fold(later)
        #expect(try read() == (later, 1))
        try own.remove(marker.place)
        #expect(try read() == (nil, 1))
        try own.put(marker)
        #expect(try read() == (marker, 1))
        try own.clearRegisters(of: 1)
        #expect(try read() == (nil, 1))
        try own.put(marker)
        #expect(try read() == (marker, 1))
        try store.view.clear()
        #expect(try read() == (nil, 1))
    }

    @Test func `of many conversations are known, if not all at once`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let markers = (0..<600).map { number in
            ViewStore.Register(
                .init(
                    workspace: 1, kind: .read,
                    subject: [UInt8(number / 256), UInt8(number % 256)]
                        + [UInt8](repeating: 0, count: 14)),
                at: HybridTimestamp(rawValue: 1), by: .zero, arrival: Int64(number))
        }
        for marker in markers { try store.view.own.put(marker) }
        for _ in 0..<2 {
            for marker in markers {
                #expect(try store.view.own.register(marker.place) == marker)
            }
        }
    }

    @Test func `hold the largest key that was read, and else the latest word`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        let far = Self.register(.read, 1, hlc: 5, id: 1, key: 90)
        #expect(try view.own.fold(far))
        #expect(try !view.own.fold(Self.register(.read, 1, hlc: 6, id: 2, key: 80)))
        #expect(try view.own.register(far.place) == far)
        let old = Self.register(.mute, 1, hlc: 5, id: 9)
        let new = Self.register(.mute, 1, hlc: 6, id: 1)
        #expect(try view.own.fold(new))
        #expect(try !view.own.fold(old))
        #expect(try !view.own.fold(new))
        #expect(try view.own.register(old.place) == new)
        try view.own.put(old)
        #expect(try view.own.register(old.place) == old)
        try view.own.remove(old.place)
        #expect(try view.own.register(old.place) == nil)
        try view.own.clearRegisters(of: 2)
        #expect(try view.own.registers(of: 1) == [far])
        try view.own.clearRegisters(of: 1)
        #expect(try view.own.registers(of: 1).isEmpty)
    }

    /// What a word names is asked when it comes to count, and goes with it.
    @Test(arguments: [false, true])
    func `have the key of the word that counts, whichever comes first`(_ isReversed: Bool) throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        let document = DocumentID([UInt8](repeating: 7, count: 32))
        let (off, on) = (
            Self.register(.star, 1, hlc: 5, id: 1), Self.register(.star, 1, hlc: 6, id: 2)
        )
        var asked: [OperationID] = []
        func fold(_ word: Register, isValid: Bool = true) throws {
            try view.own.fold(word, in: document, citing: [], isValid: isValid) { counting in
                asked.append(counting.id)
                return counting.id == on.id ? MessageKey(timestamp: .zero, idPrefix: 9) : nil
            }
        }
        for word in isReversed ? [on, off] : [off, on] { try fold(word) }
        let starred = try view.own.keyedRegisters(.star, of: 1, limit: 10)
        #expect(starred.map(\.id) == [on.id] && starred.first?.key?.idPrefix == 9)
        #expect(asked == (isReversed ? [on.id] : [off.id, on.id]))
        try fold(on)
        #expect(asked.last == on.id && asked.count == (isReversed ? 1 : 2))
        // The author of the star had no right to it: the earlier value counts again.
        try fold(on, isValid: false)
        #expect(try view.own.register(on.place)?.id == off.id)
        #expect(try view.own.keyedRegisters(.star, of: 1, limit: 10).isEmpty)
        #expect(try view.own.keyedRegisters(.star, of: 1, limit: 0).isEmpty)
        try fold(on)
        #expect(try view.own.keyedRegisters(.star, of: 1, limit: 10).map(\.id) == [on.id])
        #expect(try view.own.keyedRegisters(.star, of: 2, limit: 10).isEmpty)
    }
}
