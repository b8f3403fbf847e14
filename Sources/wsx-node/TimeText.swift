import PeerNode

/// Points in time as people read and write them, in local time.
enum TimeText {
    /// Days since 1970 of a date in the Gregorian calendar.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    /// The date of a day since 1970.
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

    /// `Fri 20 Nov`, with the year where it is another than today's; `Today`, `Yesterday`.
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

    /// How long something is ago, in its largest unit: `20 s`, `5 min`, `2 h`, `3 days`.
    static func ago(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3_600 { return "\(seconds / 60) min" }
        if seconds < 2 * 86_400 { return "\(seconds / 3_600) h" }
        return "\(seconds / 86_400) days"
    }

    /// Reads what `Manual.times` explains: `2h` (ago, or `ahead` from now), `today`, a date with
    /// or without a time, in local time or with an offset as in RFC 3339, or milliseconds since
    /// 1970.
    static func milliseconds(
        _ text: String, ahead: Bool = false, now: Int64, zone: (Int64) -> Int64
    ) -> Int64? {
        if let span = DurationText.milliseconds(text) {
            return ahead ? now + min(span, 1 << 52) : max(0, now - min(span, now))
        }
        if let exact = ArgumentText.integer(text) { return exact }
        let words = ["yesterday": -1, "today": 0, "tomorrow": 1] as [String: Int64]
        if let distance = words[text] {
            let day = local(now, zone: zone).day + distance
            return fromLocal(minutes: day * 1_440, zone)
        }
        return written(Array(text.utf8), zone)
    }

    private static func fromLocal(minutes: Int64, _ zone: (Int64) -> Int64) -> Int64 {
        max(0, (minutes - zone(minutes * 60_000)) * 60_000)
    }

    /// Reads `2026-11-20`, `2026-11-20 14:03`, `2026-11-20T14:03:05.123Z`, `…+09:00`.
    private static func written(_ bytes: [UInt8], _ zone: (Int64) -> Int64) -> Int64? {
        guard bytes.count >= 10, let year = number(bytes[0..<4]), bytes[4] == 0x2D,
            let month = number(bytes[5..<7]), bytes[7] == 0x2D, let day = number(bytes[8..<10]),
            (1970...9_999).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var minutes = days(year: year, month: month, day: day) * 1_440
        guard date(ofDay: minutes / 1_440).day == day else { return nil }
        guard bytes.count > 10 else { return fromLocal(minutes: minutes, zone) }
        guard bytes.count >= 16, [0x20, 0x54, 0x74].contains(bytes[10]),
            let clock = minutesOfClock(bytes[11..<16])
        else { return nil }
        minutes += clock
        var rest = bytes[16...]
        guard let past = seconds(&rest) else { return nil }
        if rest.isEmpty { return fromLocal(minutes: minutes, zone) + past }
        guard let offset = offset(rest) else { return nil }
        return max(0, (minutes - offset) * 60_000 + past)
    }

    /// `14:03`, five bytes.
    private static func minutesOfClock(_ text: ArraySlice<UInt8>) -> Int64? {
        let start = text.startIndex
        guard text.count == 5, text[start + 2] == 0x3A, let hour = number(text[start..<start + 2]),
            let minute = number(text[(start + 3)...]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    /// Takes `:05` or `:05.123` away, if it is there. Returns milliseconds; of a fraction only
    /// those count.
    private static func seconds(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == 0x3A else { return 0 }
        let digits = rest.dropFirst().prefix(2)
        guard digits.count == 2, let seconds = number(digits), seconds < 60 else { return nil }
        rest = rest.dropFirst(3)
        guard rest.first == 0x2E else { return seconds * 1_000 }
        let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(1 + fraction.count)
        let exact = Array(fraction.prefix(3)) + [UInt8](repeating: 0x30, count: 3)
        guard !fraction.isEmpty, let milliseconds = number(exact[..<3]) else { return nil }
        return seconds * 1_000 + milliseconds
    }

    /// `Z`, `+09:00`, `-0430`: minutes ahead of UTC.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        if text.elementsEqual([0x5A]) || text.elementsEqual([0x7A]) { return 0 }
        guard let sign = text.first, sign == 0x2B || sign == 0x2D else { return nil }
        var clock = Array(text.dropFirst())
        if clock.count == 4 { clock.insert(0x3A, at: 2) }
        guard let minutes = minutesOfClock(clock[...]) else { return nil }
        return sign == 0x2D ? -minutes : minutes
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - 0x30)
        }
        return number
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
