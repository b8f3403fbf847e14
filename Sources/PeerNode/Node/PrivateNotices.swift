import CRDTStore
import WorkspaceModel

/// Being told that one is out of a private document: the operation that says so is sealed under a
/// key that one does not get, so whoever wrote it also leaves a word in the mailbox.
extension NodeCore {
    private static func noticeName(_ document: Int64) -> String { "private.out.\(document)" }

    /// - Returns: the document, when this is news from somebody who was in it.
    func takeNotice(
        _ operation: OperationID, of id: DocumentID, _ header: OperationHeader,
        in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        guard let document = try privateDocument(id, in: workspace),
            let author = workspace.evaluator.subject(ofGrant: header.grant),
            document.everIn.contains(author),
            document.notices.count < Limits.unprovenKeysMax,
            document.notices.insert(operation).inserted
        else { return nil }
        try write()
        try store.registry.setValue(
            document.notices.sorted().flatMap(\.bytes), of: Self.noticeName(document.number))
        try rejudgePrivate(id, in: workspace, from: .released(source: 0, isBackfill: false))
        return nil
    }

    func loadNotices(of document: PrivateDocument) throws(StorageError) {
        let bytes = try store.registry.value(Self.noticeName(document.number)) ?? []
        for start in stride(from: 0, to: bytes.count, by: OperationID.byteCount) {
            let part = Array(bytes[start..<min(start + OperationID.byteCount, bytes.count)])
            OperationID(untrusted: part).map { _ = document.notices.insert($0) }
        }
    }
}
