/// Durations as people write them: `250ms`, `30s`, `10m`, `24h`, `7d`.
public enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Milliseconds of `30s` or `1h30m`, the larger unit first; `nil` for anything but a whole
    /// number with a unit, or too long a time.
    public static func milliseconds(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        var total: Int64 = 0
        var last = Int64.max
        repeat {
            let digits = rest.prefix { isDigit($0) }
            rest = rest[digits.endIndex...]
            let word = rest.prefix { !isDigit($0) }
            rest = rest[word.endIndex...]
            guard !digits.isEmpty, digits.count <= 15,
                let number = Int64(String(decoding: digits, as: UTF8.self)),
                let unit = units.first(where: { $0.suffix.utf8.elementsEqual(word) }),
                unit.milliseconds < last
            else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            (total, last) = (sum, unit.milliseconds)
        } while !rest.isEmpty
        return total
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The shortest exact form in one unit.
    public static func text(_ milliseconds: Int64) -> String {
        for unit in units.reversed()
        where milliseconds != 0 && milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }
}
