import WorkspaceModel

/// The part of a line that fits into one row of the terminal, with the cursor in it.
///
/// A line that is longer is scrolled sideways: so what is being written always takes one row, and
/// can be drawn again without knowing how the terminal breaks lines.
struct LineView {
    /// What is drawn.
    struct Row: Equatable {
        var text: String
        /// Columns of `text`.
        var width: Int
        /// Where the cursor stands, counted from 0.
        var cursorColumn: Int
        /// What stands behind the text, up to the end of the row.
        var aside = ""
    }

    /// In fewer columns nothing stands beside the line.
    private static let asideColumnsMin = 8

    /// The first character that is shown, kept so that the row does not jump about.
    private var first = 0

    /// - Parameters:
    ///   - prompt: safe for a terminal; it gets half of the row at most.
    ///   - columns: of the terminal. The last one stays empty, where a terminal may break.
    ///   - beside: gives what stands at the end of the row, in so many columns. It gets those that
    ///     the line leaves, and a third of the row where the line leaves less.
    mutating func row(
        prompt: String, _ line: LineEditor, columns: Int, beside: (Int) -> String = { _ in "" }
    ) -> Row {
        var columns = max(columns - 1, 4)
        let prompt = TerminalText.truncated(prompt, toColumns: columns / 2)
        var row = Row(text: prompt, width: columnWidth(prompt), cursorColumn: 0)
        let cells = line.characters.map(Self.cell)
        let widths = cells.map(columnWidth)
        // The cursor takes a column behind the line, and a gap another.
        let free = columns - row.width - widths.reduce(2, +)
        let share = max(free, columns / 3)
        let aside = share < Self.asideColumnsMin ? "" : beside(share)
        let end = columns
        if !aside.isEmpty { columns -= columnWidth(aside) + 1 }
        scroll(widths, cursor: line.cursor, room: columns - row.width)
        row.cursorColumn = row.width
        for place in first..<cells.count {
            guard row.width + widths[place] <= columns else { break }
            row.text += cells[place]
            row.width += widths[place]
            if place < line.cursor { row.cursorColumn = row.width }
        }
        guard !aside.isEmpty else { return row }
        let gap = max(0, end - row.width - columnWidth(aside))
        row.aside = String(repeating: " ", count: gap) + aside
        return row
    }

    /// Moves the window so that the cursor is in it, with a little of what stands before.
    private mutating func scroll(_ widths: [Int], cursor: Int, room: Int) {
        first = min(first, widths.count)
        if cursor < first { first = max(0, cursor - 8) }
        // The cursor itself takes a column when it stands at the end.
        var used = widths[first..<cursor].reduce(1, +)
        while used > room, first < cursor {
            used -= widths[first]
            first += 1
        }
        // Room that has become free is used.
        while first > 0, widths[(first - 1)...].reduce(1, +) <= room { first -= 1 }
    }

    /// One character as it is shown: a pasted line break as a sign, and nothing that a terminal
    /// would obey.
    static func cell(_ character: Character) -> String {
        if character == "\n" { return "⏎" }
        if character == "\t" { return " " }
        let text = String(character)
        if text.utf8.count <= 64 { return sanitised(text) }
        return TerminalText.truncated(sanitised(text), toColumns: 1)
    }
}
