/// The fields of a profile as somebody types them. What others wrote is judged by its length alone.
public enum ProfileText {
    /// Whether a text is kept in that field as it is.
    public static func isKept(_ text: String, in field: ProfileChange.Field) -> Bool {
        do throws(InvalidForm) { return try checked(text, for: field) == text } catch {
            return false
        }
    }

    /// The text as it is kept, `nil` for none, which is what blank text means.
    ///
    /// - Throws: `InvalidForm` for text that the field does not take.
    public static func checked(
        _ typed: String, for field: ProfileChange.Field
    ) throws(InvalidForm) -> String? {
        let text = CheckedName.trimmed(typed)
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= Limits.profileFieldBytesMax else { throw .tooLong }
        guard !text.unicodeScalars.contains(where: { isRefused($0, in: field) }) else {
            throw .form
        }
        switch field {
        case .description: return text
        case .country:
            do { return try CheckedName(authored: text).text } catch { throw .form }
        case .phone: return try phone(text)
        case .email: return try email(text)
        case .image: return try preset(text)
        }
    }

    /// Why a text is not taken. The raw value is the word of `data.fields`.
    public enum InvalidForm: String, Error, Sendable {
        /// More bytes than the field takes.
        case tooLong = "too_long"
        /// Not written as the field has to be.
        case form
    }

    // MARK: Phone

    /// Digits alone, or `+` and digits: the Korean form (01 and 8 or 9 more), else E.164, which is
    /// `+` and 8 to 15 digits that do not begin with 0.
    private static func phone(_ text: String) throws(InvalidForm) -> String {
        let isForeign = text.utf8.first == UInt8(ascii: "+")
        var digits = ""
        for scalar in text.unicodeScalars.dropFirst(isForeign ? 1 : 0) {
            switch scalar {
            case "0"..."9": digits.unicodeScalars.append(scalar)
            case " ", "-", ".", "(", ")": continue
            default: throw .form
            }
        }
        let count = digits.utf8.count
        if isForeign {
            guard (8...15).contains(count), !digits.hasPrefix("0") else { throw .form }
            return "+" + digits
        }
        guard (10...11).contains(count), digits.hasPrefix("01") else { throw .form }
        return digits
    }

    /// A phone number as people read it: the Korean form in groups of 3, 3 or 4, and 4.
    public static func shown(phone: String) -> String {
        let digits = Array(phone.utf8)
        guard (10...11).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.starts(with: [0x30, 0x31])
        else { return phone }
        let end = digits.count - 4
        return [digits[..<3], digits[3..<end], digits[end...]]
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
    }

    // MARK: Email

    /// In lower case. Local part: letters, digits and `._%+-`; at least two labels; the last one 2
    /// to 64 letters; at most 254 bytes.
    private static func email(_ text: String) throws(InvalidForm) -> String {
        guard text.utf8.count <= 254 else { throw .tooLong }
        let bytes = text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            parts[0].allSatisfy({ isLetterOrDigit($0) || "._%+-".utf8.contains($0) })
        else { throw .form }
        let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last, (2...64).contains(last.count),
            last.allSatisfy({ (0x61...0x7a).contains($0) }), labels.allSatisfy(isLabel)
        else { throw .form }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return !label.isEmpty && label.count <= 64 && label.first != hyphen
            && label.last != hyphen && label.allSatisfy { isLetterOrDigit($0) || $0 == hyphen }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
    }

    // MARK: Image

    /// The numbers of the pictures that every program has.
    public static let presets: ClosedRange<Int64> = 1...999

    /// What a picture's text begins with that names a blob. Only the program itself makes one.
    public static let blobScheme = "blob:"

    private static func preset(_ text: String) throws(InvalidForm) -> String {
        if text.utf8.starts(with: blobScheme.utf8) { return text }
        guard let number = text.split(separator: ":").last.flatMap({ Int64($0) }),
            presets.contains(number), text == "preset:\(number)"
        else { throw .form }
        return text
    }

    // MARK: Text

    private static func isRefused(_ scalar: Unicode.Scalar, in field: ProfileChange.Field) -> Bool {
        // A description may have lines.
        if field == .description, scalar == "\n" { return false }
        return scalar.isControl || scalar.isNoncharacter
            || (field != .description && scalar.isLayoutControl)
    }
}
