import Foundation

/// Reads lines of Swift, of which there are some hundred thousand: in optimised code.
public enum SourceText {
    private static let quote = UInt8(ascii: "\"")
    private static let slash = UInt8(ascii: "/")
    private static let escape = UInt8(ascii: "\\")

    /// Lines of Swift without comments and without the insides of strings. Nested comments and
    /// code inside of an interpolation are not looked at: the format has no block comments, and
    /// nobody hides a clock in an interpolation.
    public static func code(_ lines: [String]) -> [String] {
        var isInLongString = false
        return lines.map { line in
            if line.utf8.contains(quote), line.components(separatedBy: "\"\"\"").count % 2 == 0 {
                defer { isInLongString.toggle() }
                return isInLongString ? "" : String(line.prefix { $0 != "\"" })
            }
            return isInLongString ? "" : codeOutsideStrings(line)
        }
    }

    private static func codeOutsideStrings(_ line: String) -> String {
        guard line.utf8.contains(where: { $0 == quote || $0 == slash }) else { return line }
        var code: [UInt8] = []
        var isInString = false
        var isEscaped = false
        var previous = UInt8(ascii: " ")
        for letter in line.utf8 {
            if isInString {
                if !isEscaped, letter == quote { isInString = false }
                isEscaped = !isEscaped && letter == escape
                continue
            }
            if letter == slash, previous == slash {
                return String(decoding: code.dropLast(), as: UTF8.self)
            }
            if letter == quote { isInString = true }
            code.append(letter)
            previous = letter
        }
        return String(decoding: code, as: UTF8.self)
    }
}
