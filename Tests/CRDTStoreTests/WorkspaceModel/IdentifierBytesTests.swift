import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A name in a larger array` {
    @Test(arguments: Seeds.explore(20))
    func `is read and written in place`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(80)
        let start = random.below(48)
        let long = OperationID(untrusted: bytes, in: start..<start + 32)
        let short = MemberID(untrusted: bytes, in: start..<start + 16)
        #expect(long?.bytes == [UInt8](bytes[start..<start + 32]), "WSX_SEED=\(seed)")
        #expect(short?.bytes == [UInt8](bytes[start..<start + 16]), "WSX_SEED=\(seed)")

        var written: [UInt8] = [7]
        long?.append(to: &written)
        short?.append(to: &written)
        #expect(written == [7] + bytes[start..<start + 32] + bytes[start..<start + 16])
    }

    @Test(arguments: [0..<31, 0..<33, -1..<31, 9..<41, 40..<72])
    func `is nothing outside it`(range: Range<Int>) {
        #expect(OperationID(untrusted: [UInt8](repeating: 1, count: 40), in: range) == nil)
    }

    @Test(arguments: [0, 1, 16])
    func `is read in place and lent where it is a signature`(start: Int) {
        let bytes = (0..<80).map { UInt8($0) }
        let part = [UInt8](bytes[start..<start + 64])
        let signature = Signature(untrusted: bytes, in: start..<start + 64)
        #expect(signature == Signature(part))
        #expect(signature?.bytes == part)
        var lent: [UInt8] = []
        signature?.lendBytes { lent = [UInt8]($0) }
        #expect(lent == part)
        for range in [0..<63, 0..<65, 17..<81, -1..<63] {
            #expect(Signature(untrusted: bytes, in: range) == nil)
        }
    }

    @Test func `sorts by its bytes`() {
        let names = [
            [UInt8](repeating: 0, count: 31) + [1], [1] + [UInt8](repeating: 0, count: 31),
        ]
        #expect(OperationID(names[0]) < OperationID(names[1]))
        #expect(OperationID(names[1]).leadingWord == 1 << 56)
    }
}
