import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Many annotations of one message have a linear cost, not a quadratic one.
struct `A register with very many words` {
    private typealias Scene = `What is said about a message`
    private static let count = 4_000

    /// Edits of one author, each after the one before it.
    private func edited() throws -> NodeStore {
        let store = try NodeStore.inMemory()
        try store.begin()
        for number in 1...Self.count {
            let cited = number > 1 ? [Self.id(number - 1)] : []
            try store.view.fold(row(number), citing: cited, isValid: true)
        }
        return store
    }

    private func row(_ number: Int) -> ViewStore.Annotation {
        ViewStore.Annotation(
            Scene.register(), id: Self.id(number),
            at: HybridTimestamp(rawValue: UInt64(number)), arrival: Int64(number), isOn: true)
    }

    /// As a hash would order them, which is not as they came.
    private static func id(_ number: Int) -> OperationID {
        let bits = UInt32(truncatingIfNeeded: number) &* 2_654_435_761
        return OperationID(
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
                + [UInt8](repeating: 1, count: 28))
    }

    private func changes(_ store: NodeStore, _ body: () throws -> Void) rethrows -> Int {
        let before = store.connection.totalChangedRowCount
        try body()
        return store.connection.totalChangedRowCount - before
    }

    @Test func `is erased at the cost of its rows, a slice a turn`() throws {
        let store = try edited()
        let all = (1...Self.count).map(Int64.init)
        let changed = try changes(store) {
            for start in stride(from: 0, to: all.count, by: Limits.erasedPayloadsPerTurnMax) {
                try store.view.noteErased(
                    Array(all[start...].prefix(Limits.erasedPayloadsPerTurnMax)))
            }
        }
        #expect(changed < 4 * Self.count, "\(changed)")
        #expect(try store.view.annotations(of: 1).isEmpty)
    }

    @Test func `loses its effect, and gets it back, at the cost of its rows`() throws {
        let store = try edited()
        // The newest first is the worst order: each uncovers the one before it.
        let all = (1...Self.count).reversed().map(Int64.init)
        let lost = try changes(store) { try store.view.setValid(false, annotationsAt: all) }
        #expect(lost < 4 * Self.count, "\(lost)")
        #expect(try store.view.current(Scene.register()) == nil)
        let back = try changes(store) { try store.view.setValid(true, annotationsAt: all) }
        #expect(back < 4 * Self.count, "\(back)")
        #expect(try store.view.current(Scene.register()) == row(Self.count))
    }

    /// However many of a register change at once, it is what it would be if each had come like that.
    @Test(arguments: Seeds.explore(40))
    func `keeps its rule when very many change at once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try NodeStore.inMemory()
        try store.begin()
        let count = 60
        var cited: [[OperationID]] = []
        var valid: [Bool] = []
        for number in 1...count {
            let others = Set((0..<random.below(6)).map { _ in 1 + random.below(count) })
            cited.append(others.filter { $0 < number }.sorted().map(Self.id))
            valid.append(!random.oneIn(3))
            try store.view.fold(
                row(number), citing: cited[number - 1], isValid: valid[number - 1])
        }
        for _ in 0..<6 {
            let isValid = random.oneIn(2)
            let changed = Set((0..<random.below(count)).map { _ in 1 + random.below(count) })
            try store.view.setValid(
                isValid, annotationsAt: changed.sorted().map(Int64.init))
            for number in changed { valid[number - 1] = isValid }
            let fresh = try NodeStore.inMemory()
            try fresh.begin()
            for number in 1...count {
                try fresh.view.fold(
                    row(number), citing: cited[number - 1], isValid: valid[number - 1])
            }
            #expect(
                try store.view.annotations(of: 1) == fresh.view.annotations(of: 1), "seed \(seed)")
        }
    }

    /// What is left when some are removed is what the others give by themselves.
    @Test(arguments: Seeds.explore(40))
    func `keeps its rule when any part of it is removed`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (store, fresh) = (try NodeStore.inMemory(), try NodeStore.inMemory())
        try store.begin()
        try fresh.begin()
        var removed: [Int64] = []
        for number in 1...30 {
            let cited = Set((0..<random.below(4)).map { _ in 1 + random.below(number) })
                .subtracting([number]).map(Self.id)
            let isValid = !random.oneIn(3)
            try store.view.fold(row(number), citing: cited, isValid: isValid)
            if random.oneIn(2) {
                removed.append(Int64(number))
            } else {
                try fresh.view.fold(row(number), citing: cited, isValid: isValid)
            }
        }
        removed.shuffle(using: &random)
        let middle = removed.count / 2
        try store.view.noteErased(Array(removed[..<middle]))
        try store.view.noteErased(Array(removed[middle...]))
        #expect(
            try store.view.annotations(of: 1) == fresh.view.annotations(of: 1), "seed \(seed)")
    }
}
