/// Bytes as letters and digits that survive reading aloud, double-clicking and upper case.
///
/// Crockford's alphabet in lower case: no `i`, `l`, `o`, `u`. Five bits make a letter, most
/// significant first, the last one filled with zero bits, so codes sort as their bytes do.
/// Codes and bytes correspond one to one once case and look-alikes are folded.
///
///     Base32.encode([0xff, 0x00])  // "zw00"
///
/// - Source: D. Crockford, "Base 32"; no check symbol, no hyphens.
public enum Base32 {
    private static let alphabet = [UInt8]("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// How many letters `byteCount` bytes make: 8 for every 5 bytes, rounded up.
    public static func letterCount(byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

    /// The code of `bytes`, in lower case.
    public static func encode(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity(letterCount(byteCount: bytes.count))
        var window: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            window = window << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                letters.append(alphabet[Int(window >> bitCount & 31)])
            }
        }
        if bitCount > 0 { letters.append(alphabet[Int(window << (5 - bitCount) & 31)]) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The bytes that `code` spells, in either case, with `o` for 0 and `i` or `l` for 1.
    ///
    /// - Returns: `nil` for any other character, for a length that no bytes have, and for filling
    ///   bits that are not zero. A caller that knows the length checks it before it decodes.
    public static func decode(_ code: String) -> [UInt8]? {
        decode(code.utf8)
    }

    /// As `decode(_:)` of a string, for a part of a line.
    public static func decode(_ code: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(code.underestimatedCount / 8 * 5)
        var window: UInt32 = 0
        var bitCount: UInt32 = 0
        for letter in code {
            guard let value = value(of: letter) else { return nil }
            window = window << 5 | UInt32(value)
            bitCount += 5
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: window >> bitCount))
        }
        // Five bits or more would be a whole letter that carries nothing.
        guard bitCount < 5, window & (1 << bitCount - 1) == 0 else { return nil }
        return bytes
    }

    /// The five bits of a letter.
    private static func value(of letter: UInt8) -> UInt8? {
        switch letter | 0x20 {  // lower case; digits have the bit already
        case UInt8(ascii: "o"): return 0
        case UInt8(ascii: "i"), UInt8(ascii: "l"): return 1
        default: break
        }
        guard letter >= UInt8(ascii: "0") else { return nil }
        let folded = letter >= UInt8(ascii: "A") ? letter | 0x20 : letter
        return values[Int(folded)]
    }

    /// The values by letter, for all 256 bytes.
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
}
