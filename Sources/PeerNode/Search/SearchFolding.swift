/// Which letters are the same for search.
///
/// Case, accents, half and full width make no difference, and neither does how a letter is
/// composed: Hangul from jamo, kana and its voicing mark. Index and query are folded by these
/// functions, and so is a message before it is reported as found: they define what search finds.
enum SearchFolding {
    /// Characters between words: blanks, punctuation, symbols, emoji.
    static let separator: UInt32 = 0
    /// Characters that belong to the previous letter and make no difference: accents, joiners.
    static let attached: UInt32 = 1

    /// The folded letter for `scalar`, or `separator`, or `attached`.
    static func fold(_ scalar: Unicode.Scalar) -> UInt32 {
        let value = scalar.value
        if value < 0x2000 { return table[Int(value)] }
        let usual = usualWidth(value)
        if usual != value {
            return usual < 0x2000 ? table[Int(usual)] : usual
        }
        // Nearly all of the rest: syllables and characters that have neither case nor accent.
        if isRunLetter(value) { return value }
        let folded = withoutCase(scalar)
        if folded == separator || folded == attached { return folded }
        return folded < 0x2000 ? table[Int(folded)] : folded
    }

    /// Whether words of this script are written without blanks: Hangul, Han, kana, bopomofo.
    static func isRunLetter(_ value: UInt32) -> Bool {
        // Nearly all letters of other scripts, without a look at each range.
        guard value >= 0x1100 else { return false }
        return switch value {
        case 0x3400...0x4dbf, 0x4e00...0x9fff, 0xac00...0xd7a3: true
        case 0x3041...0x3096, 0x309d...0x309f, 0x30a1...0x30fa, 0x30fc...0x30ff: true
        case 0x1100...0x11ff, 0x3131...0x318e, 0xa960...0xa97c, 0xd7b0...0xd7fb: true
        case 0x3005...0x3007, 0x3021...0x3029, 0x303b, 0x3105...0x312f, 0x31a0...0x31bf: true
        case 0x31f0...0x31ff, 0xf900...0xfaff, 0x1b000...0x1b16f, 0x20000...0x3fffd: true
        default: false
        }
    }

    /// The letter that `mark` makes of `letter`, if the two are one: a voiced kana, a syllable.
    static func composed(_ letter: UInt32, _ mark: UInt32) -> UInt32? {
        switch mark {
        case 0x3099, 0x309a: return voiced(letter, isHalf: mark == 0x309a)
        case 0x1161...0x1175:
            guard (0x1100...0x1112).contains(letter) else { return nil }
            return 0xac00 + ((letter - 0x1100) * 21 + mark - 0x1161) * 28
        case 0x11a8...0x11c2:
            guard (0xac00...0xd7a3).contains(letter), (letter - 0xac00) % 28 == 0 else {
                return nil
            }
            return letter + mark - 0x11a7
        default: return nil
        }
    }

    /// Kana are encoded in one order twice, hiragana and then katakana, each voiced one after its
    /// base.
    private static func voiced(_ letter: UInt32, isHalf: Bool) -> UInt32? {
        let isKatakana = (0x30a1...0x30f6).contains(letter)
        let kana = isKatakana ? letter - 0x60 : letter
        let isOfH = (0x306f...0x307b).contains(kana) && (kana - 0x306f) % 3 == 0
        if isHalf { return isOfH ? letter + 2 : nil }
        if kana == 0x3046 { return letter + 0x4e }
        let isOfKST =
            ((0x304b...0x3061).contains(kana) && kana % 2 == 1)
            || [0x3064, 0x3066, 0x3068].contains(kana)
        return isOfH || isOfKST ? letter + 1 : nil
    }

    // MARK: Width

    private static let wideKana: [UInt32] = """
        ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン
        """.unicodeScalars.map(\.value)

