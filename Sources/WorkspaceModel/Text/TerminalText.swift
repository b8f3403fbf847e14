/// Makes text of other people safe to show on a terminal or in a log.
///
/// The one place that does so. What could move the cursor, change the window, reorder a line or
/// begin a new log entry is shown as what it is: U+009B becomes `\u{9b}`. Doing it twice changes
/// nothing more.
///
///     TerminalText.escaped("a\u{1b}[2Jb", for: .line)  // "a\u{1b}[2Jb", in visible letters
public enum TerminalText {
    /// Where a text will stand.
    public enum Place: CaseIterable, Sendable {
        /// Beside other names: one line, and nothing in it that cannot be seen.
        case name
        /// In one line of its own, such as a topic.
        case line
        /// A message: line breaks and tabs stay.
        case body
    }

    /// `text` with everything dangerous made visible.
    public static func escaped(_ text: String, for place: Place) -> String {
        guard text.unicodeScalars.contains(where: { isEscaped($0, in: place) }) else { return text }
        var shown: [UInt8] = []
        shown.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { append(scalar, to: &shown, for: place) }
        return String(decoding: shown, as: UTF8.self)
    }

    /// `text` as a variable of a command: its beginning, of at most `maxBytes` bytes, with
    /// everything dangerous made visible. Line breaks and tabs stay.
    public static func forVariable(_ text: String, maxBytes: Int) -> String {
        let shown = escaped(text, for: .body)
        guard shown.utf8.count > maxBytes else { return shown }
        var bytes = 0
        var end = shown.unicodeScalars.startIndex
        for index in shown.unicodeScalars.indices {
            bytes += UTF8.width(shown.unicodeScalars[index])
            guard bytes <= maxBytes else { break }
            end = shown.unicodeScalars.index(after: index)
        }
        return String(shown.unicodeScalars[..<end])
    }

    /// `text` as a part of one log line, of at most `maxBytes` bytes with its ellipsis.
    ///
    /// Work and memory are bounded by `maxBytes`, however long the text is.
    public static func forLog(_ text: String, maxBytes: Int = 256) -> String {
        let ellipsis = "…"
        var shown: [UInt8] = []
        // The longest beginning after which the ellipsis still fits.
        var cut = 0
        for scalar in text.unicodeScalars {
            append(scalar, to: &shown, for: .name)
            guard shown.count <= maxBytes else {
                let fits = ellipsis.utf8.count <= maxBytes
                return String(decoding: shown[..<cut], as: UTF8.self) + (fits ? ellipsis : "")
            }
            if shown.count + ellipsis.utf8.count <= maxBytes { cut = shown.count }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private static func append(
        _ scalar: Unicode.Scalar, to shown: inout [UInt8], for place: Place
    ) {
        guard isEscaped(scalar, in: place) else {
            return shown.append(contentsOf: String(scalar).utf8)
        }
        shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".utf8)
    }

    private static func isEscaped(_ scalar: Unicode.Scalar, in place: Place) -> Bool {
        // The printable half of ASCII, which nearly all text is.
        if (0x20..<0x7f).contains(scalar.value) { return false }
        if scalar.isControl {
            return !(place == .body && (scalar == "\n" || scalar == "\t"))
        }
        if scalar.isLayoutControl || scalar.isNoncharacter { return true }
        switch scalar.value {
        case 0x206a...0x206f, 0xfff9...0xfffb, 0xe0000...0xe007f:
            return true  // deprecated formatting, annotations, tags
        case 0xfe00...0xfe0f:
            return false  // variation selectors: they choose the colour of an emoji
        default:
            return place == .name && scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
