/// Repairs one flipped bit in each frame of a write-ahead log.
///
/// SQLite reads a log up to the first frame with a wrong checksum, and ignores everything committed
/// after it. A frame's checksum is linear in its words, so the flipped bit is solved for rather
/// than searched, and the 64 bits of the checksum confirm it. For the highest twelve bits of a
/// word, the word may be ambiguous: then the page keeps its wrong bit, like one that rots in the
/// store, and the following checksums are recomputed.
///
/// - Source: https://www.sqlite.org/fileformat2.html, 4.1 and 4.2
public struct LogMending {
    private static let headerBytes = 32
    private static let frameHeaderBytes = 24
    /// Of a log written on a little-endian machine.
    private static let magic: UInt32 = 0x377f_0682

    private var bytes: [UInt8]
    /// Repaired bits.
    public private(set) var mended = 0

    /// The repaired log, or `nil` if nothing can be repaired.
    public static func mended(_ log: [UInt8]) -> [UInt8]? {
        var mending = LogMending(bytes: log)
        mending.mend()
        return mending.mended > 0 ? mending.bytes : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func mend() {
        guard bytes.count >= Self.headerBytes else { return }
        switch verdict([0..<24], at: 24, from: Checksum()) {
        case .right: break
        case .wrongSum(let found):
            write(found, at: 24)
            mended += 1
        case .bit(let byte, let bit): flip(byte, bit)
        case .someBit, .lost: return
        }
        guard big(0) == Self.magic else { return }
        let pageBytes = Int(big(8))
        guard (512...65_536).contains(pageBytes), pageBytes.isMultiple(of: 8) else { return }
        // The stored checksum, and the one of the current bytes.
        var written = Checksum(at: 24, of: self)
        var now = written
        var frame = Self.headerBytes
        while frame + Self.frameHeaderBytes + pageBytes <= bytes.count,
            mendFrame(frame, pageBytes, &written, &now)
        { frame += Self.frameHeaderBytes + pageBytes }
    }

    /// - Returns: `false` if the log ends before this frame.
    private mutating func mendFrame(
        _ frame: Int, _ pageBytes: Int, _ written: inout Checksum, _ now: inout Checksum
    ) -> Bool {
        let page = frame + Self.frameHeaderBytes
        let ranges = [frame..<frame + 8, page..<page + pageBytes]
        let wrong = (0..<8).reduce(0) {
            $0 + (bytes[frame + 8 + $1] ^ bytes[16 + $1]).nonzeroBitCount
        }
        // With more than a wrong bit in the salts, the frame is left over from an earlier log.
        guard wrong <= 1 else { return false }
        let verdict = verdict(ranges, at: frame + 16, from: written)
        if wrong == 1 {
            // Then only the checksum shows that the frame belongs to this log.
            guard case .right = verdict else { return false }
            for index in 0..<8 { bytes[frame + 8 + index] = bytes[16 + index] }
            mended += 1
        }
        var next = Checksum(at: frame + 16, of: self)
        switch verdict {
        case .right: break
        case .wrongSum(let found):
            write(found, at: frame + 16)
            mended += 1
            next = found
        case .bit(let byte, let bit): flip(byte, bit)
        // In a page number it would overwrite another page.
        case .someBit(let first): if first < page { return false } else { mended += 1 }
        case .lost: return false
        }
        written = next
        now = summed(ranges, from: now)
        if now != next { write(now, at: frame + 16) }
        return true
    }

    // MARK: Checksums

    private struct Checksum: Equatable {
        var first: UInt32
        var second: UInt32

        init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
            (self.first, self.second) = (first, second)
        }

        /// Read from a log.
        init(at place: Int, of log: LogMending) {
            self.init(log.big(place), log.big(place + 4))
        }

        mutating func add(_ one: UInt32, _ other: UInt32) {
            first = first &+ one &+ second
            second = second &+ other &+ first
        }
    }

    private func big(_ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func little(_ place: Int) -> UInt32 {
        bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func summed(_ ranges: [Range<Int>], from start: Checksum) -> Checksum {
        var sum = start
        for range in ranges {
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                sum.add(little(place), little(place + 4))
            }
        }
        return sum
    }

    /// The result of checking a checksum.
    private enum Verdict {
        case right
        /// One bit of the checksum itself is wrong: this is the right one.
        case wrongSum(Checksum)
        case bit(byte: Int, UInt8)
        /// One of several possible bits; the first possible place.
        case someBit(Int)
        case lost
    }

    private func verdict(
        _ ranges: [Range<Int>], at place: Int, from start: Checksum
    ) -> Verdict {
        let (stored, found) = (Checksum(at: place, of: self), summed(ranges, from: start))
        if stored == found { return .right }
        let bits =
            (stored.first ^ found.first).nonzeroBitCount
            + (stored.second ^ found.second).nonzeroBitCount
        let places = flipped(ranges, found, stored)
        if bits == 1, places.isEmpty { return .wrongSum(found) }
        guard let last = places.first, let first = places.last else { return .lost }
        return places.count == 1 && bits > 1
            ? .bit(byte: last.byte, last.bit) : .someBit(first.byte)
    }

    private mutating func flip(_ byte: Int, _ bit: UInt8) {
        bytes[byte] ^= bit
        mended += 1
    }

    private mutating func write(_ sum: Checksum, at place: Int) {
        for (offset, value) in [(0, sum.first), (4, sum.second)] {
            for index in 0..<4 {
                bytes[place + offset + index] = UInt8(
                    truncatingIfNeeded: value >> UInt32(24 - 8 * index))
            }
        }
    }

    /// The bits that, flipped, make the checksum right, the last one first. From the last word to
    /// the first, the weight of a word's lowest bit in both halves grows by the same step for each
    /// pair of words after it.
    private func flipped(
        _ ranges: [Range<Int>], _ found: Checksum, _ wanted: Checksum
    ) -> [(byte: Int, bit: UInt8)] {
        let first = wanted.first &- found.first
        let second = wanted.second &- found.second
        var places: [(byte: Int, bit: UInt8)] = []
        // The weights of the lowest bit of the first and second word of a pair, in both halves.
        var (one, other) = (Checksum(1, 1), Checksum(0, 1))
        for range in ranges.reversed() {
            for pair in stride(from: range.upperBound - 8, through: range.lowerBound, by: -8) {
                for (place, weight) in [(pair + 4, other), (pair, one)] {
                    for bit in 0..<32 {
                        let isSet = bytes[place + bit / 8] >> UInt8(bit % 8) & 1 == 1
                        let power = UInt32(1) << UInt32(bit)
                        let change = isSet ? 0 &- power : power
                        if weight.first &* change == first, weight.second &* change == second {
                            places.append((place + bit / 8, 1 << UInt8(bit % 8)))
                        }
                    }
                }
                one = Self.behindAPair(one)
                other = Self.behindAPair(other)
            }
        }
        return places
    }

    /// The halves after one more pair of zeros.
    private static func behindAPair(_ sum: Checksum) -> Checksum {
        var next = sum
        next.add(0, 0)
        return next
    }
}
