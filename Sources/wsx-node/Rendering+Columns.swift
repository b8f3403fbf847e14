import PeerNode
import WorkspaceModel

/// Lists as tables, which fit into a terminal.
extension Rendering {
    func columns(_ items: [JSONValue], _ set: ColumnSet) -> String {
        let rows = items.map { item in
            set.paths.indices.map { column in
                let value = Self.value(item, at: set.paths[column])
                if isPlain { return shown(value) }
                if set.isTime(column) { return moment(value) }
                return value?.stringValue.map(oneLine) ?? shown(value)
            }
        }
        if isPlain { return rows.map { $0.joined(separator: "\t") + "\n" }.joined() }
        if rows.isEmpty { return "" }
        var lines = [set.titles] + rows
        var widths = Self.widths(lines)
        if let columns, widths.reduce(-2, { $0 + $1 + 2 }) > columns {
            // The beginning of an id names the thing as well.
            for column in set.paths.indices where set.isIdentifier(column) {
                for row in lines.indices.dropFirst() {
                    lines[row][column] = String(lines[row][column].prefix(10))
                }
            }
            widths = Self.widths(lines)
        }
        let cut = columns.map { Self.fit(&widths, into: $0, keeping: set) }
        return lines.enumerated().map { index, row in
            let cells = row.indices.map { column in
                let isCut = cut?.contains(column) == true
                let text =
                    isCut
                    ? TerminalText.truncated(row[column], toColumns: widths[column]) : row[column]
                return padded(text, widths[column])
            }.joined(separator: "  ")
            let end = cells.utf8.lastIndex { $0 != 0x20 }
            let line = end.map { String(cells[...$0]) } ?? ""
            return (index == 0 ? dim(line) : line) + "\n"
        }.joined()
    }

    private static func widths(_ lines: [[String]]) -> [Int] {
        (lines.first ?? []).indices.map { column in
            min(40, lines.map { columnWidth($0[column]) }.max() ?? 0)
        }
    }

    /// Makes a table fit into a terminal, by cutting the widest of those columns that only
    /// describe. What is copied, such as a link or an address, is left whole.
    ///
    /// - Returns: the columns whose texts are cut.
    private static func fit(
        _ widths: inout [Int], into columns: Int, keeping set: ColumnSet
    ) -> Set<Int> {
        let candidates = set.paths.indices.filter { set.isDescribing($0) }
        var cut = Set(candidates.filter { widths[$0] == 40 })
        while widths.reduce(-2, { $0 + $1 + 2 }) > columns {
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
            else { break }
            widths[widest] -= 1
            cut.insert(widest)
        }
        return cut
    }

    private static func value(_ item: JSONValue, at path: String) -> JSONValue? {
        var value: JSONValue? = item
        for key in path.split(separator: ".") { value = value?[String(key)] }
        return value
    }
}
