import CRDTStore
import WorkspaceModel

/// Finds what no key opens yet in private documents, and opens it when a key arrives.
extension PrivateDocuments {
    /// Takes note of an operation that came, where its key is not here.
    func noteSealed(
        _ operation: OperationStore.Appended, of id: DocumentID, in workspace: Workspace
    ) {
        let header = operation.operation.header
        guard let key = header.keyID, header.kind != OperationKind.privateAuthority.rawValue,
            let document = workspace.sealed.documents[id], !document.keys.holds(key)
        else { return }
        document.sealed.note(operation.arrival, under: key)
    }

    /// Takes out what newly arrived keys of a private document open: content and redactions.
    ///
    /// - Parameter keys: those that have arrived since the last call.
    func takeSealed(
        under keys: Set<KeyID>, of document: PrivateDocument
    ) throws(StorageError) -> [Int64] {
        guard !keys.isEmpty else { return [] }
        if !document.sealed.isRead {
            let stored = try store.operations.sealedOperations(ofDocument: document.number)
            document.sealed.begin(stored) { document.keys.holds($0) && !keys.contains($0) }
        }
        return document.sealed.take(keys)
    }
}
