/// Why a text is not taken as a name or a message.
///
/// The same reasons serve the person who types (`description` is a sentence for them) and the
/// decoder that refuses an operation (which says `Malformed.Reason.badText`).
public enum TextProblem: String, Error, CaseIterable, Sendable {
    /// More bytes of UTF-8 than allowed.
    case tooManyBytes = "too-many-bytes"
    /// More characters, as people count them, than allowed.
    case tooManyCharacters = "too-many-characters"
    /// More Unicode scalars than allowed, in however few characters.
    case tooManyScalars = "too-many-scalars"
    /// More combining marks in a row than any script needs.
    case tooManyMarks = "too-many-marks"
    /// Nothing that can be seen.
    case blank
    /// A control character, or one that Unicode promises never to assign.
    case forbiddenCharacter = "forbidden-character"
    /// A character inside a name that looks like nothing.
    case hiddenCharacter = "hidden-character"
    /// Bytes that are not UTF-8.
    case notUTF8 = "not-utf8"
}

extension TextProblem: CustomStringConvertible {
    /// A sentence for the person who typed the text.
    public var description: String {
        switch self {
        case .tooManyBytes: "The text is too long."
        case .tooManyCharacters:
            "A name has at most \(Limits.nameCharactersMax) characters."
        case .tooManyScalars: "The name is made of too many parts."
        case .tooManyMarks: "The name stacks too many marks on one letter."
        case .blank: "A name needs at least one visible character."
        case .forbiddenCharacter: "The text contains a character that is not allowed."
        case .hiddenCharacter: "The name contains an invisible character."
        case .notUTF8: "The text is not UTF-8."
        }
    }
}

extension String {
    /// Whether there is a NUL in it, which no text of an operation has. Looks at all the bytes in
    /// one range: `utf8.contains` asks for one after the other.
    var hasNUL: Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? utf8.contains(0)
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1. These 65 will never change, so validity may depend on them.
    var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }

    /// One of the 66 that Unicode promises never to assign, U+FFFE among them.
    var isNoncharacter: Bool { (0xfdd0...0xfdef).contains(value) || value & 0xfffe == 0xfffe }

    /// Reorders or breaks the line around it: explicit directions, line and paragraph separators.
    var isLayoutControl: Bool {
        switch value {
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// A mark that is drawn onto the character before it.
    var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }
}

extension String {
    /// How many marks stand in a row at most: each is drawn onto the one before.
    var longestRunOfMarks: Int {
        var longest = 0
        var run = 0
        for scalar in unicodeScalars {
            run = scalar.isMark ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
