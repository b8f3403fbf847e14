/// Points in time as sentences of the node name them: `2026-11-20 14:03 UTC`. A program
/// that shows them in local time has the milliseconds.
public enum UTCMinute {
    /// The minute of a point in time, in milliseconds since 1970; beyond the year 9999 its end.
    ///
    /// - Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    public static func text(_ milliseconds: UInt64) -> String {
        let minutes = Int64(min(milliseconds, 253_402_300_799_000) / 60_000)
        let shifted = minutes / 1_440 + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * march + 2) / 5 + 1
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let minute = minutes % 1_440
        return "\(year)-\(two(month))-\(two(day)) \(two(minute / 60)):\(two(minute % 60)) UTC"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
