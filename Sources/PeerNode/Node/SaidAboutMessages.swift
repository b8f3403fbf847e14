import CRDTStore
import WorkspaceModel

/// What else says what a message says: its edits. They are erased with it.
extension NodeCore {
    /// The operations by which the author of a message changed it, as far as they are known.
    ///
    /// - Parameter target: the message itself.
    func saidAbout(
        _ key: MessageKey, by target: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> [OperationReference] {
        guard let grant = store.operations.number(ofGrant: target.entry.grant),
            let author = author(ofGrant: grant, in: workspace)
        else { return [] }
        let register = ViewStore.Annotation.Register(
            document: target.document, target: key, .edit, of: author)
        var said: [OperationReference] = []
        for arrival in try store.view.arrivals(in: register, limit: Limits.editsErasedMax) {
            guard let edit = try store.operations.operation(arrival) else { continue }
            said.append(edit.reference)
        }
        return said
    }

    /// Called when an operation that says something about a message was folded. Where the message
    /// is deleted already, who deleted it deletes that too, so that relays erase it.
    ///
    /// - Parameter late: an edit that came, or was opened, after the message was deleted.
    func noteSaid(
        _ late: StoredOperation, about message: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) {
        guard home != nil, mayWrite,
            let deletion = try store.view.deletion(of: message.position.arrival),
            let redaction = try store.operations.operation(deletion.by),
            workspace.evaluator.subject(ofGrant: redaction.entry.grant) == workspace.member,
            try store.view.redactions(of: late.place.link.id, in: late.document).isEmpty
        else { return }
        let author = author(ofGrant: message.grant, in: workspace)
        lateWords.append(
            LateWord(
                workspace: workspace.number, arrival: late.place.arrival,
                isOwn: author == workspace.member))
    }

    /// Something that was said about a message that was deleted.
    struct LateWord {
        let workspace: Int64
        let arrival: Int64
        /// Whether it is the own member's.
        let isOwn: Bool
    }

    /// Deletes what `noteSaid` has gathered.
    func redactLateWords() throws(StorageError) {
        guard !lateWords.isEmpty else { return }
        let words = lateWords
        lateWords = []
        for word in words {
            guard let workspace = workspaces[word.workspace],
                let stored = try store.operations.operation(word.arrival),
                try store.view.redactions(of: stored.place.link.id, in: stored.document).isEmpty
            else { continue }
            _ = try redact(
                [stored.reference], nil, in: stored.log.document, isOwn: word.isOwn, of: workspace)
        }
    }
}