    /// The letter of usual width for a narrow or wide form.
    private static func usualWidth(_ value: UInt32) -> UInt32 {
        switch value {
        case 0xff01...0xff5e: value - 0xfee0
        case 0xff66...0xff9d: wideKana[Int(value - 0xff66)]
        case 0xff9e: 0x3099
        case 0xff9f: 0x309a
        case 0xffa1...0xffbe: value - 0xffa1 + 0x3131
        case 0xffc2...0xffc7: value - 0xffc2 + 0x314f
        case 0xffca...0xffcf: value - 0xffca + 0x3155
        case 0xffd2...0xffd7: value - 0xffd2 + 0x315b
        case 0xffda...0xffdc: value - 0xffda + 0x3161
        default: value
        }
    }

    // MARK: Case and accents

    private static func withoutCase(_ scalar: Unicode.Scalar) -> UInt32 {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .uppercaseLetter, .titlecaseLetter, .lowercaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            // Further scalars of a lower-case mapping are accents.
            let lower = properties.lowercaseMapping.unicodeScalars.first ?? scalar
            // The small sigma at the end of a word.
            return lower.value == 0x3c2 ? 0x3c3 : lower.value
        case .nonspacingMark, .spacingMark, .enclosingMark:
            // In many scripts vowels are marks, and make all the difference.
            return isAccent(scalar.value) ? attached : scalar.value
        case .format: return attached
        default: return separator
        }
    }

    private static func isAccent(_ value: UInt32) -> Bool {
        switch value {
        case 0x300...0x36f, 0x483...0x489, 0x591...0x5c7, 0x610...0x61a, 0x64b...0x65f: true
        case 0x1ab0...0x1aff, 0x1dc0...0x1dff, 0x20d0...0x20ff, 0xfe00...0xfe0f: true
        case 0xfe20...0xfe2f, 0xe0100...0xe01ef: true
        default: false
        }
    }

    /// `fold` of the scalars below U+2000.
    static let table: [UInt32] = {
        let bases = basesOfAccented()
        return (0..<0x2000 as Range<UInt32>).map { value in
            guard let scalar = Unicode.Scalar(value) else { return separator }
            let folded = withoutCase(scalar)
            guard folded >= 0xc0, let letter = Unicode.Scalar(folded) else { return folded }
            return bases[String(letter)] ?? folded
        }
    }()

    /// The bare letter of each accented one of Latin, Greek and Cyrillic.
    ///
    /// Texts are equal to Swift when they are canonically equivalent, so a letter that was put
    /// together here is found under the same letter in one piece.
    private static func basesOfAccented() -> [String: UInt32] {
        let letters =
            "abcdefghijklmnopqrstuvwxyz" + "αβγδεζηθικλμνξοπρστυφχψω"
            + "абвгдежзийклмнопрстуфхцчшщъыьэюяіѵәөү"
        let accents: [UInt32] = [
            0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x309, 0x30a, 0x30b, 0x30c,
            0x30f, 0x311, 0x313, 0x314, 0x31b, 0x323, 0x324, 0x325, 0x326, 0x327, 0x328, 0x32d,
            0x32e, 0x330, 0x331, 0x342, 0x345,
        ]
        let letterValues = letters.unicodeScalars.map(\.value)
        // Two accents at a time, as Vietnamese and Greek have them.
        let twice = "aeiouyslrdαεηιουω".unicodeScalars.map(\.value)
        var bases: [String: UInt32] = [:]
        func add(_ base: UInt32, _ marks: [UInt32]) {
            var text = String.UnicodeScalarView()
            for value in [base] + marks { Unicode.Scalar(value).map { text.append($0) } }
            bases[String(text)] = base
        }
        for base in letterValues {
            for accent in accents { add(base, [accent]) }
        }
        for base in twice {
            for first in accents {
                for second in [
                    0x300, 0x301, 0x303, 0x304, 0x306, 0x307, 0x308, 0x309, 0x302,
                    0x323, 0x342, 0x345,
                ] as [UInt32] { add(base, [first, second]) }
            }
        }
        return bases
    }
}
