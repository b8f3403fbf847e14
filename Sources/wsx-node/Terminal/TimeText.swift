import PeerNode

/// Points in time in local time, for people.
enum TimeText {
    /// Days since 1970 for a date in the Gregorian calendar.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    /// The date for a day since 1970.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * march + 2) / 5 + 1
        )
    }

    /// `14:03` and the day since 1970, in local time.
    static func local(_ milliseconds: Int64, zone: (Int64) -> Int64) -> (day: Int64, clock: String)
    {
        let bounded = min(max(milliseconds, 0), 253_402_300_799_000)
        let minutes = bounded / 60_000 + zone(bounded)
        let day = minutes >= 0 ? minutes / 1_440 : -1
        let minute = minutes - day * 1_440
        return (day, twoDigits(minute / 60) + ":" + twoDigits(minute % 60))
    }

    /// `Fri 20 Nov`, with the year unless it is the current one; `Today`, `Yesterday`.
    static func dayLine(_ day: Int64, today: Int64) -> String {
        if day == today { return "Today" }
        if day == today - 1 { return "Yesterday" }
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let date = date(ofDay: day)
        let weekday = weekdays[Int(((day % 7) + 7) % 7)]
        let text = "\(weekday) \(date.day) \(months[Int(date.month - 1)])"
        return date.year == Self.date(ofDay: today).year ? text : "\(text) \(date.year)"
    }

    /// `24 hours`, `7 days`, `90 seconds`: the largest unit that is exact and more than one.
    static func words(_ milliseconds: Int64) -> String {
        let units: [(name: String, length: Int64)] = [
            ("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000),
        ]
        for unit in units
        where milliseconds % unit.length == 0 && milliseconds / unit.length > 1 {
            return "\(milliseconds / unit.length) \(unit.name)"
        }
        return DurationText.text(milliseconds)
    }

    /// The time elapsed, in its largest unit: `20 s`, `5 min`, `2 h`, `3 days`.
    static func ago(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3_600 { return "\(seconds / 60) min" }
        if seconds < 2 * 86_400 { return "\(seconds / 3_600) h" }
        return "\(seconds / 86_400) days"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
