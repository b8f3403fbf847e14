import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `What was looked up last` {
    @Test func `is found, and the rest is bounded`() {
        var memory = RecentlyUsed<Int, Int>(max: 100)
        for number in 0..<10_000 {
            memory[number] = -number
            #expect(memory.count <= 100)
            // One that is used all the time is never lost.
            let first = memory[0]
            #expect(first == 0)
        }
        memory[9_998] = nil
        let found = [9_999, 9_960, 5_000, 9_998].map { memory[$0] }
        #expect(found == [-9_999, -9_960, nil, nil])
    }

    /// Anybody who writes can cite as many keys as they like.
    @Test func `are names of keys, and all are found again`() throws {
        let connection = try Connection()
        _ = try NodeStore(connection)
        var names = try NumberedNames(connection)
        try connection.begin()
        let random = SeededRandom(seed: 4)
        let count = 3 * Limits.keyNamesInMemoryMax
        var keys: [KeyID] = []
        for number in 0..<count {
            let key = KeyID(random.bytes(16))
            keys.append(key)
            let given = try names.number(ofKey: key, in: 1)
            #expect(given == Int64(number + 1))
        }
        #expect(names.keyCount <= Limits.keyNamesInMemoryMax)
        var later = try NumberedNames(connection)
        #expect(later.keyCount == 0)
        for number in stride(from: 0, to: count, by: 97) {
            for place in [0, 1] {
                var known = place == 0 ? names : later
                let key = try known.key(Int64(number + 1))
                #expect(key == keys[number])
                let numbers = try [Int64(1), 2].map {
                    try known.knownNumber(ofKey: keys[number], in: $0)
                }
                #expect(numbers == [Int64(number + 1), nil])
                let mayBeCited = try known.mayBeCited(keys[number], in: 1)
                #expect(mayBeCited)
            }
        }
        let next = KeyID(random.bytes(16))
        let given = try later.number(ofHeldKey: next, in: 1)
        let mayBeCited = try later.mayBeCited(next, in: 1)
        #expect(given == Int64(count + 1) && !mayBeCited)
    }
}
