/// The name of a person, a workspace or a channel, fit to be written into an operation.
///
/// What is written here is judged strictly; what others wrote only has to pass `checkWire`, which
/// is part of an operation's validity and so must never depend on the Unicode version.
///
///     let name = try CheckedName(authored: "  Ada Lovelace ")
///     name.text  // "Ada Lovelace"
public struct CheckedName: Hashable, Sendable {
    /// The name without white space around it, not normalised.
    public let text: String

    /// Takes what somebody typed.
    ///
    /// - Throws: `tooManyBytes` before anything else is looked at: counting characters of a
    ///   hostile text is what takes long.
    public init(authored typed: String) throws(TextProblem) {
        guard typed.utf8.count <= Limits.nameBytesMax else { throw .tooManyBytes }
        let text = Self.trimmed(typed)
        guard !Self.isBlank(text) else { throw .blank }
        guard !text.unicodeScalars.contains(where: Self.isRefused) else {
            throw .forbiddenCharacter
        }
        guard !Self.hasHiddenPart(text) else { throw .hiddenCharacter }
        guard text.longestRunOfMarks <= Limits.combiningMarksInARowMax else {
            throw .tooManyMarks
        }
        guard text.count <= Limits.nameCharactersMax else { throw .tooManyCharacters }
        guard text.unicodeScalars.count <= Limits.nameScalarsMax else { throw .tooManyScalars }
        self.text = text
    }

    /// Judges a name inside an operation: its length in bytes and its forbidden characters.
    public static func checkWire(_ name: String) throws(TextProblem) {
        guard name.utf8.count <= Limits.nameBytesMax else { throw .tooManyBytes }
        guard !name.unicodeScalars.contains(where: { $0.isControl || $0.isNoncharacter }) else {
            throw .forbiddenCharacter
        }
    }

    /// Whether nobody would see anything of a name that others wrote.
    public static func isBlank(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy(isInvisible)
    }

    /// As `checkWire(_:)` of a string, for bytes that may not be text at all.
    ///
    /// - Returns: the name.
    public static func checkWire(_ bytes: some Collection<UInt8>) throws(TextProblem) -> String {
        guard bytes.count <= Limits.nameBytesMax else { throw .tooManyBytes }
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        try checkWire(name)
        return name
    }

    static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let head = scalars.drop { $0.properties.isWhitespace }
        guard let last = head.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(head[...last])
    }

    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isControl || scalar.isNoncharacter || scalar.isLayoutControl
    }

    /// Whether there is something in it that nobody sees and no script needs there: `a` and U+200B
    /// look like `a`. Joiners and variants do their work in emoji and in scripts other than Latin.
    private static func hasHiddenPart(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.contains { place in
            guard scalars[place].properties.isDefaultIgnorableCodePoint else { return false }
            let before = place > 0 ? scalars[place - 1] : nil
            let after = place + 1 < scalars.count ? scalars[place + 1] : nil
            switch scalars[place].value {
            case 0x200C, 0x200D:
                // What comes before may be a variant itself, as in a heart on fire.
                let isVariant = before.map { (0xFE00...0xFE0F).contains($0.value) } ?? false
                return !(isVariant || isJoinable(before)) || !isJoinable(after)
            case 0xFE0F where before?.isASCII == true: return after?.value != 0x20E3
            case 0x180B...0x180D, 0xFE00...0xFE0F, 0xE0100...0xE01EF:
                return !isJoinable(before) && before?.properties.isEmoji != true
            // The letters of a flag such as Scotland's.
            case 0xE0020...0xE007F:
                let isFlag = before.map { $0.value == 0x1F3F4 || (0xE0020...0xE007E) ~= $0.value }
                return isFlag != true
            default: return true
            }
        }
    }

    /// Whether a joiner may stand beside it: a sign of an emoji, or a letter that is not of the
    /// Latin, Greek or Cyrillic script.
    private static func isJoinable(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.value >= 0x590 else { return false }
        return !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
    }

    /// Marks without a letter and the blank braille cell look like nothing, too.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isWhitespace || properties.isDefaultIgnorableCodePoint
            || scalar.isControl || scalar.isMark || scalar.value == 0x2800
    }
}

extension CheckedName: CustomStringConvertible {
    /// The name itself. For a terminal or a log it still goes through `TerminalText`.
    public var description: String { text }
}
