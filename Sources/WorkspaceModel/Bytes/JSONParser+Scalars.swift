/// Numbers and texts: the leaves of a JSON document.
extension JSONParser {
    /// An integer where the literal is one that fits 64 bits, otherwise the literal itself.
    mutating func number() throws(JSONError) -> JSONValue {
        let start = index
        let negative = take(UInt8(ascii: "-"))
        var magnitude: UInt64? = 0
        let digitsStart = index
        while let digit = digit(next) {
            magnitude = magnitude.flatMap { appended($0, digit) }
            index += 1
        }
        guard index > digitsStart else { throw unexpected() }
        if bytes[digitsStart] == 0x30, index > digitsStart + 1 {
            index = digitsStart + 1
            throw failure(.unexpectedByte)
        }
        let isWhole = try !fraction()
        if isWhole, let magnitude, let number = signed(magnitude, negative: negative) {
            return .integer(number)
        }
        return .decimal(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    /// Skips `.5e-7`, and tells whether there was any of it.
    private mutating func fraction() throws(JSONError) -> Bool {
        let start = index
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return index > start
    }

    private mutating func digits() throws(JSONError) {
        guard digit(next) != nil else { throw unexpected() }
        while digit(next) != nil { index += 1 }
    }

    /// The text between the quote at `index` and the next bare one.
    mutating func string() throws(JSONError) -> String {
        index += 1
        let start = index
        var all: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            all |= byte
            if byte == UInt8(ascii: "\"") {
                let text = try text(bytes[start..<index], isASCII: all < 0x80)
                index += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            if byte < 0x20 { throw failure(.controlCharacter) }
            index += 1
        }
        throw failure(.endsEarly)
    }

    /// Most texts are ASCII, which is always valid: validating it would cost more than all the
    /// rest.
    private func text(_ bytes: ArraySlice<UInt8>, isASCII: Bool) throws(JSONError) -> String {
        if isASCII { return String(decoding: bytes, as: UTF8.self) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw failure(.invalidUTF8)
        }
        return text
    }

    /// The same once a backslash was met: the bytes are collected before they become text.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var gathered = Array(bytes[start..<index])
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 { throw failure(.controlCharacter) }
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: gathered, as: UTF8.self) else {
                    throw failure(.invalidUTF8)
                }
                return text
            case UInt8(ascii: "\\"): try escape(into: &gathered)
            default: gathered.append(byte)
            }
        }
        throw failure(.endsEarly)
    }

    private mutating func escape(into gathered: inout [UInt8]) throws(JSONError) {
        let letter = next
        guard index < bytes.count else { throw failure(.endsEarly) }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): gathered.append(letter)
        case UInt8(ascii: "b"): gathered.append(0x08)
        case UInt8(ascii: "f"): gathered.append(0x0C)
        case UInt8(ascii: "n"): gathered.append(0x0A)
        case UInt8(ascii: "r"): gathered.append(0x0D)
        case UInt8(ascii: "t"): gathered.append(0x09)
        case UInt8(ascii: "u"): gathered.append(contentsOf: try scalar().utf8)
        default: throw failure(.invalidEscape)
        }
    }

    /// The character of one `\uXXXX`, or of the two that make a surrogate pair.
    private mutating func scalar() throws(JSONError) -> String {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return String(scalar) }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw failure(.invalidEscape)
        }
        let second = try fourHexDigits()
        guard (0xDC00...0xDFFF).contains(second) else { throw failure(.invalidEscape) }
        let value = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        guard let scalar = Unicode.Scalar(value) else { throw failure(.invalidEscape) }
        return String(scalar)
    }

    /// 0 to 0xFFFF.
    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(ofDigit: next) else {
                throw failure(index < bytes.count ? .invalidEscape : .endsEarly)
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}

private func digit(_ byte: UInt8) -> UInt8? { (0x30...0x39).contains(byte) ? byte - 0x30 : nil }

private func appended(_ magnitude: UInt64, _ digit: UInt8) -> UInt64? {
    let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
    let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
    return overflow || carry ? nil : sum
}

/// The number, or `nil` for `-0`, which is no integer, and for what 64 bits cannot hold.
private func signed(_ magnitude: UInt64, negative: Bool) -> Int64? {
    guard negative else { return Int64(exactly: magnitude) }
    if magnitude == 0 { return nil }
    if magnitude == Int64.min.magnitude { return .min }
    return Int64(exactly: magnitude).map { -$0 }
}
