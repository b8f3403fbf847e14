import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `CBOR bytes and values` {
    @Test(arguments: Seeds.explore(100))
    func `go back and forth unchanged`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let tree = random.cborTree()
            let bytes = tree.bytes
            #expect(throws: Never.self, "WSX_SEED=\(seed)") { try CBORValidation.check(bytes) }
            #expect(try CBORTree(bytes) == tree, "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(100))
    func `correspond one to one, whichever byte is changed`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let original = random.cborTree().bytes
        for index in original.indices.prefix(200) {
            var bytes = original
            bytes[index] ^= UInt8(1 + random.below(255))
            expectFaithful(bytes, seed)
            bytes.remove(at: index)
            expectFaithful(bytes, seed)
        }
        for count in original.indices { expectRefused([UInt8](original[..<count]), seed) }
        expectRefused(original + [0], seed)
    }

    @Test(arguments: Seeds.explore(100))
    func `correspond one to one for noise`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let bytes = random.bytes(random.below(24))
            expectFaithful(bytes, seed)
        }
    }

    /// Bytes are refused by both ways of reading, or they are the one form of their value.
    private func expectFaithful(_ bytes: [UInt8], _ seed: UInt64) {
        let tree = try? CBORTree(bytes)
        let isValid = (try? CBORValidation.check(bytes)) != nil
        #expect(isValid == (tree != nil), "WSX_SEED=\(seed): \(bytes)")
        if let tree { #expect(tree.bytes == bytes, "WSX_SEED=\(seed): \(bytes)") }
    }

    private func expectRefused(_ bytes: [UInt8], _ seed: UInt64) {
        #expect(throws: Malformed.self, "WSX_SEED=\(seed): \(bytes)") {
            try CBORValidation.check(bytes)
        }
    }

    struct Head: Sendable {
        let value: UInt64
        let bytes: [UInt8]
    }

    static let heads = [
        Head(value: 0, bytes: [0x00]), Head(value: 23, bytes: [0x17]),
        Head(value: 24, bytes: [0x18, 24]), Head(value: 0xff, bytes: [0x18, 0xff]),
        Head(value: 0x100, bytes: [0x19, 1, 0]), Head(value: 0xffff, bytes: [0x19, 0xff, 0xff]),
        Head(value: 0x1_0000, bytes: [0x1a, 0, 1, 0, 0]),
        Head(value: 0xffff_ffff, bytes: [0x1a, 0xff, 0xff, 0xff, 0xff]),
        Head(value: 0x1_0000_0000, bytes: [0x1b, 0, 0, 0, 1, 0, 0, 0, 0]),
        Head(value: .max, bytes: [0x1b] + [UInt8](repeating: 0xff, count: 8)),
    ]

    @Test(arguments: heads)
    func `use the shortest head`(_ head: Head) throws {
        var encoder = CBOREncoder(reservingBytes: 0)
        encoder.uint(head.value)
        #expect(encoder.bytes == head.bytes)
        var decoder = CBORDecoder(head.bytes)
        #expect(try decoder.uint() == head.value)
    }
}
