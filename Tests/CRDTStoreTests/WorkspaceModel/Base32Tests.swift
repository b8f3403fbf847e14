import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Base32 codes` {
    static let known: [([UInt8], String)] = [
        ([], ""), ([0x00], "00"), ([0xff], "zw"), ([0xff, 0x00], "zw00"),
        ([0x00, 0x44, 0x32, 0x14, 0xc7], "01234567"),
        (Array("foobar".utf8), "csqpyrk1e8"),
        ([0xff, 0xff, 0xff, 0xff, 0xff], "zzzzzzzz"),
    ]

    @Test(arguments: known)
    func `spell bytes`(bytes: [UInt8], code: String) {
        #expect(Base32.encode(bytes) == code)
        #expect(Base32.decode(code) == bytes)
        #expect(Base32.decode(code.uppercased()) == bytes)
        #expect(Base32.letterCount(byteCount: bytes.count) == code.utf8.count)
    }

    @Test(arguments: [("oo", "00"), ("OO", "00"), ("i0", "10"), ("L0", "10"), ("Ig", "1g")])
    func `forgive look-alikes`(typed: String, meant: String) {
        #expect(Base32.decode(typed) == Base32.decode(meant))
        #expect(Base32.decode(typed) != nil)
    }

    @Test(arguments: [
        "0", "000", "000000", "01", "zz", "zzzv0001x", "u0", "U0", "0 ", "00=", "-0", "0é",
        "0\u{660}",
        "00\0\0", "@0", "`0", "[0", "{0", "/0", ":0", "o\u{308}0",
    ])
    func `refuse what no bytes spell`(code: String) {
        #expect(Base32.decode(code) == nil)
    }

    @Test func `have one letter for each value and one spelling each`() {
        var spellings: [UInt8: Int] = [:]
        for letter in UInt8.min...UInt8.max {
            if let bytes = Base32.decode([letter, UInt8(ascii: "0")]) {
                spellings[bytes[0], default: 0] += 1
            }
        }
        #expect(spellings.count == 32)
        // Digits have one spelling, letters two, and 0 and 1 their look-alikes.
        let total = spellings.values.reduce(0, +)
        #expect(total == 60)
    }

    @Test(arguments: Seeds.explore(50))
    func `go back and forth, and sort as their bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let left = random.bytes(random.below(40))
        let right = random.bytes(left.count)
        #expect(Base32.decode(Base32.encode(left)) == left, "WSX_SEED=\(seed)")
        let (leftCode, rightCode) = (
            Array(Base32.encode(left).utf8), Array(Base32.encode(right).utf8)
        )
        let codesAscend = leftCode.lexicographicallyPrecedes(rightCode)
        #expect(left.lexicographicallyPrecedes(right) == codesAscend, "WSX_SEED=\(seed)")

        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        let code = (0..<random.below(30)).map { _ in letters[random.below(32)] }
        if let bytes = Base32.decode(code) {
            #expect(Array(Base32.encode(bytes).utf8) == code, "WSX_SEED=\(seed)")
        }
    }
}
