import WorkspaceModel

/// Encodes fields of URLs and forms: `application/x-www-form-urlencoded`.
enum FormText {
    /// Fields in their order, everything but letters, digits and `-._~` as `%XX`.
    static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
    }

    private static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(Unicode.Scalar(byte))
            default:
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    /// The fields of a text. A name that occurs twice is skipped, and so are malformed fields.
    ///
    /// - Parameter text: from outside.
    static func decode(_ text: some StringProtocol) -> [String: String] {
        var fields: [String: String] = [:]
        var doubled: Set<String> = []
        for field in text.split(separator: "&").prefix(64) {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = decode(field: parts[0]),
                let value = decode(field: parts[1])
            else { continue }
            if fields[name] != nil { doubled.insert(name) }
            fields[name] = value
        }
        for name in doubled { fields[name] = nil }
        return fields
    }

    private static func decode(field text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                // A number from a text could have a sign.
                let digits = rest.prefix(2).compactMap(Hexadecimal.value(ofDigit:))
                guard digits.count == 2, let high = digits.first, let low = digits.last else {
                    return nil
                }
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
