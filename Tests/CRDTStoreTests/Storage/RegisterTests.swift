import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@Suite struct `Registers of the own documents` {
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
            for word in order { try store.view.fold(word) }
            results.append(try store.view.registers(of: 1))
        }
        for result in results { #expect(result == results[0], "WSX_SEED=\(seed)") }
        var expected: [Register.Place: Register] = [:]
        for word in words where expected[word.place].map(word.counts) ?? true {
            expected[word.place] = word
        }
        #expect(results[0] == expected.values.sorted { $0.place < $1.place })
    }

    @Test func `hold the largest key that was read, and else the latest word`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        let far = Self.register(.read, 1, hlc: 5, id: 1, key: 90)
        #expect(try view.fold(far))
        #expect(try !view.fold(Self.register(.read, 1, hlc: 6, id: 2, key: 80)))
        #expect(try view.register(far.place) == far)
        let old = Self.register(.mute, 1, hlc: 5, id: 9)
        let new = Self.register(.mute, 1, hlc: 6, id: 1)
        #expect(try view.fold(new))
        #expect(try !view.fold(old))
        #expect(try !view.fold(new))
        #expect(try view.register(old.place) == new)
        try view.put(old)
        #expect(try view.register(old.place) == old)
        try view.remove(old.place)
        #expect(try view.register(old.place) == nil)
        try view.clearRegisters(of: 2)
        #expect(try view.registers(of: 1) == [far])
        try view.clearRegisters(of: 1)
        #expect(try view.registers(of: 1).isEmpty)
    }
}
