import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Incremental retention compared with a scan of everything.
struct `Operations that are kept for others` {
    /// Operations that cite some of those before them.
    private struct Graph {
        private(set) var ids: [OperationID] = []
        private(set) var past: [OperationID: [OperationID]] = [:]

        mutating func add(citing cited: [OperationID]) -> OperationID {
            let id = OperationID(words: (0, 0, 0, UInt64(ids.count + 1)))
            ids.append(id)
            past[id] = cited
            return id
        }

        func closure(of reasons: some Sequence<OperationID>) -> Set<OperationID> {
            var kept: Set<OperationID> = []
            var left = Array(reasons)
            while let id = left.popLast() {
                if kept.insert(id).inserted { left += past[id] ?? [] }
            }
            return kept
        }

        func cited(by id: OperationID) -> [OperationID] { past[id] ?? [] }
    }

    @Test(arguments: Seeds.explore(30))
    func `are the past of all reasons, in whatever order these came and went`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var graph = Graph()
        var reasons: [OperationID: Int] = [:]
        var kept = KeptOperations()
        var told: Set<OperationID> = []
        for _ in 0..<120 {
            let cited = (0..<generator.below(4)).compactMap { _ in
                graph.ids.suffix(12).randomElement(using: &generator)
            }
            let new = graph.add(citing: cited)
            let held = graph.ids.filter { $0 == new ? generator.oneIn(2) : generator.oneIn(20) }
            let released = reasons.keys.sorted().filter { _ in generator.oneIn(12) }
            for id in held { reasons[id, default: 0] += 1 }
            let fresh = kept.hold(held, citing: graph.cited)
            #expect(told.isDisjoint(with: fresh))
            told.formUnion(fresh)
            let gone = kept.release(released, citing: graph.cited)
            #expect(told.isSuperset(of: gone))
            told.subtract(gone)
            for id in released {
                reasons[id] = reasons[id].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
            #expect(told == graph.closure(of: reasons.keys))
            #expect(told == Set(graph.ids.filter(kept.contains)))
        }
        let all = reasons.flatMap { Array(repeating: $0.key, count: $0.value) }
        #expect(Set(kept.release(all, citing: graph.cited)) == told)
        #expect(!graph.ids.contains(where: kept.contains))
    }

    /// A void operation and a valid one, by turns: each costs what it cites, however much there is.
    @Test func `cost what is new`() {
        var graph = Graph()
        var kept = KeptOperations()
        var last: OperationID?
        var count = 0
        for _ in 0..<3_000 {
            let invite = graph.add(citing: [])
            let void = graph.add(citing: [invite] + (last.map { [$0] } ?? []))
            let valid = graph.add(citing: [void])
            count += kept.hold([valid], citing: graph.cited).count
            last = valid
        }
        #expect(count == 9_000)
        #expect(kept.followedCount == 8_999)
    }
}
