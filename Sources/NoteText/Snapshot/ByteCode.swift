/// Compression by a prefix code, which precedes the data, or the raw bytes if that is shorter. Text
/// shrinks to about half, columns to less.
///
///     block = 0, bytes  or  1, count, symbols less 1, for each: gap to the one before, length; bits
///
/// Numbers are varints of seven bits per byte. Codes are canonical: shorter ones first, those of
/// one length by symbol; bits are filled from the highest.
///
/// - Source: Huffman, "A Method for the Construction of Minimum-Redundancy Codes", 1952.
enum ByteCode {
    /// Bits of the longest code, and of the index into the decoding table.
    static let lengthMax = 12

    // MARK: Writing

    /// The block of these bytes.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        let raw = [0] + bytes
        guard bytes.count > 32 else { return raw }
        var frequencies = [Int](repeating: 0, count: 256)
        for byte in bytes { frequencies[Int(byte)] += 1 }
        let lengths = lengths(for: frequencies)
        var head = ByteColumn()
        head.append(UInt64(bytes.count))
        let symbols = lengths.indices.filter { lengths[$0] > 0 }
        head.append(UInt64(symbols.count - 1))
        var next = 0
        for symbol in symbols {
            head.append(UInt64(symbol - next))
            head.append(UInt64(lengths[symbol]))
            next = symbol + 1
        }
        let bits = symbols.reduce(0) { $0 + frequencies[$1] * lengths[$1] }
        guard head.bytes.count + (bits + 7) / 8 < bytes.count else { return raw }
        var coded: [UInt8] = [1] + head.bytes
        coded.reserveCapacity(coded.count + bits / 8 + 1)
        let codes = codes(of: lengths)
        var (buffer, filled): (UInt64, Int) = (0, 0)
        for byte in bytes {
            buffer = buffer << UInt64(lengths[Int(byte)]) | codes[Int(byte)]
            filled += lengths[Int(byte)]
            while filled >= 8 {
                filled -= 8
                coded.append(UInt8(truncatingIfNeeded: buffer >> UInt64(filled)))
            }
        }
        if filled > 0 { coded.append(UInt8(truncatingIfNeeded: buffer << UInt64(8 - filled))) }
        return coded
    }

    /// Bits of each symbol's code, 0 where it is not used, at most `lengthMax`.
    private static func lengths(for frequencies: [Int]) -> [Int] {
        var weights = frequencies
        while true {
            let lengths = unlimitedLengths(for: weights)
            if lengths.allSatisfy({ $0 <= lengthMax }) { return lengths }
            // Flattening the frequencies shortens the codes, at little cost.
            for symbol in weights.indices where weights[symbol] > 0 {
                weights[symbol] = weights[symbol] / 2 + 1
            }
        }
    }

    private static func unlimitedLengths(for weights: [Int]) -> [Int] {
        var lengths = [Int](repeating: 0, count: weights.count)
        // The remaining trees, the lightest last: at most 256, so a list is enough.
        var trees = weights.indices.filter { weights[$0] > 0 }
            .map { (weight: weights[$0], symbols: [$0]) }
            .sorted { $0.weight > $1.weight }
        if trees.count == 1 { lengths[trees[0].symbols[0]] = 1 }
        while let one = trees.popLast(), let other = trees.popLast() {
            let both = (weight: one.weight + other.weight, symbols: one.symbols + other.symbols)
            for symbol in both.symbols { lengths[symbol] += 1 }
            let index = trees.lastIndex { $0.weight >= both.weight }
            trees.insert(both, at: index.map { $0 + 1 } ?? 0)
        }
        return lengths
    }

    /// The code of each symbol, derived from the lengths.
    private static func codes(of lengths: [Int]) -> [UInt64] {
        var codes = [UInt64](repeating: 0, count: lengths.count)
        var code: UInt64 = 0
        for length in 1...lengthMax {
            for symbol in lengths.indices where lengths[symbol] == length {
                codes[symbol] = code
                code += 1
            }
            code <<= 1
        }
        return codes
    }

    // MARK: Reading

    /// The decoded block in `range`, `nil` if it is invalid or longer than `most`.
    static func decoded(
        _ bytes: [UInt8], in range: Range<Int>, atMost most: Int
    ) -> [UInt8]? {
        guard let kind = bytes[range].first, range.count - 1 <= most || kind == 1 else {
            return nil
        }
        let rest = range.lowerBound + 1..<range.upperBound
        if kind == 0 { return [UInt8](bytes[rest]) }
        var head = ByteColumnReader(bytes, in: rest)
        guard kind == 1, let count = head.next(), count <= UInt64(most),
            // Each symbol takes at least a bit.
            count <= 8 * UInt64(rest.count), let symbols = head.next(), symbols < 256
        else { return nil }
        var lengths = [Int](repeating: 0, count: 256)
        var next: UInt64 = 0
        for _ in 0...symbols {
            guard let gap = head.next(), gap < 256 - min(next, 255), next + gap < 256,
                let length = head.next(), 1...UInt64(lengthMax) ~= length
            else { return nil }
            lengths[Int(next + gap)] = Int(length)
            next += gap + 1
        }
        guard let table = table(of: lengths) else { return nil }
        return decoded(bytes, in: head.position..<range.upperBound, Int(count), table)
    }

    /// The decoding table: for each `lengthMax` bits the symbol that they begin with, plus 256
    /// times its length. `nil` if the lengths are not those of a complete prefix code.
    private static func table(of lengths: [Int]) -> [UInt16]? {
        let size = 1 << lengthMax
        let taken = lengths.reduce(0) { $0 + ($1 > 0 ? size >> $1 : 0) }
        let isSingle = lengths.count { $0 > 0 } == 1 && taken == size / 2
        guard taken == size || isSingle else { return nil }
        var table = [UInt16](repeating: 0, count: size)
        let codes = codes(of: lengths)
        for symbol in lengths.indices where lengths[symbol] > 0 {
            let shift = lengthMax - lengths[symbol]
            let first = Int(codes[symbol]) << shift
            let entry = UInt16(truncatingIfNeeded: lengths[symbol] << 8 | symbol)
            // The bit of a single symbol carries no information.
            for index in first..<(isSingle ? size : first + (1 << shift)) { table[index] = entry }
        }
        return table
    }

    private static func decoded(
        _ bytes: [UInt8], in range: Range<Int>, _ count: Int, _ table: [UInt16]
    ) -> [UInt8]? {
        var isWhole = false
        let result = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            bytes.withUnsafeBytes { bytes in
                table.withUnsafeBufferPointer { table in
                    var bits = Bits(bytes: bytes, index: range.lowerBound, end: range.upperBound)
                    var place = 0
                    while place + 4 <= count, bits.fill() {
                        for step in 0..<4 { output[place + step] = bits.next(table) }
                        place += 4
                    }
                    while place < count {
                        output[place] = bits.nextOfLast(table)
                        place += 1
                    }
                    initialized = count
                    isWhole = bits.isAtEnd
                }
            }
        }
        return isWhole ? result : nil
    }

    /// A bit reader, highest bit first.
    private struct Bits {
        let bytes: UnsafeRawBufferPointer
        var index: Int
        let end: Int
        /// The next bits, from the highest on; bits below the filled ones may belong to the
        /// following bytes.
        private var buffer: UInt64 = 0
        private var filled = 0

        init(bytes: UnsafeRawBufferPointer, index: Int, end: Int) {
            self.bytes = bytes
            self.index = index
            self.end = end
        }

        /// Fills the buffer with enough bits for four codes.
        ///
        /// - Returns: whether that many are left.
        mutating func fill() -> Bool {
            guard end - index >= 8 else { return false }
            let more = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).bigEndian
            buffer |= more >> UInt64(truncatingIfNeeded: filled)
            index += (63 - filled) >> 3
            filled |= 56
            return true
        }

        /// The next symbol; its bits must be available.
        mutating func next(_ table: UnsafeBufferPointer<UInt16>) -> UInt8 {
            let entry = table[Int(truncatingIfNeeded: buffer >> UInt64(64 - lengthMax))]
            let length = entry >> 8
            buffer <<= UInt64(length)
            filled -= Int(length)
            return UInt8(truncatingIfNeeded: entry)
        }

        /// The next symbol near the end, padded with zeros; `filled` is negative
        /// once padding was used.
        mutating func nextOfLast(_ table: UnsafeBufferPointer<UInt16>) -> UInt8 {
            while filled <= 48, filled >= 0, index < end {
                buffer |= UInt64(bytes[index]) << UInt64(56 - filled)
                filled += 8
                index += 1
            }
            return next(table)
        }

        /// Whether only the padding of the last byte is left.
        var isAtEnd: Bool { index == end && 0..<8 ~= filled && buffer == 0 }
    }
}
