/// A geographic location attached to a message (PROTOCOL.md, 3.2).
///
/// Exact integers, so that every node shows the same digits.
public struct MessageLocation: Hashable, Sendable {
    /// North of the equator, in units of 1e-7 degrees, -900,000,000 to 900,000,000.
    public let latitude: Int64
    /// East of Greenwich, in units of 1e-7 degrees, -1,800,000,000 to 1,800,000,000.
    public let longitude: Int64
    /// The uncertainty in metres; at most `Limits.locationAccuracyMax`.
    public let accuracy: UInt64?
    /// The place's name; at most `Limits.nameBytesMax` bytes, no NUL.
    public let label: String?

    private static let latitudeMax: Int64 = 900_000_000
    private static let longitudeMax: Int64 = 1_800_000_000

    /// The place, or `nil` where a number or the label is outside its bounds.
    public init?(
        latitude: Int64, longitude: Int64, accuracy: UInt64? = nil, label: String? = nil
    ) {
        guard (-Self.latitudeMax...Self.latitudeMax).contains(latitude),
            (-Self.longitudeMax...Self.longitudeMax).contains(longitude),
            accuracy ?? 0 <= Limits.locationAccuracyMax,
            label?.utf8.count ?? 1 <= Limits.nameBytesMax, label?.hasNUL != true,
            label?.isEmpty != true
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
        self.label = label
    }

    // MARK: Degrees

    /// How many decimals a degree has at most.
    public static let decimals = 7

    /// Reads `LAT,LON` in degrees, such as `52.5200066,13.404954`.
    public init?(degrees text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Self.units(trimmed(parts[0])),
            let longitude = Self.units(trimmed(parts[1]))
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// Degrees as units of 1e-7: a sign, at most three digits, and at most seven behind a point.
    public static func units(_ degrees: String) -> Int64? {
        var bytes = Array(degrees.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes.removeFirst() }
        let parts = bytes.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2, (1...3).contains(parts[0].count),
            parts.count == 1 || (1...decimals).contains(parts[1].count),
            parts.joined().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let fraction = parts.count == 2 ? Array(parts[1]) : []
        let digits =
            Array(parts[0]) + fraction + [UInt8](repeating: 0x30, count: decimals - fraction.count)
        let number = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        return isNegative ? -number : number
    }

    /// Units of 1e-7 as degrees, without zeros at the end: `13.404954`, `-0.5`, `7`.
    public static func degrees(_ units: Int64) -> String {
        var digits = Array(String(units.magnitude).utf8)
        while digits.count < 8 { digits.insert(0x30, at: 0) }
        var fraction = Array(digits.suffix(7))
        while fraction.last == 0x30 { fraction.removeLast() }
        let whole = (units < 0 ? "-" : "") + String(decoding: digits.dropLast(7), as: UTF8.self)
        return fraction.isEmpty ? whole : whole + "." + String(decoding: fraction, as: UTF8.self)
    }
}

private func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
}

extension MessageLocation {
    /// Writes `Enc` array [latitude + 90 degrees, longitude + 180 degrees, accuracy or null,
    /// label or null].
    func encode(to encoder: inout CBOREncoder) {
        encoder.array(count: 4)
        encoder.uint(UInt64(latitude + Self.latitudeMax))
        encoder.uint(UInt64(longitude + Self.longitudeMax))
        if let accuracy { encoder.uint(accuracy) } else { encoder.null() }
        if let label { encoder.text(label) } else { encoder.null() }
    }

    /// Reads what `encode(to:)` wrote.
    init(_ decoder: inout CBORDecoder) throws(Malformed) {
        let start = decoder.position
        try decoder.arrayCount(exactly: 4)
        let (north, east) = (try decoder.uint(), try decoder.uint())
        let accuracy = try decoder.nullOr { (d) throws(Malformed) in try d.uint() }
        let label = try decoder.nullOr { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.nameBytesMax)
        }
        guard north <= UInt64(2 * Self.latitudeMax), east <= UInt64(2 * Self.longitudeMax),
            let location = MessageLocation(
                latitude: Int64(north) - Self.latitudeMax,
                longitude: Int64(east) - Self.longitudeMax, accuracy: accuracy, label: label)
        else { throw Malformed(.outOfRange, at: start) }
        self = location
    }
}
