/// Byte counts as people write them: `500 MB`, `20GB`, `1.5GiB`, `4096`.
public enum SizeText {
    private static let units: [(name: String, bytes: Int64)] = [
        ("", 1), ("b", 1), ("k", 1_000), ("kb", 1_000), ("m", 1_000_000), ("mb", 1_000_000),
        ("g", 1_000_000_000), ("gb", 1_000_000_000), ("t", 1_000_000_000_000),
        ("tb", 1_000_000_000_000), ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30),
        ("tib", 1 << 40),
    ]

    /// Bytes of `20GB`; `nil` for anything but a number with a unit, or too large.
    ///
    /// - Parameter text: comes from outside. A unit may be in letters of either case.
    public static func bytes(_ text: String) -> Int64? {
        guard text.utf8.count <= 32 else { return nil }
        let all = Array(text.utf8)
        let whole = all.prefix { isDigit($0) }
        var rest = all[whole.endIndex...]
        var digits = Array(whole)
        var places = 0
        if rest.first == UInt8(ascii: ".") {
            let part = rest.dropFirst().prefix { isDigit($0) }
            guard !part.isEmpty else { return nil }
            rest = rest[part.endIndex...]
            digits += part
            places = part.count
        }
        if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
        let name = String(decoding: rest, as: UTF8.self).lowercased()
        guard !whole.isEmpty, digits.count <= 15, places <= 3,
            let number = Int64(String(decoding: digits, as: UTF8.self)),
            let unit = units.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { return nil }
        // Fractions of a byte are invalid.
        guard places == 0 || unit.bytes > 1 else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit.bytes)
        guard !isTooLarge else { return nil }
        return product / [1, 10, 100, 1_000][places]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
