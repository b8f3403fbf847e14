import WorkspaceModel

/// The documents with stored operations: the rows of table `document`, all in memory.
struct DocumentTable {
    typealias Row = OperationStore.DocumentRow

    private let connection: Connection
    /// By short number.
    private var rows: [Int64: Row] = [:]
    /// The last one looked up, by id: usually the next one too.
    private var last: Row?
    /// By id and workspace: claiming an id in one workspace takes nothing from another.
    private var numbers: [Place: Int64] = [:]
    /// Authority documents, each of which is its own workspace.
    private var authorityNumbers: [DocumentID: Int64] = [:]
    private var next: Int64 = 1

    /// The key of a document.
    private struct Place: Hashable {
        let workspace: Int64
        let id: DocumentID
    }

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        try connection.statement("SELECT did, id, workspace, kind FROM document").forEachRow {
            (row) throws(StorageError) in
            index(
                Row(
                    number: row.integer(0), id: try row.identifier32(1),
                    workspace: row.integer(2),
                    kind: DocumentKind(rawValue: row.integer(3)) ?? .unknown))
        }
    }

    /// The document with a short number.
    subscript(number: Int64) -> Row? { rows[number] }

    /// The row of a document in a workspace.
    mutating func row(_ id: DocumentID, in workspace: Int64) -> Row? {
        if let last, last.workspace == workspace, last.id == id { return last }
        let found = numbers[.init(workspace: workspace, id: id)].flatMap { rows[$0] }
        if let found { last = found }
        return found
    }

    /// The authority documents, by short number.
    var ofAuthority: [Row] {
        rows.values.filter { $0.workspace == $0.number }.sorted { $0.number < $1.number }
    }

    /// The documents of a workspace, by short number.
    func rows(of workspace: Int64) -> [Row] {
        rows.values.filter { $0.workspace == workspace }.sorted { $0.number < $1.number }
    }

    /// Adds the row of a document, or updates its kind.
    ///
    /// - Parameter workspace: `nil` for an authority document, which is its own.
    /// - Returns: its short number.
    mutating func enter(
        _ id: DocumentID, workspace: Int64?, kind: DocumentKind
    ) throws(StorageError) -> Int64 {
        let number = workspace.map { row(id, in: $0)?.number } ?? authorityNumbers[id]
        if let number, var known = rows[number] {
            guard known.kind != kind, kind != .unknown else { return number }
            known.kind = kind
            last = nil
            rows[number] = known
            try connection.statement("UPDATE document SET kind = ? WHERE did = ?")
                .run(.integer(kind.rawValue), .integer(number))
            return number
        }
        let made = Row(number: next, id: id, workspace: workspace ?? next, kind: kind)
        try connection.statement("INSERT INTO document VALUES(?, ?, ?, ?)")
            .run(
                .integer(made.number), .blob(id.bytes), .integer(made.workspace),
                .integer(kind.rawValue))
        index(made)
        return made.number
    }

    /// Removes the row of a document without stored operations.
    mutating func remove(_ row: Row) throws(StorageError) {
        try connection.statement("DELETE FROM document WHERE did = ?").run(.integer(row.number))
        rows[row.number] = nil
        last = nil
        numbers[.init(workspace: row.workspace, id: row.id)] = nil
        if row.number == row.workspace { authorityNumbers[row.id] = nil }
    }

    private mutating func index(_ row: Row) {
        last = nil
        rows[row.number] = row
        numbers[.init(workspace: row.workspace, id: row.id)] = row.number
        if row.workspace == row.number { authorityNumbers[row.id] = row.number }
        next = max(next, row.number + 1)
    }
}
