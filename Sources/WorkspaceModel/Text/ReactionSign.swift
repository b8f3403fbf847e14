/// A sign under a message, or beside somebody's presence: an emoji, or one other character.
///
/// For what is written here. An operation holds any text of 1 to 64 bytes (PROTOCOL.md, section
/// 3.2), and signs are compared byte by byte, so one sign must always be written in one way.
public enum ReactionSign {
    /// What somebody typed, as it is written, or `nil` for what is not one sign.
    public static func checked(_ typed: String) -> String? {
        // Counting characters of a hostile text is what takes long.
        guard !typed.isEmpty, typed.utf8.count <= Limits.emojiBytesMax else { return nil }
        let sign = canonical(typed)
        guard sign.utf8.count <= Limits.emojiBytesMax, sign.count == 1,
            let first = sign.unicodeScalars.first, isVisible(first), !first.isMark,
            sign.unicodeScalars.allSatisfy({ !isRefused($0) }),
            sign.longestRunOfMarks <= Limits.combiningMarksInARowMax
        else { return nil }
        return sign
    }

    /// The same sign with variation selectors where Unicode's list of emoji has them: `❤` and `❤️`
    /// are one sign, and so are `👍` and `👍️`.
    ///
    /// - Source: Unicode Technical Standard 51, definitions of *emoji presentation sequence* and
    ///   *fully-qualified*.
    public static func canonical(_ sign: String) -> String {
        let scalars = Array(bare(sign).unicodeScalars)
        var made = String.UnicodeScalarView()
        for (place, scalar) in scalars.enumerated() {
            made.append(scalar)
            let properties = scalar.properties
            guard properties.isEmoji, !properties.isEmojiPresentation else { continue }
            let after = place + 1 < scalars.count ? scalars[place + 1] : nil
            if after?.properties.isEmojiModifier == true { continue }
            // Digits, `#` and `*` are signs only with the frame of a key around them.
            if scalar.isASCII, after?.value != 0x20E3 { continue }
            made.append(emojiStyle)
        }
        return String(made)
    }

    /// A sign without the selectors that only choose between a picture and a letter.
    public static func bare(_ sign: String) -> String {
        String(sign.unicodeScalars.filter { !isPresentation($0) })
    }

    private static let emojiStyle: Unicode.Scalar = "\u{FE0F}"

    private static func isPresentation(_ scalar: Unicode.Scalar) -> Bool {
        scalar == emojiStyle || scalar.value == 0xFE0E
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800
    }

    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isControl || scalar.isNoncharacter || scalar.isLayoutControl
            || scalar.properties.isWhitespace
    }
}
