import PeerNode
import WorkspaceModel

/// Lists as tables that fit the terminal.
extension Rendering {
    func columns(_ items: [JSONValue], _ set: ColumnSet) -> String {
        let rows = items.map { item in
            set.paths.indices.map { column in
                let value = Self.value(item, at: set.paths[column])
                if isPlain { return shown(value) }
                if set.isTime(column) { return moment(value) }
                if set.isEnding(column), let code = value?.stringValue {
                    return oneLine(LinkWords.text(code))
                }
                return value?.stringValue.map(oneLine) ?? shown(value)
            }
        }
        if isPlain { return rows.map { $0.joined(separator: "\t") + "\n" }.joined() }
        if rows.isEmpty { return "" }
        var table = TableText(rows, set)
        if let columns { table.fit(into: columns) }
        let lines = [dim(table.head)] + table.rows(columns: columns)
        return lines.map { $0 + "\n" }.joined()
    }

    private static func value(_ item: JSONValue, at path: String) -> JSONValue? {
        var value: JSONValue? = item
        for key in path.split(separator: ".") { value = value?[String(key)] }
        return value
    }
}
