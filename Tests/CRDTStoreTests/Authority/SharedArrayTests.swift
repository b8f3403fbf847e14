import Testing
import WorkspaceTestKit

@testable import CRDTStore

/// A copy-on-write array with shared parts.
struct `A shared array` {
    @Test(arguments: Seeds.explore(20))
    func `is an array, and its copies stay what they were`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var shared = SharedArray<Int>()
        var plain: [Int] = []
        var copies: [(SharedArray<Int>, [Int])] = []
        for step in 0..<600 {
            switch random.below(8) {
            case 0 where !plain.isEmpty:
                let place = random.below(plain.count)
                shared[place] = step
                plain[place] = step
            case 1, 2:
                if !plain.isEmpty { #expect(shared.removeLast() == plain.removeLast()) }
            case 3 where copies.count < 20: copies.append((shared, plain))
            default:
                shared.append(step)
                plain.append(step)
            }
        }
        copies.append((shared, plain))
        for (copy, expected) in copies {
            #expect(copy.elementsEqual(expected), "WSX_SEED=\(seed)")
            #expect(copy.count == expected.count && copy.indices == expected.indices)
            #expect(copy.reversed() == expected.reversed())
        }
    }
}

/// A value that copies share.
struct `A shared value` {
    @Test func `is one until a copy changes, which leaves the others what they were`() {
        let first = SharedValue([1, 2])
        var second = first
        #expect(second.isSame(as: first))
        second.value.append(3)
        #expect(!second.isSame(as: first))
        #expect(first.value == [1, 2] && second.value == [1, 2, 3])
        #expect(!first.isSame(as: SharedValue([1, 2])))
    }
}
