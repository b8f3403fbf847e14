extension TerminalText {
    /// How many columns a terminal takes for `text`, which should have been escaped.
    ///
    /// East-Asian wide characters and emoji take two, marks and joiners none, and a sequence of
    /// joined emoji is as wide as its first. Terminals disagree about rare cases; this is for
    /// lining up columns, not for trust.
    ///
    /// - Source: Unicode Standard Annex 11, "East Asian Width".
    public static func displayWidth(_ text: String) -> Int {
        var columns = Columns()
        for scalar in text.unicodeScalars { columns.take(scalar) }
        return columns.width
    }

    /// `text` cut to at most `columnsMax` columns, with an ellipsis if something is missing.
    ///
    /// A character may be as long as a message, so bytes are bounded, too: 32 for each column.
    public static func truncated(_ text: String, toColumns columnsMax: Int) -> String {
        guard columnsMax > 0 else { return "" }
        let bytesMax = min(columnsMax, 1 << 20) * bytesPerColumnMax
        if text.utf8.count <= bytesMax, displayWidth(text) <= columnsMax { return text }

        let scalars = text.unicodeScalars
        var columns = Columns()
        var byteCount = ellipsisByteCount
        var cut = scalars.startIndex
        for index in scalars.indices {
            let startsCharacter = columns.take(scalars[index])
            byteCount += UTF8.width(scalars[index])
            guard columns.widthBefore < columnsMax else { break }
            if startsCharacter { cut = index }
            guard byteCount <= bytesMax else {
                // One character that is larger than the budget is cut in its middle.
                if cut == scalars.startIndex { cut = index }
                break
            }
        }
        return String(scalars[..<cut]) + "…"
    }

    private static let bytesPerColumnMax = 32
    private static let ellipsisByteCount = 3
}

/// Adds up columns, one scalar at a time.
private struct Columns {
    /// Columns so far.
    private(set) var width = 0
    /// Columns before the last scalar that was taken.
    private(set) var widthBefore = 0
    private var previous: Unicode.Scalar = " "
    /// The last scalar was the first half of a flag.
    private var isHalfFlag = false
    private var lastWidth = 0

    /// Counts a scalar; says whether it begins a new character.
    @discardableResult
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        defer { previous = scalar }
        widthBefore = width
        if scalar.value < 0x300 { return begin(scalar.isControl ? 0 : 1) }

        let isFlagLetter = (0x1f1e6...0x1f1ff).contains(scalar.value)
        if isFlagLetter, isHalfFlag {
            isHalfFlag = false
            return false
        }
        if scalar.value == 0xfe0f, lastWidth == 1, previous.properties.isEmoji {
            // The selector that asks for the coloured form makes a narrow symbol wide.
            width += 1
            lastWidth = 2
            return false
        }
        if extendsCharacter(scalar) { return false }
        begin(Self.isWide(scalar) ? 2 : 1)
        isHalfFlag = isFlagLetter
        return true
    }

    @discardableResult
    private mutating func begin(_ columns: Int) -> Bool {
        width += columns
        lastWidth = columns
        isHalfFlag = false
        return true
    }

    /// Whether the scalar is drawn as a part of the character before it.
    private func extendsCharacter(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if previous.value == 0x200d, properties.isEmoji { return true }
        if properties.isEmojiModifier, previous.properties.isEmojiModifierBase { return true }
        if properties.isDefaultIgnorableCodePoint { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return true
        default: return (0x1160...0x11ff).contains(scalar.value)  // vowels and finals of Hangul
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        switch scalar.value {
        case 0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf,
            0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff,
            0x1f200...0x1f265, 0x1f300...0x1f320, 0x20000...0x3fffd:
            return true
        default:
            return false
        }
    }
}
