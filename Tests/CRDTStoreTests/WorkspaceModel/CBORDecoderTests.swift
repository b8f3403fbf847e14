import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The CBOR decoder` {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hex: String
        let reason: Malformed.Reason
        let offset: Int
        init(_ what: String, _ hex: String, _ reason: Malformed.Reason, at offset: Int = 0) {
            (testDescription, self.hex, self.reason, self.offset) = (what, hex, reason, offset)
        }
    }

    static let refusals = [
        Refusal("nothing at all", "", .truncated),
        Refusal("a head cut off", "19ff", .truncated),
        Refusal("contents cut off", "4401", .truncated),
        Refusal("a missing item", "8201", .truncated),
        Refusal("a missing value", "a101", .truncated),
        Refusal("a missing last item", "820141", .truncated, at: 2),
        Refusal("a long head", "1817", .notCanonical),
        Refusal("a long length", "590001aa", .notCanonical),
        Refusal("a long count inside", "819800", .notCanonical, at: 1),
        Refusal("a negative number", "20", .unsupported),
        Refusal("a tag", "c000", .unsupported),
        Refusal("a float", "f93c00", .unsupported),
        Refusal("undefined", "f7", .unsupported),
        Refusal("a simple value", "f8ff", .unsupported),
        Refusal("an endless array", "9fff", .unsupported),
        Refusal("an endless string", "5f4101ff", .unsupported),
        Refusal("a reserved head", "1c", .unsupported),
        Refusal("a break", "ff", .unsupported),
        Refusal("equal keys", "a201000100", .duplicateKey, at: 3),
        Refusal("descending keys", "a202000100", .keysOutOfOrder, at: 3),
        Refusal("a text as key", "a1616101", .wrongType, at: 1),
        Refusal("a byte string as key", "a1414101", .wrongType, at: 1),
        Refusal("a negative key", "a12001", .unsupported, at: 1),
        Refusal("a key after the largest", "a21bffffffffffffffff000000", .keysOutOfOrder, at: 10),
        Refusal("bad UTF-8", "8162c328", .badText, at: 1),
        Refusal("bytes after the end", "0100", .trailingBytes, at: 1),
        Refusal("2^63-1 items", "9b7fffffffffffffff", .truncated),
        Refusal("2^63-1 pairs", "bb7fffffffffffffff0000", .truncated),
        Refusal("2^63-1 bytes", "5b7fffffffffffffff00", .truncated),
        Refusal("2^64-1 bytes of text", "7bffffffffffffffff00", .truncated),
        Refusal("more pairs than bytes for them", "a2000100", .truncated),
    ]

    @Test(arguments: refusals)
    func `says what is wrong and where`(_ refusal: Refusal) throws {
        let bytes = try #require(Vectors.bytes(hex: refusal.hex))
        let expected = Malformed(refusal.reason, at: refusal.offset)
        #expect(throws: expected) { try CBORValidation.check(bytes) }
        #expect(throws: expected) { try CBORTree(bytes) }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `knows what to do with every first byte`(initial: UInt8) throws {
        // What follows serves as argument, as contents and as items: zeros, or one-byte numbers.
        for filling: [UInt8] in [[], [0x00], [0x01], [0x20], [0xff]] {
            for count in [0, 1, 2, 8, 23, 60] {
                let bytes = [initial] + repeatElement(filling, count: count).joined()
                let tree = try? CBORTree(bytes)
                let isValid = (try? CBORValidation.check(bytes)) != nil
                #expect(isValid == (tree != nil), "\(bytes)")
                if let tree { #expect(tree.bytes == bytes) }
            }
        }
        let isComplete =
            initial < 24 || [0x40, 0x60, 0x80, 0xa0, 0xf4, 0xf5, 0xf6].contains(initial)
        #expect(isComplete == ((try? CBORValidation.check([initial])) != nil))
    }

    enum Shape: CaseIterable { case arrays, maps, tags }

    @Test(arguments: [17, 10_000, 1_000_000], Shape.allCases)
    func `refuses deep nesting without using the stack`(depth: Int, shape: Shape) {
        let opening: [UInt8] =
            switch shape {
            case .arrays: [0x81]
            case .maps: [0xa1, 0x00]
            case .tags: [0xc6]
            }
        let bytes = Array(repeatElement(opening, count: depth).joined()) + [0x00]
        let reason: Malformed.Reason = shape == .tags ? .unsupported : .depthExceeded
        let offset = shape == .tags ? 0 : opening.count * Limits.cborDepthMax
        #expect(throws: Malformed(reason, at: offset)) { try CBORValidation.check(bytes) }
        #expect(throws: Malformed(reason, at: offset)) { try CBORTree(bytes) }
    }

    @Test(arguments: [[0x81] as [UInt8], [0xa1, 0x00]])
    func `takes exactly as many levels as the limit says`(opening: [UInt8]) {
        for inner: [UInt8] in [[0x00], [0x80], [0xa0]] {
            let levels = inner == [0x00] ? Limits.cborDepthMax : Limits.cborDepthMax - 1
            let fits = Array(repeatElement(opening, count: levels).joined()) + inner
            #expect(throws: Never.self) { try CBORValidation.check(fits) }
            #expect(throws: Malformed.self) { try CBORValidation.check(opening + fits) }
        }
    }

    @Test func `closes containers after their last item`() throws {
        // [1, [], [2, {3: [4]}], {}, 5]
        var decoder = CBORDecoder([0x85, 1, 0x80, 0x82, 2, 0xa1, 3, 0x81, 4, 0xa0, 5])
        try decoder.arrayCount(exactly: 5)
        #expect(try decoder.uint() == 1)
        #expect(try decoder.arrayCount() == 0)
        try decoder.arrayCount(exactly: 2)
        #expect(try decoder.uint() == 2)
        #expect(try decoder.mapCount() == 1)
        #expect(try decoder.key() == 3)
        try decoder.arrayCount(exactly: 1)
        #expect(try decoder.uint() == 4)
        #expect(try decoder.mapCount() == 0)
        #expect(throws: Malformed(.itemsLeft, at: 10)) { try decoder.finish() }
        #expect(try decoder.uint() == 5)
        #expect(decoder.position == 11)
        try decoder.finish()
        #expect(throws: Malformed(.truncated, at: 11)) { try decoder.uint() }
    }

    @Test func `does not take a key for a value or a value for a key`() throws {
        var decoder = CBORDecoder([0xa1, 1, 2])
        #expect(throws: Malformed(.wrongType, at: 0)) { try decoder.key() }
        #expect(try decoder.mapCount() == 1)
        #expect(throws: Malformed(.wrongType, at: 1)) { try decoder.uint() }
        #expect(throws: Malformed(.wrongType, at: 1)) { _ = try decoder.byteString() }
        #expect(try decoder.key() == 1)
        #expect(throws: Malformed(.wrongType, at: 2)) { try decoder.key() }
        #expect(try decoder.uint() == 2)
        try decoder.finish()
    }

    @Test func `holds every field to its bound`() throws {
        func read<Value>(
            _ bytes: [UInt8], _ body: (inout CBORDecoder) throws -> Value
        ) throws -> Value {
            var decoder = CBORDecoder(bytes)
            let value = try body(&decoder)
            try decoder.finish()
            return value
        }
        let largest: [UInt8] = [0x1b] + [UInt8](repeating: 0xff, count: 8)
        #expect(try read(largest) { try $0.uint() } == .max)
        #expect(throws: Malformed(.outOfRange, at: 0)) { try read(largest) { try $0.int() } }
        #expect(try read([7]) { try $0.uint(max: 7) } == 7)
        #expect(throws: Malformed(.outOfRange, at: 0)) { try read([7]) { try $0.uint(max: 6) } }
        #expect(throws: Malformed(.outOfRange, at: 0)) { try read([7]) { try $0.int(max: 6) } }
        #expect(try read([0x18, 0xff]) { try $0.uint(as: UInt8.self) } == 255)
        #expect(throws: Malformed(.outOfRange, at: 0)) {
            try read([0x19, 0x01, 0x00]) { try $0.uint(as: UInt8.self) }
        }
        #expect(try read([0x42, 1, 2]) { try $0.byteString(maxCount: 2) } == [1, 2])
        #expect(try read([0x42, 1, 2]) { try $0.byteStringRange() } == 1..<3)
        for bound in [1, 0] {
            #expect(throws: Malformed(.countExceeded, at: 0)) {
                try read([0x42, 1, 2]) { try $0.byteString(maxCount: bound) }
            }
            #expect(throws: Malformed(.countExceeded, at: 0)) {
                try read([0x62, 0x61, 0x62]) { try $0.text(maxBytes: bound) }
            }
            #expect(throws: Malformed(.countExceeded, at: 0)) {
                try read([0x82, 1, 2]) { try $0.arrayCount(max: bound) }
            }
            #expect(throws: Malformed(.countExceeded, at: 0)) {
                try read([0x82, 1, 2]) { try $0.arrayCount(exactly: bound) }
            }
            #expect(throws: Malformed(.countExceeded, at: 0)) {
                try read([0xa2, 1, 2, 3, 4]) { try $0.mapCount(max: bound) }
            }
        }
        #expect(throws: Malformed(.countExceeded, at: 0)) {
            try read([0x42, 1, 2]) { try $0.byteString(exactly: 3) }
        }
        #expect(throws: Malformed(.itemsLeft, at: 1)) {
            try read([0x82, 1, 2]) { try $0.arrayCount(max: 2) }
        }
    }

    @Test func `reads null where it is allowed`() throws {
        var decoder = CBORDecoder([0x83, 0xf6, 0x07, 0xf6])
        try decoder.arrayCount(exactly: 3)
        #expect(decoder.isNull)
        #expect(try decoder.nullOr { (item) throws(Malformed) in try item.uint() } == nil)
        #expect(try decoder.nullOr { (item) throws(Malformed) in try item.uint() } == 7)
        #expect(throws: Malformed(.wrongType, at: 3)) { try decoder.bool() }
        try decoder.null()
        try decoder.finish()
        var number = CBORDecoder([0x07])
        #expect(throws: Malformed(.wrongType, at: 0)) { try number.null() }
    }

    @Test func `reads names of exactly their length`() throws {
        let long = [UInt8](0..<32)
        var encoder = CBOREncoder()
        encoder.array(count: 2)
        encoder.byteString(DeviceID(long))
        encoder.byteString(MemberID([UInt8](long[..<16])))
        #expect(encoder.bytes.count == 1 + 34 + 17)

        var decoder = CBORDecoder(encoder.bytes)
        try decoder.arrayCount(exactly: 2)
        let device: DeviceID = try decoder.identifier32()
        #expect(device.bytes == long)
        #expect(throws: Malformed(.countExceeded, at: 35)) {
            var copy = decoder
            _ = try copy.identifier32(Named.Device.self)
        }
        let member: MemberID = try decoder.identifier16()
        #expect(member.bytes == [UInt8](long[..<16]))
        try decoder.finish()
    }

    @Test func `returns the raw bytes of an item`() throws {
        var decoder = CBORDecoder([0x82, 0x82, 1, 0x41, 9, 0xf5])
        try decoder.arrayCount(exactly: 2)
        let range = try decoder.itemRange()
        #expect(range == 1..<5)
        #expect(try decoder.bool())
        try decoder.finish()

        var inner = CBORDecoder(decoder.bytes, in: range)
        try inner.arrayCount(exactly: 2)
        #expect(try inner.uint() == 1)
        #expect(try inner.byteString() == [9])
        try inner.finish()

        var again = CBOREncoder()
        again.array(count: 2)
        again.item(raw: decoder.bytes[range])
        again.bool(true)
        #expect(again.bytes == decoder.bytes)
    }

    @Test func `names its complaint in one word and a place`() {
        #expect("\(Malformed(.depthExceeded, at: 17))" == "too-deep at byte 17")
        let words = Set(Malformed.Reason.allCases.map(\.rawValue))
        #expect(words.count == Malformed.Reason.allCases.count)
        #expect(words.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" } })
    }
}
