extension JSONValue {
    /// The value in compact form: no white space, members in their order, UTF-8.
    ///
    /// Escapes the quote, the backslash, every control character including C1 and DEL, line and
    /// paragraph separators, and bidirectional controls. So a line is one line everywhere, and safe
    /// to show in a terminal. `/` is not escaped.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// The compact form as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends the compact form to `bytes`.
    ///
    /// Recurses as deep as the value is nested: input from outside is at most `Limits.jsonDepthMax`
    /// deep.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let answer): bytes.append(contentsOf: (answer ? "true" : "false").utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        case .decimal(let literal): bytes.append(contentsOf: literal.utf8)
        case .string(let text): appendQuoted(text, to: &bytes)
        case .array(let list): appendList(list, to: &bytes)
        case .object(let object): appendObject(object, to: &bytes)
        }
    }
}

private func appendList(_ list: [JSONValue], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    var separate = false
    for element in list {
        if separate { bytes.append(UInt8(ascii: ",")) }
        separate = true
        element.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
}

private func appendObject(_ object: JSONObject, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    var separate = false
    for member in object.members {
        if separate { bytes.append(UInt8(ascii: ",")) }
        separate = true
        appendQuoted(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
}

private func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
        let words = UnsafeRawBufferPointer(source)
        var start = 0
        var index = 0
        while index < source.count {
            if source.count - index >= 8,
                isPlain(words.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            {
                index += 8
                continue
            }
            let (length, scalar) = toEscape(source, at: index)
            if length > 0 {
                bytes.append(contentsOf: source[start..<index])
                appendEscape(scalar, to: &bytes)
                start = index + length
            }
            index += max(length, 1)
        }
        bytes.append(contentsOf: source[start...])
    }
    bytes.append(UInt8(ascii: "\""))
}

/// Whether all eight bytes are printable ASCII without a quote or a backslash, so none needs an
/// escape.
private func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    /// Sets the highest bit of some byte, if a byte is below `bound`, which is at most 128.
    func below(_ bound: UInt64, _ word: UInt64) -> UInt64 { (word &- ones &* bound) & ~word }
    let found =
        word | below(0x20, word) | below(1, word ^ ones &* 0x22) | below(1, word ^ ones &* 0x5C)
        | below(1, word ^ ones &* 0x7F)
    return found & (ones &* 0x80) == 0
}

/// How many bytes at `index` are one character that needs an escape, 0 for none, and its value.
private func toEscape(
    _ source: UnsafeBufferPointer<UInt8>, at index: Int
) -> (length: Int, scalar: UInt32) {
    func byte(_ offset: Int) -> UInt32 {
        index + offset < source.count ? UInt32(source[index + offset]) : 0
    }
    switch byte(0) {
    case 0..<0x20, 0x22, 0x5C, 0x7F: return (1, byte(0))
    // C1 controls.
    case 0xC2 where byte(1) < 0xA0: return (2, byte(1))
    // The Arabic letter mark.
    case 0xD8 where byte(1) == 0x9C: return (2, 0x061C)
    case 0xE2 where byte(1) == 0x80:
        // Marks, separators and embeddings.
        let isEscaped = byte(2) == 0x8E || byte(2) == 0x8F || (0xA8...0xAE).contains(byte(2))
        return isEscaped ? (3, 0x2000 + (byte(2) & 0x3F)) : (0, 0)
    // Isolates.
    case 0xE2 where byte(1) == 0x81 && (0xA6...0xA9).contains(byte(2)):
        return (3, 0x2040 + (byte(2) & 0x3F))
    default: return (0, 0)
    }
}

private func appendEscape(_ scalar: UInt32, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch scalar {
    case 0x22, 0x5C: bytes.append(UInt8(scalar))
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "u"))
        for shift in [12, 8, 4, 0] as [UInt32] {
            bytes.append(digits[Int(scalar >> shift & 15)])
        }
    }
}
