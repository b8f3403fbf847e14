import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What a passphrase has to satisfy (1-mission 2.7).
public enum PassphraseRule {
    /// In bytes of UTF-8.
    static let bytesMax = 1_024

    /// The problem, as a word of `data.fields`, or `nil`.
    public static func problem(of text: String) -> String? {
        if text.utf8.count > bytesMax { return "too_long" }
        if text.utf8.contains(0) { return "form" }
        let letters = text.unicodeScalars
        if letters.count >= 15 { return nil }
        guard letters.count >= 8 else { return "too_short" }
        let kinds: [(Unicode.Scalar) -> Bool] = [
            { $0.properties.isLowercase }, { $0.properties.isUppercase },
            { $0.properties.numericType != nil },
            { !$0.properties.isAlphabetic && $0.properties.numericType == nil },
        ]
        return kinds.allSatisfy { letters.contains(where: $0) } ? nil : "weak"
    }

    static func sentence(for field: String) -> String { "'\(field)' must have \(words)" }

    /// The rule, for a person who is about to type one.
    public static let rule = "a passphrase has \(words)"

    private static let words =
        "at least 15 characters, or 8 with a lower-case and an upper-case letter, a digit and a "
        + "symbol"
}
