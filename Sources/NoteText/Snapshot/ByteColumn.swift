/// A column of varints, seven bits per byte.
struct ByteColumn {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(_ value: UInt32) { append(UInt64(value)) }

    /// A fixed eight bytes, for numbers that are never small, such as a part of a hash.
    mutating func append(raw value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// The signed difference of two numbers.
    mutating func append(_ value: UInt64, from base: UInt64) {
        let difference = Int64(bitPattern: value &- base)
        append(UInt64(bitPattern: difference << 1 ^ difference >> 63))
    }

    mutating func append(_ value: UInt32, from base: UInt32) {
        append(UInt64(value), from: UInt64(base))
    }
}

/// Reads what `ByteColumn` wrote; of anything else it says so.
struct ByteColumnReader {
    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, in: bytes.indices) }

    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        index = range.lowerBound
        end = range.upperBound
    }

    /// The offset of the unread part.
    var position: Int { index }

    /// Whether all was read.
    var isAtEnd: Bool { index == end }

    /// The next number, `nil` at the end.
    mutating func next() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while index < end, shift < 64 {
            let byte = bytes[index]
            index += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// The next text: its length in bytes, at most `bytesMax`, then each byte as a number.
    mutating func text(bytesMax: Int) -> String? {
        guard let count = next(), count <= UInt64(bytesMax) else { return nil }
        var bytes: [UInt8] = []
        for _ in 0..<count {
            guard let byte = next().flatMap({ UInt8(exactly: $0) }) else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The next number of fixed eight bytes.
    mutating func nextRaw() -> UInt64? {
        guard end - index >= 8 else { return nil }
        var value: UInt64 = 0
        for place in index..<index + 8 { value = value << 8 | UInt64(bytes[place]) }
        index += 8
        return value
    }

    /// The next number, which must fit 32 bits.
    mutating func next32() -> UInt32? { next().flatMap { UInt32(exactly: $0) } }

    /// The next number, encoded as the difference to `base`.
    mutating func next(from base: UInt64) -> UInt64? {
        guard let value = next() else { return nil }
        let difference = value >> 1 ^ (0 &- (value & 1))
        return base &+ difference
    }

    mutating func next32(from base: UInt32) -> UInt32? {
        next(from: UInt64(base)).flatMap { UInt32(exactly: $0) }
    }
}

/// A run-length encoded column of numbers.
struct RepeatColumn {
    private var column = ByteColumn()
    private var value: UInt64 = 0
    private var count: UInt64 = 0

    mutating func append(_ next: UInt64) {
        if next != value { flush() }
        value = next
        count += 1
    }

    /// The column of all appended numbers.
    mutating func finished() -> ByteColumn {
        flush()
        return column
    }

    private mutating func flush() {
        guard count > 0 else { return }
        column.append(value)
        column.append(count)
        count = 0
    }
}

/// Reads what `RepeatColumn` wrote.
struct RepeatColumnReader {
    private var column: ByteColumnReader
    private var value: UInt64 = 0
    private var left: UInt64 = 0

    init(_ column: ByteColumnReader) { self.column = column }

    /// The next number, `nil` where there is none.
    mutating func next() -> UInt64? {
        while left == 0 {
            guard let value = column.next(), let count = column.next() else { return nil }
            self.value = value
            left = count
        }
        left -= 1
        return value
    }
}
