/// Base64 with the URL alphabet (RFC 4648, section 5), without padding, as used by tokens and their
/// keys.
///
/// Each byte string has one encoding: unused bits at the end have to be zero.
public enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of a letter, or `nil` for an invalid one.
    private static func value(_ letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The bytes that letters spell; `nil` where they spell none.
    ///
    /// - Parameter letters: from outside.
    public static func decode(_ letters: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for letter in letters {
            guard let value = value(letter) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            bits &= 1 << UInt32(count) - 1
        }
        // Six bits that are left are a letter too many.
        guard count < 6, bits == 0 else { return nil }
        return bytes
    }

    /// The letters for bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity(bytes.count / 3 * 4 + 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                letters.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
            bits &= 1 << UInt32(count) - 1
        }
        if count > 0 { letters.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: letters, as: UTF8.self)
    }
}
