/// Lengths of time as people write them: `250ms`, `30s`, `10m`, `24h`, `7d`.
public enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Milliseconds, or `nil` for text that is no whole number with a unit, or too long a time.
    public static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, digits.count <= 15,
            let number = Int64(String(decoding: digits, as: UTF8.self)),
            let suffix = String(validating: bytes[digits.count...], as: UTF8.self),
            let unit = units.first(where: { $0.suffix == suffix })
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : product
    }

    /// The shortest exact form in one unit.
    public static func text(_ milliseconds: Int64) -> String {
        for unit in units.reversed()
        where milliseconds != 0 && milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }
}
