/// Foreign text made safe for a terminal, in one line: every control, direction and line-breaking
/// character is shown as `\u{…}`, a newline as `⏎`, and more than 16 KiB is cut.
///
/// The one place where the command line lets text of others through.
func sanitised(_ text: String) -> String {
    var safe = ""
    for (count, scalar) in text.unicodeScalars.enumerated() {
        if count == 16 * 1024 { return safe + "…" }
        switch scalar.properties.generalCategory {
        case .control where scalar.value == 0x0A: safe += "⏎"
        case .control where scalar.value == 0x09: safe += " "
        case .format where scalar.value == 0x200D: safe.unicodeScalars.append(scalar)
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            safe += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: safe.unicodeScalars.append(scalar)
        }
    }
    return safe
}

/// How many columns text takes that `sanitised` gave: two for the wide scripts of East Asia.
func columnWidth(_ text: String) -> Int {
    var sum = 0
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: continue
        default: sum += isWide(scalar.value) ? 2 : 1
        }
    }
    return sum
}

private func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        true
    default: false
    }
}
