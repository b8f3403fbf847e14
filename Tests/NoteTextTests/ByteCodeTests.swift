import Testing
import WorkspaceTestKit

@testable import NoteText

struct `Bytes in few bits` {
    static func block(_ bytes: [UInt8]) -> [UInt8]? {
        ByteCode.decoded(bytes, in: bytes.indices, atMost: 1 << 20)
    }

    @Test(arguments: Seeds.explore(60))
    func `come back, however often each is there`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let symbols = 1 + random.below(256)
        let count = random.below(5_000)
        let isSkewed = random.oneIn(2)
        let bytes = (0..<count).map { _ in
            let one = random.below(symbols)
            return UInt8(isSkewed ? random.below(one + 1) / 2 : one)
        }
        let coded = ByteCode.encoded(bytes)
        #expect(Self.block(coded) == bytes)
        #expect(coded.count <= bytes.count + 1)
        #expect(ByteCode.decoded(coded, in: coded.indices, atMost: bytes.count) == bytes)
        if count > 0 {
            #expect(ByteCode.decoded(coded, in: coded.indices, atMost: count - 1) == nil)
        }
    }

    @Test func `have codes of twelve bits at most, also where frequencies want more`() throws {
        // Each as often as all rarer ones together: without a bound the last would take 19 bits.
        var bytes: [UInt8] = []
        for symbol in 0..<20 { bytes += Array(repeating: UInt8(symbol), count: 1 << symbol) }
        let coded = ByteCode.encoded(bytes)
        #expect(coded[0] == 1)
        #expect(coded.count < bytes.count / 3)
        #expect(Self.block(coded) == bytes)
    }

    @Test func `of one kind take a bit each`() {
        let bytes = [UInt8](repeating: 7, count: 800)
        let coded = ByteCode.encoded(bytes)
        #expect(coded.count == 1 + 2 + 1 + 2 + 100)
        #expect(Self.block(coded) == bytes)
    }

    @Test func `stay as they are where they have no pattern`() {
        var random = SeededGenerator(seed: 5)
        let bytes = random.bytes(1_000)
        #expect(ByteCode.encoded(bytes) == [0] + bytes)
        #expect(ByteCode.encoded([]) == [0])
    }

    @Test(
        arguments: [
            [],  // no kind
            [2],  // no such kind
            [1],  // no count
            [1, 8, 0, 65, 0, 0],  // a code without bits
            [1, 8, 0, 65, 13, 0],  // a code of thirteen
            [1, 8, 1, 65, 1, 255, 1, 1, 0],  // a symbol that is none
            [1, 8, 2, 65, 1, 0, 1, 0, 1, 0],  // three codes of one bit
            [1, 8, 1, 65, 1, 0, 2, 0],  // a code that nobody has
            [1, 8, 0, 65, 2, 0, 0],  // one symbol of two bits
            [1, 9, 0, 65, 1, 0],  // more than there are bits
            [1, 8, 0, 65, 1, 0, 0],  // a byte too many
            [1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 65, 1, 0],  // a count beyond all
        ] as [[UInt8]])
    func `are refused where they are no block`(bytes: [UInt8]) {
        #expect(Self.block(bytes) == nil)
    }

    @Test(arguments: Seeds.explore(30))
    func `never trap with bytes changed or missing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = (0..<400).map { _ in UInt8(97 + random.below(random.below(20) + 1)) }
        let coded = ByteCode.encoded(text)
        #expect(coded[0] == 1)
        for _ in 0..<300 {
            var bytes = coded
            for _ in 0..<1 + random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            guard let result = Self.block(bytes) else { continue }
            #expect(result.count <= 8 * bytes.count)
        }
        for count in 0..<coded.count { #expect(Self.block([UInt8](coded[..<count])) == nil) }
    }
}

struct `Numbers behind each other` {
    @Test(arguments: Seeds.explore(20))
    func `come back as numbers, differences and all eight bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let numbers = (0..<100).map { _ in random.next() >> UInt64(random.below(64)) }
        var column = ByteColumn()
        var base: UInt64 = 0
        for number in numbers {
            column.append(number)
            column.append(number, from: base)
            column.append(raw: number)
            column.append(UInt32(truncatingIfNeeded: number), from: UInt32.max)
            base = number
        }
        var reader = ByteColumnReader(column.bytes)
        base = 0
        for number in numbers {
            #expect(reader.next() == number)
            #expect(reader.next(from: base) == number)
            #expect(reader.nextRaw() == number)
            #expect(reader.next32(from: .max) == UInt32(truncatingIfNeeded: number))
            base = number
        }
        #expect(reader.isAtEnd)
        #expect(reader.next() == nil)
        #expect(reader.nextRaw() == nil)
    }

    @Test func `take as many bytes as they need`() {
        for (number, count) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3)] {
            var column = ByteColumn()
            column.append(UInt64(number))
            #expect(column.bytes.count == count)
        }
        var column = ByteColumn()
        column.append(UInt64(10), from: 11)
        column.append(UInt64(11), from: 10)
        #expect(column.bytes == [1, 2])
    }

    @Test func `are none where bytes are missing, or the number is too large`() {
        var reader = ByteColumnReader([0x80, 0x80])
        #expect(reader.next() == nil)
        reader = ByteColumnReader([0xff, 0xff, 0xff, 0xff, 0x1f])
        #expect(reader.next32() == nil)
        reader = ByteColumnReader([1, 2, 3, 4, 5, 6, 7])
        #expect(reader.nextRaw() == nil)
        reader = ByteColumnReader([3])
        #expect(reader.next32(from: 1) == nil)
        reader = ByteColumnReader([9, 1, 2, 3], in: 1..<3)
        #expect(reader.next() == 1)
        #expect(reader.next() == 2)
        #expect(reader.next() == nil)
    }

    @Test func `that repeat are counted`() {
        var column = RepeatColumn()
        let numbers: [UInt64] = [3, 3, 3, 0, 0, 7, 3]
        for number in numbers { column.append(number) }
        let bytes = column.finished().bytes
        #expect(bytes == [3, 3, 0, 2, 7, 1, 3, 1])
        var reader = RepeatColumnReader(ByteColumnReader(bytes))
        let read = numbers.map { _ in reader.next() }
        #expect(read == numbers)
        #expect(reader.next() == nil)
        // A count of nothing is passed over, and ends.
        reader = RepeatColumnReader(ByteColumnReader([5, 0, 6, 1]))
        #expect(reader.next() == 6)
        #expect(reader.next() == nil)
    }
}
