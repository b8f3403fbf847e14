import WorkspaceModel

/// The visible part of the edited line in one row of the terminal, with the cursor.
///
/// A longer line scrolls horizontally: so it always takes one row, and can be redrawn without
/// knowing how the terminal wraps lines.
struct LineView {
    /// The row to draw.
    struct Row: Equatable {
        var text: String
        /// Columns of `text`.
        var width: Int
        /// The cursor's column, counted from 0.
        var cursorColumn: Int
        /// The text at the end of the row.
        var aside = ""
    }

    /// With fewer columns nothing is shown beside the line.
    private static let asideColumnsMin = 8

    /// The first visible character, kept so that the row does not jump.
    private var first = 0

    /// - Parameters:
    ///   - prompt: safe for a terminal; it gets half of the row at most.
    ///   - columns: of the terminal. The last one stays empty, since a terminal may wrap there.
    ///   - beside: returns the text at the end of the row, for a given width: the columns that the
    ///     line leaves free, but at least a third of the row.
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

    /// Scrolls so that the cursor is visible, with a little of the text before it.
    private mutating func scroll(_ widths: [Int], cursor: Int, room: Int) {
        first = min(first, widths.count)
        if cursor < first { first = max(0, cursor - 8) }
        // The cursor itself takes a column at the end.
        var used = widths[first..<cursor].reduce(1, +)
        while used > room, first < cursor {
            used -= widths[first]
            first += 1
        }
        // Uses columns that have become free.
        while first > 0, widths[(first - 1)...].reduce(1, +) <= room { first -= 1 }
    }

    /// One character for display: a pasted line break as a symbol, and nothing that a terminal
    /// would interpret.
    static func cell(_ character: Character) -> String {
        if character == "\n" { return "⏎" }
        if character == "\t" { return " " }
        let text = String(character)
        if text.utf8.count <= 64 { return sanitised(text) }
        return TerminalText.truncated(sanitised(text), toColumns: 1)
    }
}
