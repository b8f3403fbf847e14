import WorkspaceModel

/// A table for people that fits the terminal.
///
/// If it is too wide, ids are cut to their ends first; then long texts that people copy move below
/// their row; then the least important columns are dropped, which a `…` behind the titles shows;
/// and then texts are cut, the widest first.
struct TableText {
    private let set: ColumnSet
    /// The titles, then the rows.
    private var lines: [[String]]
    /// The shown columns, in order.
    private var shown: [Int]
    /// The columns shown below their row.
    private var below: [Int] = []
    private var widths: [Int]
    /// Columns whose texts are cut.
    private var cut: Set<Int> = []
    /// Whether it is for a terminal; elsewhere nothing is cut.
    private var isFitted = false
    /// Whether columns were dropped.
    private var isShortened = false

    /// The maximum width of a descriptive column.
    private static let describingColumnsMax = 40
    /// Another column is dropped before a descriptive one becomes narrower.
    private static let comfortColumns = 12
    /// Texts are never cut further.
    private static let leastColumns = 4

    /// - Parameter rows: a text for each column of `set`; at least one row.
    init(_ rows: [[String]], _ set: ColumnSet) {
        self.set = set
        lines = [set.titles] + rows
        shown = set.titles.indices.filter { column in
            !set.optional.contains(column) || rows.contains { $0[column] != "-" }
        }
        widths = []
        measure()
    }

    private mutating func measure() {
        widths = set.titles.indices.map { column in
            let widest = lines.map { columnWidth($0[column]) }.max() ?? 0
            guard set.isDescribing(column), !set.isWhole(column),
                widest > Self.describingColumnsMax
            else {
                return widest
            }
            cut.insert(column)
            return Self.describingColumnsMax
        }
    }

    // MARK: Fitting

    /// The columns that the table takes.
    private var width: Int {
        shown.reduce(-2) { $0 + widths[$1] + 2 } + (isShortened ? 3 : 0)
    }

    /// The same with texts cut as far as they remain useful.
    private var comfortableWidth: Int {
        shown.reduce(width) { sum, column in
            sum - (set.isDescribing(column) ? max(0, widths[column] - Self.comfortColumns) : 0)
        }
    }

    mutating func fit(into columns: Int) {
        isFitted = true
        guard width > columns else { return }
        for column in shown where set.isIdentifier(column) {
            // The end of an id is enough to name the thing.
            for row in lines.indices.dropFirst() {
                lines[row][column] = Rendering.shortened(lines[row][column])
            }
        }
        measure()
        for column in set.early where width > columns { drop(column) }
        for column in set.below where (set.isWhole(column) ? width : comfortableWidth) > columns {
            shown.removeAll { $0 == column }
            below.append(column)
        }
        for column in set.drops
        where comfortableWidth > columns && shown.count > 1 && shown.contains(column) {
            drop(column)
        }
        narrow(shown.filter(set.isDescribing), into: columns)
        narrow(shown, into: columns)
    }

    private mutating func drop(_ column: Int) {
        shown.removeAll { $0 == column }
        isShortened = true
    }

    /// Narrows the widest of some columns until the table fits.
    private mutating func narrow(_ candidates: [Int], into columns: Int) {
        while width > columns {
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.leastColumns
            else { return }
            widths[widest] -= 1
            cut.insert(widest)
        }
    }

    // MARK: Lines

    /// The titles, without blanks at the end.
    var head: String {
        let titles = padded(lines[0])
        return isShortened ? titles + "  …" : trimmed(titles)
    }

    /// Each row, with the moved texts below it.
    ///
    /// - Parameter columns: of the terminal.
    func rows(columns: Int?) -> [String] {
        lines.dropFirst().flatMap { row -> [String] in
            var rows = [trimmed(padded(row))]
            for column in below where row[column] != "-" {
                let text = "  " + row[column]
                rows +=
                    columns.map { FlowedText.lines(of: text, columns: $0, isOwn: false) } ?? [text]
            }
            return rows
        }
    }

    private func padded(_ row: [String]) -> String {
        shown.map { column in
            let text =
                isFitted && cut.contains(column)
                ? TerminalText.truncated(row[column], toColumns: widths[column]) : row[column]
            return text + String(repeating: " ", count: max(0, widths[column] - columnWidth(text)))
        }.joined(separator: "  ")
    }

    private func trimmed(_ line: String) -> String {
        line.utf8.lastIndex { $0 != 0x20 }.map { String(line[...$0]) } ?? ""
    }
}
