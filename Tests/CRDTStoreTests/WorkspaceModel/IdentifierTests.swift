import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `An identifier` {
    @Test(arguments: Seeds.explore(20))
    func `comes back from its bytes and from its words`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let long = OperationID(random.bytes(32))
        let short = MemberID(random.bytes(16))
        #expect(OperationID(long.bytes) == long, "WSX_SEED=\(seed)")
        #expect(OperationID(words: long.words) == long, "WSX_SEED=\(seed)")
        #expect(MemberID(short.bytes) == short, "WSX_SEED=\(seed)")
        #expect(MemberID(words: short.words) == short, "WSX_SEED=\(seed)")
        #expect(long.leadingWord == long.words.0, "WSX_SEED=\(seed)")
        #expect(long.leadingWord >> 56 == UInt64(long.bytes[0]), "WSX_SEED=\(seed)")
    }

    /// Half of the pairs share a prefix, so that later bytes get to decide.
    @Test(arguments: Seeds.explore(20))
    func `sorts and compares exactly as its bytes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let left = random.bytes(32)
            var right = random.oneIn(2) ? left : random.bytes(32)
            if random.oneIn(3) { right[random.below(32)] = UInt8(random.below(256)) }
            let isLess = left.lexicographicallyPrecedes(right)
            #expect((OperationID(left) < OperationID(right)) == isLess, "WSX_SEED=\(seed)")
            #expect((OperationID(left) == OperationID(right)) == (left == right))
            let (halfLeft, halfRight) = ([UInt8](left.prefix(16)), [UInt8](right.prefix(16)))
            #expect(
                (KeyID(halfLeft) < KeyID(halfRight))
                    == halfLeft.lexicographicallyPrecedes(halfRight), "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: 0...40)
    func `is made of exactly its number of foreign bytes`(_ count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect((DocumentID(untrusted: bytes) != nil) == (count == 32))
        #expect((StoreID(untrusted: bytes) != nil) == (count == 16))
        #expect(DocumentID.byteCount == 32 && StoreID.byteCount == 16)
    }

    @Test(arguments: [0..<15, 0..<17, -1..<15, 25..<41, 40..<56])
    func `of 16 bytes is nothing outside its array`(_ range: Range<Int>) {
        #expect(MemberID(untrusted: [UInt8](repeating: 1, count: 40), in: range) == nil)
    }

    @Test func `takes over the bytes of another kind of name, or its first half`() {
        let document = DocumentID([UInt8](0..<32))
        #expect(OperationID(sameBytesAs: document).bytes == [UInt8](0..<32))
        #expect(KeyID(prefixOf: document).bytes == [UInt8](0..<16))
        #expect(DocumentID.zero.bytes == [UInt8](repeating: 0, count: 32))
        #expect(KeyID.zero.bytes == [UInt8](repeating: 0, count: 16))
        #expect(DocumentID.zero < document && KeyID.zero < KeyID(prefixOf: document))
    }

    @Test func `spreads over a set as its bytes do`() {
        var random = SeededGenerator(seed: 5)
        let all = (0..<500).map { _ in random.bytes(32) }
        #expect(Set(all.map(OperationID.init)).count == Set(all).count)
        let sorted = all.map(OperationID.init).sorted().map(\.bytes)
        #expect(sorted == all.sorted { $0.lexicographicallyPrecedes($1) })
    }
}
