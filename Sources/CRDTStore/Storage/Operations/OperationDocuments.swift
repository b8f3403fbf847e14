public import WorkspaceModel

extension OperationStore {
    /// The row of a document in a workspace, or `nil` for one that nothing is stored of there.
    public func document(_ id: DocumentID, in workspace: Int64) -> DocumentRow? {
        if let last = lastDocument, last.workspace == workspace, last.id == id { return last }
        let found = documentNumbers[.init(workspace: workspace, id: id)].flatMap { documents[$0] }
        if let found { lastDocument = found }
        return found
    }

    /// The document with a short number.
    public func document(numbered number: Int64) -> DocumentRow? { documents[number] }

    /// The authority documents, by short number.
    public var authorityDocuments: [DocumentRow] {
        documents.values.filter { $0.workspace == $0.number }.sorted { $0.number < $1.number }
    }

    /// The documents of a workspace, by id.
    public func documents(ofWorkspace workspace: Int64) -> [DocumentID] {
        documents.values.filter { $0.workspace == workspace }.map(\.id).sorted()
    }

    /// Makes the row of a document, or says better what the known one is.
    ///
    /// - Parameter workspace: `nil` for an authority document, which is its own.
    /// - Returns: its short number.
    @discardableResult
    public func enter(
        _ id: DocumentID, workspace: Int64?, kind: DocumentKind
    ) throws(StorageError) -> Int64 {
        let number = workspace.map { document(id, in: $0)?.number } ?? authorityNumbers[id]
        if let number, var known = documents[number] {
            guard known.kind != kind, kind != .unknown else { return number }
            known.kind = kind
            lastDocument = nil
            documents[number] = known
            try connection.statement("UPDATE document SET kind = ? WHERE did = ?")
                .run(.integer(kind.rawValue), .integer(number))
            return number
        }
        let row = DocumentRow(
            number: nextDocument, id: id, workspace: workspace ?? nextDocument, kind: kind)
        try connection.statement("INSERT INTO document VALUES(?, ?, ?, ?)")
            .run(
                .integer(row.number), .blob(id.bytes), .integer(row.workspace),
                .integer(kind.rawValue))
        index(row)
        return row.number
    }

    /// Removes everything of a workspace that nobody came to belong to.
    public func remove(workspace: Int64) throws(StorageError) {
        for row in documents.values.filter({ $0.workspace == workspace })
            .sorted(by: { $0.number < $1.number })
        {
            for log in logsByDocument.removeValue(forKey: row.number) ?? [] {
                let place = LogPlace(log, in: row.number)
                crowded.forget(place)
                for number in branchesByLog.removeValue(forKey: place) ?? [] {
                    try forget(branch: number)
                }
            }
            try connection.statement("DELETE FROM document WHERE did = ?")
                .run(.integer(row.number))
            documents[row.number] = nil
            lastDocument = nil
            documentNumbers[.init(workspace: workspace, id: row.id)] = nil
            if row.number == workspace { authorityNumbers[row.id] = nil }
        }
    }

    /// Removes the rows of one branch. A number may be given again after a restart; what it
    /// meant may not stay.
    func forget(branch number: Int64) throws(StorageError) {
        forgetNewest()
        let document = branches.removeValue(forKey: number)?.document
        dirtyBranches.remove(number)
        spansByBranch[number] = nil
        forkIDs[number] = nil
        forgetDamage(in: number, behind: nil)
        try forgetAbsence(in: number, behind: nil)
        try forgetCitations(of: number, behind: nil)
        try connection.statement("DELETE FROM operation WHERE lid = ?").run(.integer(number))
        document.map { changeCount(of: $0, by: -Int64(connection.changedRowCount)) }
        for table in ["held", "evidence", "grant_span", "log"] {
            try connection.statement("DELETE FROM \(table) WHERE lid = ?").run(.integer(number))
        }
        try connection.statement("DELETE FROM evidence WHERE branch = ?").run(.integer(number))
    }

    /// How many operations of a workspace are stored.
    public func count(inWorkspace workspace: Int64) throws(StorageError) -> Int64 {
        counts.reduce(0) { sum, entry in
            documents[entry.key]?.workspace == workspace ? sum + entry.value : sum
        }
    }

    /// Notes that a document has more operations, or fewer.
    func changeCount(of document: Int64, by difference: Int64) {
        count += difference
        counts[document, default: 0] += difference
    }
}
