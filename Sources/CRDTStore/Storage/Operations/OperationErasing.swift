/// Erases the operations of a deleted document.
extension OperationStore {
    /// Whether any operation of the document with this number is stored.
    public func holdsOperations(ofDocument number: Int64) -> Bool {
        logsByDocument[number]?.isEmpty == false
    }

    /// Removes logs of a document until `goal` operations are gone or none is left. The document
    /// keeps its number.
    ///
    /// - Returns: the numbers of the removed branches.
    public func erase(document number: Int64, atLeast goal: Int64) throws(StorageError) -> [Int64] {
        let before = count
        var gone: [Int64] = []
        for log in (logsByDocument[number] ?? []).sorted() where before - count < goal {
            let place = LogPlace(log, in: number)
            crowded.forget(place)
            for branch in branchesByLog.removeValue(forKey: place) ?? [] {
                try forget(branch: branch)
                gone.append(branch)
            }
            logsByDocument[number]?.removeAll { $0 == log }
        }
        return gone
    }
}
