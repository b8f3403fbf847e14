public import WorkspaceModel

extension OperationStore {
    /// The row of a document in a workspace, or `nil` if nothing of it is stored there.
    public func document(_ id: DocumentID, in workspace: Int64) -> DocumentRow? {
        documents.row(id, in: workspace)
    }

    /// The row of a private document in a workspace; `nil` also for what is none, and for what is not known
    /// to be one.
    public func privateDocument(_ id: DocumentID, in workspace: Int64) -> DocumentRow? {
        document(id, in: workspace).flatMap { $0.kind.access == .insiders ? $0 : nil }
    }

    /// The private documents of a workspace, by id.
    public func privateDocuments(ofWorkspace workspace: Int64) -> [DocumentID] {
        documents.rows(of: workspace).filter { $0.kind.access == .insiders }.map(\.id).sorted()
    }

    /// The document with a short number.
    public func document(numbered number: Int64) -> DocumentRow? { documents[number] }

    /// The authority documents, by short number.
    public var authorityDocuments: [DocumentRow] {
        documents.ofAuthority
    }

    /// The documents of a workspace, by id.
    public func documents(ofWorkspace workspace: Int64) -> [DocumentID] {
        documents.rows(of: workspace).map(\.id).sorted()
    }

    /// Adds the row of a document, or updates its kind.
    ///
    /// - Parameter workspace: `nil` for an authority document, which is its own.
    /// - Returns: its short number.
    @discardableResult
    public func enter(
        _ id: DocumentID, workspace: Int64?, kind: DocumentKind
    ) throws(StorageError) -> Int64 {
        try documents.enter(id, workspace: workspace, kind: kind)
    }

    /// Removes everything of a workspace that was never joined.
    public func remove(workspace: Int64) throws(StorageError) {
        for row in documents.rows(of: workspace) {
            for log in logsByDocument.removeValue(forKey: row.number) ?? [] {
                let place = LogPlace(log, in: row.number)
                crowded.forget(place)
                for number in branchesByLog.removeValue(forKey: place) ?? [] {
                    try forget(branch: number)
                }
            }
            try documents.remove(row)
        }
    }

    /// Removes the rows of one branch. Its number may be reused after a restart, so nothing may
    /// still refer to it.
    func forget(branch number: Int64) throws(StorageError) {
        recent.forget()
        let document = branches.removeValue(forKey: number)?.document
        dirtyBranches.remove(number)
        forkIDs[number] = nil
        damage.forget(in: number, behind: nil)
        try forgetAbsence(in: number, behind: nil)
        try forgetCitations(of: number, behind: nil)
        try connection.statement("DELETE FROM operation WHERE lid = ?").run(.integer(number))
        document.map { changeCount(of: $0, by: -Int64(connection.changedRowCount)) }
        try spans.remove(number)
        for table in ["held", "evidence", "log"] {
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

    /// Changes the number of a document's operations.
    func changeCount(of document: Int64, by difference: Int64) {
        count += difference
        counts[document, default: 0] += difference
    }
}
