import WorkspaceModel

/// A key or paste, decoded from a terminal's bytes.
enum Key: Equatable {
    /// Typed letters, in order.
    case text(String)
    /// Text pasted in one piece, with `\n` for every kind of line end.
    case paste(String)
    /// A paste longer than any message.
    case longPaste
    case enter, tab, backspace, delete
    case left, right, up, down, home, end, wordLeft, wordRight
    /// Control and a letter, in lower case.
    case control(Character)
}

/// Decodes a terminal's bytes into keys, in pieces of any size.
///
/// Escape sequences are those of ECMA-48 as xterm sends them; unknown ones are skipped completely,
/// so that no part of a sequence ends up in a message.
struct KeyDecoder {
    /// Bytes of an incomplete letter or escape sequence.
    private var pending: [UInt8] = []
    /// The paste so far, during a paste.
    private var pasted: [UInt8]?
    /// Whether the paste is too long, so that only its end is awaited.
    private var isLongPaste = false
    private var text = ""
    private var keys: [Key] = []

    private static let escape: UInt8 = 0x1B
    /// No keyboard sends longer sequences.
    private static let sequenceBytesMax = 32
    /// The sequences around pasted text.
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// The keys that `bytes` complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        for byte in bytes { pasted == nil ? takeTyped(byte) : takePasted(byte) }
        endText()
        defer { keys = [] }
        return keys
    }

    private mutating func add(_ key: Key) {
        endText()
        keys.append(key)
    }

    private mutating func endText() {
        guard !text.isEmpty else { return }
        keys.append(.text(text))
        text = ""
    }

    // MARK: Pasting

    private mutating func takePasted(_ byte: UInt8) {
        guard var pasted else { return }
        self.pasted = nil
        pasted.append(byte)
        if byte == UInt8(ascii: "~"),
            pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd)
        {
            pasted.removeLast(Self.pasteEnd.count)
            defer { isLongPaste = false }
            return add(isLongPaste ? .longPaste : .paste(Self.lines(pasted)))
        }
        // Two-byte line ends become one, so only beyond this the paste surely does not fit. Nothing
        // of it is kept but a possible beginning of its end.
        if pasted.count > 2 * Limits.messageTextBytesMax + Self.pasteEnd.count {
            isLongPaste = true
            pasted.removeFirst(pasted.count - Self.pasteEnd.count)
        }
        self.pasted = pasted
    }

    private static func lines(_ bytes: [UInt8]) -> String {
        var made: [UInt8] = []
        var previous: UInt8 = 0
        for byte in bytes {
            if byte == 0x0D || (byte == 0x0A && previous != 0x0D) { made.append(0x0A) }
            if byte != 0x0D, byte != 0x0A { made.append(byte) }
            previous = byte
        }
        return String(decoding: made, as: UTF8.self)
    }

    // MARK: Typing

    private mutating func takeTyped(_ byte: UInt8) {
        if pending.first == Self.escape { return takeEscape(byte) }
        if !pending.isEmpty {
            if byte & 0xC0 == 0x80 { return takeContinuation(byte) }
            pending = []
            text.unicodeScalars.append("\u{FFFD}")
        }
        switch byte {
        case Self.escape: pending = [byte]
        case 0x0D, 0x0A: add(.enter)
        case 0x09: add(.tab)
        case 0x7F, 0x08: add(.backspace)
        case 0x01...0x1A: add(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x00, 0x1C...0x1F: break
        case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
        case 0xC2...0xF4: pending = [byte]
        default: text.unicodeScalars.append("\u{FFFD}")
        }
    }

    private mutating func takeContinuation(_ byte: UInt8) {
        pending.append(byte)
        let length = pending[0] < 0xE0 ? 2 : pending[0] < 0xF0 ? 3 : 4
        guard pending.count == length else { return }
        let letter = String(decoding: pending, as: UTF8.self)
        pending = []
        // The 32 C1 controls are no letters either.
        if let scalar = letter.unicodeScalars.first, (0x80...0x9F).contains(scalar.value) { return }
        text += letter
    }

    private mutating func takeEscape(_ byte: UInt8) {
        // A sequence interrupted by another one, or by a control, is dropped.
        if byte == Self.escape {
            pending = [byte]
            return
        }
        pending.append(byte)
        if pending.count == 2 {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") { return }
            pending = []
            return takeMeta(byte)
        }
        guard (0x40...0x7E).contains(byte) || byte < 0x20 || pending.count > Self.sequenceBytesMax
        else { return }
        let sequence = pending
        pending = []
        if byte >= 0x20 { takeSequence(sequence) }
    }

    /// Alt and a letter.
    private mutating func takeMeta(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "b"): add(.wordLeft)
        case UInt8(ascii: "f"): add(.wordRight)
        case 0x7F, 0x08: add(.control("w"))
        default: break
        }
    }

    private mutating func takeSequence(_ sequence: [UInt8]) {
        let middle = sequence[2..<sequence.count - 1]
        let isWithControl = middle.reversed().starts(with: "5;".utf8) || middle.last == 0x35
        switch sequence[sequence.count - 1] {
        case UInt8(ascii: "A"): add(.up)
        case UInt8(ascii: "B"): add(.down)
        case UInt8(ascii: "C"): add(isWithControl ? .wordRight : .right)
        case UInt8(ascii: "D"): add(isWithControl ? .wordLeft : .left)
        case UInt8(ascii: "H"): add(.home)
        case UInt8(ascii: "F"): add(.end)
        case UInt8(ascii: "~"):
            switch String(decoding: middle, as: UTF8.self) {
            case "1", "7": add(.home)
            case "4", "8": add(.end)
            case "3": add(.delete)
            case "200":
                endText()
                pasted = []
            default: break
            }
        default: break
        }
    }
}
