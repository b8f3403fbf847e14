import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The heads of a profile field: the winning one is cached, and removed ones take no memory.
struct `The latest words of a profile field` {
    private static func id(_ number: Int) -> OperationID {
        let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
        return OperationID(bytes + bytes + bytes + bytes)
    }

    /// The same as a plain set.
    private struct Plain {
        var words: [OperationID: UInt64] = [:]

        var first: OperationID? {
            words.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `have the one with the largest time and id first`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var heads = ProfileHeads()
        var plain = Plain()
        // Each has one fixed time, and several share it.
        let times = (0..<40).map { _ in UInt64(random.below(12)) }
        for _ in 0..<600 {
            let number = random.below(times.count)
            let id = Self.id(number)
            if random.oneIn(2) {
                heads.insert(id, at: HybridTimestamp(rawValue: times[number]))
                let isNew = plain.words.updateValue(times[number], forKey: id) == nil
                // What is there already makes no room.
                try #require(
                    !isNew || heads.placeCount <= 2 * heads.ids.count + 16, "WSX_SEED=\(seed)")
            } else {
                heads.remove(id)
                plain.words[id] = nil
            }
            try #require(heads.first == plain.first, "WSX_SEED=\(seed)")
            try #require(heads.ids == Set(plain.words.keys), "WSX_SEED=\(seed)")
        }
        for id in plain.words.keys.sorted() {
            heads.remove(id)
            plain.words[id] = nil
            try #require(heads.first == plain.first, "WSX_SEED=\(seed)")
        }
        #expect(heads.placeCount == 0, "WSX_SEED=\(seed)")
    }

    /// A word below the first one comes and goes with each change of its verdict.
    @Test func `take no more room for one that comes and goes`() {
        var heads = ProfileHeads()
        heads.insert(Self.id(1), at: HybridTimestamp(rawValue: 9))
        let count = 2_000
        for _ in 0..<count {
            heads.insert(Self.id(2), at: HybridTimestamp(rawValue: 5))
            heads.remove(Self.id(2))
        }
        #expect(heads.placeCount <= 20)
        // Making room costs a few looks for each that came.
        #expect(heads.visitCount < 10 * count)
        #expect(heads.first == Self.id(1))
    }
}
