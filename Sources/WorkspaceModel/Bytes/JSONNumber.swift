extension JSONValue {
    /// The number times 10^`places`, if that is an exact 64-bit integer, in whatever notation it is
    /// written (RFC 8259, section 6): programs write `0.0000001` as `1e-7`, which with seven places
    /// is 1.
    ///
    /// - Parameter places: 0 to 18.
    public func integer(timesTenTo places: Int) -> Int64? {
        switch self {
        case .integer(let number) where places == 0: number
        case .integer(let number): Self.shifted(String(number).utf8, by: places)
        case .decimal(let literal): Self.shifted(literal.utf8, by: places)
        default: nil
        }
    }

    /// A JSON literal with its point moved to the right; `nil` where digits remain behind it. It is
    /// as long as a line may be, so zeros are counted and never written out.
    private static func shifted(_ literal: String.UTF8View, by places: Int) -> Int64? {
        let isExponent = { (byte: UInt8) in byte | 0x20 == UInt8(ascii: "e") }
        let parts = literal.split(maxSplits: 1, whereSeparator: isExponent)
        guard var mantissa = parts.first else { return nil }
        let isNegative = mantissa.first == UInt8(ascii: "-")
        if isNegative { mantissa.removeFirst() }
        let sides = mantissa.split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = sides.count == 2 ? sides[1] : mantissa[mantissa.endIndex...]
        var digits = Array((Array(sides[0]) + fraction).drop { $0 == 0x30 })
        // Zero stays zero, whatever the exponent; but `-0` is not an integer.
        guard !digits.isEmpty else { return isNegative ? nil : 0 }
        let exponent = parts.count == 2 ? Int(Substring(parts[1])) : 0
        var (zeros, isTooLarge) = (places - fraction.count).addingReportingOverflow(
            exponent ?? .max)
        guard exponent != nil, !isTooLarge else { return nil }
        while zeros < 0, digits.last == 0x30 {
            digits.removeLast()
            zeros += 1
        }
        guard zeros >= 0, digits.count + min(zeros, 32) <= 19 else { return nil }
        let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: zeros)
        return Int64((isNegative ? "-" : "") + text)
    }
}
