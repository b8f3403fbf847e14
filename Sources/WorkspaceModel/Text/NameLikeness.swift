/// Tells whether two names can be taken for one another on a screen.
///
/// For warning on this machine only, as `NameFolding`: the table grows.
///
/// - Source: the idea of a skeleton is that of Unicode Technical Standard 39, section 4. Its table
///   has thousands of rows; here are the letters of Cyrillic, Greek, Armenian and Latin of which
///   names that imitate others are made.
public enum NameLikeness {
    /// Whether somebody could take one name for the other.
    public static func areAlike(_ left: String, _ right: String) -> Bool {
        skeleton(of: left) == skeleton(of: right)
    }

    /// What names that look alike have in common. Of a name that is longer than any may be, the
    /// beginning counts.
    public static func skeleton(of name: String) -> String {
        var letters: [UInt32] = []
        for scalar in name.unicodeScalars.prefix(Limits.nameBytesMax) {
            append(scalar, to: &letters)
        }
        var made = String.UnicodeScalarView()
        var wasGap = true
        for letter in letters {
            // Blanks at the ends, and more than one, are not seen.
            if letter == 0x20 {
                if !wasGap { made.append(" ") }
                wasGap = true
            } else if let scalar = Unicode.Scalar(letter) {
                made.append(scalar)
                wasGap = false
            }
        }
        if made.last == " " { made.removeLast() }
        // Compared canonically, so it does not matter how an accent is encoded.
        return pairs(String(made))
    }

    private static func append(_ scalar: Unicode.Scalar, to letters: inout [UInt32]) {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format {
            return
        }
        if properties.isWhitespace || scalar.value == 0x2800 { return letters.append(0x20) }
        // A signature of full width looks like its plain one.
        let plain =
            (0xFF01...0xFF5E).contains(scalar.value) ? scalar.value - 0xFEE0 : scalar.value
        if let like = table[plain] { return letters.append(like) }
        let lower = Unicode.Scalar(plain)?.properties.lowercaseMapping ?? ""
        for part in lower.unicodeScalars { letters.append(table[part.value] ?? part.value) }
    }

    /// Two letters that together look like one.
    private static func pairs(_ text: String) -> String {
        var made = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "n", made.last == "r" {
                made.removeLast()
                made.append("m")
            } else if scalar == "v", made.last == "v" {
                made.removeLast()
                made.append("w")
            } else {
                made.append(scalar)
            }
        }
        return String(made)
    }

    /// Letters and the small Latin ones that they look like.
    private static let table: [UInt32: UInt32] = {
        let rows: KeyValuePairs<String, String> = [
            "a": "аαɑΑА", "b": "ЬΒВƅ", "c": "сϲСϹ", "d": "ԁ", "e": "еЕΕҽ", "f": "ƒ", "g": "ɡ",
            "h": "һНΗ", "i": "іІιlL1I|ӀΙⅼıɩ", "j": "јЈȷ", "k": "кКκΚ", "m": "мМΜ", "n": "Νո",
            "o": "0оОοΟօ", "p": "рРρΡ", "q": "ԛ", "r": "г", "s": "ѕЅ", "t": "тТτΤ", "u": "υս",
            "v": "νѵ", "w": "ѡԝ", "x": "хХχΧ", "y": "уУγΥҮү", "z": "ΖƵ",
        ]
        var table: [UInt32: UInt32] = [:]
        for (latin, likes) in rows {
            guard let letter = latin.unicodeScalars.first else { continue }
            for like in likes.unicodeScalars { table[like.value] = letter.value }
        }
        return table
    }()
}
