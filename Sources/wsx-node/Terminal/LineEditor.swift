import WorkspaceModel

/// A line editor: takes keys, and returns requests that it cannot carry out itself.
///
/// It knows no terminal. It counts grapheme clusters, so the cursor is never inside an accent, an
/// emoji or a Hangul syllable.
struct LineEditor {
    /// A request by a key.
    enum Request: Equatable {
        /// The line is complete; the editor is empty again.
        case submit(String)
        /// Complete the text before the cursor.
        case complete
        /// Clear the screen.
        case clearScreen
        /// Go to the background.
        case suspend
        /// End: ctrl-D on an empty line.
        case leave
        /// Warn that another ctrl-C ends the program: it was pressed on an empty line.
        case warnOfEnd
        /// End as interrupted: ctrl-C was pressed again on an empty line.
        case interrupt
        /// The key has no effect here; ring the bell.
        case ring
        /// Report that a paste is too long; the line is unchanged.
        case refusePaste
        /// Report that the line is full: further input is ignored.
        case warnOfFullLine
        /// Report that the line was not submitted, since some input is missing in it.
        case refuseLine
    }

    private(set) var characters: [Character] = []
    /// How many characters precede the cursor.
    private(set) var cursor = 0
    /// The text last cut by ctrl-K, ctrl-U or ctrl-W, for ctrl-Y.
    private var taken: [Character] = []
    private var history: [String] = []
    /// The index of the shown line in the history; its count for the new line.
    private var place = 0
    /// The new line, while one of the history is shown, and whether it was full.
    private var draft = (text: "", isFull: false)
    /// Whether some input did not fit, so that more of it may follow: a terminal without bracketed
    /// paste delivers a paste in pieces, and a line without its middle or end must not be sent. Any
    /// deletion resets it.
    private var isFull = false
    /// Whether ctrl-C was the last key, on an empty line.
    private var isEnding = false

    /// The size of the history, which lasts as long as the process.
    static let historyMax = 500

    var text: String { String(characters) }

    /// Replaces the line, with the cursor at its end.
    mutating func replace(with text: String) {
        characters = Array(text)
        cursor = characters.count
    }

    /// Replaces the characters from `start` up to the cursor.
    mutating func replace(from start: Int, with text: String) {
        let rest = characters[cursor...]
        characters = Array(String(characters[..<start]) + text)
        cursor = characters.count
        characters += rest
    }

    mutating func press(_ key: Key) -> Request? {
        if key != .control("c") { isEnding = false }
        switch key {
        case .text(let text): return type(text)
        case .enter: return isFull ? .refuseLine : submit()
        case .paste where isFull, .longPaste where isFull, .tab where isFull: return .ring
        default: break
        }
        let (before, shown) = (characters, place)
        let request = edit(key)
        if isFull, characters != before, place == shown { isFull = false }
        return request
    }

    private mutating func edit(_ key: Key) -> Request? {
        switch key {
        case .paste(let text): return insert(text) ? nil : .refusePaste
        case .longPaste: return .refusePaste
        case .tab: return .complete
        case .backspace: return remove(from: cursor - 1, to: cursor)
        case .delete: return remove(from: cursor, to: cursor + 1)
        case .left: move(to: cursor - 1)
        case .right: move(to: cursor + 1)
        case .home: move(to: 0)
        case .end: move(to: characters.count)
        case .wordLeft: move(to: wordStart)
        case .wordRight: move(to: wordEnd)
        case .up: return show(place - 1)
        case .down: return show(place + 1)
        case .control(let letter): return control(letter)
        case .text, .enter: break
        }
        return nil
    }

    private mutating func control(_ letter: Character) -> Request? {
        switch letter {
        case "a": move(to: 0)
        case "b": move(to: cursor - 1)
        case "e": move(to: characters.count)
        case "f": move(to: cursor + 1)
        case "k": take(from: cursor, to: characters.count)
        case "u": take(from: 0, to: cursor)
        case "w": take(from: wordStart, to: cursor)
        case "y": return insert(String(taken)) ? nil : .refusePaste
        case "n": return show(place + 1)
        case "p": return show(place - 1)
        case "g": return characters.isEmpty ? .submit("/next") : .ring
        case "l": return .clearScreen
        case "z": return .suspend
        case "c":
            guard characters.isEmpty else {
                clear()
                break
            }
            defer { isEnding = true }
            return isEnding ? .interrupt : .warnOfEnd
        case "d":
            guard !characters.isEmpty else { return .leave }
            return remove(from: cursor, to: cursor + 1)
        default: return .ring
        }
        return nil
    }

    // MARK: Changing

    private mutating func type(_ text: String) -> Request? {
        guard !isFull else { return .ring }
        isFull = !insert(text)
        return isFull ? .warnOfFullLine : nil
    }

    /// Returns whether there was room; if not, nothing changes.
    private mutating func insert(_ text: String) -> Bool {
        let before = String(characters[..<cursor]) + text
        let rest = String(characters[cursor...])
        guard before.utf8.count + rest.utf8.count <= Limits.messageTextBytesMax else {
            return false
        }
        // A mark or the second half of a flag joins the character before it, and the character
        // behind may join it.
        let whole = Array(before + rest)
        cursor = min(before.count, whole.count)
        characters = whole
        return true
    }

    private mutating func remove(from start: Int, to end: Int) -> Request? {
        guard start >= 0, end <= characters.count else { return .ring }
        // Separate characters may join now, such as the halves of two flags.
        let before = String(characters[..<start])
        characters = Array(before + String(characters[end...]))
        cursor = min(before.count, characters.count)
        return nil
    }

    private mutating func take(from start: Int, to end: Int) {
        guard start < end else { return }
        taken = Array(characters[start..<end])
        _ = remove(from: start, to: end)
    }

    private mutating func clear() {
        characters = []
        cursor = 0
        place = history.count
    }

    private mutating func submit() -> Request {
        let line = text
        if !line.isEmpty, history.last != line { history.append(line) }
        if history.count > Self.historyMax { history.removeFirst() }
        clear()
        draft = ("", false)
        return .submit(line)
    }

    // MARK: Moving

    private mutating func move(to place: Int) { cursor = min(max(place, 0), characters.count) }

    private var wordStart: Int {
        var place = cursor
        while place > 0, Self.isGap(characters[place - 1]) { place -= 1 }
        while place > 0, !Self.isGap(characters[place - 1]) { place -= 1 }
        return place
    }

    private var wordEnd: Int {
        var place = cursor
        while place < characters.count, Self.isGap(characters[place]) { place += 1 }
        while place < characters.count, !Self.isGap(characters[place]) { place += 1 }
        return place
    }

    private static func isGap(_ character: Character) -> Bool {
        character.unicodeScalars.first?.properties.isWhitespace ?? true
    }

    private mutating func show(_ wanted: Int) -> Request? {
        guard (0...history.count).contains(wanted), wanted != place else { return .ring }
        if place == history.count { draft = (text, isFull) }
        place = wanted
        let isDraft = wanted == history.count
        replace(with: isDraft ? draft.text : history[wanted])
        isFull = isDraft && draft.isFull
        return nil
    }
}
