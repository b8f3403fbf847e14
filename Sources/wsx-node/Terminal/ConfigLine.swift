import WorkspaceModel

/// One line of the settings file.
enum ConfigLine {
    /// An empty line, or a comment.
    case blank
    /// `[net]`.
    case section(String)
    /// `listen = "0.0.0.0:29790"  # comment`, with the value as written.
    case setting(String, String)

    init(_ line: String, number: Int) throws(NodeError) {
        let bytes = Self.trimmed(Array(line.utf8)[...])
        guard let first = bytes.first, first != UInt8(ascii: "#") else {
            self = .blank
            return
        }
        if first == UInt8(ascii: "[") {
            let content = Self.trimmed(bytes[..<Self.valueEnd(bytes)])
            guard content.last == UInt8(ascii: "]"), content.count > 2,
                content.dropFirst().dropLast().allSatisfy(Self.isNameByte)
            else { throw .badConfiguration("expected a section such as [net]", line: number) }
            self = .section(String(decoding: content.dropFirst().dropLast(), as: UTF8.self))
            return
        }
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw .badConfiguration("expected a setting such as name = \"Mina\"", line: number)
        }
        let key = Self.trimmed(bytes[..<equals])
        let rest = bytes[(equals + 1)...]
        let value = Self.trimmed(rest[..<Self.valueEnd(rest)])
        guard !key.isEmpty, key.allSatisfy(Self.isNameByte), !value.isEmpty else {
            throw .badConfiguration("expected a setting such as name = \"Mina\"", line: number)
        }
        self = .setting(
            String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// The quoted string, with JSON's escapes.
    static func text(_ value: String) -> String? {
        guard value.utf8.first == UInt8(ascii: "\"") else { return nil }
        return (try? JSONValue(parsing: value))?.stringValue
    }

    /// The strings of a list.
    static func list(_ value: String) -> [String]? {
        guard let list = (try? JSONValue(parsing: value))?.arrayValue else { return nil }
        let texts = list.compactMap(\.stringValue)
        return texts.count == list.count ? texts : nil
    }

    /// The same line with another value, keeping its comment.
    static func replacing(_ line: String, by value: String) -> String {
        let bytes = Array(line.utf8)[...]
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return line }
        let rest = bytes[(equals + 1)...]
        let comment = bytes[valueEnd(rest)...]
        let before = String(decoding: bytes[...equals], as: UTF8.self)
        let after = String(decoding: comment, as: UTF8.self)
        return before + " " + value + (after.isEmpty ? "" : "  " + after)
    }

    /// Where the comment starts: the first `#` outside quotes, or the end.
    private static func valueEnd(_ bytes: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        var isEscaped = false
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "#"), !isQuoted {
                return index
            }
        }
        return bytes.endIndex
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E: true
        default: false
        }
    }
}
