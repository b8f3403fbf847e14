import WorkspaceModel

/// The changeable bottom of the terminal: lines that are not final yet, and below them the edited
/// line. Returns the bytes that draw it.
///
/// Final text is printed above and scrolls away like the output of any program.
struct LiveScreen {
    /// The width of the terminal.
    var columns: Int
    var rows: Int
    /// Lines above the prompt that may be redrawn, such as your last message while its tick
    /// changes. Each fits into a row.
    private(set) var open: [String] = []
    /// Widths of the drawn open lines, and the column of the cursor below them; `nil`
    /// while nothing is drawn.
    private var drawn: (widths: [Int], cursor: Int)?

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Draws the open lines and the edited line.
    mutating func draw(_ row: LineView.Row) -> String {
        var text = erase()
        for line in open { text += line + "\n" }
        text += row.text + row.aside + "\r"
        if row.cursorColumn > 0 { text += "\u{1B}[\(row.cursorColumn)C" }
        drawn = (open.map { columnWidth(Self.bare($0)) }, row.cursorColumn)
        return text
    }

    /// Prints final text above, in place of the open lines.
    mutating func print(_ text: String) -> String {
        let settled = erase() + open.map { $0 + "\n" }.joined()
        open = []
        return settled + text
    }

    /// Shows `text` as open lines. Earlier open lines become final.
    mutating func printOpen(_ text: String) -> String {
        let settled = print("")
        let lines = Self.lines(text)
        // What does not fit on the screen cannot be redrawn.
        guard lines.count < rows - 1, lines.allSatisfy({ columnWidth(Self.bare($0)) <= columns })
        else { return settled + text }
        open = lines
        return settled
    }

    /// Replaces the open lines.
    mutating func replaceOpen(_ text: String) -> String {
        guard !open.isEmpty else { return "" }
        let erased = erase()
        open = []
        return erased + printOpen(text)
    }

    /// Erases the drawn part, so that anything can be printed.
    mutating func erase() -> String {
        guard let drawn else { return "" }
        // A narrowed terminal has rewrapped the rows, as most do.
        let columns = max(columns, 1)
        let up = drawn.widths.reduce(drawn.cursor / columns) {
            $0 + max(1, ($1 + columns - 1) / columns)
        }
        self.drawn = nil
        return "\r" + (up > 0 ? "\u{1B}[\(up)A" : "") + "\u{1B}[J"
    }

    /// Clears the screen; all open lines have to be redrawn.
    mutating func clear() -> String {
        drawn = nil
        return "\u{1B}[H\u{1B}[2J"
    }

    private static func lines(_ text: String) -> [String] {
        var lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// A line without this program's colour sequences.
    static func bare(_ line: String) -> String {
        guard line.utf8.contains(0x1B) else { return line }
        var kept: [UInt8] = []
        var isInside = false
        for byte in line.utf8 {
            if byte == 0x1B {
                isInside = true
            } else if !isInside {
                kept.append(byte)
            } else if byte == UInt8(ascii: "m") {
                isInside = false
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
