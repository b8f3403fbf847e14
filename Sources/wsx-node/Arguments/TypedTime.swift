import PeerNode

/// Points in time as people type them, in local time.
extension TimeText {
    /// Reads what `Manual.times` explains: `2h`, `1h30m` or `5 minutes` (ago, or `ahead` from now,
    /// where `in` may stand before them), `now`, a day such as `today` or `monday`, a time of day
    /// such as `14:03` or `2pm`, both of them, a date with or without a time, in local time or with
    /// an offset as in RFC 3339, or milliseconds since 1970.
    ///
    /// A weekday or a time of day alone means the last one or, with `ahead`, the next one.
    ///
    /// - Parameter dayMinute: the minute of the day that a day alone means.
    static func milliseconds(
        _ text: String, ahead: Bool = false, dayMinute: Int64 = 0, now: Int64,
        zone: (Int64) -> Int64
    ) -> Int64? {
        if text == "now" { return now }
        let isFromNow = ahead && text.lowercased().hasPrefix("in ")
        let length = isFromNow ? String(text.dropFirst(3)) : text
        if let span = span(Array((shortened(length, takesArticle: isFromNow) ?? length).utf8)) {
            return ahead ? now + min(span, 1 << 52) : max(0, now - min(span, now))
        }
        guard !isFromNow else { return nil }
        if let exact = ArgumentText.integer(text) {
            // A number without a unit is not taken for the first weeks of 1970.
            return exact == 0 || exact >= 10_000_000_000 ? exact : nil
        }
        if let time = spoken(text.lowercased(), ahead, dayMinute, now, zone) { return time }
        return written(Array(text.utf8), dayMinute, zone)
    }

    /// What people call the units of a span, and their letters.
    private static let units = [
        "second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "hr": "h", "day": "d",
        "week": "w",
    ]

    /// `5 minutes` as `5m`; `nil` for what is not a span in words.
    ///
    /// - Parameter takesArticle: whether `an hour` is one, too.
    private static func shortened(_ text: String, takesArticle: Bool) -> String? {
        let words = text.lowercased().split(separator: " ")
        guard words.count == 2, let count = words.first, let word = words.last else { return nil }
        guard let unit = units[String(word.hasSuffix("s") ? word.dropLast() : word)] else {
            return nil
        }
        return (takesArticle && ["a", "an"].contains(count) ? "1" : String(count)) + unit
    }

    /// `2h`, `1h30m`, `1w2d`: numbers with units, the larger ones first.
    private static func span(_ bytes: [UInt8]) -> Int64? {
        var rest = bytes[...]
        var sum: Int64 = 0
        var last = Int64.max
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            let unit = rest.dropFirst(digits.count).prefix { !(0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count + unit.count)
            let isWeeks = unit.elementsEqual("w".utf8)
            let name = isWeeks ? "d" : String(decoding: unit, as: UTF8.self)
            guard let length = DurationText.milliseconds("\(isWeeks ? 7 : 1)\(name)"),
                length < last, !digits.isEmpty, digits.count <= 15
            else { return nil }
            let (product, overflow) = (number(digits) ?? 0).multipliedReportingOverflow(by: length)
            let (total, isTooLong) = sum.addingReportingOverflow(product)
            guard !overflow, !isTooLong else { return nil }
            (sum, last) = (total, length)
        }
        return bytes.isEmpty ? nil : sum
    }

    private static let weekdays = [
        "thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday",
    ]

    /// A day, a time of day, or both.
    private static func spoken(
        _ text: String, _ ahead: Bool, _ dayMinute: Int64, _ now: Int64, _ zone: (Int64) -> Int64
    ) -> Int64? {
        let words = spokenWords(text)
        let today = local(now, zone: zone).day
        guard let first = words.first, words.count <= 2 else { return nil }
        if let clock = clock(first) {
            guard words.count == 1 else { return nil }
            let time = fromLocal(minutes: today * 1_440 + clock, zone)
            guard (time > now) != ahead, time != now else { return time }
            return fromLocal(minutes: (today + (ahead ? 1 : -1)) * 1_440 + clock, zone)
        }
        guard let day = day(first, ahead, today) else { return nil }
        guard words.count == 2 else { return fromLocal(minutes: day * 1_440 + dayMinute, zone) }
        return clock(words[1]).map { fromLocal(minutes: day * 1_440 + $0, zone) }
    }

    /// The words of a text, with `9 am` as one of them, and without an `at` before another word.
    private static func spokenWords(_ text: String) -> [String] {
        let typed = text.split(separator: " ").map(String.init)
        guard typed.last != "at" else { return typed }
        var words: [String] = []
        for word in typed where word != "at" {
            if ["am", "pm"].contains(word), let hour = words.popLast() {
                words.append(hour + word)
            } else {
                words.append(word)
            }
        }
        return words
    }

    /// The day since 1970 for a day's name. A weekday never means today.
    private static func day(_ word: String, _ ahead: Bool, _ today: Int64) -> Int64? {
        let near = ["yesterday": -1, "today": 0, "tomorrow": 1] as [String: Int64]
        if let distance = near[word] { return today + distance }
        let index = weekdays.firstIndex { $0 == word || $0.prefix(3) == word }
        guard let index else { return nil }
        let distance = (Int64(index) - today % 7 + 7) % 7
        if ahead { return today + (distance == 0 ? 7 : distance) }
        return today + distance - 7
    }

    /// `14:03`, `9:30`, `9am` or `9:30pm`: minutes of a day.
    private static func clock(_ word: String) -> Int64? {
        let isMorning = word.hasSuffix("am")
        guard isMorning || word.hasSuffix("pm") else {
            let bytes = Array(word.utf8)
            return minutesOfClock((bytes.count == 4 ? [0x30] + bytes : bytes)[...])
        }
        var bytes = Array(word.utf8.dropLast(2))
        if !bytes.contains(0x3A) { bytes += [0x3A, 0x30, 0x30] }
        if bytes.count == 4 { bytes.insert(0x30, at: 0) }
        // 12am is midnight, and 12pm noon.
        guard let minutes = minutesOfClock(bytes[...]), (60..<780).contains(minutes) else {
            return nil
        }
        return minutes % 720 + (isMorning ? 0 : 720)
    }

    private static func fromLocal(minutes: Int64, _ zone: (Int64) -> Int64) -> Int64 {
        max(0, (minutes - zone(minutes * 60_000)) * 60_000)
    }

    /// Reads `2026-11-20`, `2026-11-20 14:03`, `2026-11-20T14:03:05.123Z`, `…+09:00`.
    private static func written(
        _ bytes: [UInt8], _ dayMinute: Int64, _ zone: (Int64) -> Int64
    ) -> Int64? {
        guard bytes.count >= 10, let year = number(bytes[0..<4]), bytes[4] == 0x2D,
            let month = number(bytes[5..<7]), bytes[7] == 0x2D, let day = number(bytes[8..<10]),
            (1970...9_999).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var minutes = days(year: year, month: month, day: day) * 1_440
        guard date(ofDay: minutes / 1_440).day == day else { return nil }
        guard bytes.count > 10 else { return fromLocal(minutes: minutes + dayMinute, zone) }
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

    /// Removes `:05` or `:05.123`, if present. Returns milliseconds; further digits are ignored.
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
}
