import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// Sets of ancestors compared with plain tables, and their cost.
struct `The past of operations` {
    /// A set in both forms: as it is, and as the number of operations of each branch.
    private struct Pair {
        var past = CausalPast()
        var plain: [Int: UInt32] = [:]

        mutating func insert(branch: Int, position: UInt32) {
            past.insert(branch: branch, position: position)
            plain[branch] = max(plain[branch] ?? 0, position + 1)
        }

        mutating func formUnion(_ other: Pair) {
            past.formUnion(other.past)
            plain.merge(other.plain) { max($0, $1) }
        }

        mutating func formIntersection(_ other: Pair) {
            past.formIntersection(other.past)
            plain = plain.reduce(into: [:]) { common, count in
                common[count.key] = other.plain[count.key].map { min($0, count.value) }
            }
        }
    }

    /// Few branches, as real documents have, and occasionally one with a large number.
    private func anyBranch(_ generator: inout SeededGenerator) -> Int {
        switch generator.below(8) {
        case 0: generator.below(3)
        case 1: generator.below(1 << 20)
        case 2: 31 + generator.below(3)
        case 3: 510 + generator.below(4)
        case 4: 8_190 + generator.below(4)
        default: generator.below(600)
        }
    }

    @Test(arguments: Seeds.explore(30))
    func `hold what plain tables hold`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pairs = [Pair](repeating: Pair(), count: 6)
        for _ in 0..<400 {
            let place = generator.below(pairs.count)
            switch generator.below(10) {
            case 0: pairs[place] = pairs[generator.below(pairs.count)]
            case 1, 2: pairs[place].formUnion(pairs[generator.below(pairs.count)])
            case 3 where generator.oneIn(4): pairs[place] = Pair()
            case 4 where generator.oneIn(3):
                pairs[place].formIntersection(pairs[generator.below(pairs.count)])
            default:
                pairs[place].insert(
                    branch: anyBranch(&generator), position: UInt32(generator.below(5)))
            }
            for _ in 0..<8 {
                let (branch, position) = (anyBranch(&generator), UInt32(generator.below(5)))
                #expect(
                    pairs[place].past.contains(branch: branch, position: position)
                        == ((pairs[place].plain[branch] ?? 0) > position))
            }
        }
        for pair in pairs {
            for (branch, count) in pair.plain {
                #expect(pair.past.contains(branch: branch, position: count - 1))
                #expect(!pair.past.contains(branch: branch, position: count))
            }
            for other in pairs {
                #expect((pair.past == other.past) == (pair.plain == other.plain))
            }
        }
    }

    @Test(arguments: Seeds.explore(10))
    func `are equal however they were made`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let places = (0..<60).map { _ in (anyBranch(&generator), UInt32(generator.below(5))) }
        func made() -> CausalPast {
            var parts = [CausalPast(), CausalPast(), CausalPast()]
            for (branch, position) in places.shuffled(using: &generator) {
                parts[generator.below(3)].insert(branch: branch, position: position)
            }
            parts[0].formUnion(parts[1])
            parts[2].formUnion(parts[0])
            return parts[2]
        }
        let first = made()
        for _ in 0..<4 { #expect(made() == first) }
    }

    @Test func `stay what they were when a copy goes on`() {
        var first = CausalPast()
        for branch in 0..<100 { first.insert(branch: branch, position: 0) }
        var second = first
        second.insert(branch: 70, position: 3)
        second.insert(branch: 4_000, position: 0)
        #expect(!first.contains(branch: 70, position: 1))
        #expect(!first.contains(branch: 4_000, position: 0))
        #expect(second.contains(branch: 70, position: 3))
        #expect(second.contains(branch: 99, position: 0))
    }

    @Test func `have nothing in common but what both know`() {
        var (near, far) = (CausalPast(), CausalPast())
        near.insert(branch: 3, position: 4)
        far.insert(branch: 70_000, position: 0)
        var common = far
        common.formIntersection(near)
        #expect(common == CausalPast())
        far.insert(branch: 3, position: 2)
        near.formIntersection(far)
        #expect(near.contains(branch: 3, position: 2) && !near.contains(branch: 3, position: 3))
        #expect(!near.contains(branch: 70_000, position: 0))
    }

    // MARK: Cost

    /// The parts of many sets: each once, even if several share it.
    private struct Parts {
        var count = 0
        var words = 0
        private var seen: Set<UnsafeRawPointer> = []

        mutating func note(_ node: CausalPast.Node) {
            switch node {
            case .leaf(let counts):
                let isNew = counts.withUnsafeBytes { remember($0.baseAddress) }
                if isNew { words += 4 + counts.count / 2 }
            case .inner(let parts):
                let isNew = parts.withUnsafeBytes { remember($0.baseAddress) }
                guard isNew else { return }
                words += 4 + parts.count
                for part in parts { note(part) }
            }
        }

        private mutating func remember(_ address: UnsafeRawPointer?) -> Bool {
            guard let address, seen.insert(address).inserted else { return false }
            count += 1
            return true
        }
    }

    /// `count` operations, each the first of a log of its own, that cites the newest.
    private func onOwnLogs(_ count: Int) -> [CausalPast] {
        var pasts: [CausalPast] = []
        var past = CausalPast()
        for branch in 0..<count {
            pasts.append(past)
            past.insert(branch: branch, position: 0)
        }
        return pasts
    }

    @Test func `of 50,000 operations on logs of their own are linear in their number`() {
        let pasts = onOwnLogs(50_000)
        var parts = Parts()
        for past in pasts.prefix(25_000) { parts.note(past.root) }
        let half = (parts.count, parts.words)
        for past in pasts { parts.note(past.root) }
        // A path to a leaf has four nodes from 8,192 branches on.
        #expect(parts.count <= 4 * pasts.count)
        #expect(parts.count < half.0 * 9 / 4)
        #expect(parts.words < half.1 * 9 / 4)
        #expect(parts.words * 8 < 512 * pasts.count)
    }

    @Test func `of two sides that meet often share what they had in common`() {
        var (left, right) = (CausalPast(), CausalPast())
        var pasts: [CausalPast] = []
        for round in 0..<2_000 {
            left.insert(branch: 2 * round, position: 0)
            right.insert(branch: 2 * round + 1, position: 0)
            left.formUnion(right)
            right = left
            pasts.append(left)
        }
        var parts = Parts()
        for past in pasts { parts.note(past.root) }
        #expect(parts.count <= 8 * pasts.count)
    }

    @Test func `that contain one another are not rebuilt`() {
        var small = CausalPast()
        for branch in 0..<5_000 { small.insert(branch: branch, position: 1) }
        var large = small
        large.insert(branch: 2_500, position: 9)
        var parts = Parts()
        parts.note(small.root)
        parts.note(large.root)
        let before = parts.count
        for (first, second) in [(small, large), (large, small), (large, large)] {
            var union = first
            union.formUnion(second)
            #expect(union == large)
            parts.note(union.root)
        }
        #expect(parts.count == before)
    }
}
