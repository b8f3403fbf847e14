public import WorkspaceModel

/// Forgetting the operations of a document that was deleted for everybody.
extension OperationStore {
    /// Whether any operation of the document is stored.
    public func holdsOperations(of document: DocumentID) -> Bool {
        logsByDocument[document]?.isEmpty == false
    }

    /// Removes logs of a document, one after the other, until `count` operations are gone or none
    /// is left. The document keeps its number.
    ///
    /// - Returns: the numbers of the branches that are gone.
    public func erase(
        _ document: DocumentID, atLeast count: Int64
    ) throws(StorageError) -> [Int64] {
        var erased: Int64 = 0
        var gone: [Int64] = []
        for log in (logsByDocument[document] ?? []).sorted() where erased < count {
            for number in branchesByLog.removeValue(forKey: log) ?? [] {
                try connection.statement("DELETE FROM operation WHERE lid = ?")
                    .run(.integer(number))
                erased += Int64(connection.changedRowCount)
                for table in ["log", "held", "evidence"] {
                    try connection.statement("DELETE FROM \(table) WHERE lid = ?")
                        .run(.integer(number))
                }
                branches[number] = nil
                dirtyBranches.remove(number)
                gone.append(number)
            }
            logsByDocument[document]?.removeAll { $0 == log }
        }
        self.count -= erased
        return gone
    }
}
