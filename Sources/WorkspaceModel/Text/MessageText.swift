/// The rule for the text of a message, which is part of an operation's validity.
///
/// An empty text passes: whether it makes sense depends on what else the message carries.
public enum MessageText {
    /// Judges a text: its length in bytes, no NUL, and nothing that Unicode never assigns.
    public static func check(_ text: String) throws(TextProblem) {
        guard text.utf8.count <= Limits.messageTextBytesMax else { throw .tooManyBytes }
        guard !text.unicodeScalars.contains(where: { $0.value == 0 || $0.isNoncharacter }) else {
            throw .forbiddenCharacter
        }
    }

    /// Whether nothing in a text can be seen. Only for what is written here: what counts as white
    /// space grows with Unicode, so no operation is judged by it.
    public static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint
                || $0.isControl || $0.value == 0x2800
        }
    }

    /// As `check(_:)` of a string, for bytes that may not be text at all.
    ///
    /// - Returns: the text.
    public static func check(_ bytes: some Collection<UInt8>) throws(TextProblem) -> String {
        guard bytes.count <= Limits.messageTextBytesMax else { throw .tooManyBytes }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        try check(text)
        return text
    }
}
