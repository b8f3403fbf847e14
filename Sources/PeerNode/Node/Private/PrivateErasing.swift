import CRDTStore
import WorkspaceModel

/// Erases deleted private channels, 7 days after this node learned of the deletion.
///
/// Relays cannot judge the deletion, and digests cover what everybody keeps, so the sealed
/// operations stay. What is erased is what makes them readable here: the keys, and everything that
/// was displayed. From then on the node treats the document as a relay does, and accepts no more
/// keys for it.
final class PrivateErasing: CorePart {
    private static func mark(of document: DocumentID) -> String {
        "erased:" + PublicID.channel(document)
    }

    /// Whether the keys of a private document were erased here.
    func isErased(private document: DocumentID) throws(StorageError) -> Bool {
        try store.registry.value(Self.mark(of: document)) != nil
    }

    /// When each deleted private document has to be erased, on the wall clock. Queried in each
    /// turn, so it is cached until a document is deleted or restored.
    func privateErasures(
        of workspace: Workspace
    ) throws(StorageError) -> [(document: PrivateDocument, at: UInt64)] {
        if let known = workspace.judged.derived.privateErasures { return known }
        let due = try findPrivateErasures(of: workspace)
        workspace.judged.derived.privateErasures = due
        turn.tally.noteErasurePlan()
        return due
    }

    private func findPrivateErasures(
        of workspace: Workspace
    ) throws(StorageError) -> [(document: PrivateDocument, at: UInt64)] {
        var due: [(document: PrivateDocument, at: UInt64)] = []
        for document in workspace.sealed.documents.values {
            // A visible channel is not deleted; that is a cheap check.
            guard document.root?.subtype == .channel, workspace.channel(of: document) == nil,
                let deletion = document.deletion,
                let arrival = document.records[deletion]?.arrival,
                let stored = try store.operations.operation(arrival)
            else { continue }
            let seen = UInt64(max(stored.seen, 0))
            due.append((document, seen &+ Limits.deletedChannelMilliseconds))
        }
        return due.sorted { $0.document.number < $1.document.number }
    }

    /// Erases the first private document that is due.
    ///
    /// - Returns: whether there was one; then there may be more.
    func erasePrivate(in workspace: Workspace) throws(StorageError) -> Bool {
        let due = try privateErasures(of: workspace).first { $0.at <= time.wall }
        guard let document = due?.document else { return false }
        try write()
        try store.registry.setValue([1], of: Self.mark(of: document.id))
        try store.registry.forgetSecrets(of: document.number)
        turn.session.vault.forget(document.number)
        try store.view.clear(document.number)
        core.sink.reindex(erasedDocument: document.number)
        workspace.sealed.documents[document.id] = nil
        // A guest names the documents to which it has a key.
        workspace.sealed.named = nil
        workspace.forgetSealing(of: document.id)
        workspace.forgetChannelIndex()
        turn.emit(
            .log(.info, "channel.erased channel=\(PublicID.channel(document.id))"))
        return true
    }
}
